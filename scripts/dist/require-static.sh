#!/usr/bin/env bash
# Fails if a Linux binary needs a loader or a shared library, or is larger than 25 MB: require-static.sh BINARY.
set -euo pipefail

python3 - "$1" <<'PYTHON'
import struct
import sys

path = sys.argv[1]
with open(path, "rb") as file:
    binary = file.read()
if binary[:4] != b"\x7fELF":
    sys.exit(f"{path} is not a Linux program.")
(start,) = struct.unpack_from("<Q", binary, 32)
size, count = struct.unpack_from("<HH", binary, 54)
for index in range(count):
    kind, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", binary, start + index * size)
    if kind == 3:
        sys.exit(f"{path} needs the loader {binary[offset:offset + length - 1].decode()}.")
    # The dynamic section of a position-independent static program names no library.
    if kind == 2 and any(tag == 1 for tag, _ in struct.iter_unpack("<qQ", binary[offset : offset + length])):
        sys.exit(f"{path} needs shared libraries.")
if len(binary) > 25_000_000:
    sys.exit(f"{path} has {len(binary) / 1e6:.1f} MB, and 25 MB are the limit.")
print(f"{path}: static, {len(binary) / 1e6:.1f} MB")
PYTHON
