#!/usr/bin/env bash
# The tests with real agents: installs the agents and the MCP clients at their pinned versions, builds the tests, and
# runs them in a network namespace that has only the loopback interface. Nothing can be downloaded inside it.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/agents.sh >/dev/null
scripts/agents.sh mcp >/dev/null
packages=(--package sayso --package sayso-testkit)
cargo build --workspace --bins
cargo test "${packages[@]}" --test agents --no-run
# Real agents use a whole core while they start.
export RUST_TEST_THREADS=$(nproc)
scripts/isolated.sh cargo test --offline "${packages[@]}" --test agents
