#!/usr/bin/env bash
# The SDKs for TypeScript and React: builds them, checks which files would be published, and runs their tests against the
# real server, in Node.js and in Chromium. The server is the one in SAYSO_BIN, by default the debug build.
set -euo pipefail
cd "$(dirname "$0")/.."

export SAYSO_BIN=${SAYSO_BIN:-$(realpath -m "${CARGO_TARGET_DIR:-target}")/debug/sayso}
if [ ! -x "$SAYSO_BIN" ]; then
    echo "There is no server at $SAYSO_BIN. Build it with: cargo build --package sayso" >&2
    exit 1
fi
scripts/need.sh page browser
make --no-print-directory packages
sdks=(--workspace sdk/typescript --workspace sdk/react)

echo "== build"
npm run --silent build "${sdks[@]}"

echo "== packages"
for package in typescript react; do
    (cd "sdk/$package" && npm pack --dry-run --json | node -e '
        const [{ name, files, size }] = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
        const paths = files.map(({ path }) => path);
        const wrong = paths.filter((path) => /test|\.docs|bench|tsbuildinfo/.test(path));
        if (wrong.length > 0 || !paths.includes("dist/index.js") || !paths.includes("dist/index.d.ts")) {
            console.error(name, "would be published with the wrong files:", wrong);
            process.exit(1);
        }
        console.log(`${name}: ${paths.length} files, ${(size / 1000).toFixed(1)} kB packed`);')
done

echo "== tests"
npm test --silent "${sdks[@]}"
npm run --silent e2e "${sdks[@]}"
