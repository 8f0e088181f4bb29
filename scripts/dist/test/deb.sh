#!/usr/bin/env bash
# The Debian package in minimal Debian root directories: the current release and an old one, whose glibc is older than that of the
# machine that built it. Installs, asks, upgrades from an older version with an ask pending, and leaves nothing when it is purged.
# Prepares: the root directories.
set -euo pipefail
. "$(dirname "$0")/common.sh"

suites="bookworm bullseye"
if [ "${1:-}" = --prepare ]; then
    type -P debootstrap >/dev/null || fail "debootstrap is missing. On Debian or Ubuntu: sudo apt-get install debootstrap"
    mkdir -p "$build"
    for suite in $suites; do
        root=$build/debian-$suite
        [ ! -f "$root.complete" ] || continue
        rm -rf --one-file-system "$root"
        debootstrap --variant=minbase "$suite" "$root" >"$root.log" 2>&1 ||
            fail "$(tail -n 5 "$root.log")" "debootstrap $suite failed."
        touch "$root.complete"
    done
    exit
fi
package=$dist/sayso_${version}_$(dpkg --print-architecture).deb
dpkg-deb --raw-extract "$package" "$work/older"
sed -i 's/^Version: .*/Version: 0.0.1/' "$work/older/DEBIAN/control"
dpkg-deb --root-owner-group -Zgzip --build "$work/older" "$work/older.deb" >/dev/null
# Also after a failure: the server of a root directory ends, and nothing is mounted below the directory that is removed.
leave_root() {
    local server
    server=$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$root/root/.local/state/sayso/server.json" 2>/dev/null || true)
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    umount --lazy "$root/proc" "$root/dev" 2>/dev/null || true
}
trap 'leave_root; end' EXIT
for suite in $suites; do
    root=$work/$suite
    cp -a "$build/debian-$suite" "$root"
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    cp "$work/older.deb" "$package" "$root/"
    chroot=(env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=xterm LANG=C.UTF-8 chroot "$root")
    inside() { # command…
        "${chroot[@]}" "$@"
    }
    inside find / -xdev | sort >"$work/before"
    inside dpkg --install /older.deb >/dev/null
    first_question "the package on $suite" "${chroot[@]}" sayso
    inside sayso ask "Pending over the upgrade?" --no-wait >/dev/null
    inside dpkg --install "/$(basename "$package")" >/dev/null
    inside sayso restart >/dev/null
    inside sayso ls | grep 'Pending over the upgrade?' >/dev/null || fail "The upgrade lost an ask."
    pass "an upgrade keeps asks"
    inside sayso doctor | grep 'installed as a Debian package' >/dev/null || fail "doctor does not say how it was installed."
    inside test -f /usr/share/bash-completion/completions/sayso
    inside sayso uninstall --purge --yes >/dev/null
    inside dpkg --purge sayso >/dev/null
    inside find / -xdev | sort >"$work/after"
    comm -13 "$work/before" "$work/after" | grep sayso && fail "Files are left on $suite."
    pass "the package leaves nothing on $suite"
    leave_root
done
