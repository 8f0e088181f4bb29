"""A Pydantic AI program that suspends its runs. Its model is scripted."""

from __future__ import annotations

from typing import Any

from pydantic_ai import Agent, CallDeferred
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

import sayso
from apps import common
from sayso import Claim
from sayso.pydantic_ai import resume as resume_run
from sayso.pydantic_ai import start as start_run


def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    results = [part for part in messages[-1].parts if part.part_kind in ("tool-return", "retry-prompt")]
    if results:
        common.note("read", *(str(part.content) for part in results))
        return ModelResponse(parts=[TextPart("done")])
    return ModelResponse(parts=[ToolCallPart(name, values, tool_call_id=id) for name, values, id in common.planned()])


agent = Agent(FunctionModel(model))


@agent.tool_plain(requires_approval=True)
def send_email(to: str) -> str:
    return common.send(to)


@agent.tool_plain
def ask_person(question: str) -> str:
    raise CallDeferred


async def start(run_key: str) -> Any:
    return await start_run(agent, "go", name=common.NAME, run_key=run_key)


@sayso.resumer(common.NAME)
async def resume(claim: Claim) -> None:
    await common.hang("before")
    result = await resume_run(claim, agent)
    await common.hang("after")
    common.note("done", claim.group_id, str(result))


if __name__ == "__main__":
    common.main(start)
