"""The adapter for LangChain and LangGraph, with a scripted model and a real server."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from typing_extensions import TypedDict
from world import Person, until

from sayso.langgraph import SaysoMiddleware, drive


class ScriptedModel(GenericFakeChatModel):
    """Calls tools in its first turn, and is done in its second."""

    def bind_tools(self, tools: Any, **options: Any) -> ScriptedModel:
        return self


def call(to: str, number: int = 1) -> dict[str, Any]:
    return {"name": "send_email", "args": {"to": to}, "id": f"call-{number}", "type": "tool_call"}


def script(*calls: dict[str, Any]) -> Iterator[AIMessage]:
    return iter([AIMessage("", tool_calls=list(calls)), AIMessage("done")])


class Program:
    def __init__(self, *calls: dict[str, Any], middleware: Any, checkpointer: Any = None) -> None:
        self.sent: list[str] = []
        self.payload = {"messages": [{"role": "user", "content": "go"}]}
        self.config = {"configurable": {"thread_id": "thread-1"}}

        @tool
        def send_email(to: str) -> str:
            """Sends an email."""
            self.sent.append(to)
            return f"sent to {to}"

        model = ScriptedModel(messages=script(*calls))
        self.agent = create_agent(model, tools=[send_email], middleware=[middleware], checkpointer=checkpointer)

    def run(self) -> list[str]:
        """Returns the tool results that the model gets."""
        return read(self.agent.invoke(self.payload, self.config))

    def run_async(self) -> list[str]:
        return read(asyncio.run(self.agent.ainvoke(self.payload, self.config)))


def read(result: dict[str, Any]) -> list[str]:
    return [message.content for message in result["messages"] if isinstance(message, ToolMessage)]


def blocking(person: Person, *calls: dict[str, Any], **options: Any) -> Program:
    return Program(*calls, middleware=SaysoMiddleware(["send_email"], client=person.async_client(), **options))


@pytest.mark.parametrize("how", ["run", "run_async"])
def test_approved_tool_runs(person: Person, how: str) -> None:
    program = blocking(person, call("ada"))
    person.soon(person.approve)
    assert (getattr(program, how)(), program.sent) == (["sent to ada"], ["ada"])


@pytest.mark.parametrize("how", ["run", "run_async"])
def test_denied_tool_does_not_run_and_the_model_reads_why(person: Person, how: str) -> None:
    program = blocking(person, call("ada"))
    person.soon(lambda: person.deny(message="Not on a Friday."))
    assert (getattr(program, how)(), program.sent) == (["Not on a Friday."], [])


def test_model_reads_which_arguments_were_used_after_an_edit(person: Person) -> None:
    program = blocking(person, call("ada"))
    person.soon(lambda: person.approve(input={"to": "eve"}))
    assert program.run() == ['The user changed the arguments of this call to {"to": "eve"}. Result: sent to eve']
    assert program.sent == ["eve"]


def test_tool_that_is_not_named_is_not_asked_about(person: Person) -> None:
    program = Program(call("ada"), middleware=SaysoMiddleware(["delete_file"], client=person.async_client()))
    assert (program.run(), program.sent) == (["sent to ada"], ["ada"])


@pytest.mark.parametrize("how", ["run", "run_async"])
def test_several_calls_of_one_turn_wait_at_once(person: Person, how: str) -> None:
    program = blocking(person, call("ada", 1), call("bob", 2))

    def decide() -> None:
        for ask in until("both are pending", lambda: asks if len(asks := person.asks()) == 2 else None):
            person.decide("approve" if ask["approval"]["input"]["to"] == "ada" else "deny", ask)

    person.soon(decide)
    assert getattr(program, how)() == ["sent to ada", "User denied tool execution"]
    assert program.sent == ["ada"]


def test_approval_survives_the_kill_of_the_server(own_person: Person) -> None:
    program = blocking(own_person, call("ada"))

    def restart() -> None:
        ask = own_person.next()
        own_person.server.kill()
        own_person.server.start()
        own_person.decide("approve", ask)

    own_person.soon(restart)
    assert (program.run(), program.sent) == (["sent to ada"], ["ada"])


def test_cancelled_run_withdraws_its_ask_and_runs_no_tool(person: Person) -> None:
    program = blocking(person, call("ada"))

    async def cancel() -> None:
        running = asyncio.ensure_future(program.agent.ainvoke(program.payload, program.config))
        await asyncio.to_thread(person.next)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(cancel())
    until("it is withdrawn", lambda: person.asks("withdrawn"))
    assert program.sent == []


def test_timeout_of_the_policy_denies(own_person: Person) -> None:
    own_person.server.set_policy('[approvals]\ntimeout = "1s"\n')
    program = blocking(own_person, call("ada"))
    assert (program.run(), program.sent) == (["Tool approval timed out after 1 second"], [])


@pytest.mark.parametrize("mode", ["batched", "per_call"])
def test_interrupts_of_the_middleware_are_decided_together(person: Person, mode: Any) -> None:
    middleware = HumanInTheLoopMiddleware({"send_email": True}, interrupt_mode=mode)
    program = Program(
        call("ada", 1), call("bob", 2), call("eve", 3), middleware=middleware, checkpointer=InMemorySaver()
    )

    def decide() -> None:
        asks = until("all are pending", lambda: asks if len(asks := person.asks()) == 3 else None)
        assert program.sent == []
        for ask in reversed(asks):
            to = ask["approval"]["input"]["to"]
            if to == "bob":
                person.decide("deny", ask, message="Not Bob.")
            else:
                person.decide("approve", ask, **({"input": {"to": "mallory"}} if to == "eve" else {}))

    person.soon(decide)
    result = asyncio.run(drive(program.agent, program.payload, program.config, client=person.async_client()))
    assert sorted(program.sent) == ["ada", "mallory"]
    assert any("Not Bob." in text for text in read(result))


def test_only_the_decisions_of_the_middleware_are_offered(person: Person) -> None:
    middleware = HumanInTheLoopMiddleware({"send_email": {"allowed_decisions": ["approve", "edit"]}})
    program = Program(call("ada", 1), middleware=middleware, checkpointer=InMemorySaver())
    allowed: list[Any] = []

    def decide() -> None:
        allowed.append(person.next()["approval"]["allowedDecisions"])
        person.approve()

    person.soon(decide)
    asyncio.run(drive(program.agent, program.payload, program.config, client=person.async_client()))
    assert (allowed, program.sent) == ([["approve", "edit"]], ["ada"])


class State(TypedDict):
    colour: str


def asking_graph(value: Any, checkpointer: Any) -> Any:
    def ask(state: State) -> State:
        return {"colour": interrupt(value)}

    graph = StateGraph(State)
    graph.add_node("ask", ask)
    graph.add_edge(START, "ask")
    graph.add_edge("ask", END)
    return graph.compile(checkpointer=checkpointer)


def test_interrupt_of_a_node_is_a_question(person: Person) -> None:
    config = {"configurable": {"thread_id": "thread-1"}}
    graph = asking_graph({"question": "Which colour?", "options": ["red", "blue"]}, InMemorySaver())
    person.soon(lambda: person.answer(["blue"]))
    assert asyncio.run(drive(graph, {"colour": ""}, config, client=person.async_client())) == {"colour": "blue"}
    with pytest.raises(ValueError, match="thread_id"):
        asyncio.run(drive(graph, {"colour": ""}, {}, client=person.async_client()))


def test_killed_program_continues_from_its_checkpoint(person: Person) -> None:
    """The same checkpointer stands for a database. The first program never sees the answer."""
    config = {"configurable": {"thread_id": "thread-1"}}
    saver = InMemorySaver()
    graph = asking_graph("Which colour?", saver)

    async def first_program() -> str:
        result = await graph.ainvoke({"colour": ""}, config)
        pending = result["__interrupt__"][0]
        ask = await person.async_client().asks.open(
            {
                "questions": [{"text": "Which colour?", "custom": True}],
                "dedupeKey": f"thread-1:{pending.id}",
                "keep": "1d",
            }
        )
        return ask["id"]

    opened = asyncio.run(first_program())
    person.answer(["blue"])
    continued = asking_graph("Which colour?", saver)
    assert asyncio.run(drive(continued, None, config, client=person.async_client())) == {"colour": "blue"}
    assert person.ask(opened)["delivery"] == "delivered"
    # A graph that is done is not run again.
    assert asyncio.run(drive(continued, None, config, client=person.async_client())) == {"colour": "blue"}


def test_sayso_does_not_import_a_framework() -> None:
    code = "import sayso, sys; sayso.AsyncSayso; print([m for m in sys.modules if 'lang' in m or 'pydantic' in m])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
