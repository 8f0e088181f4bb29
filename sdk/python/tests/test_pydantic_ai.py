"""The adapter for Pydantic AI, with its own scripted model and a real server."""

from __future__ import annotations

import asyncio
import urllib.error
from typing import Any

import pytest
from pydantic_ai import Agent, CallDeferred
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from world import Person, until

import sayso
from sayso.pydantic_ai import approvals

SEND = ToolCallPart("send_email", {"to": "ada@example.com"}, tool_call_id="call-1")
SEND_AGAIN = ToolCallPart("send_email", {"to": "bob@example.com"}, tool_call_id="call-2")
QUESTION = ToolCallPart("ask_person", {"question": "Which colour?", "options": ["red", "blue"]}, tool_call_id="call-3")


class Program:
    """An agent with a tool that needs an approval and a tool that asks."""

    def __init__(self, person: Person, *calls: ToolCallPart, **options: Any) -> None:
        self.sent: list[str] = []
        self.read: list[str] = []

        def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            results = [part for part in messages[-1].parts if part.part_kind != "user-prompt"]
            self.read = [str(getattr(part, "content", "")) for part in results]
            return ModelResponse(parts=list(calls) if not results else [TextPart("done")])

        self.agent = Agent(FunctionModel(model), capabilities=[approvals(person.async_client(), **options)])

        @self.agent.tool_plain(requires_approval=True)
        def send_email(to: str) -> str:
            self.sent.append(to)
            return f"sent to {to}"

        @self.agent.tool_plain
        def ask_person(question: str, options: list[str]) -> str:
            raise CallDeferred

    def run(self) -> str:
        return asyncio.run(self.agent.run("go")).output


def test_approved_tool_runs(person: Person) -> None:
    program = Program(person, SEND)
    person.soon(person.approve)
    assert (program.run(), program.sent, program.read) == ("done", ["ada@example.com"], ["sent to ada@example.com"])


def test_denied_tool_does_not_run_and_the_model_reads_why(person: Person) -> None:
    program = Program(person, SEND)
    person.soon(lambda: person.deny(message="Not on a Friday."))
    assert (program.run(), program.sent, program.read) == ("done", [], ["Not on a Friday."])


def test_edited_arguments_are_used(person: Person) -> None:
    program = Program(person, SEND)
    person.soon(lambda: person.approve(input={"to": "eve@example.com"}))
    program.run()
    assert program.sent == ["eve@example.com"]


def test_edit_is_not_offered_if_it_is_switched_off(person: Person) -> None:
    program = Program(person, SEND, editable=False)
    asks: list[dict[str, Any]] = []

    def decide() -> None:
        asks.append(person.next())
        person.approve()

    person.soon(decide)
    program.run()
    assert asks[0]["approval"]["editable"] is False


def test_edit_that_does_not_fit_the_tool_is_refused_while_the_ask_is_pending(person: Person) -> None:
    program = Program(person, SEND)

    def decide() -> None:
        with pytest.raises(urllib.error.HTTPError, match="422"):
            person.approve(input={"nobody": 1})
        person.approve(input={"to": "eve@example.com"})

    person.soon(decide)
    program.run()
    assert program.sent == ["eve@example.com"]


def test_question_is_answered_or_rejected(person: Person) -> None:
    program = Program(person, QUESTION)
    person.soon(lambda: person.answer(["blue"], note="It is calmer."))
    program.run()
    assert program.read == ["blue\n\nIt is calmer."]
    program = Program(person, QUESTION)
    person.soon(lambda: person.decide("reject", message="Decide yourself."))
    program.run()
    assert "Decide yourself." in program.read[0]


def test_several_calls_of_one_turn_are_asked_at_once(person: Person) -> None:
    program = Program(person, SEND, SEND_AGAIN, QUESTION)

    def decide() -> None:
        asks = until("all three are pending", lambda: asks if len(asks := person.asks()) == 3 else None)
        for ask in reversed(asks):
            if ask["kind"] == "question":
                person.decide("answer", ask, answers=[["red"]])
            elif ask["approval"]["input"]["to"].startswith("bob"):
                person.decide("deny", ask, message="Not Bob.")
            else:
                person.decide("approve", ask)

    person.soon(decide)
    program.run()
    assert program.sent == ["ada@example.com"]
    assert sorted(program.read) == ["Not Bob.", "red", "sent to ada@example.com"]


def test_approval_survives_the_kill_of_the_server(own_person: Person) -> None:
    program = Program(own_person, SEND)

    def restart() -> None:
        ask = own_person.next()
        own_person.server.kill()
        own_person.server.start()
        own_person.decide("approve", ask)

    own_person.soon(restart)
    assert (program.run(), program.sent) == ("done", ["ada@example.com"])


def test_cancelled_run_withdraws_its_asks_and_runs_no_tool(person: Person) -> None:
    program = Program(person, SEND, SEND_AGAIN)

    async def cancel() -> None:
        running = asyncio.ensure_future(program.agent.run("go"))
        await asyncio.to_thread(until, "both are pending", lambda: len(person.asks()) == 2)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(cancel())
    until("both are withdrawn", lambda: len(person.asks("withdrawn")) == 2)
    assert program.sent == []


def test_timeout_of_the_policy_denies(own_person: Person) -> None:
    own_person.server.set_policy('[approvals]\ntimeout = "1s"\n')
    program = Program(own_person, SEND)
    assert (program.run(), program.sent) == ("done", [])
    assert program.read == ["Tool approval timed out after 1 second"]


def test_revoked_token_ends_the_run_without_the_tool(person: Person) -> None:
    program = Program(person, SEND)

    def revoke() -> None:
        person.next()
        person.server.call("DELETE", f"/tokens/{person.token_id}")

    person.soon(revoke)
    with pytest.raises(sayso.UnauthorizedError):
        program.run()
    assert program.sent == []
