"""Lists the components of the binary: `inventory.py sbom` (CycloneDX) and `inventory.py licences`.

Crates come from `cargo metadata`, the packages of the embedded page from the lock file of npm. Development dependencies are left
out. The libraries that the compiler and the linker add are listed here, and their licences are in packaging/licences. The output
depends on the lock files, the compiler and tools.txt alone, so two builds are equal.
"""

import gzip
import json
import pathlib
import subprocess
import sys
import uuid

PRODUCT = "sayso"
TARGETS = ("x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl")
LICENCE_NAMES = ("LICENSE*", "LICENCE*", "COPYING*", "NOTICE*", "license*")


# The version of musl in the version of zig that tools.txt names: VERSION in lib/libc/musl/src/internal/version.h.
MUSL_VERSION = "1.2.5"


def runtime_libraries() -> list[dict]:
    """The libraries that the compiler and the linker add to a static binary."""
    tools = dict(line.split("==") for line in pathlib.Path("scripts/dist/tools.txt").read_text().split())
    zig = tools["ziglang"]
    rust = subprocess.run(["rustc", "--version"], check=True, capture_output=True, text=True).stdout.split()[1]
    rows = [
        ("Rust standard library", rust, "MIT OR Apache-2.0", f"pkg:github/rust-lang/rust@{rust}#library", "rust.txt.gz"),
        ("musl", MUSL_VERSION, "MIT", f"pkg:generic/musl@{MUSL_VERSION}", "musl.txt.gz"),
        ("LLVM libunwind of zig", zig, "Apache-2.0 WITH LLVM-exception", f"pkg:github/ziglang/zig@{zig}#lib/libunwind", "libunwind.txt.gz"),
        ("compiler-rt of zig", zig, "MIT", f"pkg:github/ziglang/zig@{zig}#lib/compiler_rt", "zig.txt.gz"),
    ]
    keys = ("name", "version", "licence", "purl", "file")
    return [{**dict(zip(keys, row, strict=True)), "directory": pathlib.Path("packaging/licences")} for row in rows]


def linked_crates(target: str) -> list[dict]:
    """Every crate that the binary of a target is linked from, with the ids of its direct dependencies."""
    command = ["cargo", "metadata", "--format-version=1", "--locked", "--offline", "--filter-platform", target]
    metadata = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    waiting = [next(id for id, package in packages.items() if package["name"] == PRODUCT and package["source"] is None)]
    found: dict[str, list[str]] = {}
    while waiting:
        current = waiting.pop()
        if current in found:
            continue
        # `None` is an ordinary dependency; the others are of build scripts and tests.
        found[current] = [
            dependency["pkg"]
            for dependency in nodes[current]["deps"]
            if any(kind["kind"] is None for kind in dependency["dep_kinds"])
        ]
        waiting += found[current]
    crates = [{**packages[id], "dependencies": dependencies} for id, dependencies in found.items()]
    return sorted(crates, key=lambda crate: (crate["name"], crate["version"]))


def crates() -> list[dict]:
    """The crates of all targets, without those of this workspace."""
    rows = {}
    for crate in (crate for target in TARGETS for crate in linked_crates(target) if crate["source"]):
        purl = f"pkg:cargo/{crate['name']}@{crate['version']}"
        rows[purl] = {
            "name": crate["name"],
            "version": crate["version"],
            "licence": crate["license"] or "see its files",
            "purl": purl,
            "directory": pathlib.Path(crate["manifest_path"]).parent,
        }
    return [rows[purl] for purl in sorted(rows)]


def node_packages() -> list[dict]:
    """Every npm package that the page is bundled from."""
    root = pathlib.Path(".")
    lock = json.loads((root / "package-lock.json").read_text())
    rows = {}
    for path, package in lock["packages"].items():
        if "node_modules/" not in path or package.get("dev") or package.get("link") or package.get("optional"):
            continue
        name = package.get("name") or path.rsplit("node_modules/", 1)[1]
        purl = f"pkg:npm/{name.replace('@', '%40')}@{package['version']}"
        licence = package.get("license", "see its files")
        rows[purl] = {"name": name, "version": package["version"], "licence": licence, "purl": purl, "directory": root / path}
    return [rows[purl] for purl in sorted(rows)]


def workspace_version() -> str:
    section = pathlib.Path("Cargo.toml").read_text().split("[workspace.package]", 1)[1]
    return section.split('version = "', 1)[1].split('"', 1)[0]


def components_of_binary() -> list[dict]:
    return runtime_libraries() + crates() + node_packages()


def sbom() -> str:
    version = workspace_version()
    components = [
        {
            "type": "library",
            "bom-ref": row["purl"],
            "name": row["name"],
            "version": row["version"],
            "purl": row["purl"],
            "licenses": [{"expression": row["licence"].replace("/", " OR ")}],
        }
        for row in components_of_binary()
    ]
    identity = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(components))
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{identity}",
        "version": 1,
        "metadata": {"component": {"type": "application", "bom-ref": PRODUCT, "name": PRODUCT, "version": version}},
        "components": components,
    }
    return json.dumps(document, indent=1)


def licences() -> str:
    """The licence files of all dependencies. Equal texts are printed once."""
    texts: dict[str, list[str]] = {}
    overview = []
    for row in components_of_binary():
        overview.append(f"{row['name']} {row['version']}: {row['licence']}")
        names = (row["file"],) if "file" in row else LICENCE_NAMES
        files = sorted({file for name in names for file in row["directory"].glob(name) if file.is_file()})
        for file in files:
            read = gzip.open if file.suffix == ".gz" else open
            with read(file, "rt", encoding="utf-8", errors="replace") as opened:
                text = opened.read()
            texts.setdefault(text.strip(), []).append(f"{row['name']} {row['version']}")
    parts = ["Sayso contains this software:", "", *overview]
    for text, users in texts.items():
        parts += ["", "=" * 80, ", ".join(dict.fromkeys(users)), "=" * 80, "", text]
    return "\n".join(parts)


if __name__ == "__main__":
    print({"sbom": sbom, "licences": licences}[sys.argv[1]]())
