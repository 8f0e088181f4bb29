"""Approvals and questions for the [Claude Agent SDK](https://docs.claude.com/en/api/agent-sdk/python).

    from claude_agent_sdk import ClaudeAgentOptions
    from sayso.claude import can_use_tool

    options = ClaudeAgentOptions(can_use_tool=can_use_tool(run_key="run-42"))

The model's `AskUserQuestion` becomes one card with all its questions. Rules that allow a tool in the settings, and the
mode `bypassPermissions`, skip the callback.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from claude_agent_sdk import PermissionResultAllow, PermissionResultDeny, ToolPermissionContext

from ._adapter import client_or_default
from .client import AsyncSayso
from .errors import QuestionRejectedError

Callback = Callable[
    [str, dict[str, Any], ToolPermissionContext], Awaitable[PermissionResultAllow | PermissionResultDeny]
]


def can_use_tool(client: AsyncSayso | None = None, *, run_key: str | None = None, editable: bool = True) -> Callback:
    """The callback of `ClaudeAgentOptions`. `run_key` makes a restarted program continue its asks."""
    sayso = client_or_default(client)

    async def decide(
        tool: str, tool_input: dict[str, Any], context: ToolPermissionContext
    ) -> PermissionResultAllow | PermissionResultDeny:
        call_id = getattr(context, "tool_use_id", None)
        key = f"{run_key}:{call_id}" if run_key and call_id else None
        if tool == "AskUserQuestion":
            return await _ask(sayso, tool_input, key)
        command = tool_input.get("command") if tool == "Bash" else None
        decision = await sayso.approve(
            tool,
            tool_input,
            key=key,
            editable=editable,
            command=command if isinstance(command, str) else None,
            tool_call_id=call_id,
        )
        if not decision:
            return PermissionResultDeny(message=decision.message, interrupt=decision.stop)
        return PermissionResultAllow(updated_input=tool_input if decision.input is None else decision.input)

    return decide


async def _ask(
    sayso: AsyncSayso, tool_input: dict[str, Any], key: str | None
) -> PermissionResultAllow | PermissionResultDeny:
    questions = tool_input.get("questions", [])
    shown = [
        {
            "text": question["question"],
            "header": question.get("header"),
            "multiple": question.get("multiSelect") is True,
            "options": [
                {"label": option["label"], "description": option.get("description")}
                for option in question.get("options", [])
            ],
        }
        for question in questions
    ]
    try:
        answers = await sayso.ask_all(shown, key=key)
    except QuestionRejectedError as error:
        return PermissionResultDeny(message=error.message, interrupt=error.stop)
    texts = [question["question"] for question in questions]
    given = {text: ", ".join(entries) for text, entries in zip(texts, answers, strict=True)}
    return PermissionResultAllow(updated_input={**tool_input, "answers": given})
