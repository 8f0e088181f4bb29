#!/usr/bin/env bash
# Compiles the static binary of one target: binary.sh TARGET. It takes the first of these ways that works here:
#
# 1. The standard library of the target is installed (`rustup target add TARGET`).
# 2. The sources of the standard library are installed (`rustup component add rust-src`, or rust-src of Debian for Debian's own
#    rustc), which are then compiled as well.
# 3. Unless SAYSO_DIST_ALL is set, for a musl target of this machine's architecture: glibc, linked statically. Such a binary is packed under the name of its
#    real target, …-gnu. It needs no libraries either, but resolves host names through the name service of the machine only if
#    that has the same version of glibc.
set -euo pipefail
. "$(dirname "$0")/common.sh"

target=$1
PATH=$build/tools/bin:$PATH
sysroot=$(rustc --print sysroot)
linker_flags=()
cargo=(cargo zigbuild)
if [ -d "$sysroot/lib/rustlib/$target/lib" ]; then
    echo "Using the installed standard library of $target."
elif [ -d "$sysroot/lib/rustlib/src/rust/library" ]; then
    echo "Compiling the standard library for $target."
    export RUSTC_BOOTSTRAP=1
    cargo+=(-Z build-std=std,panic_unwind)
    linker_flags=(-C link-self-contained=no)
elif [ -n "${SAYSO_DIST_ALL:-}" ]; then
    fail "No binary for $target: its standard library and the sources of it are missing. Run: rustup target add $target"
elif [[ "$target" == "$(uname -m)-unknown-linux-musl" ]]; then
    target=${target%musl}gnu
    echo "There is no standard library for musl, and its sources are not installed. Linking glibc statically instead." >&2
    echo "For musl: rustup target add $1" >&2
    cargo=(cargo build)
    # Also at a fixed address: build.rs links with -no-pie, and a static program that is not compiled for that crashes.
    linker_flags=(-C target-feature=+crt-static -C relocation-model=static)
else
    echo "No binary for $target: its standard library and the sources of it are missing. Run: rustup target add $target" >&2
    exit 0
fi

# Paths of this machine would make two builds differ.
flags=("${linker_flags[@]}" "--remap-path-prefix=$repository=/sayso" "--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo")
flags+=("--remap-path-prefix=$sysroot=/rust" "--remap-path-prefix=$build=/build")
export CARGO_ENCODED_RUSTFLAGS CARGO_TARGET_DIR=$build/cargo
CARGO_ENCODED_RUSTFLAGS=$(IFS=$'\x1f' && echo "${flags[*]}")
# Quoted for paths with spaces. The second variable makes the crate cc read the quotes.
CFLAGS=$(printf '%q ' "-ffile-prefix-map=${CARGO_HOME:-$HOME/.cargo}=/cargo" "-ffile-prefix-map=$build=/build")
export CFLAGS CC_SHELL_ESCAPED_FLAGS=1
"${cargo[@]}" --locked --release --package sayso --target "$target"

binary=$(binary_of "$target")
install -D -m 755 "$CARGO_TARGET_DIR/$target/release/sayso" "$binary"
python3 scripts/dist/auditable.py "$target" "$binary"
scripts/dist/require-static.sh "$binary"
