# Sourced by the scripts of `make dist`: names, versions and the few functions that they share.
# shellcheck shell=bash

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
repository=$PWD
dist=$(realpath -m "${SAYSO_DIST_DIR:-dist}")
build=$(realpath -m "${SAYSO_DIST_BUILD:-${CARGO_TARGET_DIR:-target}/dist}")
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)

# A source archive has no repository and names its commit in these variables.
SAYSO_COMMIT=${SAYSO_COMMIT:-$(git rev-parse --short=12 HEAD)$(git diff --quiet HEAD 2>/dev/null || echo -modified)}
SAYSO_COMMIT_DATE=${SAYSO_COMMIT_DATE:-$(git show --no-patch --format=%cs HEAD)}
# Times in archives and packages are the time of the commit, so that two builds are equal.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git show --no-patch --format=%ct HEAD)}
export SAYSO_COMMIT SAYSO_COMMIT_DATE SOURCE_DATE_EPOCH
umask 022
# The same order and the same messages on every machine. Not LC_ALL=C: Sayso prints ASCII symbols there.
export LC_ALL=C.UTF-8

fail() {
    printf '%s\n' "$@" >&2
    exit 1
}

# The targets whose binaries exist, as the directories of $build/bin.
built_targets() {
    find "$build/bin" -mindepth 2 -maxdepth 2 -name sayso -printf '%P\n' 2>/dev/null | sed 's|/sayso$||' | sort
}

binary_of() { # target
    echo "$build/bin/$1/sayso"
}

# linux-x64, as Node.js names platforms.
node_platform() { # target
    case "$1" in
    x86_64-unknown-linux-*) echo linux-x64 ;;
    aarch64-unknown-linux-*) echo linux-arm64 ;;
    x86_64-apple-darwin) echo darwin-x64 ;;
    aarch64-apple-darwin) echo darwin-arm64 ;;
    *) fail "There is no npm platform for $1." ;;
    esac
}

# amd64, as Debian names architectures. Fails for other systems.
debian_architecture() { # target
    case "$1" in
    x86_64-unknown-linux-*) echo amd64 ;;
    aarch64-unknown-linux-*) echo arm64 ;;
    *) return 1 ;;
    esac
}

# A tar archive of a directory that depends on its content alone.
pack() { # parent directory, name, archive
    tar --directory "$1" --sort=name --format=ustar --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
        --create "$2" | gzip --no-name --best >"$3"
}
