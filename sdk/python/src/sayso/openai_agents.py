"""Approvals for the [OpenAI Agents SDK](https://openai.github.io/openai-agents-python).

    from agents import Agent, function_tool
    from sayso.openai_agents import run

    @function_tool(needs_approval=True)
    def send_email(to: str, text: str) -> str: ...

    result = await run(Agent(name="mailer", tools=[send_email]), "Tell Ada", run_key="run-42")

`run` takes the place of `Runner.run`. The SDK runs the arguments that the model chose, whatever the approval says, so
`run` does not offer to edit them; `guard` wraps a tool whose arguments may be edited.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from agents import Agent, FunctionTool, Runner
from agents.items import ToolApprovalItem
from agents.tool_context import ToolContext

from ._adapter import all_of, client_or_default
from .client import AsyncSayso
from .results import Decision


async def run(
    agent: Agent[Any], input: Any, *, run_key: str | None = None, client: AsyncSayso | None = None, **options: Any
) -> Any:
    """Runs the agent, and asks people about each tool that needs an approval. Options are those of `Runner.run`.

    The run goes on when all approvals of a pause are decided. `run_key` makes a restarted program continue its asks.
    """
    sayso = client_or_default(client)
    result = await Runner.run(agent, input, **options)
    while result.interruptions:
        state = result.to_state()
        items = list(result.interruptions)
        for item, decision in zip(items, await all_of(_approve(sayso, item, run_key) for item in items), strict=True):
            if decision:
                state.approve(item, always_approve=decision.choice == "always")
            else:
                state.reject(item, rejection_message=decision.message)
        result = await Runner.run(agent, state, **options)
    return result


async def _approve(sayso: AsyncSayso, item: ToolApprovalItem, run_key: str | None) -> Decision:
    return await sayso.approve(
        item.name or "tool",
        _arguments(item.arguments),
        key=f"{run_key}:{item.call_id}" if run_key else None,
        choices=[{"id": "always", "label": f"Always allow {item.name} in this run"}],
        tool_call_id=item.call_id,
    )


def guard(tool: FunctionTool, *, run_key: str | None = None, client: AsyncSayso | None = None) -> FunctionTool:
    """The tool, with an approval before each call. The person may edit the arguments. Do not set `needs_approval`.

    A `timeout` of the tool includes the time that the person takes.
    """
    sayso = client_or_default(client)
    inner = tool.on_invoke_tool

    async def invoke(context: ToolContext[Any], arguments: str) -> Any:
        decision = await sayso.approve(
            tool.name,
            _arguments(arguments),
            key=f"{run_key}:{context.tool_call_id}" if run_key else None,
            editable=True,
            tool_call_id=context.tool_call_id,
        )
        if not decision:
            return decision.message
        return await inner(context, arguments if decision.input is None else json.dumps(decision.input))

    return dataclasses.replace(tool, on_invoke_tool=invoke)


def _arguments(text: str | None) -> dict[str, Any]:
    """The arguments as the model wrote them. The SDK refuses invalid ones when the tool is called."""
    try:
        value = json.loads(text or "{}")
    except ValueError:
        value = text
    return value if isinstance(value, dict) else {"arguments": value}
