#!/usr/bin/env bash
# Checks that the tools are there. `need.sh build` for building, `need.sh test` for the tests,
# `need.sh agents` for those with real agents.
# What is missing is installed when that is possible without asking; otherwise this says how to get it.
set -euo pipefail

packages=()

package_for() { # command, Debian package
    command -v "$1" >/dev/null 2>&1 || packages+=("$2")
}

for what in "$@"; do
    case "$what" in
    build)
        package_for cc build-essential
        if ! command -v cargo >/dev/null 2>&1; then
            echo "cargo is missing. Install Rust from https://rustup.rs, open a new shell and try again." >&2
            exit 1
        fi
        ;;
    test)
        package_for git git
        package_for tmux tmux
        package_for python3 python3
        # Debian has the module without what it needs to make an environment.
        python3 -c 'import venv, ensurepip' >/dev/null 2>&1 || packages+=(python3-venv)
        ;;
    agents)
        package_for unshare util-linux
        package_for flock util-linux
        package_for ip iproute2
        if ! command -v npm >/dev/null 2>&1; then
            echo "npm is missing. Install Node.js 20 or newer and try again." >&2
            exit 1
        fi
        ;;
    *)
        echo "need.sh: unknown word: $what" >&2
        exit 2
        ;;
    esac
done

[ "${#packages[@]}" -eq 0 ] && exit 0

if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}"
else
    echo "Missing: ${packages[*]}. On Debian or Ubuntu: sudo apt-get install ${packages[*]}" >&2
    exit 1
fi
