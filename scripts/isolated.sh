#!/usr/bin/env bash
# Runs a command where nothing but the loopback interface can be reached, with an empty home directory and
# hardly any environment: isolated.sh COMMAND [ARGUMENT…]. Real agents are tested only inside it.
set -euo pipefail

loopback_up() {
    if command -v ip >/dev/null 2>&1; then
        ip link set lo up
    elif command -v ifconfig >/dev/null 2>&1; then
        ifconfig lo 127.0.0.1 up
    elif command -v python3 >/dev/null 2>&1; then
        # SIOCSIFFLAGS with IFF_UP | IFF_LOOPBACK | IFF_RUNNING.
        python3 -c 'import fcntl, socket, struct
fcntl.ioctl(socket.socket(socket.AF_INET, socket.SOCK_DGRAM), 0x8914, struct.pack("16sH14x", b"lo", 0x49))'
    else
        echo "Nothing here can bring up the loopback interface. On Debian or Ubuntu: apt-get install iproute2" >&2
        return 1
    fi
}

# Codex keeps the socket of its daemon in /tmp/codex-daemon-UID, whatever TMPDIR says, and refuses a directory that belongs
# to another user. In a user namespace every user is 0, so tests of two users would share the directory.
hide_codex_sockets() {
    local folder=/tmp/codex-daemon-0
    mkdir -p -m 700 "$folder"
    mount -t tmpfs -o mode=700 tmpfs "$folder"
}

if [ "${1:-}" = --inside ]; then
    shift
    loopback_up
    hide_codex_sockets
    exec "$@"
fi
if [ "$#" -eq 0 ]; then
    echo "usage: isolated.sh COMMAND [ARGUMENT…]" >&2
    exit 2
fi

as_root=(unshare --net --mount)
as_anybody=(unshare --user --map-root-user --net --mount)
if [ "$(id -u)" -eq 0 ] && "${as_root[@]}" true 2>/dev/null; then
    namespace=("${as_root[@]}")
elif "${as_anybody[@]}" true 2>/dev/null; then
    namespace=("${as_anybody[@]}")
else
    echo "This machine lets you make no network namespace: \`${as_anybody[*]} true\` fails." >&2
    echo "Run this as root, or allow it: sudo sysctl kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0" >&2
    exit 1
fi

home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT

# The variables that builds and tests need, without tokens and without settings of agents.
environment=(
    "PATH=$PATH"
    "HOME=$home"
    "XDG_CACHE_HOME=${XDG_CACHE_HOME:-$HOME/.cache}"
    "CARGO_HOME=${CARGO_HOME:-$HOME/.cargo}"
    "RUSTUP_HOME=${RUSTUP_HOME:-$HOME/.rustup}"
)
while read -r name; do
    case "$name" in
    *TOKEN* | *SECRET* | *PASSWORD* | CARGO_HOME | RUSTUP_HOME) ;;
    CARGO_* | RUST* | INSTA_* | PROPTEST_* | NEXTEST_* | SAYSO_BIN | CI | TERM | LANG | LC_ALL | TMPDIR)
        environment+=("$name=${!name}")
        ;;
    esac
done < <(compgen -e)

status=0
env -i "${environment[@]}" "${namespace[@]}" "$(realpath "$0")" --inside "$@" || status=$?
exit "$status"
