"""Approvals for [Strands Agents](https://strandsagents.com).

from strands import Agent
from sayso.strands import SaysoIntervention

agent = Agent(tools=[send_email], interventions=[SaysoIntervention(tools=["send_email"], run_key="run-42")])

With `suspend=True` the intervention pauses the agent instead of waiting. Then `start` suspends the run, and `resume`
continues it in any process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any

from strands import Agent, Snapshot
from strands.interventions import Deny, InterventionHandler, Proceed, Transform

from ._adapter import (
    CANCELLED,
    ToolNames,
    approval,
    approve,
    client_or_default,
    edited_notice,
    question,
    question_of,
    schema_of,
)
from ._suspend import Suspender, decided
from .client import AsyncSayso
from .results import Claim, decision_of, reply_of

FRAMEWORK = "strands"

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
        suspend: bool = False,
    ) -> None:
        """`tools` are the names of the tools that need an approval; without it, all of them do. `run_key` makes a
        restarted program continue its asks. With `suspend` the agent pauses; run it with `start`."""
        self._suspend = suspend
        self._tools = ToolNames(tools)
        self._run_key = run_key
        self._client = client_or_default(client)
        self._editable = editable
        #: The edited arguments of the calls that run now.
        self._edited: dict[tuple[int, str], dict[str, Any]] = {}

    async def before_tool_call(self, event: Any, **options: Any) -> Any:
        """Called by Strands for each tool call. Asks, and then runs, denies or pauses the call."""
        use = event.tool_use
        if use["name"] not in self._tools:
            return Proceed()
        if self._suspend:
            return self._paused(event)
        call_id = use["toolUseId"]
        ask = approval(
            use["name"], use["input"], call_id, editable=self._editable, input_schema=_schema(event.selected_tool)
        )
        key = f"{self._run_key}:{call_id}" if self._run_key else None
        deciding = asyncio.ensure_future(approve(self._client, ask, key))
        try:
            # `agent.cancel()` does not end this wait, so check the signal. An approval that arrives later would
            # run the tool of a cancelled run.
            while not event.agent.cancel_signal.is_set() and not deciding.done():
                await asyncio.wait({deciding}, timeout=CANCEL_POLL)
            if event.agent.cancel_signal.is_set():
                return Deny(reason=CANCELLED)
            decision = deciding.result()
        finally:
            # Withdraws the ask if it is still pending.
            deciding.cancel()
        return self._action(event, decision.approved, decision.message, decision.input)

    async def after_tool_call(self, event: Any, **options: Any) -> Any:
        """Called by Strands after each tool call. Adds edited arguments to the result, which the model reads."""
        edited = self._edited.pop(_place(event), None)
        if edited is not None:
            notice = {"text": edited_notice(edited)}
            event.result = {**event.result, "content": [notice, *event.result.get("content", [])]}
        return Proceed()

    def _paused(self, event: Any) -> Any:
        """Pauses the agent; when it is resumed, acts on the decision."""
        use = event.tool_use
        schema = _schema(event.selected_tool) if self._editable else None
        reason = {"tool": use["name"], "input": use["input"], "editable": self._editable, "schema": schema}
        decision = event.interrupt("sayso", reason=reason)
        return self._action(event, decision["approved"], decision["message"], decision["input"])

    def _action(self, event: Any, approved: bool, message: str, edited: dict[str, Any] | None) -> Any:
        if not approved:
            return Deny(reason=message)
        if edited is None:
            return Proceed()

        def apply(changed: Any) -> None:
            self._edited[_place(event)] = edited
            # A new dictionary: the old one is part of the history that the model reads.
            changed.tool_use = {**changed.tool_use, "input": edited}

        return Transform(apply=apply)


def _place(event: Any) -> tuple[int, str]:
    return id(event.agent), event.tool_use["toolUseId"]


def _schema(tool: Any) -> dict[str, Any] | None:
    return schema_of(lambda: tool.tool_spec["inputSchema"]["json"])


async def start(
    agent: Agent,
    prompt: Any,
    *,
    name: str,
    run_key: str | None = None,
    client: AsyncSayso | None = None,
    group: dict[str, Any] | None = None,
) -> Any:
    """Calls the agent until it is done, or until it pauses. Then the result is a `Suspended`.

    `name` is the one that workers resume by, and `group` has further fields of the group, for example `retry`. With
    `run_key`, a program that is restarted does not open the same pause twice.
    """
    suspender = Suspender(FRAMEWORK, name, run_key, client, group)
    return await _suspend_or_end(suspender, agent, await agent.invoke_async(prompt))


async def resume(claim: Claim, agent: Agent, *, client: AsyncSayso | None = None) -> Any:
    """Continues a claimed run. The agent is a new one with the same tools and interventions."""
    suspender, stored = Suspender.of_claim(FRAMEWORK, claim, client)
    agent.load_snapshot(Snapshot.from_dict(stored["snapshot"]))
    responses: list[Any] = []
    for interrupt_id, is_tool in stored["interrupts"].items():
        response: Any
        ask = decided(claim, interrupt_id)
        if is_tool:
            decision = decision_of(ask)
            # Strands treats an empty response as missing, so the response is always an object.
            response = {"approved": decision.approved, "message": decision.message, "input": decision.input}
        else:
            response = reply_of(ask)[1]
        responses.append({"interruptResponse": {"interruptId": interrupt_id, "response": response}})
    return await _suspend_or_end(suspender, agent, await agent.invoke_async(responses))


async def _suspend_or_end(suspender: Suspender, agent: Agent, result: Any) -> Any:
    if result.stop_reason != "interrupt":
        return result
    asks, interrupts = [], {}
    for interrupt in result.interrupts:
        reason = interrupt.reason
        is_tool = isinstance(reason, dict) and interrupt.name == "sayso" and "tool" in reason
        interrupts[interrupt.id] = is_tool
        if is_tool:
            editable, schema = reason["editable"], reason.get("schema")
            asks.append(approval(reason["tool"], reason["input"], interrupt.id, editable=editable, input_schema=schema))
        else:
            found = question_of(reason) if isinstance(reason, dict) else None
            asks.append(question(*(found or (str(reason or interrupt.name), None)), interrupt.id))
    snapshot = agent.take_snapshot(preset="session").to_dict()
    return await suspender.suspend(asks, {"snapshot": snapshot, "interrupts": interrupts})
