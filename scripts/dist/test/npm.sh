#!/usr/bin/env bash
# Tests the npm packages with a registry on the loopback interface: npx asks at once, an installation without optional packages
# names the missing package, and no configuration refers to a program in the cache of npx. The SDKs load. The files of dist/ install
# without a registry, upgrade an older version, and leave nothing behind.
set -euo pipefail
. "$(dirname "$0")/common.sh"

mkfifo "$work/address"
node scripts/dist/test/registry.mjs "$dist" >"$work/address" &
background=$!
read -r registry <"$work/address"
export npm_config_registry=$registry npm_config_cache=$work/cache npm_config_update_notifier=false npm_config_yes=true
cd "$work"

first_question "npx" npx "@sayso/cli@$version"
npx "@sayso/cli" stop >/dev/null
out=$(npx "@sayso/cli" connect claude --yes 2>&1) && fail "connect wrote a path in the cache of npx."
[[ "$out" == *"is in the cache of npx"* ]] || fail "$out"
pass "connect refuses the cache of npx"

npm install --silent --global --prefix "$work/registry" "@sayso/cli@$version"
median() { # command…
    local times=() started
    for _ in 1 2 3 4 5; do
        started=$(now_ms)
        "$@" >/dev/null
        times+=($(($(now_ms) - started)))
    done
    printf '%s\n' "${times[@]}" | sort -n | sed -n 3p
}
empty=$(median node -e 0)
launched=$(median "$work/registry/bin/sayso" --version)
took $((launched - empty)) 150 "--version takes $launched ms, Node.js alone $empty ms, so the launcher adds"

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
"$sayso" ask "Pending over the upgrade?" --no-wait >/dev/null
npm install --silent --global --offline --prefix "$work/global" "${packages[@]}"
"$sayso" restart >/dev/null
"$sayso" ls | grep "Pending over the upgrade?" >/dev/null || fail "The upgrade lost an ask."
pass "an upgrade keeps asks"
"$sayso" doctor >"$work/doctor" || true
grep -q 'installed by npm' "$work/doctor" || fail "$(cat "$work/doctor")" "doctor does not say how it was installed."
leaves_nothing "npm" "$sayso"
npm uninstall --silent --global --offline --prefix "$work/global" @sayso/cli "@sayso/cli-$platform"
[ -z "$(find "$work/global" ! -type d)" ] || fail "$(find "$work/global" ! -type d)" "npm left files."
pass "npm removes the program"
