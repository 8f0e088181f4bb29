"""Embeds the list of crates in a Linux binary, in the section and the format of `cargo auditable`: `auditable.py TARGET BINARY`.

Scanners such as `cargo audit bin` and trivy read the section. It is not loaded into memory.
"""

import json
import pathlib
import struct
import sys
import zlib

import inventory

SECTION = b".dep-v0"
HEADER = struct.Struct("<IIQQQQIIQQ")
PROGRAM_BITS = 1
# The size limit of the section, in bytes.
LIMIT = 100_000


def crate_list(target: str) -> bytes:
    """The crates that the program is linked from. Dependencies are positions in the list."""
    crates = inventory.linked_crates(target)
    positions = {crate["id"]: position for position, crate in enumerate(crates)}
    packages = []
    for crate in crates:
        package = {"name": crate["name"], "version": crate["version"], "source": "crates.io" if crate["source"] else "local"}
        if dependencies := sorted(positions[id] for id in crate["dependencies"]):
            package["dependencies"] = dependencies
        if crate["name"] == inventory.PRODUCT:
            package["root"] = True
        packages.append(package)
    return zlib.compress(json.dumps({"packages": packages}, separators=(",", ":")).encode(), 9)


def sections(binary: bytes) -> tuple[list[tuple], int]:
    """The section headers, and the position of the one with the names."""
    (start,) = struct.unpack_from("<Q", binary, 40)
    count, names = struct.unpack_from("<HH", binary, 60)
    return [HEADER.unpack_from(binary, start + index * HEADER.size) for index in range(count)], names


def add_section(binary: bytes, content: bytes) -> bytes:
    """Appends the content, the longer table of names and a new section table."""
    headers, names = sections(binary)
    kind, flags, address, offset, size, *rest = headers[names][1:]
    content_at = len(binary)
    names_at = content_at + len(content)
    longer = binary[offset : offset + size] + SECTION + b"\0"
    end = names_at + len(longer)
    padding = -end % 8
    headers[names] = (headers[names][0], kind, flags, address, names_at, len(longer), *rest)
    headers.append((size, PROGRAM_BITS, 0, 0, content_at, len(content), 0, 0, 1, 0))
    result = bytearray(binary + content + longer + bytes(padding))
    result += b"".join(HEADER.pack(*header) for header in headers)
    struct.pack_into("<Q", result, 40, end + padding)
    struct.pack_into("<H", result, 60, len(headers))
    return bytes(result)


def embedded_crates(binary: bytes) -> list[dict]:
    """Reads the list from a binary. Raises `StopIteration` if there is none."""
    headers, names = sections(binary)
    table = headers[names][4]
    found = next(header for header in headers if binary.startswith(SECTION + b"\0", table + header[0]))
    return json.loads(zlib.decompress(binary[found[4] : found[4] + found[5]]))["packages"]


def main(target: str, path: str) -> None:
    file = pathlib.Path(path)
    content = crate_list(target)
    if len(content) > LIMIT:
        sys.exit(f"The list of crates has {len(content)} bytes, and {LIMIT} are the limit.")
    file.write_bytes(add_section(file.read_bytes(), content))
    print(f"{path}: list of crates, {len(content) / 1000:.1f} kB")


if __name__ == "__main__":
    main(*sys.argv[1:])
