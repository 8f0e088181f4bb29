"""An agent of LangChain that asks before it sends an email. The model is scripted, so no key is needed.

Needs `pip install sdk/python langchain==1.4.7 langgraph==1.2.20`.
"""

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from sayso.langgraph import SaysoMiddleware


class ScriptedModel(GenericFakeChatModel):
    def bind_tools(self, tools, **options):
        return self


def send_email(to: str) -> str:
    """Sends an email."""
    return f"sent to {to}"


call = {"name": "send_email", "args": {"to": "ada@example.com"}, "id": "call-1", "type": "tool_call"}
model = ScriptedModel(messages=iter([AIMessage("", tool_calls=[call]), AIMessage("That is all.")]))
agent = create_agent(model, tools=[send_email], middleware=[SaysoMiddleware(["send_email"], run_key="nightly-42")])
for message in agent.invoke({"messages": [{"role": "user", "content": "Tell Ada."}]})["messages"]:
    print(f"{message.type}: {message.content}")
