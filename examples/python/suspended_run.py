"""A run of Pydantic AI that is suspended while a person decides. The model is scripted, so no key is needed.

Needs `pip install sdk/python pydantic-ai-slim==2.66.0`. A real program ends after `start`, and a service resumes its runs:
`python -m sayso resume suspended_run:resume`. This one does both.
"""

import asyncio

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

import sayso
from sayso.pydantic_ai import resume as resume_run
from sayso.pydantic_ai import start


def script(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    if len(messages) == 1:
        return ModelResponse(parts=[ToolCallPart("send_email", {"to": "ada@example.com"}, tool_call_id="call-1")])
    return ModelResponse(parts=[TextPart(f"The tool says: {messages[-1].parts[0].content}")])


agent = Agent(FunctionModel(script))


@agent.tool_plain(requires_approval=True)
def send_email(to: str) -> str:
    return f"sent to {to}"


@sayso.resumer("example-mailer")
async def resume(claim: sayso.Claim) -> None:
    print((await resume_run(claim, agent)).output)


async def main() -> None:
    await start(agent, "Tell Ada.", name="example-mailer")
    print("suspended")
    while not await sayso.AsyncSayso().groups.ready("example-mailer", wait=30):
        pass
    await sayso.resume_all(resume, "example-mailer", once=True)


asyncio.run(main())
