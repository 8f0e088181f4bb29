#!/usr/bin/env bash
# Tests directories that Sayso cannot use: a HOME that is not writable, and a file system that forbids executables.
set -euo pipefail
. "$(dirname "$0")/common.sh"

tar -xzf "$(archive_of_this_machine)" -C "$work" --strip-components=1
sayso=$work/bin/sayso

expect() { # name, pattern, command…
    local name=$1 pattern=$2 out code=0
    shift 2
    out=$("$@" 2>&1) || code=$?
    [[ "$out" =~ $pattern ]] || fail "$out" "$name: the message is not clear."
    [ "$code" -ne 0 ] || fail "$name: the exit code is 0."
    pass "$name: $(head -n 1 <<<"$out")"
}

# Also after a failure, before the directory is removed.
unmount() {
    umount "$work/readonly" "$work/noexec" 2>/dev/null || true
    end
}
trap unmount EXIT
mkdir "$work/readonly"
mount -t tmpfs -o ro tmpfs "$work/readonly"
expect "read-only HOME" "Cannot create .*: Read-only file system.*--data-dir" \
    env "HOME=$work/readonly" "$sayso" ask "Which?" --no-wait
expect "no HOME" "HOME is not set" env -u HOME "$sayso" ask "Which?" --no-wait

mkdir "$work/noexec"
mount -t tmpfs -o noexec tmpfs "$work/noexec"
modules=$work/noexec/node_modules/@sayso
mkdir -p "$modules/cli"
tar -xzf "$dist/sayso-cli-$version.tgz" -C "$modules/cli" --strip-components=1
for package in "$dist"/sayso-cli-*-"$version".tgz; do
    name=$(basename "$package" "-$version.tgz")
    mkdir "$modules/${name#sayso-}"
    tar -xzf "$package" -C "$modules/${name#sayso-}" --strip-components=1
done
expect "noexec directory" "may be mounted with noexec" node "$modules/cli/launcher.js" --version
