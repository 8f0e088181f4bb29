#!/usr/bin/env bash
# The archive of one target: archive.sh TARGET.
set -euo pipefail
. "$(dirname "$0")/common.sh"

name=sayso-$version-$1
stage=$build/stage/archive
rm -rf "$stage"
mkdir -p "$stage/$name/bin" "$stage/$name/share"
install -m 755 "$(binary_of "$1")" "$stage/$name/bin/sayso"
cp -R "$build/share/man" "$build/share/completions" "$stage/$name/share"
cp "$build"/share/doc/* "$dist/sayso-$version.cdx.json" "$stage/$name"
pack "$stage" "$name" "$dist/$name.tar.gz"
