#!/usr/bin/env bash
# Tests the npm packages with a registry on the loopback interface: npx asks at once, an installation without optional packages
# names the missing package, and no configuration refers to a program in the cache of npx. The SDKs load. The files of dist/ install
# without a registry, upgrade an older version, and leave nothing behind.
set -euo pipefail
. "$(dirname "$0")/common.sh"

# A package that does nothing, to measure npx itself.
mkdir "$work/nothing"
echo '{ "name": "@sayso/nothing", "version": "1.0.0", "bin": { "nothing": "nothing.js" } }' >"$work/nothing/package.json"
printf '#!/usr/bin/env node\n' >"$work/nothing/nothing.js"
chmod 755 "$work/nothing/nothing.js"
mkdir "$work/packed"
(cd "$work/nothing" && npm pack --silent --pack-destination "$work/packed" >/dev/null)
mkfifo "$work/address"
node scripts/dist/test/registry.mjs "$dist" "$work/packed" >"$work/address" &
background=$!
read -r registry <"$work/address"
export npm_config_registry=$registry npm_config_cache=$work/cache npm_config_update_notifier=false npm_config_yes=true
cd "$work"

first_question "npx" npx "@sayso/cli@$version"
npx "@sayso/cli" stop >/dev/null
out=$(npx "@sayso/cli" connect claude --yes 2>&1) && fail "connect wrote a path in the cache of npx."
[[ "$out" == *"is in the cache of npx"* ]] || fail "$out"
pass "connect refuses the cache of npx"
npx "@sayso/cli" uninstall --purge --yes >/dev/null

# Both packages are in the cache before they are measured, in turns.
npx "@sayso/nothing"
nothing_times=()
sayso_times=()
for _ in 1 2 3 4 5 6 7; do
    started=$(now_ms)
    npx "@sayso/nothing"
    between=$(now_ms)
    npx "@sayso/cli" --version >/dev/null
    sayso_times+=($(($(now_ms) - between)))
    nothing_times+=($((between - started)))
done
median() { # seven numbers
    printf '%s\n' "$@" | sort -n | sed -n 4p
}
nothing=$(median "${nothing_times[@]}")
launched=$(median "${sayso_times[@]}")
took $((launched - nothing)) 150 "npx runs --version in $launched ms and a package that does nothing in $nothing ms, so Sayso adds"

# Not --global: npm installs optional packages there in spite of --omit.
mkdir "$work/bare"
npm install --silent --omit=optional --prefix "$work/bare" "@sayso/cli@$version"
out=$("$work/bare/node_modules/.bin/sayso" --version 2>&1) && fail "A missing package was not noticed."
[[ "$out" == *"is missing. It is an optional dependency"* ]] || fail "$out"
pass "a missing optional package is named"

# Node.js resolves imports more strictly than bundlers do. The dependencies of @sayso/react come from this repository.
npm install --silent --prefix "$work/app" "@sayso/sdk@$version"
modules=$work/app/node_modules
mkdir "$modules/@sayso/react"
tar -xzf "$dist/sayso-react-$version.tgz" -C "$modules/@sayso/react" --strip-components=1
ln -s "$repository"/node_modules/{react,react-dom,lucide-react,marked} "$modules"
(cd "$work/app" && node --input-type=module -e 'await import("@sayso/sdk"); await import("@sayso/react");')
pass "@sayso/sdk and @sayso/react load in Node.js"

kill "$background"
unset background npm_config_registry
platform=$(node -p 'process.platform + "-" + process.arch')
packages=("$dist/sayso-cli-$platform-$version.tgz" "$dist/sayso-cli-$version.tgz")
mkdir "$work/older"
for package in "${packages[@]}"; do
    rm -rf "$work/package"
    tar -xzf "$package" -C "$work"
    sed -i "s/\"$version\"/\"0.0.1\"/" "$work/package/package.json"
    (cd "$work/package" && npm pack --silent --pack-destination "$work/older" >/dev/null)
done
sayso=$work/global/bin/sayso
npm install --silent --global --offline --prefix "$work/global" "$work"/older/*.tgz
write_older_database "$HOME/.local/state/sayso"
upgrades_older_database "$HOME/.local/state/sayso" "npm" "$sayso"
npm install --silent --global --offline --prefix "$work/global" "${packages[@]}"
"$sayso" restart >/dev/null
lists "Pending over the upgrade?" "$sayso"
pass "an upgrade keeps asks"
doctor_says "installed by npm" "$sayso"
leaves_nothing "npm" "$sayso"
npm uninstall --silent --global --offline --prefix "$work/global" @sayso/cli "@sayso/cli-$platform"
[ -z "$(find "$work/global" ! -type d)" ] || fail "$(find "$work/global" ! -type d)" "npm left files."
pass "npm removes the program"
