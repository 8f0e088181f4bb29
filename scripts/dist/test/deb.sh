#!/usr/bin/env bash
# The Debian package in minimal Debian root directories: the current release and an old one, whose glibc is older than that of the
# machine that built it. Installs, upgrades a database and the package with an ask pending, asks, completes in bash, and leaves
# nothing when it is purged.
# Prepares: the root directories.
set -euo pipefail
. "$(dirname "$0")/common.sh"

suites="bookworm bullseye"
if [ "${1:-}" = --prepare ]; then
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
require "$package" "Debian package for $(dpkg --print-architecture)"
dpkg-deb --raw-extract "$package" "$work/older"
sed -i 's/^Version: .*/Version: 0.0.1/' "$work/older/DEBIAN/control"
dpkg-deb --root-owner-group -Zgzip --build "$work/older" "$work/older.deb" >/dev/null
# Also after a failure: the server of a root directory ends, and nothing is mounted below the directory that is removed.
root=
leave_root() {
    local server
    [ -n "$root" ] || return 0
    server=$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$root/root/.local/state/sayso/server.json" 2>/dev/null || true)
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    umount --lazy "$root/proc" "$root/dev" 2>/dev/null || true
}
trap 'leave_root; end' EXIT
inside() { # command…
    "${chroot[@]}" "$@"
}
# Calls the completion function the way bash does after TAB.
complete_in_bash() { # words…
    # shellcheck disable=SC2016
    inside bash -c '. /usr/share/bash-completion/completions/sayso
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_TYPE=9
        _clap_complete_sayso sayso "${!#}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf "%s\n" "${COMPREPLY[@]}"' bash "$@" >"$work/completed"
}
for suite in $suites; do
    root=$work/$suite
    cp -a "$build/debian-$suite" "$root"
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    cp "$work/older.deb" "$package" "$root/"
    chroot=(env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=xterm LANG=C.UTF-8 chroot "$root")
    inside find / -xdev | sort >"$work/before"
    inside dpkg --install /older.deb >/dev/null
    write_older_database "$root/root/.local/state/sayso"
    upgrades_older_database "$root/root/.local/state/sayso" "the package on $suite" inside sayso
    inside dpkg --install "/$(basename "$package")" >/dev/null
    inside sayso restart >/dev/null
    lists "Pending over the upgrade?" inside sayso
    pass "an upgrade keeps asks"
    inside sayso stop >/dev/null
    first_question "the package on $suite" "${chroot[@]}" sayso
    doctor_says "installed as a Debian package" inside sayso
    session=$(inside sayso sessions | awk '/ask me a question/ { print $1; exit }')
    for expected in "answer $(inside sayso ls | awk '/Pending over the upgrade/ { print $2 }')" "sessions show $session"; do
        read -r -a words <<<"$expected"
        complete_in_bash sayso "${words[@]::${#words[@]}-1}" ""
        grep -qx -- "${words[-1]}" "$work/completed" || fail "$(cat "$work/completed")" "bash does not complete: sayso $expected"
    done
    pass "bash completes pending asks and sessions on $suite"
    inside sayso uninstall --purge --yes >/dev/null
    inside dpkg --purge sayso >/dev/null
    inside find / -xdev | sort >"$work/after"
    comm -13 "$work/before" "$work/after" >"$work/new"
    ! grep sayso "$work/new" || fail "Files are left on $suite."
    pass "the package leaves nothing on $suite"
    leave_root
    root=
done
