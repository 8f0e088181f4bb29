"""Helpers that all adapters use."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping
from typing import Any, TypeVar

from ._default import client as default_client
from .client import AsyncSayso
from .errors import InvalidSchemaError, StateError
from .results import Decision, decision_of, reply_of

T = TypeVar("T")

#: What the model reads if the run was cancelled while a person decided.
CANCELLED = "The run was cancelled."


def client_or_default(client: AsyncSayso | None) -> AsyncSayso:
    return default_client() if client is None else client


def edited_notice(arguments: Mapping[str, Any]) -> str:
    """Tells the model about edited arguments, because its own message keeps the original ones."""
    return f"The user changed the arguments of this call to {json.dumps(arguments, ensure_ascii=False)}."


class ToolNames:
    """The tools that need an approval: those that are named, or all of them."""

    def __init__(self, names: Collection[str] | None) -> None:
        # A string is also a collection; it would be read as its letters.
        self._names = None if names is None else {names} if isinstance(names, str) else set(names)

    def __contains__(self, name: object) -> bool:
        return self._names is None or name in self._names


async def all_of(calls: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Runs the calls at once. If one fails, the others are cancelled, and their asks are withdrawn."""
    tasks = [asyncio.ensure_future(call) for call in calls]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


def question_of(values: Mapping[str, Any]) -> tuple[str, list[Any] | None] | None:
    """Returns the question and the options from the arguments of a tool call."""
    question = values.get("question") or values.get("prompt") or values.get("message")
    options = values.get("options")
    if not isinstance(question, str):
        return None
    return question, list(options) if isinstance(options, (list, tuple)) and options else None


def approval(
    tool: str,
    input: dict[str, Any],
    tool_call_id: str | None,
    *,
    editable: bool = False,
    input_schema: dict[str, Any] | None = None,
    allowed: list[str] | None = None,
    choices: list[dict[str, str]] | None = None,
    context: str | None = None,
    action: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """An approval as an ask. `input_schema` is used only if the arguments can be edited. `action` is the effect of the
    tool, for rules of the policy."""
    body: dict[str, Any] = {"tool": tool, "action": "other", "input": input, "editable": editable, **(action or {})}
    if editable and input_schema is not None:
        body["inputSchema"] = input_schema
    if allowed is not None:
        body["allowedDecisions"] = allowed
    if choices:
        body["choices"] = choices
    return {"approval": body, "toolCallId": tool_call_id, "context": context}


def question(
    text: str, options: list[Any] | None, tool_call_id: str | None, schema: dict[str, Any] | None = None
) -> dict[str, Any]:
    """A question as an ask. An answer in the person's own words has to fit `schema`."""
    item: dict[str, Any] = {"text": text, "custom": True}
    if options:
        item["options"] = [{"label": option} if isinstance(option, str) else dict(option) for option in options]
    if schema is not None:
        item["responseSchema"] = schema
    return {"questions": [item], "toolCallId": tool_call_id}


def without_schemas(ask: dict[str, Any]) -> dict[str, Any]:
    """The ask for a server that cannot use its schemas. Edited arguments could not be checked, so edits are not
    offered."""
    ask = dict(ask)
    if "inputSchema" in ask.get("approval", {}):
        body = {name: value for name, value in ask["approval"].items() if name != "inputSchema"}
        body["editable"] = False
        if "allowedDecisions" in body:
            body["allowedDecisions"] = [name for name in body["allowedDecisions"] if name != "edit"]
        ask["approval"] = body
    if "questions" in ask:
        ask["questions"] = [
            {name: value for name, value in item.items() if name != "responseSchema"} for item in ask["questions"]
        ]
    return ask


async def settle(client: AsyncSayso, ask: dict[str, Any], key: str | None) -> dict[str, Any]:
    """Opens the ask, waits for its outcome, and returns the decided ask."""
    try:
        return await client._settle(ask, key)
    except InvalidSchemaError:
        return await client._settle(without_schemas(ask), key)


async def approve(client: AsyncSayso, ask: dict[str, Any], key: str | None) -> Decision:
    """`settle` for an approval."""
    return decision_of(await settle(client, ask, key))


def approve_sync(client: AsyncSayso, ask: dict[str, Any], key: str | None) -> Decision:
    """`approve` for code without coroutines."""
    try:
        return decision_of(client.sync._settle(ask, key))
    except InvalidSchemaError:
        return decision_of(client.sync._settle(without_schemas(ask), key))


async def ask_for_model(client: AsyncSayso, ask: dict[str, Any], key: str | None) -> tuple[bool, str]:
    """`settle` for a question. Returns `True` and the answer, or `False` and the text that the model gets instead."""
    return reply_of(await settle(client, ask, key))


def schema_of(build: Callable[[], Any]) -> dict[str, Any] | None:
    """The JSON Schema of a tool's arguments. `None` if the framework cannot build one: the ask has no schema then."""
    try:
        schema = build()
    except Exception:
        return None
    return schema if isinstance(schema, dict) else None


def refuse_repeated_ids(asks: Iterable[Mapping[str, Any]]) -> None:
    """Refuses a pause with two tool calls of one id, because a decision could be used for the wrong call."""
    seen = set()
    for ask in asks:
        if ask["toolCallId"] in seen:
            raise StateError(
                f"Two tool calls of this turn have the id {ask['toolCallId']}",
                next_step="Use a model that gives every tool call an id of its own. No tool was called.",
            )
        seen.add(ask["toolCallId"])
