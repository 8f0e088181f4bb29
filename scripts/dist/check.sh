#!/usr/bin/env bash
# The cheap part of testing the packages, which .ci/run calls. It packs the debug binary twice, compares the results and checks the
# contents of the packages. `make dist-test` installs and runs the real packages.
set -euo pipefail
cd "$(dirname "$0")/../.."

# The packages list the crates of both targets, and a build for this machine fetches fewer.
cargo fetch --quiet --locked --target x86_64-unknown-linux-musl --target aarch64-unknown-linux-musl
SAYSO_BIN=$(realpath "${SAYSO_BIN:-target/debug/sayso}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for target in x86_64-unknown-linux-musl aarch64-unknown-linux-musl; do
    mkdir -p "$work/binaries/$target"
    # The debug binary is large, so the packages contain a script that runs it.
    printf '#!/bin/sh\nexec %q "$@"\n' "$SAYSO_BIN" >"$work/binaries/$target/sayso"
    chmod 755 "$work/binaries/$target/sayso"
done
for number in 1 2; do
    SAYSO_DIST_BINARIES=$work/binaries SAYSO_DIST_BUILD=$work/build SAYSO_DIST_DIR=$work/dist-$number SAYSO_DIST_SDKS=no \
        SAYSO_DIST_IMAGE=no scripts/dist/all.sh >"$work/log" 2>&1 || { cat "$work/log" >&2 && exit 1; }
done
diff -u "$work/dist-1/SHA256SUMS" "$work/dist-2/SHA256SUMS" || { echo "Two builds differ." >&2 && exit 1; }

contains() { # archive, listing command…, then -- and the expected names
    local archive=$1 listing names=()
    shift
    while [ "$1" != -- ]; do
        names+=("$1")
        shift
    done
    shift
    listing=$("${names[@]}" "$archive")
    for name in "$@"; do
        grep -q -- "$name" <<<"$listing" || { echo "$archive has no $name." >&2 && exit 1; }
    done
}
for archive in "$work"/dist-1/*.tar.gz; do
    contains "$archive" tar -tzf -- bin/sayso man1/sayso.1.gz completions/_sayso LICENSE-MIT LICENSES-THIRD-PARTY.txt cdx.json
done
for package in "$work"/dist-1/*.deb; do
    contains "$package" dpkg-deb --contents -- usr/bin/sayso man1/sayso-answer.1.gz bash-completion/completions/sayso copyright
done
for wheel in "$work"/dist-1/*.whl; do
    contains "$wheel" python3 -m zipfile --list -- scripts/sayso RECORD LICENSES-THIRD-PARTY.txt
done

# The command of the other project must not be recommended, and every version is the same.
if git grep --line-number --extended-regexp 'npx( -[-a-z]+)* sayso([^-[:alnum:]]|$)' -- . ':!scripts/dist/check.sh'; then
    echo "The package sayso of npm belongs to another project." >&2
    exit 1
fi
scripts/release.sh --check
git clone --quiet . "$work/release"
git -C "$work/release" config user.name Sayso
git -C "$work/release" config user.email sayso@localhost
"$work/release/scripts/release.sh" 99.0.0 >"$work/log" 2>&1 || { cat "$work/log" >&2 && exit 1; }
[ "$(git -C "$work/release" describe)" = v99.0.0 ] || { echo "release.sh makes no tag." >&2 && exit 1; }
echo "Packages are complete and reproducible: $(find "$work/dist-1" -type f | wc -l) files."
