#!/usr/bin/env bash
# A root directory with nothing but the program, as in an image `FROM scratch` or a distribution with another libc: the server
# starts and opens an ask.
set -euo pipefail
. "$(dirname "$0")/common.sh"

root=$work/root
mkdir -p "$root/home" "$root/tmp"
tar -xzf "$(archive_of_this_machine)" -C "$root" --strip-components=2 "$(basename "$(archive_of_this_machine)" .tar.gz)/bin/sayso"
inside() { # arguments of sayso
    env -i PATH=/usr/sbin:/sbin HOME=/home TMPDIR=/tmp chroot "$root" /sayso "$@"
}
inside --version
env -i PATH=/usr/sbin:/sbin HOME=/home TMPDIR=/tmp chroot "$root" /sayso serve --listen 127.0.0.1:0 >"$work/serve.log" 2>&1 &
background=$!
shows "$background" "$work/serve.log" 'listening on' || fail "$(cat "$work/serve.log")" "The server did not start."
inside ask "Which libc?" --no-wait >/dev/null
lists "Which libc?" inside
pass "a root directory with one file is enough"
