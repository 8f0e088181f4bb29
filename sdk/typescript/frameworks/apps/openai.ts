// A program of the OpenAI Agents SDK that suspends its runs. Its model is scripted.
import { Agent, tool } from "@openai/agents";
import { resumer } from "@sayso/sdk/agent";
import { resume as resumeRun, Suspended, start } from "@sayso/sdk/openai-agents";
import { z } from "zod";
import { beforeResuming, main, NAME, note, planned, sendEmail } from "./common.ts";
import { type Call, openaiModel } from "./models.ts";

const send = tool({
  name: "send_email",
  description: "Sends an email",
  parameters: z.object({ to: z.string() }),
  needsApproval: true,
  execute: async ({ to }) => sendEmail(to),
});
const lookup = tool({ name: "lookup", description: "", parameters: z.object({}), execute: async () => "looked up" });
const agent = (calls: Call[]) => new Agent({ name: "mailer", model: openaiModel(calls), tools: [send, lookup] });

export const resume = resumer(NAME, async (claim) => {
  await beforeResuming();
  const result = await resumeRun(claim, agent([]));
  if (result instanceof Suspended) return;
  const outputs = result.history.flatMap((item) => (item.type === "function_call_result" ? [item.output] : []));
  note("read", ...outputs.map((output) => (typeof output === "string" ? output : (output as { text: string }).text)));
  note("done", claim.groupId, String(result.finalOutput));
});

if (process.argv[1] === import.meta.filename)
  await main((runKey) => start(agent(planned), "go", { name: NAME, runKey }));
