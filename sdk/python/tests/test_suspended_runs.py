"""Suspended runs of the two lightest frameworks, in processes of their own."""

from __future__ import annotations

from suspending import SuspendedRuns


class TestLangGraph(SuspendedRuns):
    app = "langgraph_app"


class TestPydanticAI(SuspendedRuns):
    app = "pydantic_ai_app"
