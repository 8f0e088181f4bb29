"""A program of the OpenAI Agents SDK that suspends its runs. Its model is scripted."""

from __future__ import annotations

import json
from typing import Any

from agents import Agent, RunConfig, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call

import sayso
from apps import common
from sayso import Claim
from sayso.openai_agents import resume as resume_run
from sayso.openai_agents import start as start_run

CONFIG = RunConfig(tracing_disabled=True)


@function_tool(needs_approval=True)
def send_email(to: str) -> str:
    return common.send(to)


def agent(*turns: list[Any]) -> Agent[Any]:
    return Agent(name="mailer", model=ScriptedModel([*turns, [assistant_message("done")]]), tools=[send_email])


async def start(run_key: str) -> Any:
    calls = [function_call(name, values, call_id=call_id) for name, values, call_id in common.planned()]
    return await start_run(agent(calls), "go", name=common.NAME, run_key=run_key, run_config=CONFIG)


@sayso.resumer(common.NAME)
async def resume(claim: Claim) -> None:
    await common.hang("before")
    result = await resume_run(claim, agent(), run_config=CONFIG)
    outputs = [item for item in result.to_input_list() if item.get("type") == "function_call_output"]
    common.note("read", *(str(item["output"]) for item in outputs))
    await common.hang("after")
    common.note("done", claim.group_id, json.dumps(result.final_output))


if __name__ == "__main__":
    common.main(start)
