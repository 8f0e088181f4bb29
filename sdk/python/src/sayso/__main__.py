"""`python -m sayso resume app:resume`: resumes suspended runs with a function of your program."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import importlib
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from ._resumer import LEASE, resume_all
from .errors import SaysoError


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line and returns the exit code: 0, 1 for an error of the server, 2 for wrong arguments."""
    parser = argparse.ArgumentParser(prog="python -m sayso", description="Work with suspended runs of a Sayso server.")
    commands = parser.add_subparsers(dest="command", required=True)
    resume = commands.add_parser(
        "resume",
        help="wait for decided groups, and resume their runs one at a time",
        epilog="The first SIGTERM or SIGINT lets the current run finish. The second one gives it up, and a person"
        " decides whether it is resumed again.",
    )
    resume.add_argument("function", help="the function that resumes a run, for example app:resume")
    resume.add_argument("--name", help="the runs to resume; by default the name of @sayso.resumer, else the module")
    resume.add_argument("--lease", type=int, default=LEASE, help="seconds until a silent worker counts as lost (60)")
    resume.add_argument("--once", action="store_true", help="end when no run can be resumed")
    options = parser.parse_args(arguments)
    try:
        function = load(options.function)
    except (ImportError, AttributeError, ValueError) as error:
        print(f"Cannot load {options.function}: {error}. Give it as module:function.", file=sys.stderr)
        return 2
    name = options.name or getattr(function, "__sayso_name__", None) or options.function.partition(":")[0]
    try:
        asyncio.run(work(function, name, options.lease, options.once))
    except SaysoError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


async def work(function: Callable[..., Any], name: str, lease: float, once: bool) -> None:
    """Resumes runs until a signal. The second signal gives up the current run."""
    stop = asyncio.Event()
    resuming = asyncio.ensure_future(
        resume_all(function, name, lease=lease, once=once, stop=stop, report=lambda line: print(line, flush=True))
    )

    def end() -> None:
        if stop.is_set():
            resuming.cancel()
            return
        stop.set()
        print("ending after the current run; a second signal gives it up", flush=True)

    for number in (signal.SIGTERM, signal.SIGINT):
        # Windows has no handlers of an event loop: there a signal ends the process, as a kill does.
        with contextlib.suppress(NotImplementedError):
            asyncio.get_running_loop().add_signal_handler(number, end)
    print(f"waiting for runs of {name}", flush=True)
    with contextlib.suppress(asyncio.CancelledError):
        await resuming


def load(place: str) -> Callable[..., Any]:
    """Imports a function that is given as `module:function`."""
    module, colon, function = place.partition(":")
    if not colon or not function:
        raise ValueError("there is no function name")
    # Import modules from the current directory, as `python -m` does.
    sys.path.insert(0, os.getcwd())
    value = getattr(importlib.import_module(module), function)
    if not callable(value):
        raise ValueError(f"{function} is not a function")
    return value  # type: ignore[no-any-return]


if __name__ == "__main__":
    sys.exit(main())
