#!/usr/bin/env bash
# Asks a person a question over HTTP and prints the answer: examples/curl/ask.sh
# Uses the server in SAYSO_URL and the token in SAYSO_TOKEN, by default those of this machine.
set -euo pipefail

url=${SAYSO_URL:-http://127.0.0.1:4517}
token=${SAYSO_TOKEN:-$(cat ~/.local/state/sayso/token)}

api() { # path, curl arguments
    local path=$1
    shift
    curl --silent --show-error --fail-with-body --header "Authorization: Bearer $token" --header "Content-Type: application/json" \
        "$@" "$url$path"
}

field() { # name; prints the first string with this name
    grep --only-matching "\"$1\":\"[^\"]*\"" | head --lines=1 | cut --delimiter='"' --fields=4
}

# The key makes it safe to repeat the request when the response is lost.
ask=$(api /v1/asks --header "Idempotency-Key: backup-$$-$RANDOM" --data '{
    "title": "Nightly backup",
    "questions": [{ "header": "Target", "text": "Where should the backup go?", "options": [{ "label": "NAS" }, { "label": "S3" }] }]
}' | field id)

# A request waits for 60 seconds at most, so ask again until there is an outcome.
outcome=pending
while [ "$outcome" = pending ]; do
    reply=$(api "/v1/asks/$ask?wait=30s")
    outcome=$(field status <<<"$reply")
done

if [ "$outcome" = answered ]; then
    echo "Backing up to $(grep --only-matching '"answers":\[\["[^"]*"' <<<"$reply" | cut --delimiter='"' --fields=4)"
else
    echo "No answer, no backup"
fi
