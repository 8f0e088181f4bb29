#!/usr/bin/env bash
# Checks the dependencies: none is unused (cargo-shear), and none has a banned licence or source (cargo-deny, deny.toml).
# Installs the two tools into the target directory unless they are on the PATH.
set -euo pipefail
cd "$(dirname "$0")/.."
tools=$(realpath -m "${CARGO_TARGET_DIR:-target}")/tools
PATH=$PATH:$tools/bin

install_tool() { # name, version
    [[ $("$1" --version 2>/dev/null) == *" $2" ]] ||
        CARGO_TARGET_DIR=$tools/build cargo install --quiet --debug --locked --root "$tools" "$1@$2"
}

install_tool cargo-shear 1.12.4
install_tool cargo-deny 0.20.2
cargo shear
cargo deny --offline check bans licenses sources
