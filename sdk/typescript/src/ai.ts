/** Approvals for the AI SDK (`ai`). `approvals` and `guard` wait for the person. `start` suspends the run instead, and `resume`
 * continues it in any process.
 *
 * @module
 */

import { asSchema, type ModelMessage } from "ai";
import { type AgentClient, defaultClient } from "./agent/client.js";
import { approveCall, argumentsOf, callOptions, editNotice, type JsonSchema } from "./agent/guard.js";
import { RepeatedCallError, type RunClaim } from "./agent/results.js";
import {
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
  /** The `abortSignal` of the run. The AI SDK does not pass it on, and would call a tool that is approved after the abort. It
   * does not pass on a `timeout` either: use `AbortSignal.timeout(…)` as the `abortSignal` instead. */
  signal?: AbortSignal | undefined;
}

const needsApproval = (name: string, { tools }: GuardOptions) => tools === undefined || tools.includes(name);

interface ToolCall {
  toolName: string;
  toolCallId: string;
  input: unknown;
}

/** The option `toolApproval` of `generateText`, `streamText` and `ToolLoopAgent`. The AI SDK asks about the calls of one turn one
 * after the other, and always uses the arguments that the model chose. {@link guard} has neither limit, and also stops at a `timeout`. */
export function approvals(options: ApprovalsOptions = {}) {
  return async ({ toolCall }: { toolCall: ToolCall }) => {
    const { toolName, toolCallId, input } = toolCall;
    if (!needsApproval(toolName, options)) return "not-applicable" as const;
    const { client = defaultClient(), runKey, signal } = options;
    // An error, also that of an aborted signal, ends the run, and no tool of the turn is called.
    const call = { ...callOptions(runKey, toolCallId), signal, editable: false };
    const { approved, message } = await client.approve(toolName, argumentsOf(input), call);
    return approved ? ("approved" as const) : { type: "denied" as const, reason: message };
  };
}

interface ExecuteOptions {
  toolCallId: string;
  abortSignal?: AbortSignal;
}

interface ModelResult {
  toolCallId: string;
  input: unknown;
  output: unknown;
}

interface ExecutableTool {
  inputSchema?: unknown;
  execute?: (input: unknown, options: ExecuteOptions) => unknown;
  toModelOutput?: (result: ModelResult) => unknown;
}

/** The tools, with an approval before each call. People can edit the arguments. Do not ask for approvals in another way as well. */
export function guard<Tools extends object>(tools: Tools, options: GuardOptions = {}): Tools {
  const guarded = Object.entries(tools).map(([name, tool]) => [
    name,
    needsApproval(name, options) ? guardTool(name, tool, options) : tool,
  ]);
  return Object.fromEntries(guarded);
}

function guardTool(name: string, tool: ExecutableTool, { client, runKey }: GuardOptions): ExecutableTool {
  const { execute } = tool;
  if (!execute) return tool;
  const notices = new Map<string, string>();
  return {
    ...tool,
    execute: async (input, call) => {
      const { toolCallId, abortSignal: signal } = call;
      const inputSchema = await schemaOf(tool);
      const guarded = { client, runKey, tool: name, toolCallId, input, inputSchema, signal };
      const { approved, message, input: edited } = await approveCall(guarded);
      if (!approved) throw new DeniedError(message);
      notices.delete(toolCallId);
      if (edited === undefined) return lastOf(await execute.call(tool, input, call));
      const used = await validated(tool, edited);
      notices.set(toolCallId, editNotice(edited));
      return lastOf(await execute.call(tool, used, call));
    },
    toModelOutput: async (result) => {
      const output = (await tool.toModelOutput?.(result)) ?? outputOf(result.output);
      const notice = notices.get(result.toolCallId);
      return notice === undefined ? output : withNotice(output as ModelOutput, notice);
    },
  };
}

/** The model reads the name and the message of the error as the result of the call. */
class DeniedError extends Error {
  override readonly name = "Denied";
}

/** The arguments of a tool as JSON Schema. */
async function schemaOf({ inputSchema }: ExecutableTool): Promise<JsonSchema | undefined> {
  return inputSchema === undefined ? undefined : ((await asSchema(inputSchema).jsonSchema) as JsonSchema);
}

/** The edited arguments as the tool takes them. Throws if they do not fit the schema of the tool, so that it is not called. */
async function validated({ inputSchema }: ExecutableTool, edited: Record<string, unknown>): Promise<unknown> {
  const result = inputSchema === undefined ? undefined : await asSchema(inputSchema).validate?.(edited);
  if (!result) return edited;
  if (result.success) return result.value;
  throw new Error(`The arguments that a person edited do not fit this tool: ${result.error.message}`);
}

interface ModelOutput {
  type: string;
  value?: unknown;
}

/** What the model reads if the tool has no `toModelOutput`. */
const outputOf = (output: unknown): ModelOutput =>
  typeof output === "string"
    ? { type: "text", value: output }
    : { type: "json", value: JSON.parse(JSON.stringify(output) ?? "null") };

function withNotice(output: ModelOutput, notice: string): ModelOutput {
  const { type, value } = output;
  if (type === "text") return { ...output, value: `${notice}${value}` };
  if (type === "json") return { ...output, type: "text", value: `${notice}${JSON.stringify(value)}` };
  if (type === "content") return { ...output, value: [{ type: "text", text: notice }, ...(value as object[])] };
  return output;
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

/** The tools of a run that can be suspended. */
export interface ToolsOptions {
  /** The tools that `generate` uses. People then edit their arguments in a form, and only edits that fit are accepted. */
  tools?: object | undefined;
}

/** Runs the model until it is done, or until tool calls wait for a person. Then the result is a {@link Suspended}. Tools wait
 * if `toolApproval` says `user-approval`, or if they have no `execute` and an argument `question`. */
export function start<Result extends Generated>(
  generate: Generate<Result>,
  prompt: string | ModelMessage[],
  { tools, ...options }: SuspendOptions & ToolsOptions,
): Promise<Result | Suspended> {
  const messages: ModelMessage[] = typeof prompt === "string" ? [{ role: "user", content: prompt }] : prompt;
  return next({ suspender: new Suspender(FRAMEWORK, options), generate, tools }, messages);
}

/** Continues a claimed run. `generate` uses the same tools as the run that was suspended. */
export async function resume<Result extends Generated>(
  claim: RunClaim,
  generate: Generate<Result>,
  { client, tools }: { client?: AgentClient } & ToolsOptions = {},
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
  return next({ suspender, generate, tools }, answered, claim.signal);
}

interface Run<Result extends Generated> extends ToolsOptions {
  suspender: Suspender;
  generate: Generate<Result>;
}

async function next<Result extends Generated>(
  { suspender, generate, tools }: Run<Result>,
  messages: ModelMessage[],
  abortSignal?: AbortSignal,
): Promise<Result | Suspended> {
  const result = await generate(messages, abortSignal ? { abortSignal } : {});
  const all = [...messages, ...(result.responseMessages as ModelMessage[])];
  const { approvals, questions } = openCalls(all);
  if (approvals.length + questions.length === 0) return result;
  const asks = [
    ...(await Promise.all(
      approvals.map(async ({ call: { toolName, toolCallId, input }, editable }) => {
        const tool = (tools as Record<string, ExecutableTool> | undefined)?.[toolName];
        const inputSchema = editable && tool ? await schemaOf(tool) : undefined;
        const terms = { editable, ...(inputSchema && { inputSchema }) };
        return {
          approval: { tool: toolName, action: "other" as const, input: argumentsOf(input), ...terms },
          toolCallId,
        };
      }),
    )),
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
        const [call, another] = calls.filter((call) => call.toolCallId === toolCallId);
        if (!call) throw new StateError(`The approval ${approvalId} has no tool call`);
        if (another) throw new RepeatedCallError(toolCallId);
        // The AI SDK refuses edited arguments that are signed, or that the schema of the tool has transformed.
        return { call, approvalId, editable: signature === undefined && inputSchemaInput === undefined };
      }),
    questions: calls.filter(({ toolCallId, providerExecuted }) => !done.has(toolCallId) && !providerExecuted),
  };
}
