#!/usr/bin/env bash
# Runs the suites with random pauses around system calls, in the tests and in every `sayso` that they start. Finds what
# is right only on a quick machine. Arguments choose tests, as for cargo test:
#
#   scripts/jitter.sh hook::
set -euo pipefail
cd "$(dirname "$0")/.."
target=$(realpath "${CARGO_TARGET_DIR:-target}")
cargo build --workspace --bins
scripts/peers.sh
cc -Wall -Wextra -O2 -shared -fPIC -o "$target/jitter.so" scripts/jitter.c -ldl
# Ten thousand races and a million lines are too many to pause in.
exec cargo --config "target.'cfg(unix)'.runner = ['env', 'LD_PRELOAD=$target/jitter.so']" \
    test --workspace --test it -- --test-threads=8 --skip races:: --skip memory:: "$@"
