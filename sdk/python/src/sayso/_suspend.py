"""Helpers of the adapters that suspend runs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from typing import Any

from ._adapter import client_or_default
from .client import AsyncSayso
from .errors import SaysoError
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


class StateError(SaysoError):
    """The claim has a state that this function cannot resume."""

    next_step = "Resume it with the same version of the adapter that suspended it."


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
        #: Fields of the group, for example `retry`, `keep` and `callback`. Later pauses of the run have them too.
        self._options = dict(options or {})

    async def suspend(self, asks: list[dict[str, Any]], state: Any, turn: Collection[str]) -> Suspended:
        """Opens one pause. `turn` are the ids of its tool calls, which tell the pauses of one run apart."""
        stored = {
            "version": VERSION,
            "framework": self._framework,
            "runKey": self.run_key,
            "options": self._options,
            "state": state,
        }
        key = None
        if self.run_key:
            digest = hashlib.sha256("\n".join(sorted(turn)).encode()).hexdigest()[:16]
            key = f"{self.run_key}:{digest}"
        group = await self._client.groups.open(
            self._name, asks, key=key, state=json.dumps(stored, separators=(",", ":")), **self._options
        )
        return Suspended(group)

    @classmethod
    def of_claim(cls, framework: str, claim: Claim, client: AsyncSayso | None) -> tuple[Suspender, Any]:
        """The suspender for further pauses of a claimed run, and the state of the framework."""
        try:
            stored = json.loads(claim.state or "")
        except ValueError:
            stored = None
        if not isinstance(stored, dict) or stored.get("version") != VERSION or stored.get("framework") != framework:
            raise StateError(f"This group was not suspended by sayso.{framework}")
        return cls(framework, claim.name, stored.get("runKey"), client, stored.get("options")), stored["state"]


def approval(tool: str, input: dict[str, Any], tool_call_id: str, **fields: Any) -> dict[str, Any]:
    """An approval as one ask of a group."""
    choices, context = fields.pop("choices", None), fields.pop("context", None)
    body = {"tool": tool, "action": "other", "input": input, **fields}
    if choices:
        body["choices"] = choices
    return {"approval": body, "toolCallId": tool_call_id, "context": context}


def question(text: str, options: list[Any] | None, tool_call_id: str) -> dict[str, Any]:
    """A question as one ask of a group."""
    item: dict[str, Any] = {"text": text}
    if options:
        item["options"] = [{"label": option} if isinstance(option, str) else dict(option) for option in options]
    return {"questions": [item], "toolCallId": tool_call_id}
