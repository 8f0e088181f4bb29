"""Writes src/sayso/types.py from docs/openapi.json. With --check, fails if the file differs."""

import json
import keyword
import sys
import textwrap
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent
SOURCE = PACKAGE.parent.parent / "docs" / "openapi.json"
TARGET = PACKAGE / "src" / "sayso" / "types.py"
HEAD = '''"""The types of the HTTP API. Generated from docs/openapi.json by `make gen`; do not edit.

Values are plain dictionaries. The server only adds fields and event types, so ignore those that you do not know.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict, Union
'''
PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}


def name_of(reference: str) -> str:
    return reference.rsplit("/", 1)[-1]


class Generator:
    def __init__(self, schemas: dict[str, dict]) -> None:
        self.schemas = schemas
        self.classes: list[str] = []
        self.aliases: list[str] = []

    def expression(self, schema: dict, owner: str) -> str:
        """The type of a value. An object inside another schema becomes a class that is named after its owner."""
        if "$ref" in schema:
            return name_of(schema["$ref"])
        for key in ("oneOf", "anyOf"):
            if key in schema:
                parts = [self.expression(part, f"{owner}{number}") for number, part in enumerate(schema[key], 1)]
                return union(parts)
        if "allOf" in schema and len(schema["allOf"]) == 1:
            return self.expression(schema["allOf"][0], owner)
        if "enum" in schema:
            return f"Literal[{', '.join(json.dumps(value) for value in schema['enum'])}]"
        kind = schema.get("type")
        if isinstance(kind, list):
            return union([self.expression({**schema, "type": one}, owner) for one in kind])
        if kind == "array":
            return f"list[{self.expression(schema.get('items', {}), owner)}]"
        if kind == "object":
            if schema.get("properties"):
                self.object(owner, schema)
                return owner
            values = schema.get("additionalProperties")
            return f"dict[str, {self.expression(values, owner) if isinstance(values, dict) else 'Any'}]"
        return PLAIN.get(kind, "Any")

    def object(self, name: str, schema: dict, bases: tuple[str, ...] = ()) -> None:
        required = set(schema.get("required", ()))
        properties = schema.get("properties", {})
        fields = {key: self.expression(value, f"{name}{key[:1].upper()}{key[1:]}") for key, value in properties.items()}
        needed = {key: value for key, value in fields.items() if key in required}
        optional = {key: value for key, value in fields.items() if key not in required}
        if any(keyword.iskeyword(key) for key in fields):
            entries = ", ".join(f'"{key}": "{value}"' for key, value in fields.items())
            self.aliases.append(f'{name} = TypedDict("{name}", {{{entries}}}, total=False)\n')
            return
        doc = docstring(schema)
        if needed and optional:
            self.classes.append(typed_dict(f"_{name}Required", bases, "", needed, total=True))
            self.classes.append(typed_dict(name, (f"_{name}Required",), doc, optional, total=False))
        else:
            self.classes.append(typed_dict(name, bases, doc, fields, total=not optional))

    def top(self, name: str, schema: dict) -> None:
        if "allOf" in schema:
            bases = tuple(name_of(part["$ref"]) for part in schema["allOf"] if "$ref" in part)
            own = next((part for part in schema["allOf"] if "$ref" not in part), {})
            self.object(name, {**own, "description": schema.get("description", "")}, bases)
        elif schema.get("type") == "object" and schema.get("properties"):
            self.object(name, schema)
        else:
            self.aliases.append(f"{name} = {self.expression(schema, name)}\n")


def union(parts: list[str]) -> str:
    unique = list(dict.fromkeys(parts))
    return unique[0] if len(unique) == 1 else f"Union[{', '.join(unique)}]"


def docstring(schema: dict) -> str:
    text = " ".join(schema.get("description", "").split()).replace("\\", "\\\\").replace('"""', "'''")
    lines = textwrap.wrap(text, 110)
    if not lines:
        return ""
    return '    """' + "\n    ".join(lines) + '"""\n'


def typed_dict(name: str, bases: tuple[str, ...], doc: str, fields: dict[str, str], total: bool) -> str:
    inherited = ", ".join(bases) or "TypedDict"
    head = f"class {name}({inherited}{'' if total else ', total=False'}):\n{doc}"
    body = "".join(f"    {key}: {value}\n" for key, value in fields.items())
    return head + (body or ("" if doc else "    pass\n"))


def ordered(blocks: list[str]) -> list[str]:
    """A class comes after its base."""
    placed: list[str] = []
    known = {"TypedDict"}
    waiting = list(blocks)
    while waiting:
        for block in waiting:
            first = block.split("\n", 1)[0]
            inside = first[first.index("(") + 1 : first.rindex(")")]
            if all(part.strip() in known for part in inside.split(",") if "=" not in part):
                known.add(first[len("class ") : first.index("(")])
                placed.append(block)
                waiting.remove(block)
                break
        else:
            raise SystemExit(f"a base class is missing: {waiting[0]}")
    return placed


def ordered_aliases(aliases: list[str]) -> list[str]:
    """An alias is an expression that is evaluated, so it comes after the aliases that it uses."""
    names = {alias.split(" = ", 1)[0] for alias in aliases}
    placed: list[str] = []
    done: set[str] = set()
    while len(done) < len(names):
        before = len(done)
        for alias in aliases:
            name, value = alias.split(" = ", 1)
            words = set(value.replace("[", " ").replace("]", " ").replace(",", " ").split())
            if name not in done and not (words & names) - done - {name}:
                placed.append(alias)
                done.add(name)
        if len(done) == before:
            raise SystemExit(f"aliases use each other: {sorted(names - done)}")
    return placed


def generate() -> str:
    schemas = json.loads(SOURCE.read_text())["components"]["schemas"]
    generator = Generator(schemas)
    for name, schema in schemas.items():
        generator.top(name, schema)
    classes = "\n\n".join(ordered(generator.classes))
    aliases = "".join(ordered_aliases(generator.aliases))
    return f"{HEAD}\n\n{classes}\n\n{aliases}"


def main() -> None:
    text = generate()
    if "--check" in sys.argv[1:]:
        if not TARGET.exists() or TARGET.read_text() != text:
            raise SystemExit("src/sayso/types.py does not match docs/openapi.json. Run `make gen`.")
    else:
        TARGET.write_text(text)


if __name__ == "__main__":
    main()
