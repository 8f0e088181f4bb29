"""Approvals and questions for the [Claude Agent SDK](https://docs.claude.com/en/api/agent-sdk/python).

    from claude_agent_sdk import ClaudeAgentOptions
    from sayso.claude import can_use_tool

    options = ClaudeAgentOptions(can_use_tool=can_use_tool(run_key="run-42"))

The model's `AskUserQuestion` becomes one card with all its questions. Rules that allow a tool in the settings, and the
mode `bypassPermissions`, skip the callback.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable
from typing import Any

from claude_agent_sdk import PermissionResultAllow, PermissionResultDeny, PermissionUpdate, ToolPermissionContext

from ._adapter import approval, approve, client_or_default
from .client import AsyncSayso
from .errors import QuestionRejectedError

Callback = Callable[
    [str, dict[str, Any], ToolPermissionContext], Awaitable[PermissionResultAllow | PermissionResultDeny]
]

#: The effect of Claude's own tools, for rules of the policy: the action, the field of the ask, and the argument.
_ACTIONS = {
    "Bash": ("run", "command", "command"),
    "Edit": ("edit", "paths", "file_path"),
    "MultiEdit": ("edit", "paths", "file_path"),
    "NotebookEdit": ("edit", "paths", "notebook_path"),
    "Read": ("read", "paths", "file_path"),
    "WebFetch": ("fetch", "url", "url"),
    "Write": ("edit", "paths", "file_path"),
}


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
        always = _always(context)
        ask = approval(
            tool,
            tool_input,
            call_id,
            editable=editable,
            choices=[{"id": "always", "label": _label(always)}] if always else None,
            action=_action(tool, tool_input),
        )
        decision = await approve(sayso, ask, key)
        if not decision:
            return PermissionResultDeny(message=decision.message, interrupt=decision.stop)
        return PermissionResultAllow(
            updated_input=tool_input if decision.input is None else decision.input,
            updated_permissions=always if decision.choice == "always" else None,
        )

    return decide


def _action(tool: str, tool_input: dict[str, Any]) -> dict[str, Any]:
    action, field, argument = _ACTIONS.get(tool, ("other", "", ""))
    value = tool_input.get(argument)
    if not isinstance(value, str):
        return {}
    return {"action": action, field: [value] if field == "paths" else value}


def _always(context: ToolPermissionContext) -> list[PermissionUpdate]:
    """The rules that Claude suggests. They hold for this session only: the program may not read settings files."""
    return [
        dataclasses.replace(update, destination="session")
        for update in getattr(context, "suggestions", ())
        if update.type == "addRules" and update.behavior == "allow" and update.rules
    ]


def _label(updates: list[PermissionUpdate]) -> str:
    rules = [rule for update in updates for rule in update.rules or ()]
    names = (rule.tool_name + (f"({rule.rule_content})" if rule.rule_content else "") for rule in rules)
    return f"Always allow {', '.join(names)} in this session"


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
