#!/usr/bin/env bash
# Compiles the binaries of `make dist` a second time, in another directory and without its caches, and compares them:
#
#   twice.sh [TARGET…]   by default those that were built
#
# The commit must be that of the first build.
set -euo pipefail
. "$(dirname "$0")/common.sh"

targets=("$@")
[ "${#targets[@]}" -gt 0 ] || mapfile -t targets < <(built_targets)
[ "${#targets[@]}" -gt 0 ] || fail "There is no binary to compare with. Run: make dist"
second=$build/second
remove_second() {
    rm -rf "$second"
}
trap remove_second EXIT
remove_second
mkdir -p "$second"
ln -s "$build/tools" "$second/tools"
differing=()
for target in "${targets[@]}"; do
    # Without musl, binary.sh builds …-gnu when it is asked for …-musl.
    SAYSO_DIST_BUILD=$second scripts/dist/binary.sh "${target%-gnu}$([[ "$target" != *-gnu ]] || echo -musl)"
    sha256sum "$(binary_of "$target")" "$second/bin/$target/sayso"
    cmp "$(binary_of "$target")" "$second/bin/$target/sayso" || differing+=("$target")
done
[ "${#differing[@]}" -eq 0 ] || fail "Two builds differ: ${differing[*]}"
echo "Two builds of ${targets[*]} are equal."
