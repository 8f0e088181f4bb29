// An agent of the AI SDK that asks before it sends an email. The model is scripted, so no key is needed.
// Needs `@sayso/sdk`, `ai` and `zod`; see docs/frameworks.md.

import { approvals } from "@sayso/sdk/ai";
import { generateText, isStepCount, tool } from "ai";
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
  send_email: tool({ inputSchema: z.object({ to: z.string() }), execute: ({ to }) => `sent to ${to}` }),
};
const toolApproval = approvals({ runKey: `nightly-${process.pid}` });
const { steps, text } = await generateText({
  model,
  tools,
  toolApproval,
  stopWhen: isStepCount(5),
  prompt: "Tell Ada.",
});
for (const { toolResults } of steps) for (const { output } of toolResults) console.log(output);
console.log(text);
