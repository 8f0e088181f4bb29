"""Approvals and questions for [Pydantic AI](https://ai.pydantic.dev).

    from pydantic_ai import Agent
    from sayso.pydantic_ai import approvals

    agent = Agent("openai:gpt-5", capabilities=[approvals()])

    @agent.tool_plain(requires_approval=True)
    def send_email(to: str, text: str) -> str: ...

A tool that raises `CallDeferred` and has an argument `question` (and perhaps `options`) asks a person.
"""

from __future__ import annotations

from typing import Any

from pydantic_ai import DeferredToolRequests, DeferredToolResults, RunContext, ToolApproved, ToolDenied, ToolFailed
from pydantic_ai.capabilities import HandleDeferredToolCalls
from pydantic_ai.messages import ToolCallPart

from ._adapter import all_of, ask_for_model, client_or_default, question_of
from .client import AsyncSayso


def approvals(
    client: AsyncSayso | None = None, *, run_key: str | None = None, editable: bool = True
) -> HandleDeferredToolCalls[Any]:
    """A capability that asks people about deferred tool calls, all calls of one turn at once.

    `run_key` makes a restarted program continue its asks. Without it the id of the conversation is used, which
    Pydantic AI makes anew for each conversation unless you set it.
    """
    sayso = client_or_default(client)

    async def decide(ctx: RunContext[Any], requests: DeferredToolRequests) -> DeferredToolResults:
        run = run_key or ctx.conversation_id

        async def approval(call: ToolCallPart) -> ToolApproved | ToolDenied:
            decision = await sayso.approve(
                call.tool_name,
                call.args_as_dict(),
                key=f"{run}:{call.tool_call_id}",
                editable=editable,
                tool_call_id=call.tool_call_id,
            )
            return ToolApproved(override_args=decision.input) if decision else ToolDenied(decision.message)

        async def answer(call: ToolCallPart, question: str, options: list[Any] | None) -> Any:
            given, text = await ask_for_model(sayso, question, options, f"{run}:{call.tool_call_id}")
            return text if given else ToolFailed(text)

        # Calls that ask nothing are left to the program: they become the output of the run.
        asked = [(call, found) for call in requests.calls if (found := _question(requests, call))]
        decided = await all_of(
            [
                *(approval(call) for call in requests.approvals),
                *(answer(call, question, options) for call, (question, options) in asked),
            ]
        )
        ids = [call.tool_call_id for call in requests.approvals]
        return requests.build_results(
            approvals=dict(zip(ids, decided, strict=False)),
            calls={call.tool_call_id: result for (call, _), result in zip(asked, decided[len(ids) :], strict=True)},
        )

    return HandleDeferredToolCalls(handler=decide)


def _question(requests: DeferredToolRequests, call: ToolCallPart) -> tuple[str, list[Any] | None] | None:
    return question_of({**call.args_as_dict(), **requests.metadata.get(call.tool_call_id, {})})
