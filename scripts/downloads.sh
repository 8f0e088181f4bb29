#!/usr/bin/env bash
# Installs the pinned programs that tests run: agents and MCP clients from npm, schemathesis and the tools of the Python SDK
# from PyPI. The tests themselves run without a network.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/agents.sh
scripts/agents.sh mcp
scripts/schemathesis.sh --install
scripts/python-sdk.sh --install
