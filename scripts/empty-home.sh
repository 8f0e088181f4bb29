#!/usr/bin/env bash
# Runs a command with an empty home directory: empty-home.sh COMMAND [ARGUMENT…]. The home directory is temporary.
# Only downloads (cargo's registry, npm's and pip's caches) and the configuration of package mirrors come from outside.
set -euo pipefail

if [ "$#" -eq 0 ]; then
    echo "usage: empty-home.sh COMMAND [ARGUMENT…]" >&2
    exit 2
fi

home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT

for name in .npmrc .config/pip/pip.conf .pip/pip.conf; do
    [ ! -f "$HOME/$name" ] || install -D -m 600 "$HOME/$name" "$home/$name"
done

environment=(
    "HOME=$home"
    # Not a link in the new home directory: Cargo compiles everything again when this path changes.
    "CARGO_HOME=${CARGO_HOME:-$HOME/.cargo}"
    "RUSTUP_HOME=${RUSTUP_HOME:-$HOME/.rustup}"
    "npm_config_cache=${npm_config_cache:-$HOME/.npm}"
    "PIP_CACHE_DIR=${PIP_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/pip}"
    "SAYSO_EMPTY_HOME=1"
)
remove=()
for name in XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_RUNTIME_DIR; do
    remove+=(--unset="$name")
done

status=0
env "${remove[@]}" "${environment[@]}" "$@" || status=$?
exit "$status"
