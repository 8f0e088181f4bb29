#!/usr/bin/env bash
# Sends generated requests to every route of the OpenAPI document. Any 5xx is a failure.
# The server is one of its own, in a temporary directory. `schemathesis.sh --install` only installs schemathesis.
set -euo pipefail
cd "$(dirname "$0")/.."

examples=${EXAMPLES:-30}
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
venv=$target/venv

if [ ! -x "$venv/bin/schemathesis" ]; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check 'schemathesis>=4,<5'
fi
[ "${1:-}" != --install ] || exit 0
cargo build --quiet --workspace --bins

work=$(mktemp -d)
server=
stop() {
    if [ -n "$server" ]; then
        kill "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
    fi
    rm -rf "$work"
}
trap stop EXIT

# A separate environment, so that the run uses no files and no settings of the user.
mkdir "$work/home"
# The shell in the background may create its files after the first look at it.
: >"$work/out"
: >"$work/err"
env -i PATH="$PATH" HOME="$work/home" TMPDIR="$work" \
    "$target/debug/sayso" serve --listen 127.0.0.1:0 --data-dir "$work/data" >"$work/out" 2>"$work/err" &
server=$!

url=
for _ in $(seq 100); do
    url=$(sed -n 's/^listening on \(http:[^ ]*\).*/\1/p' "$work/out")
    [ -n "$url" ] && break
    if ! kill -0 "$server" 2>/dev/null; then
        break
    fi
    sleep 0.1
done
if [ -z "$url" ]; then
    echo "The server did not start:" >&2
    cat "$work/out" "$work/err" >&2
    exit 1
fi

token=$(cat "$work/data/token")
fuzz() { # paths to leave out, phases
    "$venv/bin/schemathesis" run "$url/openapi.json" \
        --url "$url" \
        --header "Authorization: Bearer $token" \
        --checks not_a_server_error \
        --exclude-path-regex "$1" \
        --phases "$2" \
        --max-examples "$examples" \
        --request-timeout 70 \
        --generation-deterministic \
        --warnings off \
        --no-color
}

# Its records of a run are written to the directory of the server's files.
cd "$work"
# Event streams do not end, so there is nothing to wait for. Listeners would open this machine to its network.
fuzz '/(events|outcomes|stream)$|/listeners' examples,coverage,fuzzing
# Calls that use what earlier calls returned. Not with tokens: the run would revoke its own.
fuzz '/(events|outcomes|stream)$|/listeners|/tokens' stateful

if ! kill -0 "$server" 2>/dev/null; then
    echo "The server died:" >&2
    tail -n 50 "$work/err" >&2
    exit 1
fi
