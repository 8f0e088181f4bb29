"""Suspended runs of the two lightest frameworks, in processes of their own."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from suspending import SEND, Run, SuspendedQuestions, SuspendedRuns, killed_program_continues_its_ask
from world import Person


class TestLangGraph(SuspendedQuestions, SuspendedRuns):
    app = "langgraph_app"
    checkpoints = True

    @pytest.mark.parametrize("decisions", [["approve", "reject"], ["edit", "reject"], ["reject"]])
    def test_only_the_accepted_decisions_are_offered(self, run: Run, decisions: list[str]) -> None:
        run.variables = {**self.variables, "APP_DECISIONS": json.dumps(decisions)}
        group = run.start(SEND)
        offered = run.person.next()["approval"]["allowedDecisions"]
        assert offered == [{"reject": "deny"}.get(decision, decision) for decision in decisions]
        run.person.deny(message="Not on a Friday.")
        run.worker()
        run.until_status(group, "acknowledged")
        assert run.lines("sent") == []
        assert "Not on a Friday." in run.lines("read")[0]

    def test_denial_that_the_middleware_refuses_does_not_resume_the_thread(self, own_run: Run) -> None:
        own_run.person.server.set_policy('[approvals]\ntimeout = "1s"\n')
        own_run.variables = {**self.variables, "APP_DECISIONS": '["approve", "edit"]'}
        own_run.worker()
        group = own_run.start(SEND)
        own_run.until_status(group, "uncertain")
        assert "Add reject to its allowed_decisions" in own_run.until_line("worker", "failed to resume")
        assert (own_run.lines("sent"), own_run.lines("read")) == ([], [])

    def test_thread_that_people_cannot_decide_is_refused_before_anyone_is_asked(self, run: Run) -> None:
        run.variables = {**self.variables, "APP_DECISIONS": '["respond"]'}
        assert "Add approve and reject" in run.program(SEND).stderr
        assert run.person.asks() == []


class TestLangGraphBatched(TestLangGraph):
    variables = {"APP_MODE": "batched"}  # noqa: RUF012


class TestPydanticAI(SuspendedQuestions, SuspendedRuns):
    app = "pydantic_ai_app"


class TestWorker:
    """Signals of a worker. All frameworks have the same worker."""

    @pytest.fixture
    def run(self, person: Person, tmp_path: Path) -> Iterator[Run]:
        run = Run(person, tmp_path, "pydantic_ai_app")
        yield run
        run.close()

    def test_sigterm_lets_the_current_run_finish(self, run: Run) -> None:
        groups = [run.start(SEND, key=f"run-{number}") for number in range(2)]
        for _ in groups:
            run.person.approve()
        worker = run.worker(APP_HANGS="before")
        run.until_line("hangs", "before")
        worker.send_signal(signal.SIGTERM)
        run.directory.joinpath("continue.txt").touch()
        assert worker.wait(timeout=120) == 0
        assert run.lines("sent") == ["ada"]
        client = run.person.client()
        assert sorted(client.groups.get(group)["status"] for group in groups) == ["acknowledged", "ready"]

    def test_second_sigterm_gives_the_run_up(self, run: Run) -> None:
        group = run.start(SEND)
        run.person.approve()
        worker = run.worker(APP_HANGS="before")
        run.until_line("hangs", "before")
        worker.send_signal(signal.SIGTERM)
        # Signals of one kind that arrive together count once.
        run.until_line("worker", "a second signal gives it up")
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(timeout=120) == 0
        run.until_status(group, "uncertain")
        assert run.lines("sent") == []

    def test_idle_worker_ends_with_sigterm(self, run: Run) -> None:
        worker = run.worker()
        run.until_line("worker", "waiting for runs of")
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(timeout=120) == 0


@pytest.mark.parametrize("form", ["langgraph", "langgraph_drive", "pydantic_ai"])
def test_killed_program_continues_its_ask(person: Person, tmp_path: Path, form: str) -> None:
    killed_program_continues_its_ask(person, tmp_path, form)
