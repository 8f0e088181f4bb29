#!/usr/bin/env bash
# Runs all tests: `make test`. Needs the page in web/dist.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/phase.sh

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
export SAYSO_BIN=$target/debug/sayso
# Most tests wait for processes and deadlines, so there is time for several on each core.
export RUST_TEST_THREADS=${RUST_TEST_THREADS:-$((3 * $(nproc)))}

scripts/need.sh build page test browser agents

# Tests sync thousands of small commits. In memory they do not wait for a disk that the compiler uses at the same time.
if [[ $(df --output=avail --block-size=1G /dev/shm 2>/dev/null | tail -n 1) -ge 4 ]]; then
    temporary=$(mktemp -d /dev/shm/sayso-test.XXXXXX)
    export TMPDIR=$temporary
    trap 'end_background; rm -rf "$temporary"' EXIT
fi

# The downloads are larger than everything else. The compiler does not need the network, so both run at the same time.
in_background downloads scripts/downloads.sh

phase "compile" "1 min after make run"
cargo build --workspace --bins

# The page and the SDKs are tested with the programs alone, and their tests wait more than they compute. The compiler gets the
# time left over.
compile_tests() {
    cargo test --workspace --no-run
    cargo test --package sayso --package sayso-testkit --test agents --no-run
    scripts/peers.sh
}
export -f compile_tests
in_background "compile the tests" nice -n 10 bash -euo pipefail -c compile_tests

phase "unit tests of the page and of the npm launcher" "12 s"
npm test --workspace web
node --test packaging/npm/cli/launcher.test.js
phase "tests of the page in Chromium" "2 min"
npm run e2e --workspace web
phase "tests of the SDKs" "1 min"
scripts/sdk.sh
phase "compile the tests" "1 min"
join_background "compile the tests"
phase "Rust tests" "4 min"
# Everything runs even if a test fails, so that one run reports all failures.
cargo test --workspace --no-fail-fast
phase "chaos: kills of servers and agents" "1 min"
"$target/debug/chaos" --kills 50
"$target/debug/chaos" --kills 20 --agents process
phase "wait for downloads"
join_background downloads
phase "tests of the Python SDK" "2 min"
scripts/python-sdk.sh
phase "generated HTTP requests" "1 min"
scripts/schemathesis.sh
phase "tests with real agents" "2 min"
scripts/real-agents.sh
print_phases
