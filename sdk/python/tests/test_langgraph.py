"""The adapter for LangChain and LangGraph, with a scripted model and a real server."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import urllib.error
from collections.abc import Iterator
from typing import Any, Literal

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from pydantic import BaseModel
from typing_extensions import TypedDict
from world import Person, until

import sayso
from sayso.langgraph import SaysoMiddleware, drive, start


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


def gated(mode: Any, decisions: list[str], *calls: dict[str, Any]) -> Program:
    """A program whose tool accepts only these decisions."""
    middleware = HumanInTheLoopMiddleware({"send_email": {"allowed_decisions": decisions}}, interrupt_mode=mode)
    return Program(*calls or [call("ada")], middleware=middleware, checkpointer=InMemorySaver())


def driven(person: Person, program: Program, **options: Any) -> Any:
    return asyncio.run(drive(program.agent, program.payload, program.config, client=person.async_client(), **options))


@pytest.mark.parametrize("mode", ["batched", "per_call"])
def test_only_the_decisions_of_the_middleware_are_offered(person: Person, mode: Any) -> None:
    program = gated(mode, ["approve", "edit"])
    allowed: list[Any] = []

    def decide() -> None:
        allowed.append(person.next()["approval"]["allowedDecisions"])
        person.approve()

    person.soon(decide)
    driven(person, program)
    assert (allowed, program.sent) == ([["approve", "edit"]], ["ada"])


@pytest.mark.parametrize("mode", ["batched", "per_call"])
def test_denial_that_the_middleware_refuses_leaves_the_thread_paused(own_person: Person, mode: Any) -> None:
    own_person.server.set_policy('[approvals]\ntimeout = "1s"\n')
    program = gated(mode, ["approve", "edit"])
    with pytest.raises(sayso.StateError, match="Add reject to its allowed_decisions"):
        driven(own_person, program)
    assert program.sent == []
    assert len(program.agent.get_state(program.config).interrupts) == 1


@pytest.mark.parametrize("mode", ["batched", "per_call"])
@pytest.mark.parametrize(
    ("decisions", "editable"), [(["respond"], True), (["edit"], False), (["edit", "respond"], False)]
)
def test_call_that_people_cannot_decide_is_refused_before_anyone_is_asked(
    person: Person, mode: Any, decisions: list[str], editable: bool
) -> None:
    program = gated(mode, decisions)
    with pytest.raises(sayso.StateError, match="Add approve and reject"):
        driven(person, program, editable=editable)
    assert (program.sent, person.asks()) == ([], [])


def test_edit_that_does_not_fit_the_tool_is_refused_while_the_ask_is_pending(person: Person) -> None:
    program = gated("per_call", ["approve", "edit", "reject"])

    def decide() -> None:
        with pytest.raises(urllib.error.HTTPError, match="422"):
            person.approve(input={"to": 7})
        person.approve(input={"to": "eve"})

    person.soon(decide)
    driven(person, program)
    assert program.sent == ["eve"]


def test_middleware_of_sayso_checks_edits_by_the_schema_of_the_tool(person: Person) -> None:
    program = blocking(person, call("ada"))

    def decide() -> None:
        with pytest.raises(urllib.error.HTTPError, match="422"):
            person.approve(input={"to": 7})
        person.approve(input={"to": "eve"})

    person.soon(decide)
    program.run()
    assert program.sent == ["eve"]


class Node(BaseModel):
    name: str
    children: list[Node] = []


def test_tool_with_a_schema_that_the_server_cannot_use_is_asked_without_edits(person: Person) -> None:
    kept: list[str] = []

    @tool
    def keep_tree(root: Node) -> str:
        """Keeps a tree. Its schema refers to itself."""
        kept.append(root.name)
        return "kept"

    asked: list[dict[str, Any]] = []

    def decide() -> None:
        asked.append(person.next()["approval"])
        person.approve()

    person.soon(decide)
    tree = {"name": "keep_tree", "args": {"root": {"name": "oak"}}, "id": "call-1", "type": "tool_call"}
    gate = SaysoMiddleware(client=person.async_client())
    agent = create_agent(ScriptedModel(messages=script(tree)), tools=[keep_tree], middleware=[gate])
    agent.invoke({"messages": [{"role": "user", "content": "go"}]})
    assert (kept, asked[0]["editable"]) == (["oak"], False)


def test_graph_without_a_checkpointer_is_refused_before_anyone_is_asked(person: Person) -> None:
    program = Program(call("ada"), middleware=HumanInTheLoopMiddleware({"send_email": True}))
    client = person.async_client()
    with pytest.raises(sayso.StateError, match="no checkpointer"):
        driven(person, program)
    with pytest.raises(sayso.StateError, match="no checkpointer"):
        asyncio.run(start(program.agent, program.payload, program.config, name=person.name, client=client))
    assert (program.sent, person.asks()) == ([], [])


def test_paused_thread_is_asked_again_and_the_model_is_not_called(person: Person) -> None:
    program = gated("per_call", ["approve", "reject"])
    # The program is killed after the pause.
    asyncio.run(program.agent.ainvoke(program.payload, program.config))
    person.soon(person.approve)
    driven(person, program)
    assert program.sent == ["ada"]


class State(TypedDict):
    colour: Any


def asking_graph(value: Any, checkpointer: Any, schema: Any = None) -> Any:
    def ask(state: State) -> State:
        return {"colour": interrupt(value, response_schema=schema)}

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


class Address(BaseModel):
    street: str
    number: int


@pytest.mark.parametrize(
    ("schema", "answer", "value"),
    [
        (int, "8080", 8080),
        ({"type": "array", "items": {"type": "integer"}}, "[1, 2]", [1, 2]),
        (Literal["red", "blue"], "blue", "blue"),
        (Address, '{"street": "Elm", "number": 7}', Address(street="Elm", number=7)),
    ],
)
def test_answer_has_the_type_that_the_interrupt_wants(person: Person, schema: Any, answer: str, value: Any) -> None:
    config = {"configurable": {"thread_id": "thread-1"}}
    graph = asking_graph("Which one?", InMemorySaver(), schema)

    def decide() -> None:
        with pytest.raises(urllib.error.HTTPError, match="422"):
            person.answer(["not that"])
        person.answer([answer], note="The note is for people.")

    person.soon(decide)
    assert asyncio.run(drive(graph, {"colour": ""}, config, client=person.async_client())) == {"colour": value}


def test_rejected_question_with_a_schema_leaves_the_thread_paused(person: Person) -> None:
    config = {"configurable": {"thread_id": "thread-1"}}
    graph = asking_graph("Which port?", InMemorySaver(), int)
    person.soon(lambda: person.decide("reject"))
    with pytest.raises(sayso.StateError, match="no answer"):
        asyncio.run(drive(graph, {"colour": ""}, config, client=person.async_client()))
    assert len(graph.get_state(config).interrupts) == 1


def test_sayso_does_not_import_a_framework() -> None:
    code = "import sayso, sys; sayso.AsyncSayso; print([m for m in sys.modules if 'lang' in m or 'pydantic' in m])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
