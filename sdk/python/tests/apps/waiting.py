"""Programs that wait for an approval: `python -m apps.waiting FORM`. They use the agents of the tests."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import sayso
from apps import common


class Asking:
    """Replaces the person of a test: has the client of this process."""

    def async_client(self) -> sayso.AsyncSayso:
        return sayso.AsyncSayso()


def langgraph() -> Any:
    from test_langgraph import blocking, call

    return blocking(Asking(), call("ada"))


def langgraph_drive() -> Any:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    from apps.langgraph_app import agent
    from sayso.langgraph import drive

    class Program:
        # The tool records itself.
        sent = ()

        def run(self) -> Any:
            return asyncio.run(self.run_async())

        async def run_async(self) -> Any:
            async with AsyncSqliteSaver.from_conn_string("threads.db") as saver:
                payload = {"messages": [{"role": "user", "content": "go"}]}
                return await drive(agent(saver), payload, {"configurable": {"thread_id": "run-1"}})

    return Program()


def pydantic_ai() -> Any:
    from test_pydantic_ai import SEND, Program

    return Program(Asking(), SEND, run_key="run-1")


def openai_agents() -> Any:
    from test_openai_agents import Program, call

    return Program(Asking(), call("ada"))


def openai_agents_guard() -> Any:
    from test_openai_agents import Program, call

    return Program(Asking(), call("ada"), editable=True)


def strands() -> Any:
    from test_strands import Program

    return Program(Asking(), "ada")


def adk() -> Any:
    from test_adk import Program

    return Program(Asking(), "ada", run_key="run-1")


if __name__ == "__main__":
    program = globals()[sys.argv[1]]()
    program.run()
    common.note("sent", *program.sent)
