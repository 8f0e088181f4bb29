#!/usr/bin/env bash
# Runs the suites with random pauses around system calls, in the tests and in every `sayso` that they start. In the browser,
# replies arrive late and the page computes slowly. Finds code that works only on a fast machine. Arguments choose tests:
#
#   scripts/jitter.sh rust hook::        as for cargo test
#   scripts/jitter.sh page cards.spec    as for Playwright
set -euo pipefail
cd "$(dirname "$0")/.."
target=$(realpath "${CARGO_TARGET_DIR:-target}")
cargo build --workspace --bins
cc -Wall -Wextra -O2 -shared -fPIC -o "$target/jitter.so" scripts/jitter.c -ldl

page() {
    SAYSO_BIN=$target/debug/sayso SAYSO_JITTER=$target/jitter.so npm run e2e --workspace web -- "$@"
}

# Fewer races and lines than usual, because every pause takes time.
rust() {
    scripts/peers.sh
    cargo --config "target.'cfg(unix)'.runner = ['env', 'LD_PRELOAD=$target/jitter.so']" \
        test --workspace --test it -- --test-threads=8 --skip races:: --skip memory:: "$@"
}

case "${1:-}" in
page | rust) "$@" ;;
"") rust && page ;;
*)
    echo "jitter.sh: choose \`rust\` or \`page\`, or give no argument for both" >&2
    exit 2
    ;;
esac
