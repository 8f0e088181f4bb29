"""The scenarios of every adapter with suspended runs. Programs and workers are processes of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from world import Person, until

TESTS = Path(__file__).parent


class Run:
    """One run of a program, its directory, and the workers that resume it."""

    def __init__(self, person: Person, directory: Path, app: str) -> None:
        self.person, self.directory, self.app = person, directory, app
        self.workers: list[subprocess.Popen[str]] = []
        self.calls: list[Any] = []

    def environment(self, **more: str) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": self.person.server.environment["HOME"],
            "PYTHONPATH": os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]),
            "PYTHONDONTWRITEBYTECODE": "1",
            "SAYSO_URL": self.person.server.url,
            "SAYSO_AGENT_TOKEN": self.person.token,
            # Each test has runs of its own.
            "APP_NAME": self.person.name,
            "APP_CALLS": json.dumps(self.calls),
            **more,
        }

    def start(self, *calls: tuple[str, dict[str, Any]], key: str = "run-1") -> str:
        """Runs the program until it suspends its run and ends. Returns the group."""
        self.calls = [[name, values, f"call-{number}"] for number, (name, values) in enumerate(calls)]
        command = [sys.executable, "-m", f"apps.{self.app}", key]
        done = subprocess.run(
            command, cwd=self.directory, env=self.environment(), capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def worker(self, *options: str, **environment: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "sayso", "resume", f"apps.{self.app}:resume", *options]
        worker = subprocess.Popen(
            command,
            cwd=self.directory,
            env=self.environment(**environment),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.workers.append(worker)
        return worker

    def asks(self, count: int) -> list[dict[str, Any]]:
        return until("the asks are pending", lambda: asks if len(asks := self.person.asks()) == count else None)

    def lines(self, file: str) -> list[str]:
        path = self.directory / f"{file}.txt"
        return path.read_text().splitlines() if path.exists() else []

    def until_status(self, group: str, status: str) -> None:
        client = self.person.client()
        until(f"the group is {status}", lambda: client.groups.get(group)["status"] == status, within=60)

    def close(self) -> None:
        for worker in self.workers:
            worker.kill()
            worker.wait()


SEND = ("send_email", {"to": "ada"})
SEND_AGAIN = ("send_email", {"to": "bob"})
ASK = ("ask_person", {"question": "Which colour?"})


class SuspendedRuns:
    """Subclasses name the program in `apps`, and what the framework can do."""

    app: str
    edits = True
    questions = True

    @pytest.fixture
    def run(self, person: Person, tmp_path: Path) -> Iterator[Run]:
        run = Run(person, tmp_path, self.app)
        yield run
        run.close()

    def test_approved_run_is_resumed_in_another_process(self, run: Run) -> None:
        group = run.start(SEND)
        assert run.lines("sent") == []
        run.worker()
        run.person.approve()
        run.until_status(group, "acknowledged")
        assert (run.lines("sent"), run.lines("read")) == (["ada"], ["sent to ada"])

    def test_denied_tool_does_not_run_and_the_model_reads_why(self, run: Run) -> None:
        group = run.start(SEND)
        run.person.deny(message="Not on a Friday.")
        run.worker()
        run.until_status(group, "acknowledged")
        assert run.lines("sent") == []
        assert "Not on a Friday." in run.lines("read")[0]

    def test_edited_arguments_are_used_where_the_framework_takes_them(self, run: Run) -> None:
        group = run.start(SEND)
        ask = run.person.next()
        assert ask["approval"]["editable"] is self.edits
        run.person.approve(**({"input": {"to": "eve"}} if self.edits else {}))
        run.worker()
        run.until_status(group, "acknowledged")
        assert run.lines("sent") == ["eve" if self.edits else "ada"]

    def test_question_is_answered(self, run: Run) -> None:
        if not self.questions:
            # The framework has questions only as tools that wait.
            return
        group = run.start(ASK)
        run.person.answer(["green"])
        run.worker()
        run.until_status(group, "acknowledged")
        assert run.lines("read") == ["green"]

    def test_run_is_resumed_when_all_its_asks_are_decided(self, run: Run) -> None:
        group = run.start(SEND, SEND_AGAIN)
        run.worker()
        first, second = run.asks(2)
        run.person.decide("approve", first)
        assert run.person.client().groups.ready(run.person.name, wait=1) == 0
        assert run.lines("sent") == []
        run.person.decide("deny", second)
        run.until_status(group, "acknowledged")
        assert len(run.lines("sent")) == 1

    def test_killed_server_loses_nothing(self, own_person: Person, tmp_path: Path) -> None:
        run = Run(own_person, tmp_path, self.app)
        try:
            group = run.start(SEND)
            own_person.server.kill()
            own_person.server.start()
            run.worker()
            own_person.approve()
            run.until_status(group, "acknowledged")
            assert run.lines("sent") == ["ada"]
        finally:
            run.close()

    def test_program_that_starts_again_joins_its_pause(self, run: Run) -> None:
        group = run.start(SEND)
        if self.app != "langgraph_app":
            # LangGraph's checkpointer knows that the thread is paused.
            assert run.start(SEND) == group
        assert len(run.asks(1)) == 1
        run.person.approve()
        run.worker()
        run.until_status(group, "acknowledged")
        assert run.lines("sent") == ["ada"]

    def test_two_workers_resume_each_run_once(self, run: Run) -> None:
        groups = [run.start(SEND, key=f"run-{number}") for number in range(3)]
        for _ in groups:
            run.person.approve()
        run.worker()
        run.worker()
        for group in groups:
            run.until_status(group, "acknowledged")
        assert run.lines("sent") == ["ada"] * 3
        assert sorted(line for line in run.lines("done") if line.startswith("grp_")) == sorted(groups)

    def test_killed_worker_leaves_the_decision_to_a_person(self, own_person: Person, tmp_path: Path) -> None:
        run = Run(own_person, tmp_path, self.app)
        try:
            group = run.start(SEND)
            own_person.approve()
            worker = run.worker("--lease", "3", APP_HANGS="1")
            until("the worker has the claim", lambda: run.lines("hangs"), within=60)
            worker.send_signal(signal.SIGKILL)
            worker.wait()
            run.until_status(group, "uncertain")
            asked = own_person.client().groups.get(group)["uncertainAsk"]
            assert run.lines("sent") == []
            run.worker()
            own_person.server.call("POST", f"/asks/{asked}/answer", {"answers": [["resume"]]})
            run.until_status(group, "acknowledged")
            assert run.lines("sent") == ["ada"]
        finally:
            run.close()

    def test_withdrawn_run_is_not_resumed(self, run: Run) -> None:
        group = run.start(SEND)
        run.person.client().groups.withdraw(group, reason="The run was cancelled.")
        assert run.person.asks() == []
        assert run.person.client().groups.ready(run.person.name) == 0
        assert run.lines("sent") == []

    def test_timeout_of_the_policy_denies_the_tool(self, own_person: Person, tmp_path: Path) -> None:
        own_person.server.set_policy('[approvals]\ntimeout = "1s"\n')
        run = Run(own_person, tmp_path, self.app)
        try:
            run.worker()
            group = run.start(SEND)
            run.until_status(group, "acknowledged")
            assert run.lines("sent") == []
            assert "timed out" in run.lines("read")[0]
        finally:
            run.close()
