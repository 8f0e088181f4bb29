"""Helpers that all adapters use."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Coroutine, Iterable, Mapping
from typing import Any, TypeVar

from ._default import client as default_client
from .client import AsyncSayso
from .errors import QuestionRejectedError

T = TypeVar("T")

#: What the model reads if the run was cancelled while a person decided.
CANCELLED = "The run was cancelled."


def client_or_default(client: AsyncSayso | None) -> AsyncSayso:
    return default_client() if client is None else client


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


async def ask_for_model(client: AsyncSayso, question: str, options: list[Any] | None, key: str) -> tuple[bool, str]:
    """Returns `True` and the answer, or `False` and the text that the model gets instead."""
    try:
        answer = await client.ask(question, options=options, key=key)
    except QuestionRejectedError as error:
        return False, error.message
    return True, f"{answer}\n\n{answer.note}" if answer.note else str(answer)
