"""The programs in examples/python."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_docs import run_program
from world import Person

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "python"
OUTPUT = {
    "approve_tool.py": "sent to ada@example.com\n",
    "ask.py": "answered: NAS\n",
    "langgraph_agent.py": "human: Tell Ada.\nai: \ntool: sent to ada@example.com\nai: That is all.\n",
    "pydantic_ai_agent.py": "The tool says: sent to ada@example.com\n",
    "suspended_run.py": "suspended\nThe tool says: sent to ada@example.com\n",
}
# These need frameworks that only `make frameworks` installs; frameworks/test_docs_frameworks.py runs them.
FRAMEWORKS = ["adk_agent.py", "openai_agents_agent.py", "strands_agent.py"]


def test_every_example_is_tested() -> None:
    assert sorted(path.name for path in EXAMPLES.glob("*.py")) == sorted([*OUTPUT, *FRAMEWORKS])


@pytest.mark.parametrize("name", OUTPUT)
def test_example_prints_its_result(person: Person, name: str) -> None:
    assert run_program(person, EXAMPLES.joinpath(name).read_text()) == (OUTPUT[name], "")
