"""A LangGraph program that suspends its runs. Its model is scripted."""

from __future__ import annotations

import json
import os
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import interrupt

import sayso
from apps import common
from sayso import Claim
from sayso.langgraph import resume as resume_run
from sayso.langgraph import start as start_run


class ScriptedModel(BaseChatModel):
    """Calls tools in its first turn, and is done in its second."""

    def bind_tools(self, tools: Any, **options: Any) -> ScriptedModel:
        return self

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(self, messages: list[Any], *arguments: Any, **options: Any) -> ChatResult:
        read = [str(message.content) for message in messages if isinstance(message, ToolMessage)]
        if read:
            common.note("read", *read)
            reply = AIMessage("done")
        else:
            calls = [
                {"name": name, "args": arguments, "id": call_id, "type": "tool_call"}
                for name, arguments, call_id in common.planned()
            ]
            reply = AIMessage("", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=reply)])


@tool
def send_email(to: str) -> str:
    """Sends an email."""
    return common.send(to)


@tool
def ask_person(question: str) -> str:
    """Asks a person."""
    return str(interrupt({"question": question}))


def agent(saver: AsyncSqliteSaver) -> Any:
    decisions = json.loads(os.environ.get("APP_DECISIONS", '["approve", "edit", "reject", "respond"]'))
    gate = HumanInTheLoopMiddleware({"send_email": {"allowed_decisions": decisions}}, interrupt_mode=common.MODE)
    return create_agent(ScriptedModel(), tools=[send_email, ask_person], middleware=[gate], checkpointer=saver)


async def start(run_key: str) -> Any:
    async with AsyncSqliteSaver.from_conn_string("threads.db") as saver:
        config = {"configurable": {"thread_id": run_key}}
        payload = {"messages": [{"role": "user", "content": "go"}]}
        return await start_run(agent(saver), payload, config, name=common.NAME)


@sayso.resumer(common.NAME)
async def resume(claim: Claim) -> None:
    await common.hang("before")
    async with AsyncSqliteSaver.from_conn_string("threads.db") as saver:
        await resume_run(claim, agent(saver))
    await common.hang("after")
    common.note("done", claim.group_id)


if __name__ == "__main__":
    common.main(start)
