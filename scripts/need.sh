#!/usr/bin/env bash
# Checks for the tools that a command needs, and reports everything that is missing in one message:
#
#   need.sh build      compile the server
#   need.sh page       build the web page
#   need.sh test       run the Rust tests
#   need.sh browser    run the tests of the page
#   need.sh agents     run the tests with real agents
#   need.sh dist       build the packages, and as root the image unless SAYSO_DIST_IMAGE is `no`
#   need.sh dist-test  test the packages
#
# Debian packages are installed if this runs as root. All other users get the command that installs them.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=()
problems=()

package_for() { # command, Debian package
    if ! type -P "$1" >/dev/null && [[ " ${packages[*]} " != *" $2 "* ]]; then
        packages+=("$2")
    fi
}

check_node() {
    if ! type -P npm >/dev/null ||
        ! node -e 'const [a, b] = process.versions.node.split("."); process.exit(a * 100 + +b >= 2019 ? 0 : 1)' 2>/dev/null; then
        problems+=("npm is missing or too old. Install Node.js 20.19 or newer.")
    fi
}

check_cargo() {
    type -P cargo >/dev/null || problems+=("cargo is missing. Install Rust from https://rustup.rs and open a new shell.")
}

# Debian's python3 has the venv module, but not the ensurepip module that venv needs.
check_venv() {
    package_for python3 python3
    python3 -c 'import venv, ensurepip' >/dev/null 2>&1 || packages+=(python3-venv)
}

# Ubuntu's debootstrap does not install the keys of Debian.
check_debootstrap() {
    package_for debootstrap debootstrap
    [ -f /usr/share/keyrings/debian-archive-keyring.gpg ] || packages+=(debian-archive-keyring)
}

# Tests start a PostgreSQL of their own.
check_postgresql() {
    compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || packages+=(postgresql)
}

# Debian's package would start a server for the whole machine, which nothing here needs.
without_system_server() {
    mkdir -p /etc/postgresql-common/createcluster.d
    echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.d/sayso.conf
}

# Tests start a PgBouncer of their own.
check_pgbouncer() {
    [ -x /usr/sbin/pgbouncer ] || packages+=(pgbouncer)
}

without_system_pooler() {
    mkdir -p /etc/systemd/system
    ln -sfn /dev/null /etc/systemd/system/pgbouncer.service
}

# Tests mount file systems and use networks of their own, in namespaces that any user may create.
check_namespaces() {
    type -P unshare >/dev/null || return 0
    if [ "$(id -u)" -eq 0 ] && unshare --mount --net true 2>/dev/null; then
        return 0
    fi
    unshare --user --map-root-user --mount --net true 2>/dev/null && return 0
    local settings=()
    [ "$(sysctl_value kernel/unprivileged_userns_clone)" != 0 ] || settings+=(kernel.unprivileged_userns_clone=1)
    [ "$(sysctl_value kernel/apparmor_restrict_unprivileged_userns)" != 1 ] ||
        settings+=(kernel.apparmor_restrict_unprivileged_userns=0)
    [ "$(sysctl_value user/max_user_namespaces)" != 0 ] || settings+=(user.max_user_namespaces=10000)
    [ "$(sysctl_value user/max_net_namespaces)" != 0 ] || settings+=(user.max_net_namespaces=10000)
    local remedy="Run the tests as root, or outside the container or sandbox that forbids namespaces."
    [ "${#settings[@]}" -eq 0 ] || remedy="Allow namespaces: sudo sysctl -w ${settings[*]}"
    problems+=("You cannot create a namespace: \`unshare --user --map-root-user --mount --net true\` fails. $remedy")
}

sysctl_value() { # path below /proc/sys
    cat "/proc/sys/$1" 2>/dev/null || true
}

for what in "$@"; do
    case "$what" in
    build)
        package_for cc build-essential
        check_cargo
        ;;
    page)
        check_node
        ;;
    browser)
        package_for chromium chromium
        # Most tests run faster in this one. Where there is no such package, Chromium runs all of them.
        ! grep -qx ID=debian /etc/os-release || package_for chromium-headless-shell chromium-headless-shell
        package_for ip iproute2
        package_for openssl openssl
        package_for unshare util-linux
        check_node
        check_namespaces
        ;;
    test)
        package_for curl curl
        package_for git git
        package_for tmux tmux
        package_for ip iproute2
        package_for mount mount
        package_for unshare util-linux
        check_venv
        check_postgresql
        check_pgbouncer
        check_namespaces
        ;;
    agents)
        package_for unshare util-linux
        package_for flock util-linux
        package_for ip iproute2
        check_node
        check_namespaces
        ;;
    dist)
        package_for dpkg-deb dpkg
        check_venv
        if [ "${SAYSO_DIST_IMAGE:-}" != no ] && [ "$(id -u)" -eq 0 ]; then
            check_debootstrap
            package_for buildah buildah
        fi
        ;;
    dist-test)
        package_for ip iproute2
        package_for mount mount
        package_for unshare util-linux
        package_for script bsdutils
        package_for qemu-aarch64-static qemu-user-static
        if [ "$(id -u)" -eq 0 ]; then
            package_for dpkg-deb dpkg
            check_debootstrap
            package_for podman podman
            package_for crun crun
            package_for newuidmap uidmap
        fi
        check_venv
        check_node
        check_namespaces
        ;;
    *)
        echo "need.sh: unknown argument: $what" >&2
        exit 2
        ;;
    esac
done

if [ "${#packages[@]}" -gt 0 ]; then
    if [ "$(id -u)" -eq 0 ] && type -P apt-get >/dev/null && [ -z "${SAYSO_PACKAGES_INSTALLED:-}" ]; then
        [[ " ${packages[*]} " != *" postgresql "* ]] || without_system_server
        [[ " ${packages[*]} " != *" pgbouncer "* ]] || without_system_pooler
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}"
        # Checks that were skipped because their tool was missing run now.
        SAYSO_PACKAGES_INSTALLED=1 exec scripts/need.sh "$@"
    fi
    problems+=("Missing packages: ${packages[*]}. On Debian or Ubuntu: sudo apt-get install ${packages[*]}")
fi

if [ "${#problems[@]}" -gt 0 ]; then
    printf '%s\n' "${problems[@]}" | awk '!seen[$0]++' >&2
    exit 1
fi
