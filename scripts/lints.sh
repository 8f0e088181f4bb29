#!/usr/bin/env bash
# Lints the Rust code and checks its dependencies. Uses a folder of the target directory for itself, so that it can run
# at the same time as a build: cargo locks the folder that it works in.
set -euo pipefail
cd "$(dirname "$0")/.."
CARGO_TARGET_DIR=$(realpath -m "${CARGO_TARGET_DIR:-target}")/lints
export CARGO_TARGET_DIR
PATH=$PATH:$CARGO_TARGET_DIR/tools/bin

install_tool() { # name, version
    [[ $("$1" --version 2>/dev/null) == *" $2" ]] ||
        cargo install --quiet --debug --locked --root "$CARGO_TARGET_DIR/tools" "$1@$2"
}

cargo clippy --workspace --all-targets -- -D warnings
cargo clippy --package sayso --package sayso-testkit --test agents -- -D warnings

# Checks for unused dependencies, and for banned licences and sources (deny.toml).
install_tool cargo-shear 1.12.4
install_tool cargo-deny 0.20.2
cargo shear
cargo deny --offline check bans licenses sources
