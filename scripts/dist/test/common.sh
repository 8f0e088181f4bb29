# Sourced by the tests of `make dist-test`. Each runs in scripts/isolated.sh: an empty HOME and no network.
# shellcheck shell=bash

. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
work=$(mktemp -d)
end() {
    # A test that failed half way leaves its server; `server.json` in its own HOME names it.
    local server
    server=$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$HOME/.local/state/sayso/server.json" 2>/dev/null || true)
    [ -z "${SAYSO_DIST_ISOLATED:-}" ] || [ -z "$server" ] || kill "$server" 2>/dev/null || true
    [ -z "${background:-}" ] || kill "$background" 2>/dev/null || true
    rm -rf --one-file-system "$work"
}
trap end EXIT

pass() { # text
    printf 'ok: %s\n' "$*"
}

# Prints a time and its limit. Exceeding the limit is not a failure, because the machine may be busy.
took() { # milliseconds, limit in milliseconds, what took them
    local mark=ok
    [ "$1" -le "$2" ] || mark=SLOW
    printf '%s: %s %s ms; the limit is %s ms\n' "$mark" "$3" "$1" "$2"
}

now_ms() {
    date +%s%3N
}

# Starts the mock agent on a terminal, expects its question in time, answers it and leaves the session.
first_question() { # name, command…
    local name=$1 keys=$work/keys log=$work/question.log started asked
    shift
    rm -f "$keys" "$log"
    mkfifo "$keys"
    : >"$log"
    started=$(now_ms)
    script --quiet --return --flush --command "$* start mock 'ask me a question'" "$log" <"$keys" >/dev/null 2>&1 &
    local running=$!
    exec 7>"$keys"
    shows "$running" "$log" 'Select \[' || fail "$(cat "$log")" "$name asked no question."
    asked=$(now_ms)
    printf '1\r' >&7
    shows "$running" "$log" 'You answered' || fail "$(cat "$log")" "$name: the answer did not reach the agent."
    shows "$running" "$log" '^> $' || fail "$(cat "$log")" "$name: the session ended too early."
    printf '\004' >&7
    exec 7>&-
    wait "$running"
    took $((asked - started)) 5000 "$name asks its first question after"
}

# Waits until the log has a line that matches. Fails if the process ends before.
shows() { # process, log, pattern
    until tr -d '\r' <"$2" | sed 's/\x1b\[[0-9;?]*[a-zA-Z]//g' | grep -- "$3" >/dev/null; do
        kill -0 "$1" 2>/dev/null || return 1
        sleep 0.05
    done
}

# Removes everything that Sayso wrote, and expects an empty HOME afterwards.
leaves_nothing() { # name, command…
    local name=$1
    shift
    "$@" uninstall --purge --yes >/dev/null
    find "$HOME" -mindepth 1 -name '*sayso*' -print >"$work/left"
    [ ! -s "$work/left" ] || fail "$(cat "$work/left")" "$name left files of Sayso."
    pass "$name leaves nothing after uninstall"
}

archive_of_this_machine() {
    find "$dist" -maxdepth 1 -name "sayso-$version-$(uname -m)-unknown-linux-*.tar.gz" | head -n 1
}
