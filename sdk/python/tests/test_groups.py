"""Groups, claims and the resumer, without a framework."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from world import Person, until

import sayso
from sayso import Claim

APPROVAL = {"approval": {"tool": "send_email", "action": "other", "input": {"to": "ada"}}, "toolCallId": "call-1"}
QUESTION = {"questions": [{"text": "Which colour?"}], "toolCallId": "call-2"}


def claim(person: Person, **options: Any) -> Claim:
    client = person.client()
    until("a group is complete", lambda: client.groups.ready(person.name, wait=5))
    claimed = client.groups.claim(person.name, worker="worker-1", **options)
    assert claimed is not None
    return claimed


def test_claim_has_state_and_outcomes(person: Person) -> None:
    client = person.client()
    group = client.groups.open(person.name, [APPROVAL, QUESTION], key="run-1", state="the state", resume_ref="ref")
    person.approve()
    person.answer(["green"], note="or blue")
    claimed = claim(person)
    assert (claimed.group_id, claimed.epoch, claimed.key) == (group["id"], 1, "run-1")
    assert (claimed.state, claimed.resume_ref) == ("the state", "ref")
    decision = claimed.decision("call-1")
    assert decision is not None and decision.approved
    assert claimed.reply("call-2") == (True, "green\n\nor blue")
    assert claimed.decision("call-9") is None
    client.groups.renew(claimed, lease="2m")
    client.groups.ack(claimed)
    assert client.groups.get(group["id"])["status"] == "acknowledged"
    assert client.groups.claim(person.name, worker="worker-1") is None


def test_denial_always_has_words_for_the_model(person: Person) -> None:
    person.client().groups.open(person.name, [APPROVAL, QUESTION])
    person.deny()
    person.decide("reject")
    claimed = claim(person)
    decision, reply = claimed.decision("call-1"), claimed.reply("call-2")
    assert decision is not None and reply is not None
    assert (decision.approved, decision.message) == (False, "User denied tool execution")
    assert reply[0] is False and reply[1] != ""


def test_errors_are_typed_and_carry_the_next_step(person: Person) -> None:
    client = person.client()
    group = client.groups.open(person.name, [APPROVAL], key="run-1")
    with pytest.raises(sayso.GroupNotReadyError, match=r"groups\.ready"):
        client.groups.claim(group_id=group["id"], worker="w")
    with pytest.raises(sayso.DedupeKeyReusedError):
        client.groups.open(person.name, [QUESTION], key="run-1")
    with pytest.raises(sayso.UnknownCallbackError, match="admin"):
        client.groups.open(person.name, [APPROVAL], callback="nowhere")
    with pytest.raises(sayso.NotFoundError):
        client.groups.get("grp_0")
    person.approve()
    claimed = claim(person)
    client.groups.release(claimed, started=False)
    with pytest.raises(sayso.ClaimLostError, match="Stop the run"):
        client.groups.renew(claimed)
    client.groups.withdraw(group["id"])
    with pytest.raises(sayso.GroupEndedError):
        client.groups.claim(group_id=group["id"], worker="w")


def test_worker_resumes_and_acknowledges(person: Person) -> None:
    client = person.client()
    groups = [client.groups.open(person.name, [APPROVAL], key=f"run-{number}")["id"] for number in range(3)]
    for _ in groups:
        person.approve()
    resumed: list[str] = []

    def resume(claim: Claim) -> None:
        resumed.append(claim.group_id)

    async def work() -> None:
        worker = asyncio.ensure_future(sayso.resume_all(resume, person.name, client=person.async_client()))
        done = lambda: all(client.groups.get(group)["status"] == "acknowledged" for group in groups)  # noqa: E731
        await asyncio.to_thread(until, "all are resumed", done)
        worker.cancel()

    asyncio.run(work())
    assert sorted(resumed) == sorted(groups)


def test_function_that_raises_leaves_the_decision_to_a_person(person: Person) -> None:
    client = person.client()
    group = client.groups.open(person.name, [APPROVAL])
    person.approve()

    async def resume(claim: Claim) -> None:
        raise ValueError("a detail of the run")

    async def work() -> None:
        worker = asyncio.ensure_future(sayso.resume_all(resume, person.name, client=person.async_client()))
        found = lambda: client.groups.get(group["id"])["status"] == "uncertain"  # noqa: E731
        await asyncio.to_thread(until, "it is uncertain", found)
        worker.cancel()

    asyncio.run(work())
    asked = client.groups.get(group["id"])["uncertainAsk"]
    text = person.ask(asked)["questions"][0]["text"]
    assert "ValueError" in text and "detail" not in text


def test_lease_is_renewed_while_the_function_runs(person: Person) -> None:
    client = person.client()
    group = client.groups.open(person.name, [APPROVAL])
    person.approve()
    leases: set[str] = set()

    def resume(claim: Claim) -> None:
        def renewed() -> bool:
            leases.add(client.groups.get(claim.group_id)["leaseUntil"])
            return len(leases) >= 3

        until("the lease is renewed twice", renewed)

    asyncio.run(_once(resume, person, group["id"]))
    assert client.groups.get(group["id"])["status"] == "acknowledged"


async def _once(resume: Any, person: Person, group: str) -> None:
    client = person.client()
    await asyncio.to_thread(until, "it is ready", lambda: client.groups.get(group)["status"] == "ready")
    await sayso.resume_all(resume, person.name, client=person.async_client(), lease=3, once=True)


def test_command_says_what_it_cannot_load(person: Person, tmp_path: Path) -> None:
    from sayso.__main__ import main

    assert main(["resume", "no_such_module:resume"]) == 2
    assert main(["resume", "json"]) == 2
    assert main(["resume", "json:no_such_function"]) == 2
