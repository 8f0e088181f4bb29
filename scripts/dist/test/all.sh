#!/usr/bin/env bash
# Tests every artefact of `make dist`: `make dist-test`. Each test has an empty HOME and no network.
#
#   all.sh [TEST…]   only these, by name
set -euo pipefail
. "$(dirname "$0")/../common.sh"
. scripts/phase.sh

[ -f "$dist/SHA256SUMS" ] || fail "There is nothing to test in $dist. Run: make dist"
phase "sums"
(cd "$dist" && sha256sum --check --quiet SHA256SUMS)

tests=("$@")
[ "${#tests[@]}" -gt 0 ] || tests=(archive npm wheel bad-input scratch aarch64 deb image)
failed=()
for name in "${tests[@]}"; do
    phase "$name"
    test=scripts/dist/test/$name.sh
    # Some fetch what they need, such as a Debian root directory, before the network is gone.
    if grep -q '^# Prepares:' "$test"; then
        "$test" --prepare
    fi
    scripts/isolated.sh env SAYSO_DIST_ISOLATED=1 "SAYSO_DIST_DIR=$dist" "SAYSO_DIST_BUILD=$build" "CARGO_TARGET_DIR=$(dirname "$build")" \
        "SAYSO_COMMIT=$SAYSO_COMMIT" "SAYSO_COMMIT_DATE=$SAYSO_COMMIT_DATE" \
        "SOURCE_DATE_EPOCH=$SOURCE_DATE_EPOCH" "$test" || failed+=("$name")
done
print_phases
[ "${#failed[@]}" -eq 0 ] || fail "Failed: ${failed[*]}"
