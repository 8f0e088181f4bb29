"""Every program in the guides prints what the guide says."""

from __future__ import annotations

import inspect
import re
import threading
from pathlib import Path
from typing import Any

import pytest
from world import Person

from sayso import AsyncSayso, Sayso, client

DOCS = Path(__file__).resolve().parents[3] / "docs"


def programs(page: str) -> list[Any]:
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", DOCS.joinpath(page).read_text(), re.M | re.S)
    found = []
    for (language, code), (following, output) in zip(blocks, [*blocks[1:], ("", "")], strict=True):
        if language == "python":
            printed = output if following == "text" else None
            found.append(pytest.param(code, printed, id=f"{page}-{len(found)}"))
    return found


def sections(page: str) -> dict[str, list[str]]:
    """The Python programs below each heading."""
    parts = re.split(r"^## (.+)$", DOCS.joinpath(page).read_text(), flags=re.M)
    bodies = zip(parts[1::2], parts[2::2], strict=True)
    return {heading: re.findall(r"^```python\n(.*?)^```$", body, re.M | re.S) for heading, body in bodies}


def decide_everything(person: Person, done: threading.Event) -> None:
    """Chooses the first option, and approves."""
    while not done.wait(0.02):
        for ask in person.server.call("GET", "/asks?status=pending")["data"]:
            if ask.get("deadlineAt") or ask["agent"] == "mock" or ask.get("askedBy") != person.name:
                continue
            if ask["kind"] == "approval":
                person.decide("approve", ask)
            else:
                answers = [[question["options"][0]["label"]] for question in ask["questions"]]
                person.decide("answer", ask, answers=answers)


def run_program(person: Person, code: str, **variables: str) -> tuple[str, str]:
    """Runs the program, decides all of its asks as a person, and returns its output."""
    done = threading.Event()
    deciding = person.soon(lambda: decide_everything(person, done))
    program = person.program(
        code, SAYSO_TOKEN=person.server.admin_token, OPENAI_AGENTS_DISABLE_TRACING="1", **variables
    )
    output = program.communicate(timeout=300)
    done.set()
    deciding.join()
    return output


def scripted(model: str) -> str:
    """The beginning of a program: `model` is a scripted model of a test."""
    folder = str(Path(__file__).parent)
    return f"import sys\nsys.path[:0] = [{folder!r}, {folder + '/frameworks'!r}]\n{model}\n"


PYDANTIC_AI = """
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
call = ToolCallPart("send_email", {"to": "ada@example.com"}, tool_call_id="call-1")
model = FunctionModel(lambda messages, info: ModelResponse(parts=[call if len(messages) == 1 else TextPart("done")]))
"""
LANGCHAIN = """
from test_langgraph import ScriptedModel, call, script
model = ScriptedModel(messages=script(call("ada@example.com")))
"""


@pytest.mark.parametrize(
    ("heading", "model", "outputs"),
    [("Pydantic AI", PYDANTIC_AI, ["done"]), ("LangChain and LangGraph", LANGCHAIN, ["done", "red"])],
)
def test_programs_of_the_lightest_frameworks_run(person: Person, heading: str, model: str, outputs: list[str]) -> None:
    codes = sections("frameworks.md")[heading]
    assert len(codes) == len(outputs)
    for code, output in zip(codes, outputs, strict=True):
        assert run_program(person, scripted(model) + code) == (f"{output}\n", "")


@pytest.mark.parametrize(("code", "output"), programs("python.md"))
def test_program_prints_what_the_guide_says(person: Person, code: str, output: str | None) -> None:
    assert output is not None, "every program is followed by its output"
    assert run_program(person, code) == (output, "")


CLASSES = [AsyncSayso, Sayso, *(getattr(client, name) for name in ("Asks", "Groups", "Sessions", "Runs", "Policy"))]


@pytest.mark.parametrize("documented", CLASSES)
def test_every_call_is_documented(documented: type) -> None:
    calls = {name: call for name, call in vars(documented).items() if not name.startswith("_")}
    assert [name for name, call in calls.items() if not inspect.getdoc(call)] == []
