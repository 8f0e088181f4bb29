#!/usr/bin/env bash
# Compiles and lints the workspace with all targets for macOS, on any system, with zig as the compiler of C code. Nothing is
# linked or run: the release workflow runs the tests on macOS. A standard library that is not installed is compiled from its
# sources, if need be with Debian's rustc (packages rustc-web, cargo-web, rust-web-src and rust-web-clippy). Without the sources it
# fails. With --if-possible it checks only what the rustc in PATH can check.
set -euo pipefail
cd "$(dirname "$0")/.."

tools=$(realpath -m "${CARGO_TARGET_DIR:-target}")/dist/tools
missing=()
find_library() {
    library=$(rustc --print sysroot)/lib/rustlib
    missing=()
    for target in aarch64-apple-darwin x86_64-apple-darwin; do
        [ -d "$library/$target/lib" ] || missing+=("$target")
    done
}
find_library
if [ "${#missing[@]}" -gt 0 ] && [ ! -d "$library/src/rust/library" ] && [ "${1:-}" != --if-possible ] &&
    [ -x /usr/bin/rustc ] && [ -d /usr/lib/rustlib/src/rust/library ] && [ -x /usr/bin/cargo-clippy ]; then
    export PATH=/usr/bin:$PATH
    find_library
    echo "Using $(rustc --version) of Debian."
fi
options=()
if [ "${#missing[@]}" -gt 0 ]; then
    if [ ! -d "$library/src/rust/library" ]; then
        echo "The standard library and its sources are missing for: ${missing[*]}. Run: rustup target add ${missing[*]}" >&2
        echo "On Debian: sudo apt-get install rustc-web cargo-web rust-web-src rust-web-clippy" >&2
        [ "${1:-}" = --if-possible ] || exit 1
        echo "Nothing was checked for macOS." >&2
        exit
    fi
    export RUSTC_BOOTSTRAP=1
    options=(-Z build-std)
fi
[ -x "$tools/bin/cargo-zigbuild" ] || scripts/dist/fetch.sh
export PATH=$tools/bin:$PATH CARGO_TARGET_DIR=$tools/../macos
for target in aarch64-apple-darwin x86_64-apple-darwin; do
    cargo-zigbuild clippy "${options[@]}" --workspace --all-targets --target "$target" -- -D warnings
done
