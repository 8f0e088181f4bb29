// A program of the OpenAI Agents SDK that suspends its runs. Its model is scripted.
import { Agent, type RunContext, tool } from "@openai/agents";
import { resumer } from "@sayso/sdk/agent";
import { resume as resumeRun, Suspended, start } from "@sayso/sdk/openai-agents";
import { z } from "zod";
import { beforeResuming, main, NAME, note, noteEnd, planned, sendEmail } from "./common.ts";
import { openaiModel } from "./models.ts";

/** The context object of the run, and the name of the agent. Both can differ between the program and its worker. */
const { APP_TENANT: tenant, APP_AGENT: name = "mailer" } = process.env;
const context = tenant === undefined ? {} : { context: { tenant } };

const send = tool({
  name: "send_email",
  description: "Sends an email",
  parameters: z.object({ to: z.string() }),
  needsApproval: true,
  execute: async ({ to }, run?: RunContext<unknown>) => {
    note("tenant", String((run?.context as { tenant?: string } | undefined)?.tenant));
    return sendEmail(to);
  },
});
const lookup = tool({ name: "lookup", description: "", parameters: z.object({}), execute: async () => "looked up" });
const agent = new Agent<unknown>({ name, model: openaiModel(planned), tools: [send, lookup] });

export const resume = resumer(NAME, async (claim) => {
  await beforeResuming();
  const result = await resumeRun(claim, agent, context);
  if (result instanceof Suspended) return noteEnd(claim.groupId, result);
  const outputs = result.history.flatMap((item) => (item.type === "function_call_result" ? [item.output] : []));
  note("read", ...outputs.map((output) => (typeof output === "string" ? output : (output as { text: string }).text)));
  noteEnd(claim.groupId, String(result.finalOutput));
});

if (process.argv[1] === import.meta.filename)
  await main((runKey) => start(agent, "go", { name: NAME, runKey, ...context }));
