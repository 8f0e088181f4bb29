"""An agent of Pydantic AI that asks before it sends an email. The model is scripted, so no key is needed.

Needs `pip install sdk/python pydantic-ai-slim==2.66.0`.
"""

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from sayso.pydantic_ai import approvals


def script(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    if len(messages) == 1:
        return ModelResponse(parts=[ToolCallPart("send_email", {"to": "ada@example.com"}, tool_call_id="call-1")])
    return ModelResponse(parts=[TextPart(f"The tool says: {messages[-1].parts[0].content}")])


agent = Agent(FunctionModel(script), capabilities=[approvals(run_key="nightly-42")])


@agent.tool_plain(requires_approval=True)
def send_email(to: str) -> str:
    return f"sent to {to}"


print(agent.run_sync("Tell Ada.").output)
