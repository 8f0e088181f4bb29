#!/usr/bin/env bash
# Measures the release build: bench.sh [OPTION…]. Options go to the driver, see `bench --help`.
#
# The closest peer is installed from npm and measured in the same run. Without it, for example offline, the comparison is left
# out. Both run where nothing but the loopback interface can be reached.
set -euo pipefail
cd "$(dirname "$0")/.."

PEER=@sandbox-agent/cli@0.4.2

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
program=$target/peers/sandbox-agent/node_modules/@sandbox-agent/cli-linux-x64/bin/sandbox-agent

if [ ! -x "$program" ]; then
    npm install --silent --no-save --ignore-scripts --prefix "$target/peers/sandbox-agent" "$PEER" >&2 || true
    chmod +x "$program" 2>/dev/null || true
fi
options=()
if [ -x "$program" ]; then
    options=(--peer "$program")
else
    echo "$PEER could not be installed from npm, so this run has no comparison with it." >&2
fi
exec scripts/isolated.sh "$target/release/bench" "${options[@]}" "$@"
