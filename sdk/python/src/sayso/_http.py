"""Calls of the HTTP API, and streams that resume. Runs in the event loop of the I/O thread."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import secrets
import time
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from .errors import NotFoundError, SaysoError, ServerUnreachableError, error_of

if TYPE_CHECKING:
    import httpx

    from ._discover import Target

#: One call waits this long for the outcome of an ask. The server permits 60 s.
WAIT = 30
#: The server sends a comment every 15 s. A stream that is silent for three times as long is dead.
SILENCE = 45.0
#: A program that opens many asks at once may meet the rate limit of its token. It gets 50 calls a second.
RATE_LIMIT = 60.0
#: How many calls are sent at once. A program that opens a thousand asks must not open a thousand connections.
CALLS_AT_ONCE = 8
#: No event is longer.
LONGEST_EVENT = 16 * 1024 * 1024


class Backoff:
    """Waits that double from 0.1 s to 5 s, with some randomness so that many clients do not return at once."""

    def __init__(self) -> None:
        self._next = 0.1

    def reset(self) -> None:
        self._next = 0.1

    async def pause(self) -> None:
        wait, self._next = self._next, min(5.0, self._next * 2)
        await asyncio.sleep(wait * random.uniform(0.7, 1.0))


def is_passing(error: SaysoError) -> bool:
    """Whether the same call can succeed later without any change."""
    return error.status in (0, 429) or error.status >= 500


class Http:
    """One server and one token. `find` is called again when the server cannot be reached, because a server that is
    restarted may get another port."""

    def __init__(self, find: Callable[[], Target], retry_for: float) -> None:
        self._find = find
        self._retry_for = retry_for
        self._target: Target | None = None
        self._client: httpx.AsyncClient | None = None
        self._places = asyncio.Semaphore(CALLS_AT_ONCE)

    async def request(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        query: dict[str, Any] | None = None,
        retry_for: float | None = None,
        reply_within: float = 30.0,
        idempotency_key: str | None = None,
    ) -> Any:
        """Sends a call, and repeats it with the same idempotency key if no reply came."""
        headers = {}
        if method != "GET":
            headers["Idempotency-Key"] = idempotency_key or secrets.token_hex(16)
        content = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            content = json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode()
        query = {name: _text(value) for name, value in (query or {}).items() if value is not None}
        # Calls that wait for a person must not block other calls.
        places = contextlib.nullcontext() if "wait" in query else self._places
        give_up = time.monotonic() + (self._retry_for if retry_for is None else retry_for)
        backoff = Backoff()
        while True:
            try:
                async with places:
                    return await self._send(method, path, query, headers, content, reply_within)
            except SaysoError as error:
                limited = error.code == "rate_limited"
                if not (limited or error.status in (0, 503)) or time.monotonic() >= give_up + (RATE_LIMIT * limited):
                    raise
            await backoff.pause()

    async def _send(
        self,
        method: str,
        path: str,
        query: dict[str, Any],
        headers: dict[str, str],
        content: bytes | None,
        within: float,
    ) -> Any:
        import httpx

        client, target = self._open_client()
        try:
            response = await client.request(
                method,
                f"{target.url}/v1{path}",
                params=query or None,
                headers={**headers, "Authorization": f"Bearer {target.token}"},
                content=content,
                timeout=httpx.Timeout(within, connect=5.0),
            )
        except (httpx.TransportError, httpx.InvalidURL) as error:
            self._forget_target()
            raise _unreachable(target, error) from error
        body = _json(response.content)
        if response.is_success:
            return body
        raise error_of(response.status_code, body)

    async def stream(self, path: str, query: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
        """The JSON values of one server-sent event stream, until the stream ends."""
        import httpx

        client, target = self._open_client()
        headers = {"Authorization": f"Bearer {target.token}", "Accept": "text/event-stream"}
        query = {name: _text(value) for name, value in query.items() if value is not None}
        timeout = httpx.Timeout(SILENCE, connect=5.0)
        url = f"{target.url}/v1{path}"
        try:
            async with client.stream("GET", url, params=query or None, headers=headers, timeout=timeout) as response:
                if not response.is_success:
                    raise error_of(response.status_code, _json(await response.aread()))
                rest = b""
                async for piece in response.aiter_raw():
                    *frames, rest = (rest + piece).replace(b"\r\n", b"\n").split(b"\n\n")
                    if len(rest) > LONGEST_EVENT:
                        raise ServerUnreachableError("The server sent an event without an end")
                    for frame in frames:
                        value = _read_frame(frame)
                        if value is not None:
                            yield value
        except httpx.TransportError as error:
            self._forget_target()
            raise _unreachable(target, error) from error

    def target(self) -> Target:
        if self._target is None:
            self._target = self._find()
        return self._target

    def _forget_target(self) -> None:
        """Searches for the server again before the next call. If none is found, the last address is kept."""
        with contextlib.suppress(SaysoError):
            self._target = self._find()

    def _open_client(self) -> tuple[httpx.AsyncClient, Target]:
        import httpx

        target = self.target()
        if self._client is None:
            plain = target.url.startswith("http://")
            verify: Any = True
            if plain:
                import ssl

                # Without TLS no certificates are needed. This context trusts none, and loads none.
                verify = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            local = target.url.split("//", 1)[-1].startswith(("127.", "localhost", "[::1]"))
            self._client = httpx.AsyncClient(
                verify=verify,
                # A proxy cannot reach this machine's own address.
                trust_env=not local,
                limits=httpx.Limits(max_connections=None, max_keepalive_connections=2),
                headers={"X-Sayso-Via": "python"},
            )
        return self._client, target

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()


def part(value: str) -> str:
    """An id as one part of a path."""
    if not isinstance(value, str) or value in ("", ".", ".."):
        raise NotFoundError(f"There is nothing with the id {value!r}", code="not_found", status=404)
    return quote(value, safe="")


def _text(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


def _json(content: bytes) -> Any:
    try:
        return json.loads(content) if content else None
    except ValueError:
        return None


def _read_frame(frame: bytes) -> dict[str, Any] | None:
    """Parses one event. Returns `None` for comments and for data that is not an object."""
    lines = [line[5:].removeprefix(b" ") for line in frame.split(b"\n") if line.startswith(b"data:")]
    value = _json(b"\n".join(lines))
    return value if isinstance(value, dict) else None


def _unreachable(target: Target, error: Exception) -> ServerUnreachableError:
    reason = str(error) or type(error).__name__
    return ServerUnreachableError(f"No reply from {target.url}: {reason}", code="connection_lost")
