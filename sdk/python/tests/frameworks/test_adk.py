"""The adapter for the Agent Development Kit of Google, with a scripted model and a real server."""

from __future__ import annotations

import asyncio
import urllib.error
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai import types
from world import Person, until

import sayso
from sayso.adk import SaysoPlugin


class ScriptedModel(BaseLlm):
    """Calls tools in its first turn, and is done in its second."""

    tool: str = "send_email"
    to: list[str] = []  # noqa: RUF012 (a field of a pydantic model)
    read: list[Any] = []  # noqa: RUF012

    async def generate_content_async(self, request: Any, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        results = [part.function_response.response for part in request.contents[-1].parts if part.function_response]
        if results:
            self.read = results
            parts = [types.Part(text="done")]
        else:
            calls = [
                types.FunctionCall(id=f"call-{n}", name=self.tool, args={"to": to}) for n, to in enumerate(self.to)
            ]
            parts = [types.Part(function_call=call) for call in calls]
        yield LlmResponse(content=types.Content(role="model", parts=parts))


class Program:
    def __init__(self, person: Person, *to: str, tool: Any = None, **options: Any) -> None:
        self.sent: list[str] = []

        def send_email(to: str) -> dict[str, str]:
            """Sends an email."""
            self.sent.append(to)
            return {"result": f"sent to {to}"}

        self.model = ScriptedModel(model="scripted", tool=(tool or send_email).__name__, to=list(to))
        agent = LlmAgent(name="mailer", model=self.model, tools=[tool or send_email])
        app = App(
            name="mailer",
            root_agent=agent,
            plugins=[SaysoPlugin(["send_email"], client=person.async_client(), **options)],
        )
        self.sessions = InMemorySessionService()
        self.runner = Runner(app=app, session_service=self.sessions)

    async def run_async(self) -> list[Any]:
        session = await self.sessions.create_session(app_name="mailer", user_id="ada")
        message = types.Content(role="user", parts=[types.Part(text="go")])
        async for _ in self.runner.run_async(user_id="ada", session_id=session.id, new_message=message):
            pass
        return self.model.read

    def run(self) -> list[Any]:
        return asyncio.run(self.run_async())


def test_approved_tool_runs(person: Person) -> None:
    program = Program(person, "ada")
    person.soon(person.approve)
    assert (program.run(), program.sent) == ([{"result": "sent to ada"}], ["ada"])


def test_denied_tool_does_not_run_and_the_model_reads_why(person: Person) -> None:
    program = Program(person, "ada")
    person.soon(lambda: person.deny(message="Not on a Friday."))
    assert (program.run(), program.sent) == ([{"error": "Not on a Friday."}], [])


def test_edited_arguments_are_used(person: Person) -> None:
    program = Program(person, "ada")
    person.soon(lambda: person.approve(input={"to": "eve"}))
    read = {"result": "sent to eve", "arguments_changed_by_user": {"to": "eve"}}
    assert (program.run(), program.sent) == ([read], ["eve"])


def test_edit_that_does_not_fit_the_tool_is_refused_while_the_ask_is_pending(person: Person) -> None:
    program = Program(person, "ada")

    def decide() -> None:
        with pytest.raises(urllib.error.HTTPError, match="422"):
            person.approve(input={"to": 7})
        person.approve(input={"to": "eve"})

    person.soon(decide)
    program.run()
    assert program.sent == ["eve"]


def test_timeout_of_the_policy_denies(own_person: Person) -> None:
    own_person.server.set_policy('[approvals]\ntimeout = "1s"\n')
    program = Program(own_person, "ada")
    assert (program.run(), program.sent) == ([{"error": "Tool approval timed out after 1 second"}], [])


def test_question_in_a_tool_is_answered(person: Person) -> None:
    client = person.async_client()

    async def ask_person(to: str) -> dict[str, str]:
        """Asks a person."""
        return {"result": await client.ask(to)}

    program = Program(person, "Which colour?", tool=ask_person)
    person.soon(lambda: person.answer(["green"]))
    assert program.run() == [{"result": "green"}]


def test_several_calls_of_one_turn_are_asked_at_once(person: Person) -> None:
    program = Program(person, "ada", "bob")

    def decide() -> None:
        for ask in until("both are pending", lambda: asks if len(asks := person.asks()) == 2 else None):
            person.decide("approve" if ask["approval"]["input"]["to"] == "ada" else "deny", ask)

    person.soon(decide)
    assert program.run() == [{"result": "sent to ada"}, {"error": "User denied tool execution"}]


def test_approval_survives_the_kill_of_the_server(own_person: Person) -> None:
    program = Program(own_person, "ada")

    def restart() -> None:
        ask = own_person.next()
        own_person.server.kill()
        own_person.server.start()
        own_person.decide("approve", ask)

    own_person.soon(restart)
    assert (program.run(), program.sent) == ([{"result": "sent to ada"}], ["ada"])


def test_cancelled_run_withdraws_its_ask_and_runs_no_tool(person: Person) -> None:
    program = Program(person, "ada")

    async def cancel() -> None:
        running = asyncio.ensure_future(program.run_async())
        await asyncio.to_thread(person.next)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(cancel())
    until("it is withdrawn", lambda: person.asks("withdrawn"))
    assert program.sent == []


def test_revoked_token_ends_the_run_without_the_tool(person: Person) -> None:
    program = Program(person, "ada")

    def revoke() -> None:
        person.next()
        person.server.call("DELETE", f"/tokens/{person.token_id}")

    person.soon(revoke)
    with pytest.raises((sayso.UnauthorizedError, RuntimeError)):
        program.run()
    assert program.sent == []
