"""Resumes suspended runs: waits for complete groups of a name, claims one at a time, and calls a function."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import contextvars
import inspect
import os
import secrets
import socket
import threading
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from ._adapter import client_or_default
from ._http import Backoff, is_passing
from .client import AsyncSayso
from .errors import ClaimLostError, GroupEndedError, GroupNotReadyError, SaysoError, StateUnreadableError
from .results import Claim

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

#: One call waits this long for a complete group, in seconds.
WAIT = 30
#: The lease of a claim, in seconds. It is renewed three times in this time while the function runs.
LEASE = 60
#: The pause after a group whose state cannot be read, in seconds.
PAUSE_AFTER_UNREADABLE = 1.0
#: A worker that is cancelled while it claims waits this long for the reply, in seconds.
LAST_CALLS = 10.0


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
    stop: asyncio.Event | None = None,
    report: Callable[[str], None] = lambda line: None,
) -> None:
    """Runs until it is cancelled, or with `once` until no group is complete.

    `function` gets the claim. If it returns, the run counts as resumed. If it raises, a person decides whether the run
    is resumed again, because tools may have been called. After `stop` is set, the current run is finished and no
    further one is claimed. If the task is cancelled, the current run is given up, and a person decides about it.
    """
    resuming = _Worker(client_or_default(client), function, name, worker or worker_name(), lease, report)
    stop = stop or asyncio.Event()
    while not stop.is_set():
        claim = await resuming.next_claim(0 if once else WAIT, stop)
        if claim is not None:
            await resuming.resume(claim)
        elif once:
            return


class _Worker:
    def __init__(
        self,
        sayso: AsyncSayso,
        function: Callable[[Claim], Any],
        name: str,
        worker: str,
        lease: float,
        report: Callable[[str], None],
    ) -> None:
        self._groups = sayso.groups
        self._function = function
        self._name = name
        self._worker = worker
        self._lease = lease
        self._report = report

    async def next_claim(self, wait: float, stop: asyncio.Event) -> Claim | None:
        """Waits for a complete group and claims it. `None` if there is none, or if `stop` is set."""
        ready = asyncio.ensure_future(persist(lambda: self._groups.ready(self._name, wait=wait)))
        stopped = asyncio.ensure_future(stop.wait())
        try:
            await asyncio.wait({ready, stopped}, return_when=asyncio.FIRST_COMPLETED)
            if not ready.done() or not ready.result():
                return None
        finally:
            ready.cancel()
            stopped.cancel()
        claiming = asyncio.ensure_future(self._claim())
        try:
            claim = await asyncio.shield(claiming)
        except asyncio.CancelledError:
            await self._give_back(claiming)
            raise
        if claim is not None and stop.is_set():
            await self._give_back(claiming)
            return None
        return claim

    async def _claim(self) -> Claim | None:
        # If a reply is lost, the server may have claimed a group. The same key returns that claim.
        key = secrets.token_hex(16)
        lease = f"{int(self._lease)}s"
        try:
            return await persist(
                lambda: self._groups.claim(self._name, worker=self._worker, lease=lease, idempotency_key=key)
            )
        except StateUnreadableError as error:
            self._report(f"cannot resume: {error}")
            await asyncio.sleep(PAUSE_AFTER_UNREADABLE)
            return None
        except (GroupNotReadyError, GroupEndedError):
            # The lease of the claim ended before its reply arrived, so a person decides about the run.
            return None

    async def _give_back(self, claiming: asyncio.Future[Claim | None]) -> None:
        """Releases a claim before its run was started, so that another worker gets it without a question."""
        await asyncio.wait({claiming}, timeout=LAST_CALLS)
        if not claiming.done() or claiming.exception() is not None:
            claiming.cancel()
            return
        claim = claiming.result()
        if claim is not None:
            with contextlib.suppress(SaysoError):
                await self._groups.release(claim, started=False)

    async def resume(self, claim: Claim) -> None:
        """Calls the function and reports how it ended."""
        self._report(f"resuming {claim.group_id}")
        running = asyncio.ensure_future(_call(self._function, claim))
        renewing = asyncio.ensure_future(self._renew(claim))
        try:
            await asyncio.wait({running, renewing}, return_when=asyncio.FIRST_COMPLETED)
            if not running.done():
                # The server released the group. Another worker may have claimed it, so this worker must stop.
                claim._lost = True
                self._report(f"lost the claim of {claim.group_id}")
                if not inspect.iscoroutinefunction(self._function):
                    # A thread cannot be stopped. It may call tools while another worker resumes the run.
                    raise ClaimLostError(
                        f"The claim of {claim.group_id} was lost while its function runs",
                        next_step="End this process, because the function cannot be stopped. Check `claim.lost` in it.",
                    )
                return
            await self._report_end(claim, running)
        except asyncio.CancelledError:
            claim._lost = True
            running.cancel()
            self._report(f"stopped {claim.group_id}")
            with contextlib.suppress(SaysoError):
                await self._groups.release(claim, started=True, reason="The worker was stopped.")
            raise
        finally:
            for task in (running, renewing):
                task.cancel()
            await asyncio.gather(running, renewing, return_exceptions=True)

    async def _report_end(self, claim: Claim, ended: asyncio.Future[Any]) -> None:
        error = asyncio.CancelledError() if ended.cancelled() else ended.exception()
        try:
            if error is None:
                await persist(lambda: self._groups.ack(claim))
                self._report(f"resumed {claim.group_id}")
            else:
                # The message may contain data of the run, so people get the type only.
                self._report(f"failed to resume {claim.group_id}: {error!r}")
                await persist(lambda: self._groups.release(claim, started=True, reason=type(error).__name__))
        except ClaimLostError:
            self._report(f"lost the claim of {claim.group_id}")

    async def _renew(self, claim: Claim) -> None:
        """Ends when the claim is lost."""
        while True:
            await asyncio.sleep(self._lease / 3)
            try:
                await persist(lambda: self._groups.renew(claim, lease=f"{int(self._lease)}s"))
            except SaysoError:
                return


async def persist(call: Callable[[], Awaitable[T]]) -> T:
    """Repeats a call until the server replies, for example over a restart that takes long."""
    backoff = Backoff()
    while True:
        try:
            return await call()
        except SaysoError as error:
            if not is_passing(error):
                raise
        await backoff.pause()


async def _call(function: Callable[[Claim], Any], claim: Claim) -> Any:
    """Runs synchronous functions in a thread, so that the lease can be renewed while they run."""
    if inspect.iscoroutinefunction(function):
        return await function(claim)
    ended: concurrent.futures.Future[Any] = concurrent.futures.Future()
    context = contextvars.copy_context()

    def run() -> None:
        try:
            ended.set_result(context.run(function, claim))
        except BaseException as error:
            ended.set_exception(error)

    ended.set_running_or_notify_cancel()
    # The process can end while the thread runs, which a thread of asyncio would prevent.
    threading.Thread(target=run, name="sayso-resume", daemon=True).start()
    result = await asyncio.wrap_future(ended)
    return await result if isinstance(result, Awaitable) else result
