#!/usr/bin/env bash
# Writes the files that all packages contain in addition to the binary to $build/share: manual pages, completions, licences and
# the bill of materials.
set -euo pipefail
. "$(dirname "$0")/common.sh"

share=$build/share
mkdir -p "$share/man/man1" "$share/completions" "$share/doc"
# The pages are the same for every target, so the binary of this machine writes them.
native=
for target in $(built_targets); do
    [[ "$target" != "$(uname -m)-"* ]] || native=$(binary_of "$target")
done
native=${native:-${SAYSO_BIN:-}}
[ -x "$native" ] || fail "No binary runs here. Name one that does in SAYSO_BIN."
sayso() {
    HOME=$build/stage "$native" "$@"
}
sayso man "$share/man/man1" >/dev/null
gzip --no-name --best "$share"/man/man1/*.1
sayso completions bash >"$share/completions/sayso.bash"
sayso completions zsh >"$share/completions/_sayso"
sayso completions fish >"$share/completions/sayso.fish"
cp README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT "$share/doc"
python3 scripts/dist/inventory.py licences >"$share/doc/LICENSES-THIRD-PARTY.txt"
python3 scripts/dist/inventory.py sbom >"$dist/sayso-$version.cdx.json"
