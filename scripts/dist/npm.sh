#!/usr/bin/env bash
# The npm packages: @sayso/cli with one package per binary, and the SDKs if they were built or can be built.
set -euo pipefail
. "$(dirname "$0")/common.sh"

stage=$build/stage/npm
rm -rf "$stage"
platforms=()
for target in $(built_targets); do
    platform=$(node_platform "$target")
    platforms+=("$platform")
    package=$stage/cli-$platform
    mkdir -p "$package"
    install -D -m 755 "$(binary_of "$target")" "$package/bin/sayso"
    cp LICENSE-APACHE LICENSE-MIT "$build/share/doc/LICENSES-THIRD-PARTY.txt" "$package"
    python3 - "$platform" "$version" >"$package/package.json" <<'PYTHON'
import json
import sys

platform, version = sys.argv[1:]
system, cpu = platform.split("-")
package = {
    "name": f"@sayso/cli-{platform}",
    "version": version,
    "description": f"The program of @sayso/cli for {system} on {cpu}",
    "license": "MIT OR Apache-2.0",
    "os": [system],
    "cpu": [cpu],
    "files": ["bin", "LICENSE*"],
    "preferUnplugged": True,
}
print(json.dumps(package, indent=2))
PYTHON
done

mkdir -p "$stage/cli"
cp packaging/npm/cli/launcher.js packaging/npm/cli/README.md LICENSE-APACHE LICENSE-MIT "$stage/cli"
chmod 755 "$stage/cli/launcher.js"
python3 scripts/dist/cli_manifest.py "$version" "${platforms[@]}" >"$stage/cli/package.json"

pack_npm() { # directory
    (cd "$1" && npm pack --silent --pack-destination "$dist" >/dev/null)
}
for package in "$stage"/*/; do
    pack_npm "$package"
done
if [ "${SAYSO_DIST_SDKS:-}" != no ]; then
    [ -d node_modules ] || fail "The SDKs cannot be built: run scripts/dist/fetch.sh first."
    npm run --silent build --workspace sdk/typescript --workspace sdk/react
    pack_npm sdk/typescript
    pack_npm sdk/react
fi
