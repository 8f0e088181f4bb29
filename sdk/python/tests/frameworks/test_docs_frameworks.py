"""The programs of docs/frameworks.md and examples/python for the frameworks that only `make frameworks` installs."""

from __future__ import annotations

import pytest
from test_docs import run_program, scripted, sections
from test_examples import EXAMPLES, FRAMEWORKS
from world import Person

OPENAI = """
from agents.testing import ScriptedModel, assistant_message, function_call
call = function_call("send_email", {"to": "ada@example.com"}, call_id="call-1")
model = ScriptedModel([[call], [assistant_message("done")]])
"""
STRANDS = """
from test_strands import ScriptedModel
model = ScriptedModel(("send_email", '{"to": "ada@example.com"}'))
"""
ADK = """
import logging, warnings
warnings.simplefilter("ignore")
logging.disable()
from test_adk import ScriptedModel
model = ScriptedModel(model="scripted", to=["ada@example.com"])
"""


@pytest.mark.parametrize(
    ("heading", "model"),
    [("OpenAI Agents SDK", OPENAI), ("Strands Agents", STRANDS), ("Agent Development Kit", ADK)],
)
def test_program_of_the_guide_runs(person: Person, heading: str, model: str) -> None:
    (code,) = sections("frameworks.md")[heading]
    printed, errors = run_program(person, scripted(model) + code)
    assert (printed.strip(), errors) == ("done", "")


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_example_prints_its_result(person: Person, name: str) -> None:
    # ADK logs and warns about experimental features.
    printed, _ = run_program(person, EXAMPLES.joinpath(name).read_text())
    assert printed == "sent to ada@example.com\nThat is all.\n"
