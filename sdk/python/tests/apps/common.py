"""Helpers of the programs that suspend runs. Each has its own directory and records its actions in files."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from sayso._suspend import Suspended

NAME = os.environ.get("APP_NAME", "mailer")


def note(file: str, *lines: str) -> None:
    with Path(f"{file}.txt").open("a") as stream:
        stream.writelines(f"{line}\n" for line in lines)


def send(to: str) -> str:
    """The effect of the tool: it must happen once."""
    note("sent", to)
    return f"sent to {to}"


def planned() -> list[tuple[str, dict[str, Any], str]]:
    """The tool calls of the first turn: name, arguments, id."""
    return [(name, values, call_id) for name, values, call_id in json.loads(os.environ["APP_CALLS"])]


async def before_resuming() -> None:
    """A worker that hangs, so that a test can kill it after its claim."""
    if os.environ.get("APP_HANGS"):
        note("hangs", str(os.getpid()))
        await asyncio.sleep(3600)


def main(start: Callable[[str], Awaitable[Any]]) -> None:
    result = asyncio.run(start(sys.argv[1]))
    print(result.group_id if isinstance(result, Suspended) else "ended")
