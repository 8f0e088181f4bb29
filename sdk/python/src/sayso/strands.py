"""Approvals for [Strands Agents](https://strandsagents.com).

from strands import Agent
from sayso.strands import SaysoIntervention

agent = Agent(tools=[send_email], interventions=[SaysoIntervention(tools=["send_email"], run_key="run-42")])
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any

from strands.interventions import Deny, InterventionHandler, Proceed, Transform

from ._adapter import CANCELLED, ToolNames, client_or_default
from .client import AsyncSayso

#: How often the cancel signal of the agent is looked at, in seconds.
CANCEL_POLL = 0.2


class SaysoIntervention(InterventionHandler):
    """Asks a person before a tool is called."""

    name = "sayso"
    # An error of the server must not let a tool run.
    on_error = "deny"

    def __init__(
        self,
        tools: Collection[str] | None = None,
        *,
        run_key: str | None = None,
        client: AsyncSayso | None = None,
        editable: bool = True,
    ) -> None:
        """`tools` are the names of the tools that need an approval; without it, all of them do. `run_key` makes a
        restarted program continue its asks."""
        self._tools = ToolNames(tools)
        self._run_key = run_key
        self._client = client_or_default(client)
        self._editable = editable

    async def before_tool_call(self, event: Any, **options: Any) -> Any:
        use = event.tool_use
        if use["name"] not in self._tools:
            return Proceed()
        deciding = asyncio.ensure_future(
            self._client.approve(
                use["name"],
                use["input"],
                key=f"{self._run_key}:{use['toolUseId']}" if self._run_key else None,
                editable=self._editable,
                tool_call_id=use["toolUseId"],
            )
        )
        try:
            # `agent.cancel()` does not end this wait, so the signal is looked at. An approval that arrives later would
            # run the tool of a cancelled run.
            while not event.agent.cancel_signal.is_set() and not deciding.done():
                await asyncio.wait({deciding}, timeout=CANCEL_POLL)
            if event.agent.cancel_signal.is_set():
                return Deny(reason=CANCELLED)
            decision = deciding.result()
        finally:
            # Withdraws the ask if nobody has decided it.
            deciding.cancel()
        if not decision:
            return Deny(reason=decision.message)
        if decision.input is None:
            return Proceed()
        edited = decision.input

        def apply(changed: Any) -> None:
            # A new dictionary: the old one is part of the history that the model reads.
            changed.tool_use = {**changed.tool_use, "input": edited}

        return Transform(apply=apply)
