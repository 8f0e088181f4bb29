#!/usr/bin/env bash
# Tests the TypeScript adapters with the real frameworks: installs them, packs @sayso/sdk, installs the package as others do, and
# runs the tests against the real server. The server is the one in SAYSO_BIN, by default the debug build.
set -euo pipefail
cd "$(dirname "$0")/.."

export SAYSO_BIN=${SAYSO_BIN:-$(realpath -m "${CARGO_TARGET_DIR:-target}")/debug/sayso}
if [ ! -x "$SAYSO_BIN" ]; then
    echo "There is no server at $SAYSO_BIN. Build it with: cargo build --package sayso" >&2
    exit 1
fi
scripts/need.sh page
make --no-print-directory packages
folder=sdk/typescript/frameworks

# npm removes packages that its lock file does not list, such as the packed one, so it runs only if the lock file changed.
versions=$(sha256sum <"$folder/package-lock.json")
if [ "$(cat "$folder/node_modules/versions" 2>/dev/null)" != "$versions" ]; then
    (cd "$folder" && npm ci --no-audit --no-fund --loglevel error)
    echo "$versions" >"$folder/node_modules/versions"
fi

# The frameworks need a newer Node.js than the SDK does. npm has it as a package.
node=node
if ! node -e 'const [a, b] = process.versions.node.split("."); process.exit(a * 100 + +b >= 2218 ? 0 : 1)'; then
    node=$(compgen -G "$PWD/$folder/node_modules/node-*/bin/node" | head -n 1) || true
    if [ -z "$node" ]; then
        echo "The frameworks need Node.js 22.18 or newer." >&2
        exit 1
    fi
fi

npm run --silent build --workspace sdk/typescript --workspace sdk/react
package=$folder/node_modules/@sayso/sdk
rm -rf "$package"
mkdir -p "$package"
archive=$(cd sdk/typescript && npm pack --silent --pack-destination frameworks/node_modules)
tar -xzf "$folder/node_modules/$archive" --strip-components 1 -C "$package"
rm "$folder/node_modules/$archive"

npx tsc --project "$folder"
"$node" node_modules/vitest/vitest.mjs run --root "$folder" "$@"
