from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest
from world import Person, Server, until

import sayso


@pytest.fixture
def admin(server: Server) -> sayso.Sayso:
    return sayso.Sayso(url=server.url, token=server.admin_token)


def test_session_is_started_and_read(admin: sayso.Sayso) -> None:
    session = admin.sessions.create(agent="mock", prompt="ask me a question")
    found = until("the agent asks", lambda: admin.asks.list(session=session["id"], status="pending")["data"])
    admin.asks.answer(found[0]["id"], [["SQLite"]])
    until("the agent is idle", lambda: admin.sessions.get(session["id"])["status"] == "idle")
    texts = [block.get("text") for block in admin.sessions.transcript(session["id"])["data"]]
    assert "You answered: SQLite." in texts
    assert session["id"] in [one["id"] for one in admin.sessions.list(open=True)["data"]]
    admin.sessions.close(session["id"])


def test_events_continue_after_the_kill_of_the_server(own_server: Server) -> None:
    client = sayso.Sayso(url=own_server.url, token=own_server.admin_token)
    events = client.events(since=0)
    client.notify("first")
    assert next(event for event in events if event["type"] == "notice")["data"]["text"] == "first"
    own_server.kill()
    own_server.start()
    own_server.call("POST", "/notices", {"text": "second"})
    assert next(event for event in events if event["type"] == "notice")["data"]["text"] == "second"


def test_async_events_of_a_session(admin: sayso.Sayso, server: Server) -> None:
    session = admin.sessions.create(agent="mock", prompt="hello")

    async def read() -> list[str]:
        client = sayso.AsyncSayso(url=server.url, token=server.admin_token)
        types = []
        async for event in client.events(since=0, session=session["id"]):
            types.append(event["type"])
            if event["type"] == "session.status" and event["data"]["status"] == "idle":
                break
        return types

    assert asyncio.run(read())[0] == "session.created"


def test_run_is_started_and_cancelled(admin: sayso.Sayso) -> None:
    workflow = {"name": "wait", "steps": [{"id": "go", "checkpoint": {"question": "Go on?"}}]}
    run = admin.runs.start(workflow)
    assert admin.runs.get(run["id"])["status"] in ("running", "waiting")
    assert run["id"] in [one["id"] for one in admin.runs.list(open=True)["data"]]
    assert admin.runs.cancel(run["id"])["status"] == "cancelled"


def test_policy_explains_an_ask(admin: sayso.Sayso, person: Person) -> None:
    ask = person.client().asks.open({"approval": {"tool": "deploy", "action": "run", "command": "./deploy.sh prod"}})
    explanation = admin.policy.explain(ask_id=ask["id"])
    assert explanation["data"][0]["verdict"] == "ask"
    person.client().asks.withdraw(ask["id"], reason="too late")
    assert person.client().asks.wait(ask["id"])["status"] == "withdrawn"


def test_any_route_can_be_called(admin: sayso.Sayso) -> None:
    assert "mock" in [agent["name"] for agent in admin.request("GET", "/agents")["data"]]


def test_import_is_fast_and_imports_no_network_library() -> None:
    code = """
import sys, time
# The time of the processor: other programs of this machine do not count.
start = time.process_time()
import sayso
took = (time.process_time() - start) * 1000
print(took, sorted({"httpx", "asyncio", "ssl", "threading"} & set(sys.modules)))
"""
    output = subprocess.run(
        [sys.executable, "-I", "-c", code],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    took, modules = output.split(" ", 1)
    assert float(took) < 60
    assert modules.strip() == "[]"
