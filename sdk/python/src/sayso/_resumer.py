"""Resumes suspended runs: waits for complete groups of a name, claims one at a time, and calls a function."""

from __future__ import annotations

import asyncio
import inspect
import os
import socket
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from ._adapter import client_or_default
from ._http import Backoff, is_passing
from .client import AsyncSayso
from .errors import ClaimLostError, SaysoError, StateUnreadableError
from .results import Claim

F = TypeVar("F", bound=Callable[..., Any])

#: One call waits this long for a complete group, in seconds.
WAIT = 30
#: The lease of a claim, in seconds. It is renewed three times in this time while the function runs.
LEASE = 60


def resumer(name: str) -> Callable[[F], F]:
    """Marks the function that resumes runs: `python -m sayso resume app:resume` claims groups of this name."""

    def mark(function: F) -> F:
        function.__sayso_name__ = name  # type: ignore[attr-defined]
        return function

    return mark


def worker_name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


async def resume_all(
    function: Callable[[Claim], Any],
    name: str,
    *,
    client: AsyncSayso | None = None,
    worker: str | None = None,
    lease: float = LEASE,
    once: bool = False,
    report: Callable[[str], None] = lambda line: None,
) -> None:
    """Runs until it is cancelled, or with `once` until no group is complete.

    `function` gets the claim. If it returns, the run counts as resumed. If it raises, a person decides whether the run
    is resumed again, because tools may have been called.
    """
    sayso = client_or_default(client)
    worker = worker or worker_name()
    backoff = Backoff()
    while True:
        try:
            ready = await sayso.groups.ready(name, wait=0 if once else WAIT)
            claim = await sayso.groups.claim(name, worker=worker, lease=f"{int(lease)}s") if ready else None
        except StateUnreadableError as error:
            report(f"cannot resume: {error}")
            continue
        except SaysoError as error:
            if not is_passing(error):
                raise
            await backoff.pause()
            continue
        backoff.reset()
        if claim is not None:
            await _resume(sayso, function, claim, lease, report)
        elif once:
            return


async def _resume(
    sayso: AsyncSayso, function: Callable[[Claim], Any], claim: Claim, lease: float, report: Callable[[str], None]
) -> None:
    report(f"resuming {claim.group_id}")
    running = asyncio.ensure_future(_call(function, claim))
    renewing = asyncio.ensure_future(_renew(sayso, claim, lease))
    try:
        await asyncio.wait({running, renewing}, return_when=asyncio.FIRST_COMPLETED)
        if not running.done():
            # The server released the group. Another worker may have claimed it, so this worker must stop.
            report(f"lost the claim of {claim.group_id}")
            return
        await _report_end(sayso, claim, running, report)
    finally:
        for task in (running, renewing):
            task.cancel()
        await asyncio.gather(running, renewing, return_exceptions=True)


async def _report_end(
    sayso: AsyncSayso, claim: Claim, ended: asyncio.Future[Any], report: Callable[[str], None]
) -> None:
    error = ended.exception()
    try:
        if error is None:
            await sayso.groups.ack(claim)
            report(f"resumed {claim.group_id}")
        else:
            # The message may contain data of the run, so people get the type only.
            report(f"failed to resume {claim.group_id}: {error!r}")
            await sayso.groups.release(claim, started=True, reason=type(error).__name__)
    except ClaimLostError:
        report(f"lost the claim of {claim.group_id}")


async def _call(function: Callable[[Claim], Any], claim: Claim) -> Any:
    """Runs synchronous functions in a thread, so that the lease can be renewed while they run."""
    if inspect.iscoroutinefunction(function):
        return await function(claim)
    result = await asyncio.to_thread(function, claim)
    return await result if isinstance(result, Awaitable) else result


async def _renew(sayso: AsyncSayso, claim: Claim, lease: float) -> None:
    """Ends when the claim is lost."""
    while True:
        await asyncio.sleep(lease / 3)
        try:
            await sayso.groups.renew(claim, lease=f"{int(lease)}s")
        except ClaimLostError:
            return
        except SaysoError as error:
            if not is_passing(error):
                return
