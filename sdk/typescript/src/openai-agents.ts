/** Approvals for the OpenAI Agents SDK (`@openai/agents`). `run` and `guard` wait for the person. `start` suspends the run instead,
 * and `resume` continues it in any process.
 *
 * @module
 */

import {
  type Agent,
  type AgentInputItem,
  type NonStreamRunOptions,
  RunContext,
  type RunResult,
  RunState,
  type RunToolApprovalItem,
  run as runAgent,
} from "@openai/agents";
import { type AgentClient, defaultClient } from "./agent/client.js";
import { approveCall, argumentsOf, callOptions, editNotice, type JsonSchema } from "./agent/guard.js";
import type { Decision, RunClaim } from "./agent/results.js";
import { decided, type Suspended, Suspender, type SuspendOptions } from "./agent/suspend.js";
import { allOf } from "./agent/waiting.js";

export { Suspended } from "./agent/suspend.js";

const FRAMEWORK = "openai-agents";

// biome-ignore lint/suspicious/noExplicitAny: `run` of the framework has the same bound
type AnyAgent = Agent<any, any>;

/** Who asks, and for which run. */
export interface AskingOptions {
  /** The client, by default for the server and the agent token of this machine. */
  client?: AgentClient | undefined;
  /** A name of the run that is the same after a restart, so that the program continues its asks. */
  runKey?: string | undefined;
}

/** Runs the agent, and asks people about each tool with `needsApproval`, all calls of one turn at once. Takes the options of `run` of
 * the framework. It always uses the arguments that the model chose, so people cannot edit them; {@link guard} lets them. */
export async function run<TAgent extends AnyAgent, TContext = undefined>(
  agent: TAgent,
  input: string | AgentInputItem[],
  { client = defaultClient(), runKey, ...options }: AskingOptions & NonStreamRunOptions<TContext, TAgent> = {},
): Promise<RunResult<TContext, TAgent>> {
  const settings = options as NonStreamRunOptions<TContext, TAgent>;
  let result = await runAgent(agent, input, settings);
  while (result.interruptions.length > 0) {
    const items = result.interruptions;
    const calls = items.map((item) => (signal: AbortSignal) => {
      const ask = { ...callOptions(runKey, callIdOf(item)), choices: choicesOf(item), signal };
      return client.approve(nameOf(item), parse(item.arguments), ask);
    });
    const decisions = await allOf(calls, settings.signal);
    items.forEach((item, index) => {
      decide(result.state, item, decisions[index] as Decision);
    });
    result = await runAgent(agent, result.state, settings);
  }
  return result;
}

interface CallDetails {
  toolCall?: { callId?: string };
  signal?: AbortSignal;
}

interface InvokableTool {
  name: string;
  parameters?: unknown;
  invoke: (context: never, input: string, details?: never) => Promise<unknown>;
}

/** The tool, with an approval before each call. People can edit the arguments. Do not set `needsApproval`. A timeout of the tool
 * includes the time until the person decides. */
export function guard<T extends InvokableTool>(tool: T, { client, runKey }: AskingOptions = {}): T {
  const inner = tool.invoke as (context: unknown, input: string, details?: CallDetails) => Promise<unknown>;
  const invoke = async (context: unknown, input: string, details?: CallDetails) => {
    const [toolCallId, signal] = [details?.toolCall?.callId, details?.signal];
    const inputSchema = tool.parameters as JsonSchema | undefined;
    const call = { client, runKey, tool: tool.name, toolCallId, input: parse(input), inputSchema, signal };
    const { approved, message, input: edited } = await approveCall(call);
    if (!approved) return message;
    if (edited === undefined) return inner(context, input, details);
    return withNotice(await inner(context, JSON.stringify(edited), details), editNotice(edited));
  };
  return { ...tool, invoke };
}

/** The result of a tool after a notice for the model. Tools return text, the parts of a message, or any other value, which the
 * model reads as JSON. */
function withNotice(result: unknown, notice: string): unknown {
  if (typeof result === "string") return notice + result;
  const parts = [result].flat();
  const isPart = (part: unknown) => ["text", "image", "file"].includes((Object(part) as { type?: string }).type ?? "");
  if (parts.length > 0 && parts.every(isPart)) return [{ type: "text", text: notice }, ...parts];
  return notice + (JSON.stringify(result) ?? "");
}

/** Runs the agent until it is done, or until tools need an approval. Then the result is a {@link Suspended}. */
export async function start<TAgent extends AnyAgent, TContext = undefined>(
  agent: TAgent,
  input: string | AgentInputItem[],
  { name, runKey, client, group, ...options }: SuspendOptions & NonStreamRunOptions<TContext, TAgent>,
): Promise<RunResult<TContext, TAgent> | Suspended> {
  const settings = options as NonStreamRunOptions<TContext, TAgent>;
  const suspender = new Suspender(FRAMEWORK, { name, runKey, client, group });
  return suspendOrEnd(suspender, await runAgent(agent, input, settings));
}

/** Continues a claimed run. The agent has the same name and tools as the one that was suspended. `context` takes the place of the
 * context object of the run. */
export async function resume<TAgent extends AnyAgent, TContext = undefined>(
  claim: RunClaim,
  agent: TAgent,
  { client, context, ...options }: Pick<AskingOptions, "client"> & NonStreamRunOptions<TContext, TAgent> = {},
): Promise<RunResult<TContext, TAgent> | Suspended> {
  const [suspender, stored] = Suspender.ofClaim<string>(FRAMEWORK, claim, client);
  const state =
    context === undefined
      ? await RunState.fromString<TContext, TAgent>(agent, stored)
      : await RunState.fromStringWithContext<TContext, TAgent>(
          agent,
          stored,
          context instanceof RunContext ? context : new RunContext(context),
        );
  for (const item of state.getInterruptions()) {
    const id = callIdOf(item);
    decide(state, item, decided(claim.decision(id), id));
  }
  const settings = { signal: claim.signal, ...options } as NonStreamRunOptions<TContext, TAgent>;
  return suspendOrEnd(suspender, await runAgent(agent, state, settings));
}

async function suspendOrEnd<TContext, TAgent extends AnyAgent>(
  suspender: Suspender,
  result: RunResult<TContext, TAgent>,
): Promise<RunResult<TContext, TAgent> | Suspended> {
  if (result.interruptions.length === 0) return result;
  const asks = result.interruptions.map((item) => ({
    approval: {
      tool: nameOf(item),
      action: "other" as const,
      input: parse(item.arguments),
      editable: false,
      choices: choicesOf(item),
    },
    toolCallId: callIdOf(item),
  }));
  return suspender.suspend(asks, result.state.toString());
}

function decide<TContext, TAgent extends AnyAgent>(
  state: RunState<TContext, TAgent>,
  item: RunToolApprovalItem,
  { approved, choice, message }: Decision,
): void {
  if (approved) state.approve(item, { alwaysApprove: choice === "always" });
  else state.reject(item, { message });
}

const nameOf = (item: RunToolApprovalItem): string => item.name ?? "tool";

const choicesOf = (item: RunToolApprovalItem) => [{ id: "always", label: `Always allow ${nameOf(item)} in this run` }];

/** Calls of hosted tools have an `id` instead. */
function callIdOf({ rawItem }: RunToolApprovalItem): string {
  const { callId, id } = rawItem as { callId?: string; id?: string };
  return callId ?? id ?? "";
}

/** The arguments as the model wrote them. The framework refuses invalid ones when the tool is called. */
function parse(text: string | undefined): Record<string, unknown> {
  try {
    return argumentsOf(JSON.parse(text || "{}"));
  } catch {
    return { arguments: text };
  }
}
