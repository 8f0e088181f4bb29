"""Writes the wheel `sayso-cli` of one target: `binary_wheel.py TARGET VERSION BINARY SHARE OUTPUT`.

The wheel has no Python code. pip puts the program into the directory of scripts. A static program runs with every libc, so the tags
promise the oldest versions of glibc and musl that pip knows for the architecture.
"""

import base64
import hashlib
import os
import pathlib
import sys
import time
import zipfile

PLATFORMS = {
    "x86_64-unknown-linux": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    "aarch64-unknown-linux": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    "x86_64-apple-darwin": "macosx_10_12_x86_64",
    "aarch64-apple-darwin": "macosx_11_0_arm64",
}


def main(target: str, version: str, binary: str, share: str, output: str) -> None:
    platform = next(tags for name, tags in PLATFORMS.items() if target.startswith(name))
    # macOS kills programs whose bytes were changed by stripping; nothing here changes them.
    info = f"sayso_cli-{version}.dist-info"
    tags = "".join(f"Tag: py3-none-{tag}\n" for tag in platform.split("."))
    metadata = (
        f"Metadata-Version: 2.4\nName: sayso-cli\nVersion: {version}\n"
        "Summary: The program sayso: questions and approvals of your coding agents in one inbox\n"
        "License-Expression: MIT OR Apache-2.0\n"
    )
    licences = [("LICENSE-APACHE", pathlib.Path("LICENSE-APACHE")), ("LICENSE-MIT", pathlib.Path("LICENSE-MIT"))]
    licences.append(("LICENSES-THIRD-PARTY.txt", pathlib.Path(share) / "doc/LICENSES-THIRD-PARTY.txt"))
    files = [
        (f"sayso_cli-{version}.data/scripts/sayso", pathlib.Path(binary).read_bytes(), 0o755),
        (f"{info}/METADATA", metadata.encode(), 0o644),
        (f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: sayso\nRoot-Is-Purelib: false\n{tags}".encode(), 0o644),
        *((f"{info}/licenses/{name}", path.read_bytes(), 0o644) for name, path in licences),
    ]
    rows = [f"{name},sha256={digest(content)},{len(content)}\n" for name, content, _ in files]
    files.append((f"{info}/RECORD", ("".join(rows) + f"{info}/RECORD,,\n").encode(), 0o644))
    date = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]
    wheel = pathlib.Path(output) / f"sayso_cli-{version}-py3-none-{platform}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content, mode in files:
            entry = zipfile.ZipInfo(name, date)
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)


def digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    main(*sys.argv[1:])
