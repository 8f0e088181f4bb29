"""The callback for the Claude Agent SDK, with the Claude Code of the package, a scripted model and a real server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from anthropic_model import Call, Model, environment, serve
from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, ResultMessage, query
from world import Person, until

from sayso.claude import can_use_tool


def touch(name: str, number: int = 1) -> Call:
    return "Bash", {"command": f"touch {name}.txt"}, f"toolu_{number}"


class Program:
    """One run of Claude Code in a directory of its own."""

    def __init__(self, person: Person, directory: Path, *turns: list[Call], **options: Any) -> None:
        self.directory, self.model = directory / "project", Model(*turns)
        self.home = directory / "home"
        self.directory.mkdir(exist_ok=True)
        self.home.mkdir(exist_ok=True)
        self.callback = can_use_tool(person.async_client(), **options)

    def options(self) -> ClaudeAgentOptions:
        return ClaudeAgentOptions(
            can_use_tool=self.callback,
            cwd=self.directory,
            env=environment(self.model, str(self.home)),
            setting_sources=[],
            model="claude-sonnet-4-5",
        )

    async def run_async(self) -> str | None:
        with serve(self.model):
            async for message in query(prompt="go", options=self.options()):
                if isinstance(message, ResultMessage):
                    return message.result
        return None

    def run(self) -> str | None:
        return asyncio.run(self.run_async())

    @property
    def sent(self) -> list[str]:
        """The names of the files that commands created."""
        return sorted(path.stem for path in self.directory.glob("*.txt"))


def test_approved_command_runs(person: Person, tmp_path: Path) -> None:
    program = Program(person, tmp_path, [touch("ada")])
    person.soon(person.approve)
    assert (program.run(), program.sent) == ("done", ["ada"])


def test_denied_command_does_not_run_and_the_model_reads_why(person: Person, tmp_path: Path) -> None:
    program = Program(person, tmp_path, [touch("ada")])
    person.soon(lambda: person.deny(message="Not on a Friday."))
    assert (program.run(), program.sent) == ("done", [])
    assert "Not on a Friday." in program.model.read[0]


def test_edited_command_is_used(person: Person, tmp_path: Path) -> None:
    program = Program(person, tmp_path, [touch("ada")])
    person.soon(lambda: person.approve(input={"command": "touch eve.txt"}))
    assert (program.run(), program.sent) == ("done", ["eve"])


def test_question_is_answered(person: Person, tmp_path: Path) -> None:
    options = [{"label": "red", "description": "warm"}, {"label": "blue", "description": "calm"}]
    asked = {"questions": [{"question": "Which colour?", "header": "Colour", "multiSelect": False, "options": options}]}
    program = Program(person, tmp_path, [("AskUserQuestion", asked, "toolu_1")])
    person.soon(lambda: person.answer(["blue"]))
    assert program.run() == "done"
    assert "blue" in program.model.read[0]


def test_several_commands_of_one_turn(person: Person, tmp_path: Path) -> None:
    program = Program(person, tmp_path, [touch("ada", 1), touch("bob", 2)])

    def decide() -> None:
        # Claude Code asks about commands that write one after the other.
        for _ in range(2):
            ask = person.next()
            person.decide("approve" if "ada" in ask["approval"]["command"] else "deny", ask)

    person.soon(decide)
    assert (program.run(), program.sent) == ("done", ["ada"])


def test_always_covers_the_rest_of_the_session(person: Person, tmp_path: Path) -> None:
    program = Program(person, tmp_path, [touch("ada", 1)], [touch("ada", 2)])
    labels: list[str] = []

    def decide() -> None:
        labels.extend(choice["label"] for choice in person.next()["approval"]["choices"])
        person.approve(choice="always")

    person.soon(decide)
    assert (program.run(), len(program.model.read)) == ("done", 2)
    assert len(labels) == 1 and labels[0].startswith("Always allow Bash(touch")


def test_approval_survives_the_kill_of_the_server(own_person: Person, tmp_path: Path) -> None:
    program = Program(own_person, tmp_path, [touch("ada")])

    def restart() -> None:
        ask = own_person.next()
        own_person.server.kill()
        own_person.server.start()
        own_person.decide("approve", ask)

    own_person.soon(restart)
    assert (program.run(), program.sent) == ("done", ["ada"])


def test_timeout_of_the_policy_denies(own_person: Person, tmp_path: Path) -> None:
    own_person.server.set_policy('[approvals]\ntimeout = "1s"\n')
    program = Program(own_person, tmp_path, [touch("ada")])
    assert (program.run(), program.sent) == ("done", [])
    assert "timed out" in program.model.read[0]


def test_revoked_token_denies_and_the_model_reads_why(person: Person, tmp_path: Path) -> None:
    """A callback that raises is a denial."""
    program = Program(person, tmp_path, [touch("ada")])

    def revoke() -> None:
        person.next()
        person.server.call("DELETE", f"/tokens/{person.token_id}")

    person.soon(revoke)
    assert (program.run(), program.sent) == ("done", [])
    assert "sayso token create" in program.model.read[0]


def test_interrupted_run_withdraws_its_ask(person: Person, tmp_path: Path) -> None:
    program = Program(person, tmp_path, [touch("ada")])

    async def interrupt() -> None:
        with serve(program.model):
            async with ClaudeSDKClient(program.options()) as client:
                await client.query("go")
                await asyncio.to_thread(person.next)
                await client.interrupt()
                await asyncio.to_thread(until, "it is withdrawn", lambda: person.asks("withdrawn"))

    asyncio.run(interrupt())
    assert program.sent == []


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A loaded machine starts Claude Code slowly."""
    monkeypatch.setenv("CLAUDE_CODE_STREAM_CLOSE_TIMEOUT", "600000")
    yield
