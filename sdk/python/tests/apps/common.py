"""Helpers of the programs that suspend runs. Each has its own directory and records its actions in files."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from sayso._suspend import Suspended

NAME = os.environ.get("APP_NAME", "mailer")
#: How LangChain's middleware pauses: `per_call` or `batched`.
MODE: Any = os.environ.get("APP_MODE", "per_call")


def note(file: str, *lines: str) -> None:
    with Path(f"{file}.txt").open("a") as stream:
        stream.writelines(f"{line}\n" for line in lines)


def send(to: str) -> str:
    """The effect of the tool: it must happen once."""
    note("sent", to)
    return f"sent to {to}"


def planned() -> list[tuple[str, dict[str, Any], str]]:
    """The tool calls of the first turn: name, arguments, id. As with a real model, ids differ each time."""
    return [(name, values, f"call-{uuid.uuid4()}") for name, values in json.loads(os.environ["APP_CALLS"])]


async def hang(place: str) -> None:
    """Hangs if a test wants to kill the worker at this place: `before` the run is resumed, or `after` it."""
    if os.environ.get("APP_HANGS") == place:
        note("hangs", place)
        while not Path("continue.txt").exists():  # noqa: ASYNC110, ASYNC240 (another process continues it)
            await asyncio.sleep(0.02)


def main(start: Callable[[str], Awaitable[Any]]) -> None:
    result = asyncio.run(start(sys.argv[1]))
    print(result.group_id if isinstance(result, Suspended) else "ended")
