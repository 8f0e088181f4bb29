"""A Strands program that suspends its runs. Its model is scripted."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

from strands import Agent, ToolContext, tool
from strands.models import Model

import sayso
from apps import common
from sayso import Claim
from sayso.strands import SaysoIntervention
from sayso.strands import resume as resume_run
from sayso.strands import start as start_run


class ScriptedModel(Model):
    """Calls tools in its first turn, and is done in its second."""

    def update_config(self, **config: Any) -> None: ...

    def get_config(self) -> dict[str, Any]:
        return {}

    def structured_output(self, *arguments: Any, **options: Any) -> Any:
        raise NotImplementedError

    async def stream(self, messages: Any, *arguments: Any, **options: Any) -> AsyncIterator[Any]:
        results = [part["toolResult"] for part in messages[-1]["content"] if "toolResult" in part]
        yield {"messageStart": {"role": "assistant"}}
        if results:
            common.note("read", *(result["content"][0]["text"] for result in results))
            yield {"contentBlockDelta": {"delta": {"text": "done"}}}
            yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "end_turn"}}
            return
        for name, values, call_id in common.planned():
            yield {"contentBlockStart": {"start": {"toolUse": {"toolUseId": call_id, "name": name}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(values)}}}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use"}}


@tool
def send_email(to: str) -> str:
    """Sends an email."""
    return common.send(to)


@tool(context=True)
def ask_person(question: str, tool_context: ToolContext) -> str:
    """Asks a person."""
    return str(tool_context.interrupt("question", reason={"question": question}))


def agent() -> Agent:
    gate = SaysoIntervention(tools=["send_email"], suspend=True)
    return Agent(model=ScriptedModel(), tools=[send_email, ask_person], interventions=[gate], callback_handler=None)


async def start(run_key: str) -> Any:
    return await start_run(agent(), "go", name=common.NAME, run_key=run_key)


@sayso.resumer(common.NAME)
async def resume(claim: Claim) -> None:
    await common.hang("before")
    await resume_run(claim, agent())
    await common.hang("after")
    common.note("done", claim.group_id)


if __name__ == "__main__":
    common.main(start)
