"""Prints the package.json of @sayso/cli: `cli_manifest.py VERSION PLATFORM…`, with one optional package per platform."""

import json
import pathlib
import sys

version, *platforms = sys.argv[1:]
manifest = json.loads(pathlib.Path("packaging/npm/cli/package.json").read_text())
manifest["version"] = version
manifest["optionalDependencies"] = {f"@sayso/cli-{platform}": version for platform in sorted(platforms)}
print(json.dumps(manifest, indent=2))
