#!/usr/bin/env bash
# Checks that the tools are there. `need.sh build` for building, `need.sh page` for building the page, `need.sh test` for
# the tests, `need.sh browser` for those of the page, `need.sh agents` for those with real agents.
# What is missing is installed when that is possible without asking; otherwise this says how to get it.
set -euo pipefail

packages=()

package_for() { # command, Debian package
    command -v "$1" >/dev/null 2>&1 || packages+=("$2")
}

node_is_there() {
    if ! command -v npm >/dev/null 2>&1 ||
        ! node -e 'const [a, b] = process.versions.node.split("."); process.exit(a * 100 + +b >= 2019 ? 0 : 1)'; then
        echo "npm is missing or old. Install Node.js 20.19 or newer and try again." >&2
        exit 1
    fi
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
    page)
        node_is_there
        ;;
    browser)
        package_for chromium chromium
        package_for ip iproute2
        package_for openssl openssl
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
        node_is_there
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
