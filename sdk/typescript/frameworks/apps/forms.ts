import { Agent, type AgentInputItem, tool as openaiTool } from "@openai/agents";
import { type AgentClient, QuestionRejectedError } from "@sayso/sdk/agent";
import { approvals, guard as guardAi } from "@sayso/sdk/ai";
import { guard as guardOpenai, run } from "@sayso/sdk/openai-agents";
import { generateText, isStepCount, streamText, ToolLoopAgent, tool } from "ai";
import { z } from "zod";
import { aiModel, type Call, openaiModel } from "./models.ts";

export interface Run {
  client?: AgentClient;
  signal?: AbortSignal;
  /** The `timeout` of the AI SDK, in milliseconds. */
  timeout?: number;
  /** Whether the schema of the tool refers to itself, which the server does not accept. */
  recursive?: boolean;
  send(to: string): unknown;
}

/** One way to wait for approvals. */
export interface Form {
  /** Whether people can edit the arguments. */
  edits: boolean;
  /** Whether the calls of one turn are asked at once. */
  atOnce: boolean;
  /** Whether a call runs as soon as it is approved. Otherwise it runs when all calls of the turn are decided. */
  alone: boolean;
  /** Whether a timeout of the framework ends the wait. */
  timeouts?: boolean;
  /** Whether people can allow a tool for the rest of the run. */
  always?: boolean;
  /** Whether an error of the server ends the run. Otherwise the model reads it. */
  ends: boolean;
  /** What precedes the reason of a denial. */
  denied?: string;
  /** Runs the agent, and returns what the model read. */
  run(calls: Call[], run: Run): Promise<string[]>;
}

const runKey = "run-1";
const emailSchema = z.object({ to: z.string() });
const recursive = z.object({
  to: z.string(),
  get copies() {
    return z.array(recursive).optional();
  },
});
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
    send_email: tool({ inputSchema: run.recursive ? recursive : emailSchema, execute: ({ to }) => run.send(to) }),
    ask_person: tool({ inputSchema: asked, execute: (input, { abortSignal }) => ask(input, abortSignal) }),
  };
}

/** The functions of the AI SDK that call a model. */
type Settings = Pick<
  Parameters<typeof generateText>[0],
  "model" | "tools" | "toolApproval" | "abortSignal" | "timeout"
>;
type Generate = (settings: Settings) => Promise<unknown>;

const prompt = "go";
const stopWhen = isStepCount(5);
const generate: Generate = (settings) => generateText({ ...settings, stopWhen, prompt });
const stream: Generate = async (settings) => {
  for await (const part of streamText({ ...settings, stopWhen, prompt, onError: () => {} }).fullStream) {
    if (part.type === "error") throw part.error;
    if (part.type === "abort") throw new Error(part.reason ?? "aborted");
  }
};
const loop: Generate = ({ abortSignal, timeout, ...settings }) =>
  new ToolLoopAgent({ ...settings, stopWhen }).generate({ prompt, abortSignal, timeout });

const aiApprovals = (call: Generate): Form => ({
  edits: false,
  atOnce: false,
  alone: false,
  ends: true,
  async run(calls, run) {
    const read: string[] = [];
    const { client, signal } = run;
    const toolApproval = approvals({ client, runKey, signal, tools: ["send_email"] });
    await call({ model: aiModel(calls, read), tools: aiTools(run), toolApproval, abortSignal: signal });
    return read;
  },
});

const aiGuard = (call: Generate): Form => ({
  edits: true,
  atOnce: true,
  alone: true,
  timeouts: true,
  ends: false,
  denied: "Denied: ",
  async run(calls, run) {
    const read: string[] = [];
    const { client, signal, timeout } = run;
    const tools = guardAi(aiTools(run), { client, runKey, tools: ["send_email"] });
    await call({ model: aiModel(calls, read), tools, abortSignal: signal, timeout });
    return read;
  },
});

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
  const settings = { name: "send_email", description: "", needsApproval };
  // The SDK has no Zod schemas that refer to themselves.
  const anyEmail = openaiTool({
    ...settings,
    strict: false,
    parameters: {
      type: "object",
      properties: { to: { type: "string" }, copies: { type: "array", items: { $ref: "#" } } },
      required: ["to"],
      additionalProperties: true,
    },
    execute: async (input) => run.send((input as { to: string }).to),
  });
  const email = openaiTool({ ...settings, parameters: emailSchema, execute: async ({ to }) => run.send(to) });
  const question = openaiTool({
    name: "ask_person",
    description: "",
    parameters: asked,
    execute: (input, _context, details) => ask(input, details?.signal),
  });
  return [run.recursive ? anyEmail : email, question] as const;
}

export const FORMS: Record<string, Form> = {
  "ai approvals": aiApprovals(generate),
  "ai approvals with streamText": aiApprovals(stream),
  "ai approvals with ToolLoopAgent": aiApprovals(loop),
  "ai guard": aiGuard(generate),
  "ai guard with streamText": aiGuard(stream),
  "openai-agents run": {
    edits: false,
    atOnce: true,
    alone: false,
    always: true,
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
    alone: true,
    ends: true,
    run: (calls, options) => {
      const [email, question] = openaiTools(options, false);
      const tools = [guardOpenai(email, { client: options.client, runKey }), question];
      return openaiRun(new Agent({ name: "mailer", model: openaiModel(calls), tools }), options);
    },
  },
};
