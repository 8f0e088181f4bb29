"""Suspended runs of the other frameworks, in processes of their own."""

from __future__ import annotations

from suspending import SuspendedRuns


class TestOpenAIAgents(SuspendedRuns):
    app = "openai_agents_app"
    # The SDK runs the arguments of the model, and asks only by tools.
    edits = False
    questions = False


class TestStrands(SuspendedRuns):
    app = "strands_app"
