"""An agent of Strands Agents that asks before it sends an email. The model is scripted, so no key is needed.

Needs `pip install sdk/python strands-agents==1.62.0`.
"""

from sayso.strands import SaysoIntervention
from strands import Agent, tool
from strands.models import Model


class ScriptedModel(Model):
    def update_config(self, **config): ...

    def get_config(self):
        return {}

    def structured_output(self, *arguments, **options):
        raise NotImplementedError

    async def stream(self, messages, *arguments, **options):
        yield {"messageStart": {"role": "assistant"}}
        if any("toolResult" in part for part in messages[-1]["content"]):
            yield {"contentBlockDelta": {"delta": {"text": "That is all."}}}
        else:
            yield {"contentBlockStart": {"start": {"toolUse": {"toolUseId": "call-1", "name": "send_email"}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": '{"to": "ada@example.com"}'}}}}
        yield {"contentBlockStop": {}}
        stop = "end_turn" if len(messages) > 1 else "tool_use"
        yield {"messageStop": {"stopReason": stop}}


@tool
def send_email(to: str) -> str:
    """Sends an email."""
    print(f"sent to {to}")
    return "sent"


asks = SaysoIntervention(["send_email"], run_key="nightly-42")
agent = Agent(model=ScriptedModel(), tools=[send_email], interventions=[asks], callback_handler=None)
print(str(agent("Tell Ada.")).strip())
