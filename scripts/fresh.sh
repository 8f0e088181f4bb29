#!/usr/bin/env bash
# Runs the two commands of the README the way a new user does: `make run` and `make test` on a minimal Debian 12, as an
# ordinary user with an empty home directory. See fresh.sh --help.
set -euo pipefail

SUITE=bookworm
PERSON=newcomer
# The tools that fetch and start the build. All other packages are those that scripts/need.sh asks for.
PACKAGES=ca-certificates,git,make
# The disk space that the build, the tests and the downloads need, in GB.
SPACE=20

usage() {
    cat <<TEXT
usage: fresh.sh [--run-only] [--keep] [--dir DIR] [--mirror URL]

Creates a minimal Debian 12 root directory, copies the installed Rust and Node.js into it, clones this repository at
HEAD, and runs \`make run\` (with the first question answered) and \`make test\` there as an ordinary user with an empty
home directory. Packages are installed only when scripts/need.sh asks for them. Prints the time that each phase takes.

  --run-only    skip \`make test\`
  --keep        keep the root directory
  --dir DIR     create the root directory at DIR, by default below \${TMPDIR:-/tmp}
  --mirror URL  the Debian mirror, by default the mirror of this machine's apt

Needs root, debootstrap, $SPACE GB of disk space and a network. Mounts are made in a namespace of their own and are gone
when the script ends. Your proxy variables, certificates and package mirror configuration are passed on.
TEXT
}

fail() {
    printf '%s\n' "$@" >&2
    exit 1
}

# Phases

phase_name=
phase_start=0
times=()

phase() { # name
    end_phase
    phase_name=$1
    phase_start=$SECONDS
    echo "== $1"
}

end_phase() {
    [ -n "$phase_name" ] || return 0
    local took=$((SECONDS - phase_start))
    local line
    line=$(printf '%3d min %02d s  %s' $((took / 60)) $((took % 60)) "$phase_name")
    echo "$line"
    times+=("$line")
    phase_name=
}

# Inside the new root directory

as_person() { # command
    local passed_on
    mapfile -t passed_on </etc/fresh/environment
    runuser -u "$PERSON" -- env -i --chdir="/home/$PERSON/sayso" "${passed_on[@]}" \
        "HOME=/home/$PERSON" "USER=$PERSON" "LOGNAME=$PERSON" SHELL=/bin/bash TERM=xterm-256color LANG=C.UTF-8 \
        PATH=/opt/rust/bin:/usr/local/bin:/usr/bin:/bin "$@"
}

# Installs the packages that need.sh asked for in this log. Fails if it asked for none.
install_packages() { # log
    local packages
    packages=$(sed -n 's/.*sudo apt-get install \([a-z0-9.+ -]*\).*/\1/p' "$1" | tail -n 1)
    [ -n "$packages" ] || return 1
    phase "sudo apt-get install $packages"
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive apt-get install --yes $packages >/var/log/fresh-apt.log 2>&1 ||
        fail "$(tail -n 20 /var/log/fresh-apt.log)" "The packages could not be installed."
}

# Runs make with a terminal, answers the first question with its first option, and leaves the session.
make_run() { # log
    local keys=/tmp/fresh-keys log=$1 started=$SECONDS
    rm -f "$keys"
    mkfifo --mode=666 "$keys"
    as_person script --quiet --return --flush --command "make run" "$log" <"$keys" &
    local running=$!
    exec 7>"$keys"
    if ! shows "$running" "$log" 'Select \['; then
        exec 7>&-
        wait "$running" || return
        fail "make run ended without a question."
    fi
    local took=$((SECONDS - started))
    times+=("$(printf '%3d min %02d s  make run, until the first question' $((took / 60)) $((took % 60)))")
    printf '1\r' >&7
    shows "$running" "$log" 'You answered' || fail "The answer did not reach the agent."
    shows "$running" "$log" '^> $' || fail "The session ended too early."
    printf '\004' >&7
    exec 7>&-
    wait "$running"
}

# Waits until the log has a line that matches. Fails if the process ends before.
shows() { # process, log, pattern
    # -a: a terminal log can hold bytes that are not text. Not -q: it would end before its input does, which pipefail takes for a failure.
    # shellcheck disable=SC2143
    until [ -n "$(tr -d '\r' <"$2" | sed 's/\x1b\[[0-9;?]*[a-zA-Z]//g' | grep -a -- "$3")" ]; do
        kill -0 "$1" 2>/dev/null || return 1
        sleep 0.2
    done
}

make_test() { # log
    as_person make test </dev/null 2>&1 | tee "$1"
}

# Runs a function. While need.sh asks for packages, installs them and runs the function again, as a user would.
with_packages() { # phase, function
    local log
    while true; do
        log=$(mktemp --tmpdir fresh-log.XXXXXX)
        chown "$PERSON" "$log"
        phase "$1"
        if "$2" "$log"; then
            return 0
        fi
        install_packages "$log" || fail "$1 failed."
    done
}

inside() { # "run" or "test"
    phase "apt-get update"
    apt-get update --quiet=2
    with_packages "make run" make_run
    if [ "$1" = test ]; then
        with_packages "make test" make_test
    fi
    end_phase
    printf '\n%s\n' "Times on $(nproc) cores, as the user $PERSON:" "${times[@]}"
}

# Outside

check_requirements() {
    local missing=()
    if [ "$(id -u)" -ne 0 ]; then
        fail "fresh.sh needs root to create a Debian root directory and to mount /proc and /dev in it. Run:" \
            "  sudo env \"PATH=\$PATH\" \"HOME=\$HOME\" scripts/fresh.sh"
    fi
    type -P debootstrap >/dev/null || missing+=(debootstrap)
    type -P git >/dev/null || missing+=(git)
    type -P unshare >/dev/null || missing+=(util-linux)
    [ "${#missing[@]}" -eq 0 ] || fail "Missing packages: ${missing[*]}. Run: apt-get install ${missing[*]}"
    type -P rustc >/dev/null || fail "rustc is missing. Install Rust from https://rustup.rs and open a new shell."
    type -P npm >/dev/null || fail "npm is missing. Install Node.js 20.19 or newer."
    unshare --mount --pid --fork true 2>/dev/null ||
        fail "root cannot create a mount and a PID namespace here: \`unshare --mount --pid --fork true\` fails." \
            "Run fresh.sh on a machine, in a virtual machine or in a privileged container (docker run --privileged)."
    setpriv --reuid=65534 --regid=65534 --clear-groups unshare --user --map-root-user --mount --net true 2>/dev/null ||
        fail "Ordinary users cannot create a user namespace here, and the tests need one. Allow it:" \
            "  sysctl -w kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0 user.max_user_namespaces=10000" \
            "A kernel that does not know one of these settings does not need it."
    local free
    free=$(df --output=avail --block-size=1G "$(dirname "$root")" | tail -n 1)
    [ "$free" -ge "$SPACE" ] ||
        fail "$(dirname "$root") has $free GB of free space, and the tests need $SPACE GB. Name another place: fresh.sh --dir DIR"
    [ -z "$(git -C "$repository" status --porcelain)" ] || echo "Note: changes that are not committed are not part of this run."
}

# The sources of this machine's apt for the suite: URI, release.
host_sources() {
    type -P apt-get >/dev/null || return 0
    # shellcheck disable=SC2016
    apt-get indextargets 'Created-By: Packages' --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 2>/dev/null |
        awk -v suite="$SUITE" '$3 == "main" && ($2 == suite || $2 == suite "-updates" || $2 == suite "-security") { print $1, $2 }'
}

make_root() {
    local sources
    sources=$(host_sources)
    [ -z "$mirror" ] || sources="$mirror $SUITE"
    mirror=${mirror:-$(awk -v suite="$SUITE" '$2 == suite { print $1; exit }' <<<"$sources")}
    debootstrap --variant=minbase --include="$PACKAGES" "$SUITE" "$root" ${mirror:+"$mirror"} >"$work/debootstrap.log" 2>&1 ||
        fail "$(tail -n 20 "$work/debootstrap.log")" "debootstrap failed."
    chmod 755 "$root"
    if [ -n "$sources" ]; then
        awk '{ print "deb", $1, $2, "main" }' <<<"$sources" >"$root/etc/apt/sources.list"
    fi
    if type -P apt-config >/dev/null; then
        apt-config dump | grep -E '^Acquire::(https?|Retries|Check-Valid-Until)' >"$root/etc/apt/apt.conf.d/90fresh" || true
    fi
    cp --dereference /etc/resolv.conf /etc/hosts "$root/etc/"
    chroot "$root" useradd --create-home --shell /bin/bash "$PERSON"
}

copy_toolchain() {
    mkdir -p "$root/opt/rust" "$root/usr/local/bin" "$root/usr/local/lib/node_modules"
    local sysroot npm
    # In the repository, rustup picks the version of rust-toolchain.toml.
    sysroot=$(cd "$repository" && rustc --print sysroot)
    cp -a "$sysroot/bin" "$sysroot/lib" "$root/opt/rust/"
    cp --dereference "$(node -p process.execPath)" "$root/usr/local/bin/node"
    npm=$(realpath "$(dirname "$(realpath "$(type -P npm)")")/..")
    cp -a "$npm" "$root/usr/local/lib/node_modules/npm"
    ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
    ln -s ../lib/node_modules/npm/bin/npx-cli.js "$root/usr/local/bin/npx"
    chown -R 0:0 "$root/opt/rust" "$root/usr/local"
    chroot "$root" /opt/rust/bin/cargo --version >/dev/null || fail "The installed Rust does not run on Debian 12."
    chroot "$root" /usr/local/bin/npm --version >/dev/null || fail "The installed Node.js does not run on Debian 12."
}

# Proxies, certificates and mirrors. Certificates get a path of their own, so that no package overwrites them.
copy_configuration() {
    local home=$root/home/$PERSON name
    mkdir -p "$root/etc/fresh"
    : >"$root/etc/fresh/environment"
    while read -r name; do
        case "$name" in
        *TOKEN* | *SECRET* | *PASSWORD*) ;;
        SSL_CERT_FILE | NODE_EXTRA_CA_CERTS | PIP_CERT | REQUESTS_CA_BUNDLE | CURL_CA_BUNDLE | GIT_SSL_CAINFO | CARGO_HTTP_CAINFO)
            if [ -f "${!name}" ]; then
                install -m 644 "${!name}" "$root/etc/fresh/$name.pem"
                echo "$name=/etc/fresh/$name.pem" >>"$root/etc/fresh/environment"
            fi
            ;;
        http_proxy | https_proxy | no_proxy | all_proxy | HTTP_PROXY | HTTPS_PROXY | NO_PROXY | ALL_PROXY | \
            PIP_INDEX_URL | PIP_EXTRA_INDEX_URL | PIP_TRUSTED_HOST | PIP_DEFAULT_TIMEOUT | \
            NPM_CONFIG_* | npm_config_* | CARGO_SOURCE_* | CARGO_REGISTRIES_* | CARGO_NET_* | CARGO_HTTP_*)
            if [[ "${!name}" != *[[:space:]]* ]]; then
                echo "$name=${!name}" >>"$root/etc/fresh/environment"
            fi
            ;;
        esac
    done < <(compgen -e)
    for name in .npmrc .cargo/config.toml .config/pip/pip.conf .pip/pip.conf; do
        [ ! -f "$HOME/$name" ] || install -D -m 600 "$HOME/$name" "$home/$name"
    done
    [ ! -f /etc/pip.conf ] || install -m 644 /etc/pip.conf "$root/etc/pip.conf"
}

clone_repository() {
    local home=$root/home/$PERSON
    git clone --quiet --no-hardlinks "$repository" "$home/sayso"
    git -C "$home/sayso" checkout --quiet --detach "$(git -C "$repository" rev-parse HEAD)"
    chroot "$root" chown -R "$PERSON:$PERSON" "/home/$PERSON"
    install -m 755 "$script" "$root/etc/fresh/fresh.sh"
}

# Runs in the new namespaces. A chroot would not do: the kernel refuses user namespaces in it.
enter_root() { # root directory, "run" or "test"
    local name
    mount --bind "$1" "$1"
    cd "$1"
    mount -t proc proc proc
    mount -t sysfs sysfs sys
    mount -t tmpfs -o mode=755 tmpfs dev
    mkdir dev/pts dev/shm
    mount -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 devpts dev/pts
    mount -t tmpfs -o mode=1777 tmpfs dev/shm
    ln -s pts/ptmx dev/ptmx
    ln -s /proc/self/fd dev/fd
    ln -s /proc/self/fd/0 dev/stdin
    ln -s /proc/self/fd/1 dev/stdout
    ln -s /proc/self/fd/2 dev/stderr
    for name in null zero full random urandom tty; do
        touch "dev/$name"
        mount --bind "/dev/$name" "dev/$name"
    done
    mkdir -p .outside
    pivot_root . .outside
    cd /
    umount --lazy /.outside
    local proxies
    mapfile -t proxies < <(grep -i _proxy= /etc/fresh/environment)
    exec env -i "${proxies[@]}" PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
        bash /etc/fresh/fresh.sh --inside "$2"
}

script=$(realpath "$0")
case "${1:-}" in
--enter) enter_root "$2" "$3" ;;
--inside)
    inside "$2"
    exit
    ;;
esac

repository=$(realpath "$(dirname "$script")/..")
keep=
root=
mirror=
last_command="test"
while [ "$#" -gt 0 ]; do
    case "$1" in
    --run-only) last_command=run ;;
    --keep) keep=1 ;;
    --dir | --mirror)
        [ "$#" -ge 2 ] || fail "$1 needs a value."
        if [ "$1" = --dir ]; then root=$(realpath -m "$2"); else mirror=$2; fi
        shift
        ;;
    --help | -h)
        usage
        exit
        ;;
    *)
        usage >&2
        exit 2
        ;;
    esac
    shift
done

work=$(mktemp -d --tmpdir sayso-fresh.XXXXXX)
root=${root:-$work/root}
clean_up() {
    if [ -n "$keep" ] && [ -d "$root" ]; then
        echo "The root directory is kept: $root"
    elif [ -n "${root_is_ours:-}" ]; then
        rm -rf --one-file-system "$root"
    fi
    [ -n "$keep" ] || rm -rf --one-file-system "$work"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

if [ -e "$root" ] && [ -n "$(ls -A "$root" 2>/dev/null || echo "$root")" ]; then
    fail "$root exists and is not empty. Name another directory: fresh.sh --dir DIR"
fi
mkdir -p "$(dirname "$root")"
check_requirements
root_is_ours=1
phase "minimal Debian 12"
make_root
phase "toolchain, configuration and clone"
copy_toolchain
copy_configuration
clone_repository
end_phase
unshare --mount --pid --fork --kill-child --propagation private "$script" --enter "$root" "$last_command"
