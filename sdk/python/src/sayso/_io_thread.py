"""The thread that does all network I/O of this process.

Frameworks call tools from many event loops and threads: every `asyncio.run` is a new loop, and synchronous tools run in
thread pools. A connection belongs to one loop, so one loop of our own serves them all, and one event stream carries the
outcomes of all asks that wait. Synchronous and asynchronous calls differ only in how they wait for that loop.
"""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import contextlib
import os
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

#: When the process ends, asks whose wait was cancelled are still withdrawn, for at most this many seconds.
LAST_CALLS = 2.0


class IoThread:
    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._background: set[asyncio.Task[Any]] = set()
        self._thread = threading.Thread(target=self._run, name="sayso-io", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    def submit(self, call: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        return asyncio.run_coroutine_threadsafe(call, self._loop)

    async def run_async(self, call: Coroutine[Any, Any, T]) -> T:
        """Awaits the call from any event loop. If the caller is cancelled, so is the call."""
        return await asyncio.wrap_future(self.submit(call))

    def run_sync(self, call: Coroutine[Any, Any, T]) -> T:
        if threading.current_thread() is self._thread:
            call.close()
            raise RuntimeError("A blocking call of sayso was made in its own I/O thread")
        future = self.submit(call)
        try:
            return future.result()
        except BaseException:
            # KeyboardInterrupt ends the wait, and with it the ask. After any other error the call is over.
            future.cancel()
            raise

    def in_background(self, call: Coroutine[Any, Any, Any]) -> None:
        """Starts a call in the background. Called in the I/O thread only."""
        task = self._loop.create_task(call)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    def finish(self) -> None:
        async def wait_for_background() -> None:
            # Cancelled calls start their background work in the next turns of the loop.
            await asyncio.sleep(0.01)
            if self._background:
                await asyncio.wait(self._background, timeout=LAST_CALLS)

        with contextlib.suppress(concurrent.futures.TimeoutError, RuntimeError):
            self.submit(wait_for_background()).result(LAST_CALLS + 1)


_shared: IoThread | None = None
_lock = threading.Lock()


def io_thread() -> IoThread:
    """Returns the I/O thread of this process and starts it if necessary."""
    global _shared
    with _lock:
        if _shared is None:
            _shared = IoThread()
            atexit.register(_shared.finish)
        return _shared


def _forget_after_fork() -> None:
    """Resets the state in a forked process, which has none of its parent's threads."""
    global _shared, _lock
    if _shared is not None:
        atexit.unregister(_shared.finish)
    _shared, _lock = None, threading.Lock()


os.register_at_fork(after_in_child=_forget_after_fork)
