"""The clients: `AsyncSayso` for coroutines, `Sayso` for everything else. Both call the same implementation."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from ._core import Core
from ._io_thread import IoThread, io_thread

if TYPE_CHECKING:
    from . import types

P = ParamSpec("P")
T = TypeVar("T")

Call = Callable[Concatenate[Core, P], Coroutine[Any, Any, T]]


class _Calls:
    """Calls of one client. The client and its groups, such as `client.asks`, share a core."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def _attached(self) -> tuple[Core, IoThread]:
        io = io_thread()
        self._core.attach(io)
        return self._core, io


def _awaited(call: Call[P, T]) -> Callable[Concatenate[_Calls, P], Coroutine[Any, Any, T]]:
    @functools.wraps(call)
    async def method(self: _Calls, /, *args: P.args, **kwargs: P.kwargs) -> T:
        core, io = self._attached()
        return await io.run_async(call(core, *args, **kwargs))

    return method


def _blocking(call: Call[P, T]) -> Callable[Concatenate[_Calls, P], T]:
    @functools.wraps(call)
    def method(self: _Calls, /, *args: P.args, **kwargs: P.kwargs) -> T:
        core, io = self._attached()
        return io.run_sync(call(core, *args, **kwargs))

    return method


class AsyncAsks(_Calls):
    """Opens, reads and decides asks."""

    open = _awaited(Core.asks_open)
    list = _awaited(Core.asks_list)
    get = _awaited(Core.asks_get)
    wait = _awaited(Core.asks_wait)
    take = _awaited(Core.asks_take)
    withdraw = _awaited(Core.asks_withdraw)
    withdraw_by_key = _awaited(Core.asks_withdraw_by_key)
    answer = _awaited(Core.asks_answer)
    reject = _awaited(Core.asks_reject)
    approve = _awaited(Core.asks_approve)
    deny = _awaited(Core.asks_deny)


class Asks(_Calls):
    """Opens, reads and decides asks."""

    open = _blocking(Core.asks_open)
    list = _blocking(Core.asks_list)
    get = _blocking(Core.asks_get)
    wait = _blocking(Core.asks_wait)
    take = _blocking(Core.asks_take)
    withdraw = _blocking(Core.asks_withdraw)
    withdraw_by_key = _blocking(Core.asks_withdraw_by_key)
    answer = _blocking(Core.asks_answer)
    reject = _blocking(Core.asks_reject)
    approve = _blocking(Core.asks_approve)
    deny = _blocking(Core.asks_deny)


class AsyncGroups(_Calls):
    """Opens groups of asks for suspended runs, and claims the groups that are complete."""

    open = _awaited(Core.groups_open)
    get = _awaited(Core.groups_get)
    withdraw = _awaited(Core.groups_withdraw)
    ready = _awaited(Core.groups_ready)
    claim = _awaited(Core.groups_claim)
    renew = _awaited(Core.groups_renew)
    ack = _awaited(Core.groups_ack)
    release = _awaited(Core.groups_release)


class Groups(_Calls):
    """Opens groups of asks for suspended runs, and claims the groups that are complete."""

    open = _blocking(Core.groups_open)
    get = _blocking(Core.groups_get)
    withdraw = _blocking(Core.groups_withdraw)
    ready = _blocking(Core.groups_ready)
    claim = _blocking(Core.groups_claim)
    renew = _blocking(Core.groups_renew)
    ack = _blocking(Core.groups_ack)
    release = _blocking(Core.groups_release)


class AsyncSessions(_Calls):
    """Starts agents, sends messages to them, and reads their transcripts."""

    create = _awaited(Core.sessions_create)
    list = _awaited(Core.sessions_list)
    get = _awaited(Core.sessions_get)
    message = _awaited(Core.sessions_message)
    interrupt = _awaited(Core.sessions_interrupt)
    resume = _awaited(Core.sessions_resume)
    close = _awaited(Core.sessions_close)
    transcript = _awaited(Core.sessions_transcript)


class Sessions(_Calls):
    """Starts agents, sends messages to them, and reads their transcripts."""

    create = _blocking(Core.sessions_create)
    list = _blocking(Core.sessions_list)
    get = _blocking(Core.sessions_get)
    message = _blocking(Core.sessions_message)
    interrupt = _blocking(Core.sessions_interrupt)
    resume = _blocking(Core.sessions_resume)
    close = _blocking(Core.sessions_close)
    transcript = _blocking(Core.sessions_transcript)


class AsyncRuns(_Calls):
    """Starts, reads and cancels runs of workflows."""

    start = _awaited(Core.runs_start)
    list = _awaited(Core.runs_list)
    get = _awaited(Core.runs_get)
    cancel = _awaited(Core.runs_cancel)


class Runs(_Calls):
    """Starts, reads and cancels runs of workflows."""

    start = _blocking(Core.runs_start)
    list = _blocking(Core.runs_list)
    get = _blocking(Core.runs_get)
    cancel = _blocking(Core.runs_cancel)


class AsyncPolicy(_Calls):
    """Explains how the policy decides."""

    explain = _awaited(Core.policy_explain)


class Policy(_Calls):
    """Explains how the policy decides."""

    explain = _blocking(Core.policy_explain)


class _EventStream(_Calls):
    def __init__(self, core: Core, since: int | None, session: str | None) -> None:
        super().__init__(core)
        core, self._io = self._attached()
        self._events = core.events(since, session)

    async def _next(self) -> types.Event:
        return await self._events.__anext__()


class AsyncEvents(_EventStream, AsyncIterator["types.Event"]):
    """The iterator that `AsyncSayso.events` returns."""

    async def __anext__(self) -> types.Event:
        return await self._io.run_async(self._next())


class Events(_EventStream, Iterator["types.Event"]):
    """The iterator that `Sayso.events` returns."""

    def __next__(self) -> types.Event:
        return self._io.run_sync(self._next())


class _Client(_Calls):
    def __init__(
        self,
        *,
        url: str | None = None,
        token: str | None = None,
        agent: str | None = None,
        project: str | None = None,
        labels: dict[str, str] | None = None,
        retry_for: float = 10.0,
    ) -> None:
        """Sends nothing. Without `url` and `token` the server of this machine and its agent token are used.

        `agent` is the name that people see, `project` an absolute path that the policy of a project applies to.
        `retry_for` is how many seconds a call is repeated if the server cannot be reached; waits have no limit.
        """
        super().__init__(Core(url=url, token=token, agent=agent, project=project, labels=labels, retry_for=retry_for))


class AsyncSayso(_Client):
    """A Sayso server for coroutines. It can be used from any event loop and thread."""

    ask = _awaited(Core.ask)
    ask_all = _awaited(Core.ask_all)
    select = _awaited(Core.select)
    confirm = _awaited(Core.confirm)
    approve = _awaited(Core.approve)
    notify = _awaited(Core.notify)
    request = _awaited(Core.request)
    _settle = _awaited(Core.settle)
    close = _awaited(Core.close)

    @functools.cached_property
    def sync(self) -> Sayso:
        """The same client for code without coroutines."""
        client = Sayso.__new__(Sayso)
        _Calls.__init__(client, self._core)
        return client

    @functools.cached_property
    def asks(self) -> AsyncAsks:
        """Calls about asks."""
        return AsyncAsks(self._core)

    @functools.cached_property
    def groups(self) -> AsyncGroups:
        """Calls about groups of asks."""
        return AsyncGroups(self._core)

    @functools.cached_property
    def sessions(self) -> AsyncSessions:
        """Calls about sessions of agents."""
        return AsyncSessions(self._core)

    @functools.cached_property
    def runs(self) -> AsyncRuns:
        """Calls about runs of workflows."""
        return AsyncRuns(self._core)

    @functools.cached_property
    def policy(self) -> AsyncPolicy:
        """Calls about the policy."""
        return AsyncPolicy(self._core)

    def events(self, *, since: int | None = None, session: str | None = None) -> AsyncEvents:
        """The events that the token can see, from now on or after `since`. Continues after lost connections."""
        return AsyncEvents(self._core, since, session)


class Sayso(_Client):
    """A Sayso server for code without coroutines. It can be used from any thread."""

    ask = _blocking(Core.ask)
    ask_all = _blocking(Core.ask_all)
    select = _blocking(Core.select)
    confirm = _blocking(Core.confirm)
    approve = _blocking(Core.approve)
    notify = _blocking(Core.notify)
    request = _blocking(Core.request)
    _settle = _blocking(Core.settle)
    close = _blocking(Core.close)

    @functools.cached_property
    def asks(self) -> Asks:
        """Calls about asks."""
        return Asks(self._core)

    @functools.cached_property
    def groups(self) -> Groups:
        """Calls about groups of asks."""
        return Groups(self._core)

    @functools.cached_property
    def sessions(self) -> Sessions:
        """Calls about sessions of agents."""
        return Sessions(self._core)

    @functools.cached_property
    def runs(self) -> Runs:
        """Calls about runs of workflows."""
        return Runs(self._core)

    @functools.cached_property
    def policy(self) -> Policy:
        """Calls about the policy."""
        return Policy(self._core)

    def events(self, *, since: int | None = None, session: str | None = None) -> Events:
        """The events that the token can see, from now on or after `since`. Continues after lost connections."""
        return Events(self._core, since, session)
