import { Agent, type AgentInputItem, tool as openaiTool } from "@openai/agents";
import { type AgentClient, QuestionRejectedError } from "@sayso/sdk/agent";
import { approvals, guard as guardAi } from "@sayso/sdk/ai";
import { guard as guardOpenai, run } from "@sayso/sdk/openai-agents";
import { generateText, isStepCount, tool } from "ai";
import { z } from "zod";
import { aiModel, type Call, openaiModel } from "./models.ts";

export interface Run {
  client?: AgentClient;
  signal?: AbortSignal;
  send(to: string): string;
}

/** One way to wait for approvals. */
export interface Form {
  /** Whether people can edit the arguments. */
  edits: boolean;
  /** Whether the calls of one turn are asked at once. */
  atOnce: boolean;
  /** Whether an error of the server ends the run. Otherwise the model reads it. */
  ends: boolean;
  /** What precedes the reason of a denial. */
  denied?: string;
  /** Runs the agent, and returns what the model read. */
  run(calls: Call[], run: Run): Promise<string[]>;
}

const runKey = "run-1";
const email = z.object({ to: z.string() });
const asked = z.object({ question: z.string(), options: z.array(z.string()).nullish() });

/** The tool that asks a question, as docs/frameworks.md describes it. */
const asking =
  ({ client }: Run) =>
  async ({ question, options }: z.infer<typeof asked>, signal?: AbortSignal): Promise<string> => {
    try {
      return (await client?.ask(question, { options: options ?? undefined, key: `${runKey}:question`, signal })) ?? "";
    } catch (error) {
      if (error instanceof QuestionRejectedError) return error.message;
      throw error;
    }
  };

function aiTools(run: Run) {
  const ask = asking(run);
  return {
    send_email: tool({ inputSchema: email, execute: ({ to }) => run.send(to) }),
    ask_person: tool({ inputSchema: asked, execute: (input, { abortSignal }) => ask(input, abortSignal) }),
  };
}

async function openaiRun(agent: Agent, { client, signal }: Run): Promise<string[]> {
  const result = await run(agent, "go", { client, runKey, signal });
  return result.history.flatMap((item: AgentInputItem) => {
    if (item.type !== "function_call_result") return [];
    const { output } = item;
    return [typeof output === "string" ? output : String((output as { text?: unknown }).text)];
  });
}

function openaiTools(run: Run, needsApproval: boolean) {
  const ask = asking(run);
  const description = "";
  return [
    openaiTool({
      name: "send_email",
      description,
      parameters: email,
      needsApproval,
      execute: async ({ to }) => run.send(to),
    }),
    openaiTool({
      name: "ask_person",
      description,
      parameters: asked,
      execute: (input, _context, details) => ask(input, details?.signal),
    }),
  ] as const;
}

export const FORMS: Record<string, Form> = {
  "ai approvals": {
    edits: false,
    atOnce: false,
    ends: true,
    async run(calls, run) {
      const read: string[] = [];
      const { client, signal } = run;
      await generateText({
        model: aiModel(calls, read),
        tools: aiTools(run),
        toolApproval: approvals({ client, runKey, signal, tools: ["send_email"] }),
        stopWhen: isStepCount(5),
        prompt: "go",
        abortSignal: signal,
      });
      return read;
    },
  },
  "ai guard": {
    edits: true,
    atOnce: true,
    ends: false,
    denied: "Denied: ",
    async run(calls, run) {
      const read: string[] = [];
      const { client, signal } = run;
      await generateText({
        model: aiModel(calls, read),
        tools: guardAi(aiTools(run), { client, runKey, tools: ["send_email"] }),
        stopWhen: isStepCount(5),
        prompt: "go",
        abortSignal: signal,
      });
      return read;
    },
  },
  "openai-agents run": {
    edits: false,
    atOnce: true,
    ends: true,
    run: (calls, options) =>
      openaiRun(
        new Agent({ name: "mailer", model: openaiModel(calls), tools: [...openaiTools(options, true)] }),
        options,
      ),
  },
  "openai-agents guard": {
    edits: true,
    atOnce: true,
    ends: true,
    run: (calls, options) => {
      const [email, question] = openaiTools(options, false);
      const tools = [guardOpenai(email, { client: options.client, runKey }), question];
      return openaiRun(new Agent({ name: "mailer", model: openaiModel(calls), tools }), options);
    },
  },
};
