"""Helpers of the adapters that suspend runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ._adapter import client_or_default, refuse_repeated_ids, without_schemas
from .client import AsyncSayso
from .errors import DedupeKeyReusedError, InvalidSchemaError, StateError
from .results import Claim

#: The layout of the stored state. A worker refuses a state that it does not know.
VERSION = 1


class Suspended:
    """A run that waits for people. The program can end now: a worker resumes the run in any process."""

    __slots__ = ("ask_ids", "group_id", "name", "status")

    def __init__(self, group: Mapping[str, Any]) -> None:
        self.group_id: str = group["id"]
        self.name: str = group["name"]
        #: `pending`; or `ready` if the policy has decided everything; or a later status if the pause is an old one.
        self.status: str = group["status"]
        self.ask_ids: list[str] = [ask["id"] for ask in group["asks"]]

    def __repr__(self) -> str:
        return f"Suspended(name={self.name!r}, group_id={self.group_id!r}, status={self.status!r})"


class Suspender:
    """Opens groups for the pauses of one run."""

    def __init__(
        self,
        framework: str,
        name: str,
        run_key: str | None,
        client: AsyncSayso | None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self._framework = framework
        self._name = name
        self.run_key = run_key
        self._client = client_or_default(client)
        #: Fields of the group, for example `retry`, `keep` and `callback`. Later pauses of the run have them also.
        self._options = dict(options or {})
        #: How many pauses of this run were opened before.
        self._pauses = 0

    async def suspend(self, asks: list[dict[str, Any]], state: Any, pause: str | None = None) -> Suspended:
        """Opens one pause. `pause` tells the pauses of one run apart, by default their number.

        A program that repeats its run gets the same group: ids of tool calls differ, but people decide the same asks.
        """
        refuse_repeated_ids(asks)
        number = self._pauses + 1
        stored = {
            "version": VERSION,
            "framework": self._framework,
            "runKey": self.run_key,
            "pauses": number,
            "options": self._options,
            "state": state,
        }
        group = {
            "key": f"{self.run_key}:{pause or number}" if self.run_key else None,
            "state": json.dumps(stored, separators=(",", ":")),
            **self._options,
        }
        try:
            try:
                opened = await self._client.groups.open(self._name, asks, **group)
            except InvalidSchemaError:
                opened = await self._client.groups.open(self._name, [without_schemas(ask) for ask in asks], **group)
        except DedupeKeyReusedError as error:
            raise StateError(
                f"The run {self.run_key} was suspended before, and asks for something else now",
                next_step="Use another run_key for another run. The earlier group continues the run.",
                code=error.code,
                status=error.status,
                problem=error.problem,
            ) from error
        return Suspended(opened)

    @classmethod
    def of_claim(cls, framework: str, claim: Claim, client: AsyncSayso | None) -> tuple[Suspender, Any]:
        """The suspender for further pauses of a claimed run, and the state of the framework."""
        try:
            stored = json.loads(claim.state or "")
        except ValueError:
            stored = None
        if not isinstance(stored, dict) or stored.get("version") != VERSION or stored.get("framework") != framework:
            raise StateError(f"This group was not suspended by sayso.{framework}")
        suspender = cls(framework, claim.name, stored.get("runKey"), client, stored.get("options"))
        suspender._pauses = stored.get("pauses", 1)
        return suspender, stored["state"]


def decided(claim: Claim, tool_call_id: str) -> dict[str, Any]:
    """The ask with this id. Without it the run must not continue, because some frameworks call the other tools."""
    ask = claim.ask(tool_call_id)
    if ask is None:
        raise StateError(f"The group has no outcome for {tool_call_id}")
    return ask
