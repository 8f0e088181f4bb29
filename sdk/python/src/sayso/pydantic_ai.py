"""Approvals and questions for [Pydantic AI](https://ai.pydantic.dev).

    from pydantic_ai import Agent
    from sayso.pydantic_ai import approvals

    agent = Agent("openai:gpt-5", capabilities=[approvals()])

    @agent.tool_plain(requires_approval=True)
    def send_email(to: str, text: str) -> str: ...

`approvals` waits. `start` suspends the run instead, and `resume` continues it in any process. A tool that raises
`CallDeferred` and has an argument `question` (and perhaps `options`) asks a person.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic_ai import (
    Agent,
    DeferredToolRequests,
    DeferredToolResults,
    RunContext,
    ToolApproved,
    ToolDenied,
    ToolFailed,
)
from pydantic_ai.capabilities import HandleDeferredToolCalls
from pydantic_ai.messages import ModelMessagesTypeAdapter, ToolCallPart
from pydantic_ai.toolsets import FunctionToolset

from ._adapter import all_of, approval, approve, ask_for_model, client_or_default, question, question_of
from ._suspend import Suspender, decided
from .client import AsyncSayso
from .results import Claim, Decision, decision_of, reply_of

FRAMEWORK = "pydantic_ai"


def approvals(
    client: AsyncSayso | None = None, *, run_key: str | None = None, editable: bool = True
) -> HandleDeferredToolCalls[Any]:
    """A capability that asks people about deferred tool calls, all calls of one turn at once.

    `run_key` makes a restarted program continue its asks. Without it the id of the conversation is used, which
    Pydantic AI makes anew for each conversation unless you set it.
    """
    sayso = client_or_default(client)

    async def decide(ctx: RunContext[Any], requests: DeferredToolRequests) -> DeferredToolResults:
        run = run_key or ctx.conversation_id

        schemas = {name: tool.parameters_json_schema for name, tool in ctx.tools.items()}

        async def permission(call: ToolCallPart) -> ToolApproved | ToolDenied:
            ask = _approval(call, schemas, editable)
            return _permission(await approve(sayso, ask, f"{run}:{call.tool_call_id}"))

        async def answer(call: ToolCallPart, text: str, options: list[Any] | None) -> Any:
            ask = question(text, options, call.tool_call_id)
            return _result(await ask_for_model(sayso, ask, f"{run}:{call.tool_call_id}"))

        # Deferred calls that need no person are returned to the program as the output of the run.
        asked = [(call, found) for call in requests.calls if (found := _question(requests, call))]
        results = await all_of(
            [
                *(permission(call) for call in requests.approvals),
                *(answer(call, text, options) for call, (text, options) in asked),
            ]
        )
        ids = [call.tool_call_id for call in requests.approvals]
        return requests.build_results(
            approvals=dict(zip(ids, results, strict=False)),
            calls={call.tool_call_id: result for (call, _), result in zip(asked, results[len(ids) :], strict=True)},
        )

    return HandleDeferredToolCalls(handler=decide)


def _approval(call: ToolCallPart, schemas: Mapping[str, dict[str, Any]], editable: bool = True) -> dict[str, Any]:
    schema = schemas.get(call.tool_name)
    return approval(
        call.tool_name, call.args_as_dict(), call.tool_call_id, editable=editable, input_schema=schema or None
    )


def _permission(decision: Decision) -> ToolApproved | ToolDenied:
    return ToolApproved(override_args=decision.input) if decision else ToolDenied(decision.message)


def _result(reply: tuple[bool, str]) -> Any:
    given, text = reply
    return text if given else ToolFailed(text)


def _question(requests: DeferredToolRequests, call: ToolCallPart) -> tuple[str, list[Any] | None] | None:
    return question_of({**call.args_as_dict(), **requests.metadata.get(call.tool_call_id, {})})


async def start(
    agent: Agent[Any, Any],
    prompt: Any,
    *,
    name: str,
    run_key: str | None = None,
    client: AsyncSayso | None = None,
    group: dict[str, Any] | None = None,
    **options: Any,
) -> Any:
    """Runs the agent until it is done, or until tool calls wait for a person. Then the result is a `Suspended`.

    `name` is the one that workers resume by, and `group` has further fields of the group, for example `retry`. With
    `run_key`, a program that is restarted does not open the same pause twice. Options are those of `agent.run`. The
    agent has no `approvals()`.
    """
    suspender = Suspender(FRAMEWORK, name, run_key, client, group)
    result = await agent.run(prompt, output_type=_with_requests(agent), **options)
    return await _suspend_or_end(suspender, agent, result)


async def resume(claim: Claim, agent: Agent[Any, Any], *, client: AsyncSayso | None = None, **options: Any) -> Any:
    """Continues a claimed run. The agent has the same tools as the one that was suspended."""
    suspender, stored = Suspender.of_claim(FRAMEWORK, claim, client)
    results = DeferredToolResults()
    # Pydantic AI needs a result for every call, and refuses unknown ones before a tool runs.
    for call_id in stored["approvals"]:
        results.approvals[call_id] = _permission(decision_of(decided(claim, call_id)))
    for call_id in stored["calls"]:
        results.calls[call_id] = _result(reply_of(decided(claim, call_id)))
    result = await agent.run(
        message_history=ModelMessagesTypeAdapter.validate_json(stored["messages"]),
        deferred_tool_results=results,
        output_type=_with_requests(agent),
        **options,
    )
    return await _suspend_or_end(suspender, agent, result)


def _with_requests(agent: Agent[Any, Any]) -> Any:
    return [agent.output_type, DeferredToolRequests]


def _schemas(agent: Agent[Any, Any]) -> dict[str, dict[str, Any]]:
    """The argument schemas of the tools that were added to the agent. Other toolsets build theirs during a run."""
    toolsets = [toolset for toolset in agent.toolsets if isinstance(toolset, FunctionToolset)]
    tools = {name: tool for toolset in toolsets for name, tool in toolset.tools.items()}
    return {name: tool.function_schema.json_schema for name, tool in tools.items()}


async def _suspend_or_end(suspender: Suspender, agent: Agent[Any, Any], result: Any) -> Any:
    requests = result.output
    if not isinstance(requests, DeferredToolRequests):
        return result
    schemas = _schemas(agent)
    asks = [_approval(call, schemas) for call in requests.approvals]
    for call in requests.calls:
        found = _question(requests, call)
        if found is None:
            raise ValueError(
                f"The tool {call.tool_name} was deferred and has no argument `question`. A suspended run needs a"
                " person's answer for every deferred call."
            )
        asks.append(question(*found, call.tool_call_id))
    approvals, calls = ([call.tool_call_id for call in calls] for calls in (requests.approvals, requests.calls))
    state = {"messages": result.all_messages_json().decode(), "approvals": approvals, "calls": calls}
    return await suspender.suspend(asks, state)
