#!/usr/bin/env bash
# The binary for aarch64, run by qemu: the server starts and opens an ask.
set -euo pipefail
. "$(dirname "$0")/common.sh"

archive=$(find "$dist" -maxdepth 1 -name "sayso-$version-aarch64-unknown-linux-*.tar.gz" | head -n 1)
require "$archive" "archive for aarch64"
type -P qemu-aarch64-static >/dev/null || fail "qemu is missing. On Debian or Ubuntu: sudo apt-get install qemu-user-static"
tar -xzf "$archive" -C "$work" --strip-components=1
sayso=(qemu-aarch64-static "$work/bin/sayso")
"${sayso[@]}" --version
"${sayso[@]}" serve --listen 127.0.0.1:0 >"$work/serve.log" 2>&1 &
background=$!
shows "$background" "$work/serve.log" 'listening on' || fail "$(cat "$work/serve.log")" "The server did not start."
"${sayso[@]}" ask "Which architecture?" --no-wait >/dev/null
lists "Which architecture?" "${sayso[@]}"
pass "the server runs on aarch64"
