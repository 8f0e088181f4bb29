"""The adapter for Strands Agents, with a scripted model and a real server."""

from __future__ import annotations

import asyncio
import urllib.error
from collections.abc import AsyncIterator
from typing import Any

import pytest
from strands import Agent, tool
from strands.models import Model
from world import Person, until

from sayso.strands import SaysoIntervention


class ScriptedModel(Model):
    """Calls tools in its first turn, and is done in its second."""

    def __init__(self, *calls: tuple[str, str]) -> None:
        self.calls = calls
        self.read: list[str] = []

    def update_config(self, **config: Any) -> None: ...

    def get_config(self) -> dict[str, Any]:
        return {}

    def structured_output(self, *arguments: Any, **options: Any) -> Any:
        raise NotImplementedError

    async def stream(self, messages: Any, *arguments: Any, **options: Any) -> AsyncIterator[Any]:
        results = [part["toolResult"] for part in messages[-1]["content"] if "toolResult" in part]
        yield {"messageStart": {"role": "assistant"}}
        if results:
            self.read = [" ".join(part["text"] for part in result["content"]) for result in results]
            yield {"contentBlockDelta": {"delta": {"text": "done"}}}
            yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "end_turn"}}
            return
        for number, (name, arguments_json) in enumerate(self.calls):
            yield {"contentBlockStart": {"start": {"toolUse": {"toolUseId": f"call-{number}", "name": name}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": arguments_json}}}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use"}}


class Program:
    def __init__(self, person: Person, *to: str, **options: Any) -> None:
        self.sent: list[str] = []

        @tool
        def send_email(to: str) -> str:
            """Sends an email."""
            self.sent.append(to)
            return f"sent to {to}"

        self.model = ScriptedModel(*(("send_email", f'{{"to": "{one}"}}') for one in to))
        handler = SaysoIntervention(["send_email"], run_key="run-1", client=person.async_client(), **options)
        self.agent = Agent(model=self.model, tools=[send_email], interventions=[handler], callback_handler=None)

    def run(self) -> list[str]:
        self.agent("go")
        return self.model.read


def test_approved_tool_runs(person: Person) -> None:
    program = Program(person, "ada")
    person.soon(person.approve)
    assert (program.run(), program.sent) == (["sent to ada"], ["ada"])


def test_denied_tool_does_not_run_and_the_model_reads_why(person: Person) -> None:
    program = Program(person, "ada")
    person.soon(lambda: person.deny(message="Not on a Friday."))
    assert (program.run(), program.sent) == (["DENIED: Not on a Friday."], [])


def test_edited_arguments_are_used_and_the_history_keeps_the_originals(person: Person) -> None:
    program = Program(person, "ada")
    person.soon(lambda: person.approve(input={"to": "eve"}))
    read = 'The user changed the arguments of this call to {"to": "eve"}. sent to eve'
    assert (program.run(), program.sent) == ([read], ["eve"])
    uses = [
        part["toolUse"]["input"]
        for message in program.agent.messages
        for part in message["content"]
        if "toolUse" in part
    ]
    assert uses == [{"to": "ada"}]


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
    assert (program.run(), program.sent) == (["DENIED: Tool approval timed out after 1 second"], [])


def test_question_in_a_tool_is_answered(person: Person) -> None:
    client = person.client()

    @tool
    def ask_person(question: str) -> str:
        """Asks a person."""
        return client.ask(question)

    model = ScriptedModel(("ask_person", '{"question": "Which colour?"}'))
    person.soon(lambda: person.answer(["green"]))
    Agent(model=model, tools=[ask_person], callback_handler=None)("go")
    assert model.read == ["green"]


def test_several_calls_of_one_turn(person: Person) -> None:
    program = Program(person, "ada", "bob")

    def decide() -> None:
        for _ in range(2):
            ask = person.next()
            person.decide("approve" if ask["approval"]["input"]["to"] == "ada" else "deny", ask)

    person.soon(decide)
    assert sorted(program.run()) == ["DENIED: User denied tool execution", "sent to ada"]


def test_approval_survives_the_kill_of_the_server(own_person: Person) -> None:
    program = Program(own_person, "ada")

    def restart() -> None:
        ask = own_person.next()
        own_person.server.kill()
        own_person.server.start()
        own_person.decide("approve", ask)

    own_person.soon(restart)
    assert (program.run(), program.sent) == (["sent to ada"], ["ada"])


def test_cancelled_agent_withdraws_its_ask_and_runs_no_tool(person: Person) -> None:
    program = Program(person, "ada")

    def cancel() -> None:
        person.next()
        program.agent.cancel()

    person.soon(cancel)
    program.run()
    until("it is withdrawn", lambda: person.asks("withdrawn"))
    assert program.sent == []


def test_cancelled_task_withdraws_its_ask_and_runs_no_tool(person: Person) -> None:
    program = Program(person, "ada")

    async def cancel() -> None:
        running = asyncio.ensure_future(program.agent.invoke_async("go"))
        await asyncio.to_thread(person.next)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(cancel())
    until("it is withdrawn", lambda: person.asks("withdrawn"))
    assert program.sent == []


def test_revoked_token_denies(person: Person) -> None:
    program = Program(person, "ada")

    def revoke() -> None:
        person.next()
        person.server.call("DELETE", f"/tokens/{person.token_id}")

    person.soon(revoke)
    (read,) = program.run()
    assert read.startswith("DENIED: ") and "token" in read
    assert program.sent == []
