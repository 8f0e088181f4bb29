"""An agent of the Agent Development Kit that asks before it sends an email. The model is scripted, so no key is needed.

Needs `pip install sdk/python google-adk==2.13.0`.
"""

import asyncio

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types
from sayso.adk import SaysoPlugin


class ScriptedModel(BaseLlm):
    async def generate_content_async(self, request, stream=False):
        done = any(part.function_response for part in request.contents[-1].parts)
        call = types.FunctionCall(id="call-1", name="send_email", args={"to": "ada@example.com"})
        part = types.Part(text="That is all.") if done else types.Part(function_call=call)
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


def send_email(to: str) -> dict[str, str]:
    """Sends an email."""
    print(f"sent to {to}")
    return {"result": "sent"}


agent = LlmAgent(name="mailer", model=ScriptedModel(model="scripted"), tools=[send_email])
app = App(name="mailer", root_agent=agent, plugins=[SaysoPlugin(["send_email"])])
events = asyncio.run(InMemoryRunner(app=app).run_debug("Tell Ada.", quiet=True))
print(events[-1].content.parts[0].text)
