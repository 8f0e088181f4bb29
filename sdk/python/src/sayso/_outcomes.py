"""One event stream that carries the outcomes of all asks that this process waits for."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ._http import WAIT, Backoff, Http, is_passing, part
from .errors import NotFoundError, SaysoError, ServerTooOldError

#: The stream stays open this long after the last ask was decided, in seconds.
IDLE = 30.0
#: How many asks are read at once after events were lost.
READS = 16


class Waiter:
    """One wait for one ask. Await it once; it returns nothing when the ask is decided."""

    def __init__(self, outcomes: Outcomes, ask_id: str, gapless: bool) -> None:
        self._outcomes = outcomes
        self._id = ask_id
        self._gapless = gapless
        self.decided: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def wait(self) -> None:
        try:
            if not self._gapless:
                # The stream may start after the outcome, so read the ask once.
                await self._outcomes.wait_for_position()
                if not self._outcomes.polls and not self.decided.done():
                    await self._outcomes.look(self._id)
            if not self._outcomes.polls:
                await self.decided
            if self._outcomes.polls:
                await self._outcomes.poll(self._id)
        finally:
            self._outcomes.leave(self._id, self)


class Outcomes:
    def __init__(self, http: Http) -> None:
        self._http = http
        self._waiting: dict[str, list[Waiter]] = {}
        #: Asks that were decided while an ask was being opened. The ask may be among them.
        self._early: set[str] = set()
        self._opening = 0
        self._position: int | None = None
        self._positioned = asyncio.Event()
        self._stream: asyncio.Task[None] | None = None
        self._looking: asyncio.Task[None] | None = None
        #: The server has no stream of outcomes: every wait is a call of its own.
        self.polls = False

    @contextmanager
    def opening(self) -> Iterator[bool]:
        """Surround the opening of an ask and `waiter` with this. Pass its value to `waiter`."""
        gapless = self._position is not None and self._stream is not None
        self._opening += 1
        try:
            yield gapless
        finally:
            self._opening -= 1
            if self._opening == 0:
                self._early.clear()

    def waiter(self, ask_id: str, gapless: bool) -> Waiter:
        waiter = Waiter(self, ask_id, gapless)
        if ask_id in self._early:
            waiter.decided.set_result(None)
        self._waiting.setdefault(ask_id, []).append(waiter)
        if not self.polls and self._stream is None:
            self._positioned.clear()
            self._stream = asyncio.get_running_loop().create_task(self._follow())
        return waiter

    def leave(self, ask_id: str, waiter: Waiter) -> None:
        waiters = self._waiting.get(ask_id, [])
        if waiter in waiters:
            waiters.remove(waiter)
        if not waiters:
            self._waiting.pop(ask_id, None)

    async def wait_for_position(self) -> None:
        await self._positioned.wait()

    async def look(self, ask_id: str) -> None:
        """Reads one ask, and tells its waiters if it is decided."""
        backoff = Backoff()
        while ask_id in self._waiting:
            try:
                ask = await self._http.request("GET", f"/asks/{part(ask_id)}", retry_for=0)
            except SaysoError as error:
                if not is_passing(error):
                    self._tell(ask_id, error)
                    return
                await backoff.pause()
                continue
            if ask["status"] != "pending":
                self._tell(ask_id)
            return

    async def poll(self, ask_id: str) -> None:
        """Waits with one call after another, for servers without a stream of outcomes."""
        backoff = Backoff()
        while True:
            try:
                ask = await self._http.request(
                    "GET", f"/asks/{part(ask_id)}", query={"wait": f"{WAIT}s"}, retry_for=0, reply_within=WAIT + 15
                )
            except SaysoError as error:
                if not is_passing(error):
                    raise
                await backoff.pause()
                continue
            if ask["status"] != "pending":
                return
            backoff.reset()

    async def _follow(self) -> None:
        try:
            await self._follow_until_idle()
        except (NotFoundError, ServerTooOldError):
            self.polls = True
            self._tell_all(None)
        except SaysoError as error:
            self._tell_all(error)
        except Exception as error:  # A defect here must not leave callers waiting forever.
            self._tell_all(SaysoError(f"The stream of outcomes failed: {error!r}"))
            raise
        finally:
            self._stream, self._position = None, None
            self._positioned.set()

    async def _follow_until_idle(self) -> None:
        backoff = Backoff()
        reader = asyncio.get_running_loop().create_task(self._read(backoff))
        try:
            quiet = False
            while True:
                done, _ = await asyncio.wait({reader}, timeout=IDLE)
                if done:
                    error = reader.exception()
                    if error is not None and not (isinstance(error, SaysoError) and is_passing(error)):
                        raise error
                    await backoff.pause()
                    reader = asyncio.get_running_loop().create_task(self._read(backoff))
                elif self._waiting or self._opening:
                    quiet = False
                elif quiet:
                    return
                else:
                    quiet = True
        finally:
            reader.cancel()

    async def _read(self, backoff: Backoff) -> None:
        # A stream without a position starts with a `reset` that contains the position.
        async for event in self._http.stream("/outcomes", {"since": self._position}):
            backoff.reset()
            self._take(event)

    def _take(self, event: dict[str, Any]) -> None:
        if isinstance(event.get("seq"), int):
            self._position = event["seq"]
            self._positioned.set()
        kind, data = str(event.get("type", "")), event.get("data")
        if kind == "reset":
            self._looking = asyncio.get_running_loop().create_task(self._look_at_all())
        elif kind.endswith(".resolved") and isinstance(data, dict) and isinstance(data.get("id"), str):
            if self._opening:
                self._early.add(data["id"])
            self._tell(data["id"])

    async def _look_at_all(self) -> None:
        places = asyncio.Semaphore(READS)

        async def look(ask_id: str) -> None:
            async with places:
                await self.look(ask_id)

        await asyncio.gather(*(look(ask_id) for ask_id in list(self._waiting)))

    def _tell(self, ask_id: str, error: SaysoError | None = None) -> None:
        for waiter in self._waiting.get(ask_id, []):
            if waiter.decided.done():
                continue
            if error is None:
                waiter.decided.set_result(None)
            else:
                waiter.decided.set_exception(error)

    def _tell_all(self, error: SaysoError | None) -> None:
        for ask_id in list(self._waiting):
            self._tell(ask_id, error)

    async def close(self) -> None:
        if self._stream is not None:
            self._stream.cancel()
