// A program of the AI SDK that suspends its runs. Its model is scripted.
import { resumer } from "@sayso/sdk/agent";
import { type Generate, resume as resumeRun, Suspended, start } from "@sayso/sdk/ai";
import { generateText, isStepCount, tool } from "ai";
import { z } from "zod";
import { beforeResuming, main, NAME, note, noteEnd, planned, sendEmail } from "./common.ts";
import { aiModel } from "./models.ts";

const read: string[] = [];
const tools = {
  send_email: tool({ inputSchema: z.object({ to: z.string() }), execute: ({ to }) => sendEmail(to) }),
  lookup: tool({ inputSchema: z.object({}), execute: () => "looked up" }),
  ask_person: tool({ inputSchema: z.object({ question: z.string(), options: z.array(z.string()).optional() }) }),
};
const { APP_SECRET: experimental_toolApprovalSecret, APP_SCHEMAS } = process.env;
const schemas = APP_SCHEMAS ? { tools } : {};
const generate = (messages: Parameters<Generate<never>>[0], options: { abortSignal?: AbortSignal }) =>
  generateText({
    model: aiModel(planned, read),
    tools,
    toolApproval: { send_email: "user-approval" },
    stopWhen: isStepCount(5),
    ...(experimental_toolApprovalSecret && { experimental_toolApprovalSecret }),
    messages,
    ...options,
  });

export const resume = resumer(NAME, async (claim) => {
  await beforeResuming();
  const result = await resumeRun(claim, generate, schemas);
  note("read", ...read);
  noteEnd(claim.groupId, result instanceof Suspended ? result : result.text);
});

if (process.argv[1] === import.meta.filename)
  await main((runKey) => start(generate, "go", { name: NAME, runKey, ...schemas }));
