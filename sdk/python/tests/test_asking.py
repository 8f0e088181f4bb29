from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from proxy import proxy
from world import Person, until

import sayso
from sayso._core import _entries as entries_of


def test_question_returns_the_answer_with_its_note(person: Person) -> None:
    person.soon(lambda: person.answer(["SQLite"], note="for now"))
    answer = person.client().ask("Which database?", options=["SQLite", "PostgreSQL"], header="Database")
    assert (answer, answer.note, answer.by) == ("SQLite", "for now", "you")
    ask = person.ask(answer.ask_id)
    assert ask["delivery"] == "delivered"
    assert ask["questions"][0]["header"] == "Database"


def test_async_calls_work_from_several_event_loops(person: Person) -> None:
    client = person.async_client()
    for number in range(2):
        person.soon(lambda number=number: person.answer([f"answer {number}"]))
        assert asyncio.run(client.ask("What next?")) == f"answer {number}"


def test_several_asks_wait_at_once(person: Person) -> None:
    async def ask_all() -> list[str]:
        client = person.async_client()
        return await asyncio.gather(*(client.ask(f"Number {n}?") for n in range(20)))

    def answer_all() -> None:
        asks = until("all asks are pending", lambda: asks if len(asks := person.asks()) == 20 else None)
        for ask in reversed(asks):
            person.decide("answer", ask, answers=[[ask["questions"][0]["text"]]])

    person.soon(answer_all)
    assert asyncio.run(ask_all()) == [f"Number {n}?" for n in range(20)]


def test_select_confirm_and_several_questions(person: Person) -> None:
    client = person.client()
    person.soon(lambda: person.answer(["Auth", "Billing"]))
    assert client.select("Which parts?", ["Auth", "Billing", "Search"]) == ["Auth", "Billing"]
    person.soon(lambda: person.answer(["true"]))
    assert client.confirm("Continue?") is True
    person.soon(lambda: person.answer(["Ada"], ["blue"]))
    questions = [{"text": "Name?"}, {"text": "Colour?", "options": [{"label": "blue"}]}]
    assert client.ask_all(questions) == [["Ada"], ["blue"]]


def test_secret_answer_is_returned_once(person: Person) -> None:
    person.soon(lambda: person.answer(["hunter2"]))
    answer = person.client().ask("Password?", secret=True)
    assert answer == "hunter2"
    assert person.ask(answer.ask_id)["outcome"]["answers"] == [{"secret": True}]
    with pytest.raises(sayso.SecretLostError):
        entries_of(dict(person.client().asks.take(answer.ask_id)), 0)


def test_rejected_question_raises_what_the_model_should_read(person: Person) -> None:
    person.soon(lambda: person.decide("reject", message="Decide yourself.", stop=True))
    with pytest.raises(sayso.QuestionRejectedError) as raised:
        person.client().ask("Which database?")
    assert (raised.value.message, raised.value.stop, raised.value.code) == ("Decide yourself.", True, "rejected")


def test_approval_is_given(person: Person) -> None:
    person.soon(lambda: person.approve())
    decision = person.client().approve(
        "send_email", {"to": "ada@example.com"}, summary="Mail to Ada", reason="asked to"
    )
    assert decision
    assert (decision.status, decision.input, decision.stop) == ("approved", None, False)
    approval = person.ask(decision.ask_id)["approval"]
    assert (approval["tool"], approval["title"], approval["editable"]) == ("send_email", "Mail to Ada", False)


def test_denial_always_has_a_message(person: Person) -> None:
    client = person.client()
    person.soon(lambda: person.deny())
    decision = client.approve("send_email", {"to": "ada@example.com"})
    assert not decision
    assert decision.message == "User denied tool execution"
    person.soon(lambda: person.deny(message="Not on a Friday.", stop=True))
    decision = client.approve("send_email", {"to": "ada@example.com"})
    assert (decision.approved, decision.message, decision.stop) == (False, "Not on a Friday.", True)


def test_edited_input_arrives_only_if_it_was_offered(person: Person) -> None:
    client = person.client()
    person.soon(lambda: person.approve(input={"to": "bob@example.com"}))
    decision = client.approve("send_email", {"to": "ada@example.com"}, editable=True)
    assert decision.input == {"to": "bob@example.com"}

    refused: list[BaseException] = []

    def edit_then_approve() -> None:
        try:
            person.approve(input={"to": "bob@example.com"})
        except OSError as error:
            refused.append(error)
        person.approve()

    person.soon(edit_then_approve)
    decision = client.approve("send_email", {"to": "ada@example.com"})
    assert (decision.approved, decision.input, len(refused)) == (True, None, 1)


def test_choice_of_the_agent_is_returned(person: Person) -> None:
    person.soon(lambda: person.approve(choice="always"))
    choices = [{"id": "always", "label": "Always allow send_email"}]
    assert person.client().approve("send_email", {}, choices=choices).choice == "always"


def test_timeout_denies_and_rejects(person: Person) -> None:
    client = person.client()
    decision = client.approve("send_email", {}, timeout="1s")
    assert (decision.approved, decision.message, decision.by) == (
        False,
        "Tool approval timed out after 1 second",
        "timeout",
    )
    with pytest.raises(sayso.QuestionRejectedError, match="did not respond within 1 second"):
        client.ask("Still there?", timeout="1s")


def test_cancelled_wait_withdraws_the_ask(person: Person) -> None:
    async def cancel() -> None:
        client = person.async_client()
        waiting = asyncio.ensure_future(client.approve("send_email", {}))
        await asyncio.to_thread(person.next)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(cancel())
    withdrawn = until("the ask is withdrawn", lambda: person.asks("withdrawn"))
    assert withdrawn[0]["outcome"]["message"] == "The agent stopped waiting."


def test_ask_that_is_cancelled_while_it_is_opened_is_withdrawn(person: Person) -> None:
    async def cancel() -> None:
        client = person.async_client()
        for _ in range(10):
            waiting = asyncio.ensure_future(client.ask("Anybody?"))
            await asyncio.sleep(0.001)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting

    asyncio.run(cancel())
    until("nothing is pending", lambda: not person.asks(), within=10)


def test_ask_is_withdrawn_when_the_program_is_interrupted(person: Person) -> None:
    program = person.program("from sayso import sync; sync.ask('Which database?')")
    asks = until("it asks", lambda: person.server.call("GET", "/asks?status=pending&q=database")["data"])
    program.send_signal(2)
    program.wait(timeout=10)
    assert person.ask(asks[0]["id"])["status"] == "withdrawn"


def test_key_joins_the_ask_of_a_killed_program(person: Person) -> None:
    code = "from sayso import sync; print(sync.ask('Which colour?', key='run-1:call-1'))"
    first = person.program(code)
    ask = until("the program asks", lambda: person.server.call("GET", "/asks?status=pending&q=colour")["data"])[0]
    first.kill()
    first.wait()
    # The answer arrives while no program waits for it.
    person.decide("answer", ask, answers=[["blue"]])
    second = person.program(code)
    assert second.communicate(timeout=20)[0] == "blue\n"


def test_of_two_programs_with_the_same_key_one_gets_the_approval(person: Person) -> None:
    code = """
import sayso
from sayso import sync
try:
    print(sync.approve("send_email", {"to": "ada"}, key="run-1:call-1").approved)
except sayso.OutcomeTakenError:
    print("taken")
"""
    programs = [person.program(code), person.program(code)]
    asks = until("both wait", lambda: person.server.call("GET", "/asks?status=pending&q=send_email")["data"])
    # The server does not show how many programs have joined an ask. A busy machine starts the second one late.
    time.sleep(5)
    person.decide("approve", asks[0])
    assert sorted(program.communicate(timeout=30)[0] for program in programs) == ["True\n", "taken\n"]


def test_key_for_something_else_is_refused(person: Person) -> None:
    client = person.client()
    person.soon(lambda: client.approve("send_email", {"to": "ada"}, key="call-1"))
    person.next()
    with pytest.raises(sayso.DedupeKeyReusedError):
        client.approve("send_email", {"to": "bob"}, key="call-1")


def test_wait_survives_the_kill_of_the_server(own_person: Person) -> None:
    results: list[str] = []
    client = own_person.client()
    waiting = threading.Thread(target=lambda: results.append(client.ask("Which database?")), daemon=True)
    waiting.start()
    ask = own_person.next()
    own_person.server.kill()
    own_person.server.start()
    own_person.decide("answer", ask, answers=[["SQLite"]])
    waiting.join(timeout=20)
    assert results == ["SQLite"]


def test_revoked_token_ends_the_wait(person: Person) -> None:
    errors: list[BaseException] = []

    def ask() -> None:
        try:
            person.client().ask("Which database?")
        except sayso.SaysoError as error:
            errors.append(error)

    waiting = person.soon(ask)
    person.next()
    person.server.call("DELETE", f"/tokens/{person.token_id}")
    waiting.join(timeout=20)
    assert [type(error) for error in errors] == [sayso.UnauthorizedError]
    assert "sayso token create" in str(errors[0])


def test_forked_process_asks_with_a_connection_of_its_own(person: Person) -> None:
    code = """
import os
from sayso import sync
print(sync.ask("Before the fork?"), flush=True)
child = os.fork()
print(sync.ask(f"After the fork, child {child == 0}?"), flush=True)
if child:
    os.waitpid(child, 0)
else:
    os._exit(0)
"""
    program = person.program(code)

    def answer_everything() -> None:
        for _ in range(3):
            found = until("it asks", lambda: person.server.call("GET", "/asks?status=pending&q=fork")["data"])
            person.decide("answer", found[0], answers=[["yes"]])

    person.soon(answer_everything)
    assert program.communicate(timeout=30)[0] == "yes\nyes\nyes\n"


def test_policy_decides_without_a_person(own_person: Person) -> None:
    server = own_person.server
    server.set_policy('[approvals]\npolicy = "deny"\n')
    decision = own_person.client().approve("send_email", {})
    assert (decision.approved, decision.by) == (False, "policy")
    assert own_person.asks() == []


def _refused_first(
    person: Person, wrong: Callable[[sayso.Sayso, str], Any], right: Callable[[sayso.Sayso, str], Any]
) -> list[sayso.SaysoError]:
    """Decides the next ask twice: the first decision is refused. Returns the list that receives the refusal."""
    refusals: list[sayso.SaysoError] = []

    def decide() -> None:
        ask, admin = person.next()["id"], sayso.Sayso(url=person.server.url, token=person.server.admin_token)
        try:
            wrong(admin, ask)
        except sayso.SaysoError as error:
            refusals.append(error)
        right(admin, ask)

    person.soon(decide)
    return refusals


def test_edited_input_has_to_fit_the_schema(person: Person) -> None:
    schema = {"type": "object", "properties": {"copies": {"type": "integer"}}, "required": ["copies"]}
    refusals = _refused_first(
        person,
        lambda admin, ask: admin.asks.approve(ask, {"copies": "two"}),
        lambda admin, ask: admin.asks.approve(ask, {"copies": 2}),
    )
    decision = person.client().approve("print", {"copies": 1}, editable=True, input_schema=schema)
    assert decision.input == {"copies": 2}
    assert [type(refusal) for refusal in refusals] == [sayso.InvalidInputError]
    assert "`/copies`: " in str(refusals[0])


def test_only_allowed_decisions_are_possible(person: Person) -> None:
    refusals = _refused_first(
        person, lambda admin, ask: admin.asks.deny(ask), lambda admin, ask: admin.asks.approve(ask)
    )
    assert person.client().approve("print", {"copies": 1}, allowed_decisions=["approve"])
    assert [type(refusal) for refusal in refusals] == [sayso.DecisionNotAllowedError]
    assert "does not allow the decision `deny`; allowed: approve" in str(refusals[0])


def test_own_answer_has_to_fit_the_schema(person: Person) -> None:
    refusals = _refused_first(
        person,
        lambda admin, ask: admin.asks.answer(ask, [["eighty"]]),
        lambda admin, ask: admin.asks.answer(ask, [["8080"]]),
    )
    assert person.client().ask("Which port?", schema={"type": "integer"}) == "8080"
    assert [type(refusal) for refusal in refusals] == [sayso.InvalidAnswersError]


def test_schema_that_cannot_be_used_is_refused(person: Person) -> None:
    with pytest.raises(sayso.InvalidSchemaError, match="Correct the schema, or ask without it"):
        person.client().approve("print", editable=True, input_schema={"type": "strin"})
    with pytest.raises(sayso.InvalidSchemaError, match="another document"):
        person.client().ask("Which port?", schema={"$ref": "https://example.com/port"})
    assert person.asks() == []


def test_ask_is_withdrawn_by_its_key(person: Person) -> None:
    client = person.client()
    ask = client.asks.open({"questions": [{"text": "Which colour?"}], "dedupeKey": "run-1:call-1", "keep": "1h"})
    assert client.asks.withdraw_by_key("run-1:call-1", reason="The run was cancelled.")["id"] == ask["id"]
    assert person.ask(ask["id"])["status"] == "withdrawn"
    with pytest.raises(sayso.NotFoundError):
        client.asks.withdraw_by_key("run-1:call-1")


def test_all_waits_of_a_client_share_one_stream(person: Person) -> None:
    calls: list[str] = []

    def rule(method: str, path: str, replied: bool) -> Any:
        if not replied:
            calls.append(f"{method} {path.split('?')[0]}")
        return None

    async def ask_all(client: sayso.AsyncSayso) -> None:
        waits = [asyncio.ensure_future(client.ask(f"Number {n}?")) for n in range(20)]
        asks = await asyncio.to_thread(
            until, "all are pending", lambda: asks if len(asks := person.asks()) == 20 else None
        )
        for ask in asks:
            await asyncio.to_thread(person.decide, "answer", ask, answers=[["yes"]])
        await asyncio.gather(*waits)

    with proxy(person.server, rule) as url:
        asyncio.run(ask_all(sayso.AsyncSayso(url=url, token=person.token, agent=person.name)))
    # No wait is a call that is held open.
    assert (calls.count("GET /v1/outcomes"), calls.count("POST /v1/asks")) == (1, 20)
