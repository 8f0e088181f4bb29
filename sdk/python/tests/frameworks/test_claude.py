"""The callback for the Claude Agent SDK, with the types of the real package and a real server."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from claude_agent_sdk import PermissionResultAllow, PermissionResultDeny, ToolPermissionContext
from world import Person, until

from sayso.claude import can_use_tool

COMMAND = {"command": "cargo test", "description": "Run the tests"}
QUESTIONS = {
    "questions": [
        {
            "question": "Which database?",
            "header": "Database",
            "multiSelect": False,
            "options": [
                {"label": "SQLite", "description": "a file"},
                {"label": "PostgreSQL", "description": "a server"},
            ],
        },
        {
            "question": "Which parts?",
            "header": "Parts",
            "multiSelect": True,
            "options": [{"label": "Auth", "description": ""}, {"label": "Billing", "description": ""}],
        },
    ]
}


async def decide(person: Person, tool: str, tool_input: dict[str, Any], call: str = "call-1") -> Any:
    callback = can_use_tool(person.async_client(), run_key="run-1")
    return await callback(tool, tool_input, ToolPermissionContext(tool_use_id=call))


def test_approved_tool_runs_with_its_input(person: Person) -> None:
    seen: list[dict[str, Any]] = []

    def approve() -> None:
        seen.append(person.next())
        person.approve()

    person.soon(approve)
    assert asyncio.run(decide(person, "Bash", COMMAND)) == PermissionResultAllow(updated_input=COMMAND)
    assert (seen[0]["approval"]["action"], seen[0]["approval"]["command"]) == ("run", "cargo test")


@pytest.mark.parametrize(
    ("tool", "given", "expected"),
    [
        ("Write", {"file_path": "/project/a.txt", "content": "a"}, ("edit", "paths", ["/project/a.txt"])),
        ("Read", {"file_path": "/project/a.txt"}, ("read", "paths", ["/project/a.txt"])),
        ("WebFetch", {"url": "https://example.com", "prompt": "read"}, ("fetch", "url", "https://example.com")),
    ],
)
def test_policy_knows_the_effect_of_claudes_own_tools(
    person: Person, tool: str, given: dict[str, Any], expected: tuple[str, str, Any]
) -> None:
    seen: list[dict[str, Any]] = []

    def approve() -> None:
        seen.append(person.next()["approval"])
        person.approve()

    person.soon(approve)
    asyncio.run(decide(person, tool, given))
    action, field, value = expected
    assert (seen[0]["action"], seen[0][field]) == (action, value)


def test_denied_tool_has_a_reason_and_may_stop_the_run(person: Person) -> None:
    person.soon(lambda: person.deny(message="Not now.", stop=True))
    denied = asyncio.run(decide(person, "Bash", COMMAND))
    assert denied == PermissionResultDeny(message="Not now.", interrupt=True)


def test_edited_input_is_used(person: Person) -> None:
    person.soon(lambda: person.approve(input={"command": "cargo test -p core"}))
    allowed = asyncio.run(decide(person, "Bash", COMMAND))
    assert allowed == PermissionResultAllow(updated_input={"command": "cargo test -p core"})


def test_questions_are_one_card_and_answers_go_by_text(person: Person) -> None:
    person.soon(lambda: person.answer(["SQLite"], ["Auth", "Billing"]))
    allowed = asyncio.run(decide(person, "AskUserQuestion", QUESTIONS))
    answers = {"Which database?": "SQLite", "Which parts?": "Auth, Billing"}
    assert allowed == PermissionResultAllow(updated_input={**QUESTIONS, "answers": answers})


def test_rejected_questions_are_a_denial(person: Person) -> None:
    person.soon(lambda: person.decide("reject", message="Decide yourself."))
    denied = asyncio.run(decide(person, "AskUserQuestion", QUESTIONS))
    assert denied == PermissionResultDeny(message="Decide yourself.", interrupt=False)


def test_interrupted_run_withdraws_its_ask(person: Person) -> None:
    async def interrupt() -> None:
        waiting = asyncio.ensure_future(decide(person, "Bash", COMMAND))
        await asyncio.to_thread(person.next)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(interrupt())
    until("it is withdrawn", lambda: person.asks("withdrawn"))
