#!/usr/bin/env bash
# The tests with real agents: installs the agents at their pinned versions, builds the tests, and runs them where
# nothing but the loopback interface can be reached.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/agents.sh >/dev/null
cargo build --package sayso --bins
cargo test --package sayso-testkit --test agents --package sayso --no-run
scripts/isolated.sh cargo test --offline --package sayso-testkit --test agents --package sayso
