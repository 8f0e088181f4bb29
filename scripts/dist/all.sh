#!/usr/bin/env bash
# Builds everything that a release consists of, into dist/: `make dist`.
#
#   SAYSO_DIST_TARGETS   the targets, by default both Linux architectures with musl
#   SAYSO_DIST_ALL       if set, every target must be built, with musl
#   SAYSO_DIST_BINARIES  a directory with TARGET/sayso: packs these binaries and compiles nothing
#   SAYSO_DIST_SDKS      `no` leaves the SDKs out
#   SAYSO_DIST_IMAGE     `no` skips the image, `yes` fails if it cannot be built; by default it is skipped with a message
#
# The last line of its output names what was not built.
#
# After `scripts/dist/fetch.sh` it needs no network, except for the image, whose base system debootstrap downloads.
set -euo pipefail
. "$(dirname "$0")/common.sh"
. scripts/phase.sh

scripts/need.sh dist
targets=${SAYSO_DIST_TARGETS:-x86_64-unknown-linux-musl aarch64-unknown-linux-musl}
rm -rf "$dist" "$build/bin" "$build/share" "$build/stage"
mkdir -p "$dist" "$build/bin" "$build/stage"

if [ -n "${SAYSO_DIST_BINARIES:-}" ]; then
    cp -R "$SAYSO_DIST_BINARIES/." "$build/bin"
    [ "${SAYSO_DIST_SDKS:-}" = no ] || scripts/dist/fetch.sh
else
    phase "fetch dependencies" "1 min"
    scripts/dist/fetch.sh
    phase "page and SDKs" "1 min"
    make --no-print-directory page
    for target in $targets; do
        phase "binary for $target" "8 min on two cores"
        scripts/dist/binary.sh "$target"
    done
fi
[ -n "$(built_targets)" ] || fail "There is no binary to pack."

phase "manual pages, completions, licences, bill of materials" "10 s"
scripts/dist/share.sh
phase "archives" "10 s"
for target in $(built_targets); do
    scripts/dist/archive.sh "$target"
done
phase "npm packages" "20 s"
scripts/dist/npm.sh
phase "Python wheels" "10 s"
scripts/dist/wheels.sh
phase "Debian packages" "10 s"
scripts/dist/deb.sh
if [ "${SAYSO_DIST_IMAGE:-}" != no ]; then
    phase "image" "2 min"
    scripts/dist/image.sh
fi
phase "sums" "1 s"
(cd "$dist" && find . -maxdepth 1 -type f ! -name SHA256SUMS -printf '%P\n' | sort | xargs sha256sum >SHA256SUMS)
print_phases
(cd "$dist" && ls -l --block-size=1 | awk 'NR > 1 { printf "%11.1f kB  %s\n", $5 / 1000, $9 }')
missing=()
for target in $targets; do
    [ -f "$(binary_of "$target")" ] || missing+=("$target")
done
[ "${SAYSO_DIST_SDKS:-}" != no ] || missing+=(SDKs)
[ -f "$dist/sayso-$version-image.tar.gz" ] || missing+=(image)
[ "${#missing[@]}" -eq 0 ] || echo "not built: ${missing[*]}"
