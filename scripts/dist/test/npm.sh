#!/usr/bin/env bash
# Tests the npm packages with a registry on the loopback interface: npx asks at once, an installation without optional packages
# names the missing package, and no configuration refers to a program in the cache of npx.
set -euo pipefail
. "$(dirname "$0")/common.sh"

mkfifo "$work/address"
node scripts/dist/test/registry.mjs "$dist" >"$work/address" &
background=$!
read -r registry <"$work/address"
export npm_config_registry=$registry npm_config_cache=$HOME/.npm npm_config_update_notifier=false npm_config_yes=true
cd "$work"

first_question "npx" npx "@sayso/cli@$version"
npx "@sayso/cli" stop >/dev/null
out=$(npx "@sayso/cli" connect claude --yes 2>&1) && fail "connect wrote a path in the cache of npx."
[[ "$out" == *"is in the cache of npx"* ]] || fail "$out"
pass "connect refuses the cache of npx"

npm install --silent --global --prefix "$work/global" "@sayso/cli@$version"
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
launched=$(median "$work/global/bin/sayso" --version)
pass "the launcher takes $launched ms for --version, Node.js alone $empty ms"
[ $((launched - empty)) -le 150 ] || [ -n "${SAYSO_DIST_SLOW:-}" ] || fail "The launcher adds more than 150 ms."
"$work/global/bin/sayso" doctor >"$work/doctor" || true
grep -q 'installed by npm' "$work/doctor" || fail "$(cat "$work/doctor")" "doctor does not say how it was installed."

# Not --global: npm installs optional packages there in spite of --omit.
mkdir "$work/bare"
npm install --silent --omit=optional --prefix "$work/bare" "@sayso/cli@$version"
out=$("$work/bare/node_modules/.bin/sayso" --version 2>&1) && fail "A missing package was not noticed."
[[ "$out" == *"is missing. It is an optional dependency"* ]] || fail "$out"
pass "a missing optional package is named"
leaves_nothing "npm" "$work/global/bin/sayso"
