#!/usr/bin/env bash
# Builds the ACP agent and client that tests talk to. They are a workspace of their own, with their own lock file.
set -euo pipefail
cd "$(dirname "$0")/.."
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
cargo build --locked --manifest-path crates/testkit/acp-peer/Cargo.toml --target-dir "$target/peers" "$@"
