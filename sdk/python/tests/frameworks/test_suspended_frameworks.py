"""Suspended runs of the other frameworks, in processes of their own."""

from __future__ import annotations

from pathlib import Path

import pytest
from suspending import SuspendedQuestions, SuspendedRuns, killed_program_continues_its_ask
from world import Person


class TestOpenAIAgents(SuspendedRuns):
    app = "openai_agents_app"
    # The SDK runs the arguments of the model.
    edits = False


class TestStrands(SuspendedQuestions, SuspendedRuns):
    app = "strands_app"


@pytest.mark.parametrize("form", ["openai_agents", "openai_agents_guard", "strands", "adk"])
def test_killed_program_continues_its_ask(person: Person, tmp_path: Path, form: str) -> None:
    killed_program_continues_its_ask(person, tmp_path, form)
