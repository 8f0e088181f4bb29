"""Approvals for the [OpenAI Agents SDK](https://openai.github.io/openai-agents-python).

    from agents import Agent, function_tool
    from sayso.openai_agents import run

    @function_tool(needs_approval=True)
    def send_email(to: str, text: str) -> str: ...

    result = await run(Agent(name="mailer", tools=[send_email]), "Tell Ada", run_key="run-42")

`run` takes the place of `Runner.run` and waits. `start` suspends the run instead, and `resume` continues it in any
process. The SDK runs the arguments that the model chose, whatever the approval says, so these functions do not offer to
edit them; `guard` wraps a tool whose arguments may be edited.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from agents import Agent, FunctionTool, Runner, RunState
from agents.items import ToolApprovalItem
from agents.tool_context import ToolContext

from ._adapter import all_of, approval, approve, client_or_default, edited_notice, refuse_repeated_ids
from ._suspend import Suspended, Suspender, decided
from .client import AsyncSayso
from .results import Claim, Decision, decision_of

FRAMEWORK = "openai_agents"


async def run(
    agent: Agent[Any], input: Any, *, run_key: str | None = None, client: AsyncSayso | None = None, **options: Any
) -> Any:
    """Runs the agent, and asks people about each tool that needs an approval. Options are those of `Runner.run`.

    The run continues when all approvals of a pause are decided. `run_key` makes a restarted program continue its asks.
    """
    sayso = client_or_default(client)
    result = await Runner.run(agent, input, **options)
    while result.interruptions:
        state = result.to_state()
        asks = [_ask(item) for item in result.interruptions]
        refuse_repeated_ids(asks)
        keys = [f"{run_key}:{ask['toolCallId']}" if run_key else None for ask in asks]
        decisions = await all_of(approve(sayso, ask, key) for ask, key in zip(asks, keys, strict=True))
        for item, decision in zip(result.interruptions, decisions, strict=True):
            _decide(state, item, decision)
        result = await Runner.run(agent, state, **options)
    return result


def _ask(item: ToolApprovalItem) -> dict[str, Any]:
    # The SDK ignores other arguments than those of the model, so edits are not offered.
    return approval(
        item.name or "tool",
        _arguments(item.arguments),
        item.call_id,
        choices=[{"id": "always", "label": f"Always allow {item.name} in this run"}],
    )


def _decide(state: Any, item: ToolApprovalItem, decision: Decision) -> None:
    if decision:
        state.approve(item, always_approve=decision.choice == "always")
    else:
        state.reject(item, rejection_message=decision.message)


def guard(tool: FunctionTool, *, run_key: str | None = None, client: AsyncSayso | None = None) -> FunctionTool:
    """The tool, with an approval before each call. The person may edit the arguments. Do not set `needs_approval`.

    A `timeout` of the tool includes the time that the person takes.
    """
    sayso = client_or_default(client)
    inner = tool.on_invoke_tool

    async def invoke(context: ToolContext[Any], arguments: str) -> Any:
        call_id = context.tool_call_id
        ask = approval(
            tool.name, _arguments(arguments), call_id, editable=True, input_schema=tool.params_json_schema or None
        )
        decision = await approve(sayso, ask, f"{run_key}:{call_id}" if run_key else None)
        if not decision:
            return decision.message
        if decision.input is None:
            return await inner(context, arguments)
        result = await inner(context, json.dumps(decision.input))
        return f"{edited_notice(decision.input)} Result: {result}" if isinstance(result, str) else result

    return dataclasses.replace(tool, on_invoke_tool=invoke)


def _arguments(text: str | None) -> dict[str, Any]:
    """The arguments as the model wrote them. The SDK refuses invalid ones when the tool is called."""
    try:
        value = json.loads(text or "{}")
    except ValueError:
        value = text
    return value if isinstance(value, dict) else {"arguments": value}


async def start(
    agent: Agent[Any],
    input: Any,
    *,
    name: str,
    run_key: str | None = None,
    client: AsyncSayso | None = None,
    group: dict[str, Any] | None = None,
    **options: Any,
) -> Any:
    """Runs the agent until it is done, or until tools need an approval. Then the result is a `Suspended`.

    `name` is the one that workers resume by, and `group` has further fields of the group, for example `retry`. With
    `run_key`, a program that is restarted does not open the same pause twice.
    """
    suspender = Suspender(FRAMEWORK, name, run_key, client, group)
    return await _suspend_or_end(suspender, await Runner.run(agent, input, **options))


async def resume(
    claim: Claim, agent: Agent[Any], *, client: AsyncSayso | None = None, context: Any = None, **options: Any
) -> Any:
    """Continues a claimed run. The agent has the same name and tools as the one that was suspended.

    `context` takes the place of the context object, which is not stored. Further options are those of `Runner.run`.
    """
    suspender, stored = Suspender.of_claim(FRAMEWORK, claim, client)
    override = {} if context is None else {"context_override": context}
    state = await RunState.from_string(agent, stored, **override)
    for item in state.get_interruptions():
        _decide(state, item, decision_of(decided(claim, item.call_id or "")))
    return await _suspend_or_end(suspender, await Runner.run(agent, state, **options))


async def _suspend_or_end(suspender: Suspender, result: Any) -> Any:
    items = list(result.interruptions)
    if not items:
        return result
    suspended: Suspended = await suspender.suspend([_ask(item) for item in items], result.to_state().to_string())
    return suspended
