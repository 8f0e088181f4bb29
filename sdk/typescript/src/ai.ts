/** Approvals for the AI SDK (`ai`). `approvals` and `guard` wait for the person. `start` suspends the run instead, and `resume`
 * continues it in any process.
 *
 * @module
 */

import type { ModelMessage } from "ai";
import { type AgentClient, defaultClient } from "./agent/client.js";
import type { RunClaim } from "./agent/results.js";
import {
  argumentsOf,
  decided,
  questionAsk,
  questionOf,
  StateError,
  type Suspended,
  Suspender,
  type SuspendOptions,
} from "./agent/suspend.js";

export { Suspended } from "./agent/suspend.js";

const FRAMEWORK = "ai";
const CANCELLED = "The run was cancelled.";

/** The options of {@link guard}. */
export interface GuardOptions {
  /** The client, by default for the server and the agent token of this machine. */
  client?: AgentClient | undefined;
  /** A name of the run that is the same after a restart, so that the program continues its asks. */
  runKey?: string | undefined;
  /** The tools that need an approval; by default all of them. */
  tools?: readonly string[] | undefined;
}

/** The options of {@link approvals}. */
export interface ApprovalsOptions extends GuardOptions {
  /** The `abortSignal` of the run. The AI SDK does not pass it on, and would run a tool that is approved after the abort. */
  signal?: AbortSignal | undefined;
}

const needsApproval = (name: string, { tools }: GuardOptions) => tools === undefined || tools.includes(name);

const keyOf = (toolCallId: string, { runKey }: GuardOptions) =>
  runKey === undefined ? {} : { key: `${runKey}:${toolCallId}` };

interface ToolCall {
  toolName: string;
  toolCallId: string;
  input: unknown;
}

/** The option `toolApproval` of `generateText`, `streamText` and `ToolLoopAgent`. The AI SDK asks about the calls of one turn one
 * after the other, and always uses the arguments that the model chose; {@link guard} has neither limit. */
export function approvals(options: ApprovalsOptions = {}) {
  return async ({ toolCall }: { toolCall: ToolCall }) => {
    const { toolName, toolCallId, input } = toolCall;
    if (!needsApproval(toolName, options)) return "not-applicable" as const;
    const { client = defaultClient(), signal } = options;
    try {
      const call = { ...keyOf(toolCallId, options), toolCallId, signal, editable: false };
      const { approved, message } = await client.approve(toolName, argumentsOf(input), call);
      return approved ? ("approved" as const) : { type: "denied" as const, reason: message };
    } catch (error) {
      // Any other error ends the run, and no tool of the turn is called.
      if (!signal?.aborted) throw error;
      return { type: "denied" as const, reason: CANCELLED };
    }
  };
}

interface ExecuteOptions {
  toolCallId: string;
  abortSignal?: AbortSignal;
}

interface ExecutableTool {
  inputSchema?: unknown;
  execute?: (input: unknown, options: ExecuteOptions) => unknown;
}

/** The tools, with an approval before each call. People can edit the arguments. Do not ask for approvals in another way as well. */
export function guard<Tools extends object>(tools: Tools, options: GuardOptions = {}): Tools {
  const guarded = Object.entries(tools).map(([name, tool]) => [
    name,
    needsApproval(name, options) ? guardTool(name, tool, options) : tool,
  ]);
  return Object.fromEntries(guarded);
}

function guardTool(name: string, tool: ExecutableTool, options: GuardOptions): ExecutableTool {
  const { execute, inputSchema } = tool;
  if (!execute) return tool;
  return {
    ...tool,
    execute: async (input, call) => {
      const { client = defaultClient() } = options;
      const { toolCallId, abortSignal: signal } = call;
      const ask = { ...keyOf(toolCallId, options), toolCallId, signal, editable: true };
      const decision = await client.approve(name, argumentsOf(input), ask);
      if (!decision.approved) throw new DeniedError(decision.message);
      const used = decision.input === undefined ? input : await validated(inputSchema, decision.input);
      return lastOf(await execute.call(tool, used, call));
    },
  };
}

/** The model reads the name and the message of the error as the result of the call. */
class DeniedError extends Error {
  override readonly name = "Denied";
}

interface StandardSchema {
  "~standard": { validate(value: unknown): unknown };
}

/** The edited arguments as the tool takes them. Throws if they do not fit the schema of the tool, so that it is not called. */
async function validated(flexible: unknown, input: Record<string, unknown>): Promise<unknown> {
  const schema: unknown = typeof flexible === "function" && !("~standard" in flexible) ? flexible() : flexible;
  const standard = (schema as Partial<StandardSchema> | undefined)?.["~standard"];
  const validate = standard?.validate ?? (schema as { validate?: (value: unknown) => unknown } | undefined)?.validate;
  if (!validate) return input;
  const result = Object(await validate.call(standard ?? schema, input)) as {
    value?: unknown;
    issues?: readonly { message: string }[];
    success?: boolean;
    error?: unknown;
  };
  if (!result.issues && result.success !== false) return result.value;
  const problem = result.issues?.map(({ message }) => message).join("; ") ?? String(result.error);
  throw new Error(`The arguments that a person edited do not fit this tool: ${problem}`);
}

/** A tool that streams results cannot start before its approval, so its last result is used. */
async function lastOf(output: unknown): Promise<unknown> {
  if (typeof output !== "object" || output === null || !(Symbol.asyncIterator in output)) return output;
  let last: unknown;
  for await (const value of output as AsyncIterable<unknown>) last = value;
  return last;
}

/** What `generateText` and `ToolLoopAgent.generate` return. */
interface Generated {
  readonly responseMessages: readonly object[];
}

/** Calls the model with these messages, for example `(messages) => generateText({ model, tools, toolApproval, messages })`. */
export type Generate<Result extends Generated> = (
  messages: ModelMessage[],
  options: { abortSignal?: AbortSignal },
) => PromiseLike<Result>;

/** Runs the model until it is done, or until tool calls wait for a person. Then the result is a {@link Suspended}. Tools wait
 * if `toolApproval` says `user-approval`, or if they have no `execute` and an argument `question`. */
export function start<Result extends Generated>(
  generate: Generate<Result>,
  prompt: string | ModelMessage[],
  options: SuspendOptions,
): Promise<Result | Suspended> {
  const messages: ModelMessage[] = typeof prompt === "string" ? [{ role: "user", content: prompt }] : prompt;
  return next(new Suspender(FRAMEWORK, options), generate, messages);
}

/** Continues a claimed run. `generate` uses the same tools as the run that was suspended. */
export async function resume<Result extends Generated>(
  claim: RunClaim,
  generate: Generate<Result>,
  { client }: { client?: AgentClient } = {},
): Promise<Result | Suspended> {
  const [suspender, messages] = Suspender.ofClaim<ModelMessage[]>(FRAMEWORK, claim, client);
  const { approvals, questions } = openCalls(messages);
  // The AI SDK runs approved tools before it notices that other calls have no result, so all of them are read first.
  const content = [
    ...approvals.map(({ call, approvalId }) => {
      const { approved, message, input } = decided(claim.decision(call.toolCallId), call.toolCallId);
      // Approvals that cannot be edited have no other input.
      if (input !== undefined) call.input = input;
      return { type: "tool-approval-response", approvalId, approved, ...(message && { reason: message }) };
    }),
    ...questions.map(({ toolCallId, toolName }) => {
      const value = decided(claim.reply(toolCallId), toolCallId);
      return { type: "tool-result", toolCallId, toolName, output: { type: "text", value } };
    }),
  ];
  const answered = [...messages, { role: "tool", content } as ModelMessage];
  return next(suspender, generate, answered, claim.signal);
}

async function next<Result extends Generated>(
  suspender: Suspender,
  generate: Generate<Result>,
  messages: ModelMessage[],
  abortSignal?: AbortSignal,
): Promise<Result | Suspended> {
  const result = await generate(messages, abortSignal ? { abortSignal } : {});
  const all = [...messages, ...(result.responseMessages as ModelMessage[])];
  const { approvals, questions } = openCalls(all);
  if (approvals.length + questions.length === 0) return result;
  const asks = [
    ...approvals.map(({ call: { toolName, toolCallId, input }, editable }) => ({
      approval: { tool: toolName, action: "other" as const, input: argumentsOf(input), editable },
      toolCallId,
    })),
    ...questions.map(({ toolName, toolCallId, input }) => {
      const asked = questionOf(input);
      if (asked) return questionAsk(asked, toolCallId);
      throw new StateError(
        `The tool ${toolName} has no \`execute\` and no argument \`question\`, so it cannot be answered`,
      );
    }),
  ];
  return suspender.suspend(asks, all);
}

interface Part extends ToolCall {
  type: string;
  approvalId: string;
  signature?: string;
  inputSchemaInput?: unknown;
  providerExecuted?: boolean;
}

interface OpenCalls {
  approvals: { call: ToolCall; approvalId: string; editable: boolean }[];
  questions: ToolCall[];
}

/** The tool calls that have no result yet. */
function openCalls(messages: readonly ModelMessage[]): OpenCalls {
  const parts = messages.flatMap(({ content }) => (Array.isArray(content) ? (content as Part[]) : []));
  const of = (type: string) => parts.filter((part) => part.type === type);
  const answered = new Set(of("tool-approval-response").map(({ approvalId }) => approvalId));
  const requests = of("tool-approval-request");
  const done = new Set([...of("tool-result"), ...requests].map(({ toolCallId }) => toolCallId));
  const calls = of("tool-call");
  return {
    approvals: requests
      .filter(({ approvalId }) => !answered.has(approvalId))
      .map(({ approvalId, toolCallId, signature, inputSchemaInput }) => {
        const call = calls.find((call) => call.toolCallId === toolCallId);
        if (!call) throw new StateError(`The approval ${approvalId} has no tool call`);
        // The AI SDK refuses edited arguments that are signed, or that the schema of the tool has transformed.
        return { call, approvalId, editable: signature === undefined && inputSchemaInput === undefined };
      }),
    questions: calls.filter(({ toolCallId, providerExecuted }) => !done.has(toolCallId) && !providerExecuted),
  };
}
