// A run of the AI SDK that is suspended while a person decides. The model is scripted, so no key is needed.
// Needs `@sayso/sdk`, `ai` and `zod`; see docs/frameworks.md. A real program ends after `start`, and a service resumes its runs:
// `npx --no sayso-resume ./suspended_run.ts#resume`. This one does both.

import { AgentClient, resumeAll, resumer } from "@sayso/sdk/agent";
import { resume as resumeRun, Suspended, start } from "@sayso/sdk/ai";
import { generateText, isStepCount, type ModelMessage, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { z } from "zod";

const usage = {
  inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 0, text: 0, reasoning: 0 },
};
const call = {
  type: "tool-call" as const,
  toolCallId: "call-1",
  toolName: "send_email",
  input: '{"to":"ada@example.com"}',
};
const model = new MockLanguageModelV4({
  doGenerate: [
    { content: [call], finishReason: { unified: "tool-calls", raw: undefined }, usage, warnings: [] },
    {
      content: [{ type: "text", text: "That is all." }],
      finishReason: { unified: "stop", raw: undefined },
      usage,
      warnings: [],
    },
  ],
});

const tools = {
  send_email: tool({
    inputSchema: z.object({ to: z.string() }),
    execute: ({ to }) => {
      console.log(`sent to ${to}`);
      return "sent";
    },
  }),
};
const generate = (messages: ModelMessage[], options: { abortSignal?: AbortSignal }) =>
  generateText({
    model,
    tools,
    toolApproval: { send_email: "user-approval" },
    stopWhen: isStepCount(5),
    messages,
    ...options,
  });

export const resume = resumer("example-mailer", async (claim) => {
  const result = await resumeRun(claim, generate);
  if (!(result instanceof Suspended)) console.log(result.text);
});

await start(generate, "Tell Ada.", { name: "example-mailer" });
console.log("suspended");
const { groups } = new AgentClient();
while ((await groups.ready("example-mailer", 30)) === 0);
await resumeAll(resume, "example-mailer", { once: true });
