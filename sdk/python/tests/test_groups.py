"""Groups, claims and the resumer, without a framework."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from proxy import DROP, proxy
from world import Person, Server, until

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


def test_claim_whose_reply_is_lost_is_not_lost(own_person: Person) -> None:
    """The server commits a claim, and is killed before the worker gets the reply."""
    person, client = own_person, own_person.client()
    group = client.groups.open(person.name, [APPROVAL], state="the state")
    person.approve()
    lost: list[str] = []

    def rule(method: str, path: str, replied: bool) -> Any:
        if not (replied and path == "/v1/groups/claim" and not lost):
            return None
        lost.append(path)
        person.server.kill()
        person.server.start()
        return DROP

    resumed: list[str | None] = []
    with proxy(person.server, rule) as url:
        # Without retries of its own, the client reports the lost reply to the worker.
        through = sayso.AsyncSayso(url=url, token=person.token, retry_for=0)
        resume = lambda claim: resumed.append(claim.state)  # noqa: E731
        asyncio.run(_until_status(person, group["id"], "acknowledged", resume, through))
    assert (lost, resumed) == (["/v1/groups/claim"], ["the state"])


def test_claim_that_ended_before_its_reply_arrived_is_left_to_a_person(person: Person) -> None:
    client = person.client()
    group = client.groups.open(person.name, [APPROVAL])
    person.approve()
    lost: list[str] = []

    def rule(method: str, path: str, replied: bool) -> Any:
        if not (replied and path == "/v1/groups/claim" and not lost):
            return None
        lost.append(path)
        # As after an expired lease.
        client.groups.release(Claim({"group": group, "epoch": 1}), started=True)
        asked = client.groups.get(group["id"])["uncertainAsk"]
        person.soon(lambda: person.decide("answer", {"id": asked}, answers=[["resume"]]))
        return DROP

    resumed: list[int] = []
    with proxy(person.server, rule) as url:
        through = sayso.AsyncSayso(url=url, token=person.token, retry_for=0)
        resume = lambda claim: resumed.append(claim.epoch)  # noqa: E731
        asyncio.run(_until_status(person, group["id"], "acknowledged", resume, through))
    assert resumed == [2]


@pytest.mark.parametrize("fails", [False, True])
def test_end_of_a_run_is_reported_when_the_server_is_back(own_person: Person, fails: bool) -> None:
    person, client = own_person, own_person.client()
    group = client.groups.open(person.name, [APPROVAL])
    person.approve()
    tries: list[str] = []

    def rule(method: str, path: str, replied: bool) -> Any:
        if path.endswith(("/ack", "/release")) and len(tries) < 5:
            tries.append(path)
            return DROP
        return None

    def resume(claim: Claim) -> None:
        if fails:
            raise ValueError

    status = "uncertain" if fails else "acknowledged"
    with proxy(person.server, rule) as url:
        through = sayso.AsyncSayso(url=url, token=person.token, retry_for=0)
        asyncio.run(_until_status(person, group["id"], status, resume, through))
    assert len(tries) == 5


def test_synchronous_function_that_lost_its_claim_ends_the_worker(person: Person) -> None:
    client = person.client()
    group = client.groups.open(person.name, [APPROVAL])
    person.approve()
    seen: list[bool] = []

    def resume(claim: Claim) -> None:
        # Another program reports the end of this claim, as after an expired lease.
        client.groups.ack(claim)
        until("the claim is lost", lambda: claim.lost)
        seen.append(claim.lost)

    with pytest.raises(sayso.ClaimLostError, match="End this process"):
        asyncio.run(_once(resume, person, group["id"]))
    until("the function read it", lambda: seen)


def test_cancelled_worker_leaves_the_decision_to_a_person(person: Person) -> None:
    client = person.client()
    group = client.groups.open(person.name, [APPROVAL])
    person.approve()

    async def work() -> None:
        started = asyncio.Event()

        async def resume(claim: Claim) -> None:
            started.set()
            await asyncio.Event().wait()

        worker = asyncio.ensure_future(sayso.resume_all(resume, person.name, client=person.async_client()))
        await started.wait()
        worker.cancel()
        with pytest.raises(asyncio.CancelledError):
            await worker

    asyncio.run(work())
    assert client.groups.get(group["id"])["status"] == "uncertain"


def test_worker_that_is_stopped_while_it_claims_gives_the_claim_back(person: Person) -> None:
    client = person.client()
    group = client.groups.open(person.name, [APPROVAL])
    person.approve()
    stop = asyncio.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    def rule(method: str, path: str, replied: bool) -> Any:
        if replied and path == "/v1/groups/claim":
            loops[0].call_soon_threadsafe(stop.set)
            until("the worker is told to stop", stop.is_set)
        return None

    async def work(url: str) -> None:
        loops.append(asyncio.get_running_loop())
        through = sayso.AsyncSayso(url=url, token=person.token)
        await sayso.resume_all(lambda claim: pytest.fail("it ran"), person.name, client=through, stop=stop)

    with proxy(person.server, rule) as url:
        asyncio.run(work(url))
    assert client.groups.get(group["id"])["status"] == "ready"


def test_claim_whose_lease_expired_is_lost(person: Person) -> None:
    client = person.client()
    group = client.groups.open(person.name, [APPROVAL])
    person.approve()
    claimed = claim(person, lease="1s")
    until("the lease expires", lambda: client.groups.get(group["id"])["status"] == "uncertain", within=60)
    with pytest.raises(sayso.ClaimLostError):
        client.groups.renew(claimed)
    with pytest.raises(sayso.GroupNotReadyError):
        client.groups.claim(group_id=group["id"], worker="worker-2")


def test_revoked_token_ends_the_worker(person: Person) -> None:
    client = person.client()
    client.groups.open(person.name, [APPROVAL])
    person.approve()

    def resume(claim: Claim) -> None:
        person.server.call("DELETE", f"/tokens/{person.token_id}")

    with pytest.raises(sayso.UnauthorizedError):
        asyncio.run(sayso.resume_all(resume, person.name, client=person.async_client()))


def test_group_has_only_asks_of_its_own_token(server: Server, person: Person) -> None:
    client = person.client()
    token, _ = server.agent_token("stranger")
    foreign = sayso.Sayso(url=server.url, token=token).asks.open({"questions": [{"text": "Mine?"}], "keep": "1h"})
    with pytest.raises(sayso.NotFoundError):
        client.groups.open(person.name, [APPROVAL], ask_ids=[foreign["id"]])
    # All are opened or none.
    assert person.asks() == []
    own = client.asks.open({"questions": [{"text": "Which colour?"}], "toolCallId": "call-9", "keep": "1h"})
    group = client.groups.open(person.name, [APPROVAL], ask_ids=[own["id"]])
    assert [ask["id"] for ask in group["asks"]][1:] == [own["id"]]


def test_changed_state_is_refused(own_person: Person) -> None:
    person, server = own_person, own_person.server
    client = person.client()
    group = client.groups.open(person.name, [APPROVAL], state="the state")
    person.approve()
    server.kill()
    server.data.joinpath("state.key").unlink()
    server.start()
    with pytest.raises(sayso.StateUnreadableError, match=r"state\.key"):
        client.groups.claim(group_id=group["id"], worker="worker-1")


def test_two_asks_of_one_id_are_never_mixed_up(person: Person) -> None:
    client = person.client()
    client.groups.open(person.name, [APPROVAL, {**QUESTION, "toolCallId": "call-1"}])
    person.approve()
    person.answer(["green"])
    claimed = claim(person)
    with pytest.raises(sayso.StateError, match="Several asks"):
        claimed.decision("call-1")


async def _until_status(person: Person, group: str, status: str, resume: Any, client: sayso.AsyncSayso) -> None:
    """Runs a worker until the group has the status."""
    worker = asyncio.ensure_future(sayso.resume_all(resume, person.name, client=client))
    own = person.client()
    await asyncio.to_thread(
        until, f"the group is {status}", lambda: own.groups.get(group)["status"] == status, within=120
    )
    worker.cancel()
    await asyncio.gather(worker, return_exceptions=True)


async def _once(resume: Any, person: Person, group: str) -> None:
    client = person.client()
    await asyncio.to_thread(until, "it is ready", lambda: client.groups.get(group)["status"] == "ready")
    await sayso.resume_all(resume, person.name, client=person.async_client(), lease=3, once=True)


def test_command_says_what_it_cannot_load(person: Person, tmp_path: Path) -> None:
    from sayso.__main__ import main

    assert main(["resume", "no_such_module:resume"]) == 2
    assert main(["resume", "json"]) == 2
    assert main(["resume", "json:no_such_function"]) == 2
