"""An agent of the OpenAI Agents SDK that asks before it sends an email. The model is scripted, so no key is needed.

Needs `pip install sdk/python openai-agents==0.24.0`.
"""

import asyncio

from agents import Agent, RunConfig, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call
from sayso.openai_agents import run


@function_tool(needs_approval=True)
def send_email(to: str) -> str:
    print(f"sent to {to}")
    return "sent"


call = function_call("send_email", {"to": "ada@example.com"}, call_id="call-1")
model = ScriptedModel([[call], [assistant_message("That is all.")]])
agent = Agent(name="mailer", model=model, tools=[send_email])
config = RunConfig(tracing_disabled=True)
print(asyncio.run(run(agent, "Tell Ada.", run_key="nightly-42", run_config=config)).final_output)
