"""Approvals and questions for [LangChain and LangGraph](https://docs.langchain.com).

    from langchain.agents import create_agent
    from sayso.langgraph import SaysoMiddleware

    agent = create_agent(model, tools=[send_email], middleware=[SaysoMiddleware(tools=["send_email"])])

`SaysoMiddleware` waits inside the tool call. `drive` runs a graph that pauses with `interrupt()` or
`HumanInTheLoopMiddleware`; with a checkpointer it continues after a restart of the program. `start` suspends such a
graph, and `resume` continues it in any process that reaches the checkpointer.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.types import Command, Interrupt

from ._adapter import ToolNames, all_of, ask_for_model, client_or_default, question_of
from ._suspend import StateError, Suspender, approval, question
from .client import AsyncSayso
from .results import Claim, Decision

FRAMEWORK = "langgraph"


class SaysoMiddleware(AgentMiddleware[Any, Any]):
    """Asks a person before a tool is called. Tool calls of one turn wait at once."""

    def __init__(
        self,
        tools: Collection[str] | None = None,
        *,
        client: AsyncSayso | None = None,
        run_key: str | None = None,
        editable: bool = True,
    ) -> None:
        """`tools` are the names of the tools that need an approval; without it, all of them do.

        `run_key` identifies the run after a restart of the program. By default it is the `thread_id` of the
        configuration.
        """
        super().__init__()
        self._tools = ToolNames(tools)
        self._client = client_or_default(client)
        self._run_key = run_key
        self._editable = editable

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]) -> Any:
        """Called by LangChain for each tool call. Runs the tool if a person or the policy approves it."""
        if request.tool_call["name"] not in self._tools:
            return handler(request)
        decision = self._client.sync.approve(**self._approval(request))
        if not decision:
            return _denied(request, decision)
        return _with_notice(handler(_edited(request, decision)), decision)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Any]]
    ) -> Any:
        """Like `wrap_tool_call`, for graphs that run in an event loop."""
        if request.tool_call["name"] not in self._tools:
            return await handler(request)
        decision = await self._client.approve(**self._approval(request))
        if not decision:
            return _denied(request, decision)
        return _with_notice(await handler(_edited(request, decision)), decision)

    def _approval(self, request: ToolCallRequest) -> dict[str, Any]:
        call = request.tool_call
        # Ids of tool calls are unique inside a conversation only.
        run = self._run_key or _thread_of(request.runtime.config)
        return {
            "tool": call["name"],
            "input": call["args"],
            "key": f"{run}:{call['id']}" if run else None,
            "editable": self._editable,
            "tool_call_id": call["id"],
        }


def _thread_of(config: Any) -> str:
    return str((config or {}).get("configurable", {}).get("thread_id") or "")


def _denied(request: ToolCallRequest, decision: Decision) -> ToolMessage:
    call = request.tool_call
    return ToolMessage(decision.message, tool_call_id=call["id"], name=call["name"], status="error")


def _edited(request: ToolCallRequest, decision: Decision) -> ToolCallRequest:
    if decision.input is None:
        return request
    return request.override(tool_call={**request.tool_call, "args": decision.input})


def _with_notice(result: Any, decision: Decision) -> Any:
    """Adds edited arguments to the tool result, because the model's message keeps the original ones."""
    if decision.input is not None and isinstance(result, ToolMessage) and isinstance(result.content, str):
        used = json.dumps(decision.input, ensure_ascii=False)
        result.content = f"The user changed the arguments of this call to {used}. Result: {result.content}"
    return result


async def drive(
    graph: Any, payload: Any, config: dict[str, Any], *, client: AsyncSayso | None = None, editable: bool = True
) -> Any:
    """Invokes the graph, asks people about every interrupt, and resumes until the graph is done.

    The graph needs a checkpointer and the configuration a `thread_id`. To continue after a restart of the program, call
    it again with `payload=None`: interrupts that are pending are asked with the same keys, so people are not asked
    twice. The graph is resumed only when all interrupts of a pause are decided.
    """
    sayso = client_or_default(client)
    thread = _thread_of(config)
    if not thread:
        raise ValueError("The configuration has no thread_id. Set config['configurable']['thread_id'].")
    pending: list[Interrupt] = []
    result: Any = None
    if payload is None:
        state = await graph.aget_state(config)
        pending, result = list(state.interrupts), state.values
        if not pending and state.next:
            # A program that was killed between two steps resumes here.
            result = await graph.ainvoke(None, config)
            pending = list(result.get("__interrupt__", ()))
    else:
        result = await graph.ainvoke(payload, config)
        pending = list(result.get("__interrupt__", ()))
    while pending:
        answers = await all_of(_answer(sayso, thread, interrupt, editable) for interrupt in pending)
        resume = {interrupt.id: answer for interrupt, answer in zip(pending, answers, strict=True)}
        result = await graph.ainvoke(Command(resume=resume), config)
        pending = list(result.get("__interrupt__", ()))
    return result


async def _answer(sayso: AsyncSayso, thread: str, interrupt: Interrupt, editable: bool) -> Any:
    """Builds the value to resume with: decisions for `HumanInTheLoopMiddleware`, otherwise the answer as text."""
    key, value = f"{thread}:{interrupt.id}", interrupt.value
    if isinstance(value, dict) and value.get("type") == "tool_approval":
        return _decision(value["name"], await _approve(sayso, value, key, editable))
    if isinstance(value, dict) and isinstance(value.get("action_requests"), list):
        # One interrupt has all calls of a turn. Its answers count by position; a wrong one would break the thread.
        calls = value["action_requests"]
        decisions = await all_of(
            _approve(sayso, call, f"{key}:{place}", editable, _allowed(value, place, editable))
            for place, call in enumerate(calls)
        )
        pairs = zip(calls, decisions, strict=True)
        return {"decisions": [_decision(call["name"], decision) for call, decision in pairs]}
    return (await ask_for_model(sayso, *_question(value), key))[1]


async def _approve(
    sayso: AsyncSayso, call: dict[str, Any], key: str, editable: bool, allowed: list[str] | None = None
) -> Decision:
    return await sayso.approve(
        call["name"],
        call["args"],
        key=key,
        editable=editable and (allowed is None or "edit" in allowed),
        allowed_decisions=allowed,
        context=call.get("description"),
    )


#: The decisions of `HumanInTheLoopMiddleware`, as Sayso names them. People do not `respond` in place of the tool.
_DECISIONS = {"approve": "approve", "edit": "edit", "reject": "deny"}


def _allowed(value: dict[str, Any], place: int, editable: bool) -> list[str] | None:
    """The decisions that the middleware accepts for one call: another one would break the thread."""
    reviews = value.get("review_configs") or ()
    named = reviews[place].get("allowed_decisions") if place < len(reviews) else None
    if named is None:
        return None
    allowed = [_DECISIONS[name] for name in named if name in _DECISIONS and (editable or name != "edit")]
    # Without a decision that it can give, a person could only wait for the deadline.
    return allowed or None


def _decision(name: str, decision: Decision) -> dict[str, Any]:
    if not decision:
        return {"type": "reject", "message": decision.message}
    if decision.input is not None:
        return {"type": "edit", "edited_action": {"name": name, "args": decision.input}}
    return {"type": "approve"}


def drive_sync(graph: Any, payload: Any, config: dict[str, Any], **options: Any) -> Any:
    """`drive` for code without coroutines. The graph runs in an event loop of its own."""
    return asyncio.run(drive(graph, payload, config, **options))


async def start(
    graph: Any,
    payload: Any,
    config: dict[str, Any],
    *,
    name: str,
    client: AsyncSayso | None = None,
    editable: bool = True,
    group: dict[str, Any] | None = None,
) -> Any:
    """Invokes the graph until it is done, or until it pauses. Then the result is a `Suspended`.

    The checkpointer keeps the state of the graph, and the group only the `thread_id`. `name` is the one that workers
    resume by; `group` has further fields of the group, for example `retry`.
    """
    thread = _thread_of(config)
    if not thread:
        raise ValueError("The configuration has no thread_id. Set config['configurable']['thread_id'].")
    suspender = Suspender(FRAMEWORK, name, thread, client, group)
    result = await graph.ainvoke(payload, config)
    return await _suspend_or_end(suspender, list(result.get("__interrupt__", ())), result, thread, editable)


async def resume(
    claim: Claim, graph: Any, config: dict[str, Any] | None = None, *, client: AsyncSayso | None = None
) -> Any:
    """Continues a claimed graph. Answers to interrupts that the checkpointer does not have any more are left out."""
    suspender, stored = Suspender.of_claim(FRAMEWORK, claim, client)
    thread, editable = stored["thread"], stored["editable"]
    config = {**(config or {}), "configurable": {**(config or {}).get("configurable", {}), "thread_id": thread}}
    snapshot = await graph.aget_state(config)
    pending = {interrupt.id: interrupt for interrupt in snapshot.interrupts}
    if not pending and not snapshot.next:
        # An earlier worker finished the graph, and was lost before it reported.
        return snapshot.values
    answers = {id: _resume_value(claim, pending[id]) for id in stored["interrupts"] if id in pending}
    # Without an answer, a graph that stopped between two steps continues.
    result = await graph.ainvoke(Command(resume=answers) if answers else None, config)
    return await _suspend_or_end(suspender, list(result.get("__interrupt__", ())), result, thread, editable)


async def _suspend_or_end(
    suspender: Suspender, pending: list[Interrupt], result: Any, thread: str, editable: bool
) -> Any:
    if not pending:
        return result
    asks = [ask for interrupt in pending for ask in _asks(interrupt, editable)]
    ids = [interrupt.id for interrupt in pending]
    return await suspender.suspend(asks, {"thread": thread, "interrupts": ids, "editable": editable}, ids)


def _asks(interrupt: Interrupt, editable: bool) -> list[dict[str, Any]]:
    value = interrupt.value
    if isinstance(value, dict) and value.get("type") == "tool_approval":
        context = value.get("description")
        return [approval(value["name"], value["args"], interrupt.id, editable=editable, context=context)]
    if isinstance(value, dict) and isinstance(value.get("action_requests"), list):
        asks = []
        for place, call in enumerate(value["action_requests"]):
            allowed = _allowed(value, place, editable)
            terms = {} if allowed is None else {"allowedDecisions": allowed}
            asks.append(
                approval(
                    call["name"],
                    call["args"],
                    f"{interrupt.id}:{place}",
                    editable=editable and (allowed is None or "edit" in allowed),
                    context=call.get("description"),
                    **terms,
                )
            )
        return asks
    return [question(*_question(value), interrupt.id)]


def _resume_value(claim: Claim, interrupt: Interrupt) -> Any:
    """Builds the value to resume with, like `_answer` does for a graph that waits."""
    value = interrupt.value
    if isinstance(value, dict) and value.get("type") == "tool_approval":
        return _decision(value["name"], _decided(claim, interrupt.id))
    if isinstance(value, dict) and isinstance(value.get("action_requests"), list):
        calls = enumerate(value["action_requests"])
        return {
            "decisions": [_decision(call["name"], _decided(claim, f"{interrupt.id}:{place}")) for place, call in calls]
        }
    reply = claim.reply(interrupt.id)
    if reply is None:
        raise StateError(f"The group has no outcome for the interrupt {interrupt.id}")
    return reply[1]


def _decided(claim: Claim, tool_call_id: str) -> Decision:
    decision = claim.decision(tool_call_id)
    if decision is None:
        raise StateError(f"The group has no outcome for the interrupt {tool_call_id}")
    return decision


def _question(value: Any) -> tuple[str, list[Any] | None]:
    found = question_of(value) if isinstance(value, dict) else (str(value), None)
    return found or (json.dumps(value, ensure_ascii=False, default=str), None)
