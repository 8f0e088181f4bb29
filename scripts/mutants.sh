#!/usr/bin/env bash
# Mutation testing of the policy and of asks: `make mutants`. Arguments go to cargo-mutants, for example
# `scripts/mutants.sh --file '**/here_docs.rs'` or `--shard 0/8`. The result is in target/mutants.out.
set -euo pipefail
cd "$(dirname "$0")/.."

version=27.1.0
tools=$(realpath -m "${CARGO_TARGET_DIR:-target}")/mutants-tools
if [[ ! -x $tools/bin/cargo-mutants ]]; then
    cargo install --locked --root "$tools" --version "$version" cargo-mutants
fi
mkdir -p target
PATH=$tools/bin:$PATH exec cargo mutants --package sayso-core --output target "$@"
