#!/usr/bin/env bash
# Tests every artefact of `make dist`: `make dist-test`. Each test has an empty HOME and no network.
#
#   all.sh [TEST…]   only these, by name
#
#   SAYSO_DIST_PARTIAL=1  skips the tests of packages that were not built, instead of failing
#   SAYSO_DIST_STRICT=1   fails if something takes longer than its limit
set -euo pipefail
. "$(dirname "$0")/../common.sh"
. scripts/phase.sh

[ -f "$dist/SHA256SUMS" ] || fail "There is nothing to test in $dist. Run: make dist"
phase "sums"
(cd "$dist" && sha256sum --check --quiet SHA256SUMS)

tests=("$@")
[ "${#tests[@]}" -gt 0 ] || tests=(archive npm wheel bad-input scratch aarch64 deb image)
if [ "$(id -u)" -ne 0 ] && [[ " ${tests[*]} " =~ " deb "|" image " ]]; then
    fail "The tests of the Debian package and the image need root. Run: sudo env \"PATH=\$PATH\" \"HOME=\$HOME\" make dist-test" \
        "The others run as any user: scripts/dist/test/all.sh archive npm wheel bad-input scratch aarch64"
fi
scripts/need.sh dist-test
failed=()
for name in "${tests[@]}"; do
    phase "$name"
    test=scripts/dist/test/$name.sh
    # Some fetch what they need, such as a Debian root directory, before the network is gone.
    if grep -q '^# Prepares:' "$test"; then
        "$test" --prepare || { failed+=("$name") && continue; }
    fi
    # Every process of the test ends with it.
    scripts/isolated.sh unshare --pid --fork --kill-child --mount-proc env SAYSO_DIST_ISOLATED=1 \
        "SAYSO_DIST_PARTIAL=${SAYSO_DIST_PARTIAL:-}" "SAYSO_DIST_STRICT=${SAYSO_DIST_STRICT:-}" "SAYSO_DIST_DIR=$dist" "SAYSO_DIST_BUILD=$build" "CARGO_TARGET_DIR=$(dirname "$build")" \
        "SAYSO_COMMIT=$SAYSO_COMMIT" "SAYSO_COMMIT_DATE=$SAYSO_COMMIT_DATE" \
        "SOURCE_DATE_EPOCH=$SOURCE_DATE_EPOCH" "$test" || failed+=("$name")
done
print_phases
[ "${#failed[@]}" -eq 0 ] || fail "Failed: ${failed[*]}"
