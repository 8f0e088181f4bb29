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
import hashlib
import json
from collections.abc import Awaitable, Callable, Collection
from typing import Any, NamedTuple

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.types import Command, Interrupt

from ._adapter import (
    ToolNames,
    all_of,
    approval,
    approve,
    approve_sync,
    client_or_default,
    edited_notice,
    question,
    question_of,
    refuse_repeated_ids,
    schema_of,
    settle,
)
from ._suspend import Suspender, decided
from .client import AsyncSayso
from .errors import StateError
from .results import Claim, Decision, decision_of, reply_of

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
        decision = approve_sync(self._client, *self._approval(request))
        if not decision:
            return _denied(request, decision)
        return _with_notice(handler(_edited(request, decision)), decision)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Any]]
    ) -> Any:
        """Like `wrap_tool_call`, for graphs that run in an event loop."""
        if request.tool_call["name"] not in self._tools:
            return await handler(request)
        decision = await approve(self._client, *self._approval(request))
        if not decision:
            return _denied(request, decision)
        return _with_notice(await handler(_edited(request, decision)), decision)

    def _approval(self, request: ToolCallRequest) -> tuple[dict[str, Any], str | None]:
        call = request.tool_call
        # Ids of tool calls are unique inside a conversation only.
        run = self._run_key or _thread_of(request.runtime.config)
        schema = schema_of(lambda: _arguments_of(request.tool))
        ask = approval(call["name"], call["args"], call["id"], editable=self._editable, input_schema=schema)
        return ask, f"{run}:{call['id']}" if run else None


def _arguments_of(tool: Any) -> Any:
    schema = tool.tool_call_schema
    return schema if isinstance(schema, dict) else schema.model_json_schema()


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
        result.content = f"{edited_notice(decision.input)} Result: {result.content}"
    return result


async def drive(
    graph: Any, payload: Any, config: dict[str, Any], *, client: AsyncSayso | None = None, editable: bool = True
) -> Any:
    """Invokes the graph, asks people about every interrupt, and resumes until the graph is done.

    The graph needs a checkpointer and the configuration a `thread_id`. If the thread is paused already, for example
    because the program was restarted, its interrupts are asked with the same keys and `payload` is not used. With
    `payload=None`, a graph that stopped between two steps also continues. The graph is resumed only when all
    interrupts of a pause are decided.
    """
    sayso = client_or_default(client)
    thread = _required_thread(config)
    state = await _state_of(graph, config)
    pending: list[Interrupt] = list(state.interrupts)
    result = state.values
    if not pending and (payload is not None or state.next):
        result = await graph.ainvoke(payload, config)
        pending = list(result.get("__interrupt__", ()))
    while pending:
        # A pause that people cannot decide is refused before anyone is asked.
        asks = [ask for interrupt in pending for ask in _asks(interrupt, editable)]
        refuse_repeated_ids(asks)
        outcomes = await all_of(settle(sayso, ask, f"{thread}:{ask['toolCallId']}") for ask in asks)
        found = {ask["toolCallId"]: outcome for ask, outcome in zip(asks, outcomes, strict=True)}
        resume = {interrupt.id: _resume_value(interrupt, found.__getitem__) for interrupt in pending}
        result = await graph.ainvoke(Command(resume=resume), config)
        pending = list(result.get("__interrupt__", ()))
    return result


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

    The checkpointer keeps the state of the graph, and the group only the `thread_id`. If the thread is paused already,
    the graph is not invoked and `payload` is not used. `name` is the one that workers resume by; `group` has further
    fields of the group, for example `retry`.
    """
    thread = _required_thread(config)
    suspender = Suspender(FRAMEWORK, name, thread, client, group)
    pending = list((await _state_of(graph, config)).interrupts)
    result = None
    if not pending:
        result = await graph.ainvoke(payload, config)
        pending = list(result.get("__interrupt__", ()))
    return await _suspend_or_end(suspender, pending, result, thread, editable)


async def resume(
    claim: Claim, graph: Any, config: dict[str, Any] | None = None, *, client: AsyncSayso | None = None
) -> Any:
    """Continues a claimed graph. Answers to interrupts that the checkpointer does not have any more are left out."""
    suspender, stored = Suspender.of_claim(FRAMEWORK, claim, client)
    thread, editable = stored["thread"], stored["editable"]
    config = {**(config or {}), "configurable": {**(config or {}).get("configurable", {}), "thread_id": thread}}
    snapshot = await _state_of(graph, config)
    pending = {interrupt.id: interrupt for interrupt in snapshot.interrupts}
    if not pending and not snapshot.next:
        # An earlier worker finished the graph, and was lost before it reported.
        return snapshot.values
    answers = {
        id: _resume_value(pending[id], lambda call: decided(claim, call))
        for id in stored["interrupts"]
        if id in pending
    }
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
    # The checkpointer keeps the ids of interrupts, so a repeated run has the same ones.
    pause = hashlib.sha256("\n".join(sorted(ids)).encode()).hexdigest()[:16]
    return await suspender.suspend(asks, {"thread": thread, "interrupts": ids, "editable": editable}, pause)


def _required_thread(config: Any) -> str:
    thread = _thread_of(config)
    if not thread:
        raise ValueError("The configuration has no thread_id. Set config['configurable']['thread_id'].")
    return thread


async def _state_of(graph: Any, config: dict[str, Any]) -> Any:
    """The state of the thread. Refuses graphs that could not be resumed, before people are asked."""
    try:
        return await graph.aget_state(config)
    except ValueError as error:
        if "checkpointer" not in str(error):
            raise
        raise StateError(
            "The graph has no checkpointer, so it could not continue after a pause",
            next_step="Compile it with a checkpointer, for example AsyncSqliteSaver.",
        ) from error


class _Call(NamedTuple):
    """A tool call that `HumanInTheLoopMiddleware` wants a decision about."""

    id: str
    name: str
    args: dict[str, Any]
    description: str | None
    #: The decisions that the middleware accepts; `None` if it does not say.
    allowed: list[str] | None
    #: The JSON Schema of edited arguments.
    schema: dict[str, Any] | None


#: The decisions of `HumanInTheLoopMiddleware`, as Sayso names them. People do not `respond` in place of the tool.
_DECISIONS = {"approve": "approve", "edit": "edit", "reject": "deny"}


def _calls(interrupt: Interrupt) -> list[_Call] | None:
    """The tool calls of an interrupt of the middleware. `None` for any other interrupt."""
    value = interrupt.value
    if not isinstance(value, dict):
        return None
    if value.get("type") == "tool_approval":
        allowed, schema = _terms(interrupt.response_schema)
        return [_Call(interrupt.id, value["name"], value["args"], value.get("description"), allowed, schema)]
    if isinstance(value.get("action_requests"), list):
        reviews = value.get("review_configs") or ()
        return [
            _Call(
                f"{interrupt.id}:{place}",
                call["name"],
                call["args"],
                call.get("description"),
                reviews[place].get("allowed_decisions") if place < len(reviews) else None,
                None,
            )
            for place, call in enumerate(value["action_requests"])
        ]
    return None


def _terms(schema: Any) -> tuple[list[str] | None, dict[str, Any] | None]:
    """Reads the accepted decisions, and the schema of edited arguments, from the schema of a `per_call` interrupt."""
    if not isinstance(schema, dict):
        return None, None
    definitions = schema.get("$defs", {})

    def target(part: dict[str, Any]) -> dict[str, Any]:
        found = definitions.get(str(part.get("$ref", "")).removeprefix("#/$defs/"), part)
        return found if isinstance(found, dict) else {}

    allowed, arguments = [], None
    for branch in map(target, schema.get("oneOf", [schema])):
        kind = branch["properties"]["type"]["const"]
        allowed.append(kind)
        if kind == "edit":
            edited = target(branch["properties"]["edited_action"])
            arguments = {**target(edited["properties"]["args"]), "$defs": definitions}
    return allowed, arguments


def _asks(interrupt: Interrupt, editable: bool) -> list[dict[str, Any]]:
    calls = _calls(interrupt)
    if calls is not None:
        return [_approval(call, editable) for call in calls]
    schema = interrupt.response_schema
    return [question(*_question(interrupt.value), interrupt.id, schema if isinstance(schema, dict) else None)]


def _approval(call: _Call, editable: bool) -> dict[str, Any]:
    allowed = None
    if call.allowed is not None:
        allowed = [_DECISIONS[name] for name in call.allowed if name in _DECISIONS and (editable or name != "edit")]
        if not allowed:
            raise StateError(
                f"People cannot make any of the decisions about {call.name} that the graph accepts: {call.allowed}",
                next_step="Add approve and reject to its allowed_decisions in HumanInTheLoopMiddleware.",
            )
    return approval(
        call.name,
        call.args,
        call.id,
        editable=editable and (allowed is None or "edit" in allowed),
        input_schema=call.schema,
        allowed=allowed,
        context=call.description,
    )


def _resume_value(interrupt: Interrupt, outcome: Callable[[str], dict[str, Any]]) -> Any:
    """Builds the value to resume with. `outcome` returns the decided ask with an id."""
    calls = _calls(interrupt)
    if calls is None:
        return _answer(interrupt, outcome(interrupt.id))
    decisions = [_decision(call, decision_of(outcome(call.id))) for call in calls]
    # Decisions of `batched` interrupts count by position.
    return {"decisions": decisions} if "action_requests" in interrupt.value else decisions[0]


def _decision(call: _Call, decision: Decision) -> dict[str, Any]:
    value: dict[str, Any]
    if not decision:
        value = {"type": "reject", "message": decision.message}
    elif decision.input is not None:
        value = {"type": "edit", "edited_action": {"name": call.name, "args": decision.input}}
    else:
        value = {"type": "approve"}
    # A rule or a deadline can always deny. Another decision than the accepted ones would break the thread.
    if call.allowed is not None and value["type"] not in call.allowed:
        message = f" ({decision.message.rstrip('.')})" if decision.message else ""
        raise StateError(
            f"The decision about {call.name} is {value['type']}{message}, but the graph accepts only {call.allowed}",
            next_step=f"The thread stays paused. Add {value['type']} to its allowed_decisions, and start a new thread.",
        )
    return value


def _question(value: Any) -> tuple[str, list[Any] | None]:
    found = question_of(value) if isinstance(value, dict) else (str(value), None)
    return found or (json.dumps(value, ensure_ascii=False, default=str), None)


def _answer(interrupt: Interrupt, ask: dict[str, Any]) -> Any:
    """The answer as the node wants it: text, or the JSON value that its `response_schema` describes."""
    given, text = reply_of(ask)
    schema = interrupt.response_schema
    if schema is None or schema == {"type": "string"}:
        return text
    if not given:
        raise StateError(
            f"The question has no answer ({text.rstrip('.')}), but the graph accepts only values of its schema",
            next_step="The thread stays paused. Start a new thread, or let response_schema accept such a text.",
        )
    answer = ", ".join(map(str, ask["outcome"]["answers"][0]))
    if not isinstance(schema, dict) or schema.get("type") == "string":
        return answer
    try:
        return json.loads(answer)
    except ValueError:
        # The person chose one of the options.
        return answer
