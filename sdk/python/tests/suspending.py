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

    def __init__(self, person: Person, directory: Path, app: str, variables: dict[str, str] | None = None) -> None:
        self.person, self.directory, self.app = person, directory, app
        #: Environment variables of the programs and workers.
        self.variables = variables or {}
        self.workers: list[subprocess.Popen[str]] = []
        self.calls: list[Any] = []

    def environment(self, **more: str) -> dict[str, str]:
        folders = [str(TESTS), str(TESTS / "frameworks"), os.environ.get("PYTHONPATH")]
        return {
            "PATH": os.environ["PATH"],
            "HOME": self.person.server.environment["HOME"],
            "PYTHONPATH": os.pathsep.join(filter(None, folders)),
            "PYTHONDONTWRITEBYTECODE": "1",
            "SAYSO_URL": self.person.server.url,
            "SAYSO_AGENT_TOKEN": self.person.token,
            # Each test has runs of its own.
            "APP_NAME": self.person.name,
            "APP_CALLS": json.dumps(self.calls),
            **self.variables,
            **more,
        }

    def start(self, *calls: tuple[str, dict[str, Any]], key: str = "run-1") -> str:
        """Runs the program until it suspends its run and ends. Returns the group."""
        done = self.program(*calls, key=key)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def program(self, *calls: tuple[str, dict[str, Any]], key: str = "run-1") -> subprocess.CompletedProcess[str]:
        """Runs the program until it ends."""
        self.calls = list(calls)
        command = [sys.executable, "-m", f"apps.{self.app}", key]
        return subprocess.run(
            command, cwd=self.directory, env=self.environment(), capture_output=True, text=True, timeout=300
        )

    def worker(self, *options: str, **environment: str) -> subprocess.Popen[str]:
        """Starts a worker. Its output is appended to `worker.txt`."""
        command = [sys.executable, "-u", "-m", "sayso", "resume", f"apps.{self.app}:resume", *options]
        with self.directory.joinpath("worker.txt").open("a") as output:
            worker = subprocess.Popen(
                command,
                cwd=self.directory,
                env=self.environment(**environment),
                stdout=output,
                stderr=output,
                text=True,
            )
        self.workers.append(worker)
        return worker

    def until_line(self, file: str, text: str) -> str:
        """Waits until a line of the file contains the text."""
        found = lambda: next((line for line in self.lines(file) if text in line), None)  # noqa: E731
        return until(f"{file}.txt says: {text}", found, within=120)

    def answer_uncertain(self, group: str, answer: str) -> None:
        """A person decides whether the run is resumed again: `resume` or `abandon`."""
        self.until_status(group, "uncertain")
        asked = self.person.client().groups.get(group)["uncertainAsk"]
        self.person.server.call("POST", f"/asks/{asked}/answer", {"answers": [[answer]]})

    def asks(self, count: int) -> list[dict[str, Any]]:
        found = lambda: asks if len(asks := self.person.asks()) == count else None  # noqa: E731
        return until("the asks are pending", found, within=120)

    def lines(self, file: str) -> list[str]:
        path = self.directory / f"{file}.txt"
        return path.read_text().splitlines() if path.exists() else []

    def until_status(self, group: str, status: str) -> None:
        client = self.person.client()
        until(f"the group is {status}", lambda: client.groups.get(group)["status"] == status, within=120)

    def close(self) -> None:
        for worker in self.workers:
            worker.kill()
            worker.wait()


def killed_program_continues_its_ask(person: Person, directory: Path, form: str) -> None:
    """Kills a program while it waits. The repeated program gets the approval that was given in the meantime."""
    run = Run(person, directory, "waiting")
    run.calls = [SEND]

    def program() -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "apps.waiting", form]
        return subprocess.Popen(
            command, cwd=directory, env=run.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )

    killed = program()
    run.workers.append(killed)
    try:
        asked = run.asks(1)[0]
        killed.kill()
        killed.wait()
        person.decide("approve", asked)
        _, errors = (repeated := program()).communicate(timeout=300)
        assert repeated.returncode == 0, errors
    finally:
        run.close()
    assert len(run.lines("sent")) == 1
    assert (person.ask(asked["id"])["delivery"], person.asks()) == ("delivered", [])


SEND = ("send_email", {"to": "ada"})
SEND_AGAIN = ("send_email", {"to": "bob"})
ASK = ("ask_person", {"question": "Which colour?"})


class SuspendedRuns:
    """Subclasses name the program in `apps`, and what the framework can do."""

    app: str
    edits = True
    #: Whether the framework keeps the thread, so that a finished run is not run again.
    checkpoints = False
    variables: dict[str, str] = {}  # noqa: RUF012

    @pytest.fixture
    def run(self, person: Person, tmp_path: Path) -> Iterator[Run]:
        run = Run(person, tmp_path, self.app, self.variables)
        yield run
        run.close()

    @pytest.fixture
    def own_run(self, own_person: Person, tmp_path: Path) -> Iterator[Run]:
        """A run on a server of its own."""
        run = Run(own_person, tmp_path, self.app, self.variables)
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

    def test_killed_server_loses_nothing(self, own_run: Run) -> None:
        group = own_run.start(SEND)
        own_run.worker()
        own_run.until_line("worker", "waiting for runs")
        own_run.person.server.kill()
        own_run.person.server.start()
        own_run.person.approve()
        own_run.until_status(group, "acknowledged")
        assert own_run.lines("sent") == ["ada"]

    def test_program_that_starts_again_joins_its_pause(self, run: Run) -> None:
        group = run.start(SEND)
        # The model gives its tool call another id.
        assert run.start(SEND) == group
        assert len(run.asks(1)) == 1
        run.person.approve()
        run.worker()
        run.until_status(group, "acknowledged")
        assert run.lines("sent") == ["ada"]

    def test_repeated_run_never_asks_for_something_else(self, run: Run) -> None:
        group = run.start(SEND)
        repeated = run.program(SEND_AGAIN)
        if self.checkpoints:
            # The thread is paused, so the model is not called again.
            assert repeated.stdout.strip() == group
        else:
            assert "was suspended before" in repeated.stderr
        assert [ask["approval"]["input"] for ask in run.asks(1)] == [{"to": "ada"}]

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

    def test_killed_worker_leaves_the_decision_to_a_person(self, own_run: Run) -> None:
        run = own_run
        group = run.start(SEND)
        run.person.approve()
        worker = run.worker("--lease", "3", APP_HANGS="before")
        run.until_line("hangs", "before")
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        run.until_status(group, "uncertain")
        assert run.lines("sent") == []
        run.worker()
        run.answer_uncertain(group, "resume")
        run.until_status(group, "acknowledged")
        assert run.lines("sent") == ["ada"]

    @pytest.mark.parametrize("answer", ["abandon", "resume"])
    def test_worker_killed_after_the_tool_never_repeats_it_unasked(self, own_run: Run, answer: str) -> None:
        run = own_run
        group = run.start(SEND)
        run.person.approve()
        worker = run.worker("--lease", "3", APP_HANGS="after")
        run.until_line("hangs", "after")
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        assert run.lines("sent") == ["ada"]
        run.worker()
        run.answer_uncertain(group, answer)
        run.until_status(group, {"abandon": "abandoned", "resume": "acknowledged"}[answer])
        # A person accepted that the tool may run again. A checkpointer knows that it ran.
        again = answer == "resume" and not self.checkpoints
        assert run.lines("sent") == ["ada"] * (2 if again else 1)

    def test_withdrawn_run_is_not_resumed(self, run: Run) -> None:
        group = run.start(SEND)
        run.person.client().groups.withdraw(group, reason="The run was cancelled.")
        assert run.person.asks() == []
        assert run.person.client().groups.ready(run.person.name) == 0
        assert run.lines("sent") == []

    def test_timeout_of_the_policy_denies_the_tool(self, own_run: Run) -> None:
        own_run.person.server.set_policy('[approvals]\ntimeout = "1s"\n')
        own_run.worker()
        group = own_run.start(SEND)
        own_run.until_status(group, "acknowledged")
        assert own_run.lines("sent") == []
        assert "timed out" in own_run.lines("read")[0]


class SuspendedQuestions:
    """For frameworks whose tools can ask a person. Mix it in before `SuspendedRuns`."""

    def test_question_is_answered(self, run: Run) -> None:
        group = run.start(ASK)
        run.person.answer(["green"])
        run.worker()
        run.until_status(group, "acknowledged")
        assert run.lines("read") == ["green"]
