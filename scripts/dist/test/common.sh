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

# Prints a time and its limit. Exceeding the limit is a failure only with SAYSO_DIST_STRICT=1, because the machine may be busy.
took() { # milliseconds, limit in milliseconds, what took them
    local mark=ok
    [ "$1" -le "$2" ] || mark=SLOW
    printf '%s: %s %s ms; the limit is %s ms\n' "$mark" "$3" "$1" "$2"
    [ "$mark" = ok ] || [ "${SAYSO_DIST_STRICT:-}" != 1 ] || fail "This is too slow for SAYSO_DIST_STRICT=1."
}

# Expects a file of dist/. Without it, the test fails, or ends if SAYSO_DIST_PARTIAL=1.
require() { # file, name
    if [ ! -f "$1" ]; then
        [ "${SAYSO_DIST_PARTIAL:-}" = 1 ] || fail "There is no $2 in $dist. To test only what was built, set SAYSO_DIST_PARTIAL=1."
        echo "skipped: there is no $2"
        exit 0
    fi
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
    script --quiet --return --flush --command "${*@Q} start mock 'ask me a question'" "$log" <"$keys" >/dev/null 2>&1 &
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

# Waits until the log has a line that matches. Fails if the process ends before, and after 60 seconds.
shows() { # process, log, pattern
    local deadline=$((SECONDS + 60))
    until tr -d '\r' <"$2" | sed 's/\x1b\[[0-9;?]*[a-zA-Z]//g' | grep -- "$3" >/dev/null; do
        kill -0 "$1" 2>/dev/null || return 1
        if [ "$SECONDS" -ge "$deadline" ]; then
            echo "No line matched '$3' within 60 s." >&2
            return 1
        fi
        sleep 0.05
    done
}

# Expects an ask in the list.
lists() { # question, command…
    local question=$1
    shift
    "$@" ls >"$work/ls"
    grep -qF -- "$question" "$work/ls" || fail "$(cat "$work/ls")" "The ask is not listed: $question"
}

# Expects a text in the output of doctor, which fails if a check fails.
doctor_says() { # text, command…
    local text=$1
    shift
    "$@" doctor >"$work/doctor" 2>&1 || true
    grep -qF -- "$text" "$work/doctor" || fail "$(cat "$work/doctor")" "doctor does not say: $text"
}

# Writes a database of an older release into a data directory that does not exist yet. It has `older_question` as a pending ask.
older_question="Which test runner should I use?"
write_older_database() { # data directory
    local schema
    schema=$(find "$repository/crates/store/tests/fixtures" -name 'schema-*.sql' | sort --version-sort | tail -n 1)
    mkdir -p "$(dirname "$1")"
    mkdir -m 700 "$1"
    (umask 077 && python3 -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(open(sys.argv[2]).read())' "$1/sayso.db" "$schema")
}

# Runs the program on the database of an older release, and expects its ask and the copy that is made before the upgrade.
upgrades_older_database() { # data directory, name, command…
    local directory=$1 name=$2
    shift 2
    "$@" ask "Pending over the upgrade?" --no-wait >/dev/null
    lists "$older_question" "$@"
    compgen -G "$directory/sayso.before-*.db" >/dev/null || fail "$name did not upgrade the database of an older release."
    pass "$name upgrades the database of an older release and keeps its asks"
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
