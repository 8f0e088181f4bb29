"""The adapter for the OpenAI Agents SDK, with its own scripted model and a real server."""

from __future__ import annotations

import asyncio
import urllib.error
from typing import Any

import pytest
from agents import Agent, FunctionTool, RunConfig, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call
from world import Person, until

import sayso
from sayso.openai_agents import guard, run


def call(to: str, number: int = 1) -> Any:
    return function_call("send_email", {"to": to}, call_id=f"call-{number}")


def outputs(result: Any) -> list[str]:
    """The tool results that the model gets."""
    return [str(item["output"]) for item in result.to_input_list() if item.get("type") == "function_call_output"]


class Program:
    def __init__(self, person: Person, *calls: Any, editable: bool = False) -> None:
        self.sent: list[str] = []

        @function_tool(needs_approval=not editable)
        def send_email(to: str) -> str:
            self.sent.append(to)
            return f"sent to {to}"

        self.client = person.async_client()
        tool: FunctionTool = guard(send_email, run_key="run-1", client=self.client) if editable else send_email
        self.model = ScriptedModel([list(calls), [assistant_message("done")]])
        self.agent = Agent(name="mailer", model=self.model, tools=[tool])

    async def run_async(self) -> list[str]:
        """Returns the tool results that the model gets."""
        config = RunConfig(tracing_disabled=True)
        result = await run(self.agent, "go", run_key="run-1", client=self.client, run_config=config)
        assert result.final_output == "done"
        return outputs(result)

    def run(self) -> list[str]:
        return asyncio.run(self.run_async())


@pytest.mark.parametrize("editable", [False, True])
def test_approved_tool_runs(person: Person, editable: bool) -> None:
    program = Program(person, call("ada"), editable=editable)
    person.soon(person.approve)
    assert (program.run(), program.sent) == (["sent to ada"], ["ada"])


@pytest.mark.parametrize("editable", [False, True])
def test_denied_tool_does_not_run_and_the_model_reads_why(person: Person, editable: bool) -> None:
    program = Program(person, call("ada"), editable=editable)
    person.soon(lambda: person.deny(message="Not on a Friday."))
    assert (program.run(), program.sent) == (["Not on a Friday."], [])


def test_edited_arguments_are_used_by_a_guarded_tool(person: Person) -> None:
    program = Program(person, call("ada"), editable=True)
    person.soon(lambda: person.approve(input={"to": "eve"}))
    read = 'The user changed the arguments of this call to {"to": "eve"}. Result: sent to eve'
    assert (program.run(), program.sent) == ([read], ["eve"])


def test_edit_that_does_not_fit_the_tool_is_refused_while_the_ask_is_pending(person: Person) -> None:
    program = Program(person, call("ada"), editable=True)

    def decide() -> None:
        with pytest.raises(urllib.error.HTTPError, match="422"):
            person.approve(input={"to": 7})
        person.approve(input={"to": "eve"})

    person.soon(decide)
    program.run()
    assert program.sent == ["eve"]


def test_edit_is_not_offered_where_it_would_be_ignored(person: Person) -> None:
    program = Program(person, call("ada"))
    seen: list[dict[str, Any]] = []

    def decide() -> None:
        seen.append(person.next())
        person.approve()

    person.soon(decide)
    program.run()
    approval = seen[0]["approval"]
    assert (approval["editable"], approval["input"]) == (False, {"to": "ada"})


def test_always_covers_the_rest_of_the_run(person: Person) -> None:
    program = Program(person, call("ada", 1))
    program.model = ScriptedModel([[call("ada", 1)], [call("bob", 2)], [assistant_message("done")]])
    program.agent.model = program.model
    person.soon(lambda: person.approve(choice="always"))
    assert (program.run(), program.sent) == (["sent to ada", "sent to bob"], ["ada", "bob"])


def test_run_goes_on_when_all_approvals_are_decided(person: Person) -> None:
    program = Program(person, call("ada", 1), call("bob", 2))

    def decide() -> None:
        asks = until("both are pending", lambda: asks if len(asks := person.asks()) == 2 else None)
        for ask in asks:
            assert program.sent == []
            person.decide("approve" if ask["approval"]["input"]["to"] == "ada" else "deny", ask)

    person.soon(decide)
    assert sorted(program.run()) == ["User denied tool execution", "sent to ada"]
    assert program.sent == ["ada"]


def test_approval_survives_the_kill_of_the_server(own_person: Person) -> None:
    program = Program(own_person, call("ada"))

    def restart() -> None:
        ask = own_person.next()
        own_person.server.kill()
        own_person.server.start()
        own_person.decide("approve", ask)

    own_person.soon(restart)
    assert (program.run(), program.sent) == (["sent to ada"], ["ada"])


@pytest.mark.parametrize("editable", [False, True])
def test_cancelled_run_withdraws_its_ask_and_runs_no_tool(person: Person, editable: bool) -> None:
    program = Program(person, call("ada"), editable=editable)

    async def cancel() -> None:
        running = asyncio.ensure_future(program.run_async())
        await asyncio.to_thread(person.next)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(cancel())
    until("it is withdrawn", lambda: person.asks("withdrawn"))
    assert program.sent == []


def test_timeout_of_the_policy_denies(own_person: Person) -> None:
    own_person.server.set_policy('[approvals]\ntimeout = "1s"\n')
    program = Program(own_person, call("ada"))
    assert (program.run(), program.sent) == (["Tool approval timed out after 1 second"], [])


def test_question_in_a_tool_is_answered(person: Person) -> None:
    client = person.async_client()

    @function_tool
    async def ask_person(question: str) -> str:
        return await client.ask(question)

    asks = function_call("ask_person", {"question": "Which colour?"}, call_id="call-1")
    agent = Agent(name="mailer", model=ScriptedModel([[asks], [assistant_message("done")]]), tools=[ask_person])
    person.soon(lambda: person.answer(["green"]))
    result = asyncio.run(run(agent, "go", client=client, run_config=RunConfig(tracing_disabled=True)))
    assert outputs(result) == ["green"]


def nested(person: Person, outer: list[Any], inner: list[Any]) -> Program:
    """An agent that calls another agent as a tool, in one turn with the calls `outer`."""
    program = Program(person, *outer)
    second = Program(person, *inner)
    second.sent = program.sent

    @function_tool(needs_approval=True)
    def delete_file(name: str) -> str:
        program.sent.append(f"deleted {name}")
        return f"deleted {name}"

    second.agent.tools = [delete_file]
    program.agent.tools.append(second.agent.as_tool("ask_assistant", "Asks the assistant."))
    return program


ASSISTANT = function_call("ask_assistant", {"input": "go"}, call_id="call-9")


def test_approval_of_a_nested_agent_is_asked_and_resumed(person: Person) -> None:
    inner = function_call("delete_file", {"name": "a.txt"}, call_id="call-2")
    program = nested(person, [call("ada"), ASSISTANT], [inner])

    def decide() -> None:
        for ask in until("both are pending", lambda: asks if len(asks := person.asks()) == 2 else None):
            person.decide("approve" if ask["approval"]["tool"] == "delete_file" else "deny", ask)

    person.soon(decide)
    program.run()
    assert program.sent == ["deleted a.txt"]


def test_two_calls_with_one_id_are_refused_before_anyone_is_asked(person: Person) -> None:
    inner = function_call("delete_file", {"name": "a.txt"}, call_id="call-1")
    program = nested(person, [call("ada"), ASSISTANT], [inner])
    with pytest.raises(sayso.StateError, match="have the id call-1"):
        program.run()
    assert (program.sent, person.asks()) == ([], [])


def test_revoked_token_ends_the_run_without_the_tool(person: Person) -> None:
    program = Program(person, call("ada"))

    def revoke() -> None:
        person.next()
        person.server.call("DELETE", f"/tokens/{person.token_id}")

    person.soon(revoke)
    with pytest.raises(sayso.UnauthorizedError):
        program.run()
    assert program.sent == []
