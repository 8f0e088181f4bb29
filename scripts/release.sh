#!/usr/bin/env bash
# Prepares a release:
#
#   release.sh VERSION   sets the version everywhere, moves the section "Unreleased" of the changelog, commits and tags
#   release.sh --check   fails if the places that name the version differ
#
# Pushing the tag starts the release workflow.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
    printf '%s\n' "$@" >&2
    exit 1
}

packages="sdk/typescript sdk/react web"

# Prints `version place` for every place.
versions() {
    echo "$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml) Cargo.toml"
    echo "$(sed -n 's/^version = "\(.*\)"/\1/p' sdk/python/pyproject.toml) sdk/python/pyproject.toml"
    echo "$(sed -n 's/^cli = \["sayso-cli==\(.*\)"\]/\1/p' sdk/python/pyproject.toml) the extra of sdk/python/pyproject.toml"
    echo "$(sed -n 's/^    "version": "\(.*\)"/\1/p' docs/openapi.json) docs/openapi.json"
    local package
    for package in $packages; do
        echo "$(sed -n 's/^  "version": "\(.*\)",/\1/p' "$package/package.json") $package/package.json"
        sed -n "s|^    \"\(@sayso/.*\)\": \"^\(.*\)\",|\2 \1 in $package/package.json|p" "$package/package.json"
    done
}

check() {
    [ "$(versions | cut -d ' ' -f 1 | sort -u | wc -l)" -eq 1 ] || fail "$(versions)" "The versions differ."
}

if [ "${1:-}" = --check ]; then
    check
    exit
fi
new=${1:-}
[[ ! "$new" =~ ^[0-9]+\.[0-9]+\.[0-9]+- ]] ||
    fail "Prereleases are not supported: Python and Debian spell their versions in another way than npm and Cargo."
[[ "$new" =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "usage: release.sh VERSION, for example release.sh 0.2.0"
[ -z "$(git status --porcelain)" ] || fail "Commit or stash your changes first."
[ -z "$(git tag --list "v$new")" ] || fail "The tag v$new exists."
check
old=$(versions | awk 'NR == 1 { print $1 }')

sed -i "/^\[workspace.package\]/,/^\[/s/^version = \".*\"/version = \"$new\"/" Cargo.toml
sed -i -e "s/^version = \".*\"/version = \"$new\"/" -e "s/^cli = \[\"sayso-cli==.*\"\]/cli = [\"sayso-cli==$new\"]/" sdk/python/pyproject.toml
sed -i "s/^    \"version\": \".*\"/    \"version\": \"$new\"/" docs/openapi.json
for package in $packages; do
    sed -i -e "s/^  \"version\": \".*\",/  \"version\": \"$new\",/" \
        -e "s|^    \"\(@sayso/.*\)\": \"^.*\",|    \"\1\": \"^$new\",|" "$package/package.json"
done
check
# The lock files also contain the versions of the workspace.
cargo update --quiet --workspace --offline
npm install --package-lock-only --offline --loglevel=error --ignore-scripts
if grep -q '^## \[Unreleased\]' CHANGELOG.md; then
    sed -i "s/^## \[Unreleased\]/## [Unreleased]\n\n## [$new] - $(date --utc +%F)/" CHANGELOG.md
else
    fail "CHANGELOG.md has no section [Unreleased]."
fi
git commit --quiet --all --message "Release $new"
git tag --annotate "v$new" --message "Sayso $new"
echo "Version $old is now $new. Look at \`git show\`, then: git push --follow-tags"
