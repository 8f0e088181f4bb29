// An agent of the OpenAI Agents SDK that asks before it sends an email. The model is scripted, so no key is needed.
// Needs `@sayso/sdk`, `@openai/agents` and `zod`; see docs/frameworks.md.

import { Agent, setTracingDisabled, tool } from "@openai/agents";
import { assistantMessage, functionCall, ScriptedModel } from "@openai/agents/testing";
import { run } from "@sayso/sdk/openai-agents";
import { z } from "zod";

setTracingDisabled(true);
const model = new ScriptedModel([
  [functionCall("send_email", { to: "ada@example.com" }, { callId: "call-1" })],
  [assistantMessage("That is all.")],
]);
const sendEmail = tool({
  name: "send_email",
  description: "Sends an email",
  parameters: z.object({ to: z.string() }),
  needsApproval: true,
  execute: async ({ to }) => {
    console.log(`sent to ${to}`);
    return "sent";
  },
});
const agent = new Agent({ name: "mailer", model, tools: [sendEmail] });
const { finalOutput } = await run(agent, "Tell Ada.", { runKey: `nightly-${process.pid}` });
console.log(finalOutput);
