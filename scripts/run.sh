#!/usr/bin/env bash
# Opens a first ask of the mock agent in this terminal. `sayso start` starts the server if none answers.
set -euo pipefail

sayso=$1
data=${SAYSO_DATA_DIR:-${XDG_STATE_HOME:-$HOME/.local/state}/sayso}

cat <<TEXT

The server stays in the background when this ends.
  stop it       $sayso stop
  its log       $data/logs/sayso.log
  what waits    $sayso

TEXT
exec "$sayso" start mock "ask me a question"
