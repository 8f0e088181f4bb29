#!/usr/bin/env bash
# Fetches what `make dist` needs, so that the rest of it works without network: crates, packages, and from PyPI the C compiler
# and linker (zig) for all targets.
set -euo pipefail
. "$(dirname "$0")/common.sh"

SAYSO_DIST_IMAGE=no scripts/need.sh build page dist
make --no-print-directory packages
cargo fetch --locked
# binary.sh compiles the standard library of targets for which it is not installed. Its crates are in the same cache. Its manifest
# uses features of cargo that a stable release reads only with RUSTC_BOOTSTRAP.
sources=$(rustc --print sysroot)/lib/rustlib/src/rust/library
[ ! -f "$sources/Cargo.lock" ] || RUSTC_BOOTSTRAP=1 cargo fetch --locked --manifest-path "$sources/Cargo.toml"
tools=$build/tools
versions=$(cat scripts/dist/tools.txt)
if [ "$(cat "$tools/versions" 2>/dev/null)" != "$versions" ]; then
    rm -rf "$tools"
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check --requirement scripts/dist/tools.txt
    echo "$versions" >"$tools/versions"
fi
