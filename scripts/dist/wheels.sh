#!/usr/bin/env bash
# The Python wheels: `sayso`, the SDK in pure Python, and one wheel `sayso-cli` per binary, which the extra `sayso[cli]` installs.
set -euo pipefail
. "$(dirname "$0")/common.sh"

for target in $(built_targets); do
    python3 scripts/dist/binary_wheel.py "$target" "$version" "$(binary_of "$target")" "$build/share" "$dist"
done
if [ "${SAYSO_DIST_SDKS:-}" != no ]; then
    python=$build/tools/bin/python
    [ -x "$python" ] || fail "The Python SDK cannot be built: run scripts/dist/fetch.sh first."
    (cd sdk/python && "$python" -c 'import sys; from flit_core import buildapi; buildapi.build_wheel(sys.argv[1])' "$dist")
    # flit writes files that only their owner can read.
    chmod 644 "$dist/sayso-$version-py3-none-any.whl"
fi
