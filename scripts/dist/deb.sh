#!/usr/bin/env bash
# One Debian package per Linux binary. The binary is static, so the packages depend on nothing and install on any release.
set -euo pipefail
. "$(dirname "$0")/common.sh"

type -P dpkg-deb >/dev/null || fail "dpkg-deb is missing. On Debian or Ubuntu: sudo apt-get install dpkg"
for target in $(built_targets); do
    architecture=$(debian_architecture "$target") || continue
    root=$build/stage/deb-$architecture
    rm -rf "$root"
    doc=$root/usr/share/doc/sayso
    mkdir -p "$root/DEBIAN" "$doc" "$root/usr/share/zsh/vendor-completions" "$root/usr/share/fish/vendor_completions.d"
    install -D -m 755 "$(binary_of "$target")" "$root/usr/bin/sayso"
    mkdir -p "$root/usr/share/man"
    cp -R "$build/share/man/man1" "$root/usr/share/man/man1"
    install -D -m 644 "$build/share/completions/sayso.bash" "$root/usr/share/bash-completion/completions/sayso"
    cp "$build/share/completions/_sayso" "$root/usr/share/zsh/vendor-completions"
    cp "$build/share/completions/sayso.fish" "$root/usr/share/fish/vendor_completions.d"
    gzip --no-name --best --stdout CHANGELOG.md >"$doc/changelog.gz"
    { echo "Sayso is licensed under MIT or Apache-2.0, at your choice."; cat LICENSE-MIT LICENSE-APACHE; } >"$doc/copyright"
    gzip --no-name --best --stdout "$build/share/doc/LICENSES-THIRD-PARTY.txt" >"$doc/LICENSES-THIRD-PARTY.txt.gz"
    cat >"$root/DEBIAN/control" <<CONTROL
Package: sayso
Version: $version
Architecture: $architecture
Maintainer: The Sayso authors <sayso@localhost>
Section: devel
Priority: optional
Installed-Size: $(find "$root/usr" -type f -printf '%s\n' | awk '{ size += int(($1 + 1023) / 1024) } END { print size }')
Recommends: ca-certificates
Description: questions and approvals of your coding agents in one inbox
 Sayso is one small server between your coding agents and you. It collects every question and every approval, applies your
 policy, shows you the rest, and returns your answer to the agent.
CONTROL
    dpkg-deb --root-owner-group -Zxz --build "$root" "$dist/sayso_${version}_$architecture.deb" >/dev/null
done
