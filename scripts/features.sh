#!/usr/bin/env bash
# Checks that `cargo build --package sayso` and the tests ask for the same features of every dependency. If they differ,
# Cargo compiles the dependency, and everything above it, twice. Prints the lines to add to crates/workspace-hack.
set -euo pipefail
cd "$(dirname "$0")/.."

features() { # selection of packages
    cargo tree --locked "$@" --prefix none --format '{p}|{f}' | sed 's/ (\*)$//; s/ (proc-macro)//; s/ ([^)]*)|/|/' | sort -u
}

product=$(features --package sayso --edges normal,build)
names=$(cut -d '|' -f 1 <<<"$product" | sort -u)
tests=$(features --workspace --edges normal,build,dev | awk -F '|' 'NR == FNR { known[$0]; next } $1 in known' <(echo "$names") -)
if ! differences=$(diff <(echo "$product") <(echo "$tests")); then
    echo "These dependencies have other features in tests (>) than in the product (<):" >&2
    echo "$differences" | grep '^[<>]' >&2
    echo "Add the missing features to crates/workspace-hack/Cargo.toml." >&2
    exit 1
fi
