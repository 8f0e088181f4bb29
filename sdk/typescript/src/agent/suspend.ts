import type { Group, NewAsk, NewGroup } from "../api/index.js";
import { DedupeKeyReusedError, SaysoError } from "../errors.js";
import { type AgentClient, defaultClient, type Option, optionsOf } from "./client.js";
import { withSchema } from "./guard.js";
import { RepeatedCallError, type RunClaim } from "./results.js";

/** The layout of the stored state. A worker refuses a state that it does not know. */
const VERSION = 1;

/** A run that waits for people. The program can exit: a worker resumes the run in any process. */
export class Suspended {
  /** The id of the group that has the asks and the state. */
  readonly groupId: string;
  /** The name that workers resume by. */
  readonly name: string;
  /** `pending`; or `ready` if the policy has decided everything; or a later status if the pause is an old one. */
  readonly status: Group["status"];
  /** The ids of the asks that people decide. */
  readonly askIds: string[];

  constructor(group: Group) {
    this.groupId = group.id;
    this.name = group.name;
    this.status = group.status;
    this.askIds = group.asks.map(({ id }) => id);
  }
}

/** The claim has a state that this function cannot resume. */
export class StateError extends SaysoError {
  override readonly name = "StateError";

  constructor(message: string) {
    super("state_invalid", `${message}. Resume it with the version of the adapter that suspended it.`, 0);
  }
}

/** How a run is suspended. */
export interface SuspendOptions {
  /** The name that workers resume by. */
  name: string;
  /** A name of the run that is the same after a restart, so that the same pause is not opened twice. */
  runKey?: string | undefined;
  /** The client, by default for the server and the agent token of this machine. */
  client?: AgentClient | undefined;
  /** Further fields of the group. Later pauses of the run have them too. */
  group?: Pick<NewGroup, "retry" | "keep" | "callback"> | undefined;
}

interface Stored {
  version: number;
  framework: string;
  runKey: string | null;
  /** The number of the pause, counted from 1. */
  pause?: number;
  group: SuspendOptions["group"];
  state: unknown;
}

type SuspendedAsk = NewAsk & { toolCallId: string };

function withoutSchema(ask: SuspendedAsk): SuspendedAsk {
  if (!ask.approval) return ask;
  const { inputSchema: _, ...approval } = ask.approval;
  return { ...ask, approval };
}

/** Opens groups for the pauses of one run. */
export class Suspender {
  constructor(
    private readonly framework: string,
    private readonly options: SuspendOptions,
    /** The number of the next pause. A repeated run reaches it with other ids of tool calls. */
    private readonly pause = 1,
    private readonly signal?: AbortSignal,
  ) {}

  /** Opens one pause. */
  async suspend(asks: SuspendedAsk[], state: unknown): Promise<Suspended> {
    // A worker that lost its claim must not open further asks.
    this.signal?.throwIfAborted();
    const ids = asks.map(({ toolCallId }) => toolCallId);
    const repeated = ids.find((id, index) => ids.indexOf(id) !== index);
    if (repeated !== undefined) throw new RepeatedCallError(repeated);
    const { framework, pause } = this;
    const { name, runKey, client = defaultClient(), group } = this.options;
    const stored: Stored = { version: VERSION, framework, runKey: runKey ?? null, pause, group, state };
    const key = runKey === undefined ? {} : { key: `${runKey}:${pause}` };
    const open = (withSchemas: true | undefined) =>
      client.openGroup({
        ...group,
        ...key,
        name,
        asks: withSchemas ? asks : asks.map(withoutSchema),
        state: JSON.stringify(stored),
      });
    const hasSchema = asks.some(({ approval }) => approval?.inputSchema);
    try {
      return new Suspended(await withSchema(open, hasSchema || undefined));
    } catch (error) {
      if (!(error instanceof DedupeKeyReusedError)) throw error;
      const message = `The run ${runKey} is suspended already and waits for other tool calls. Resume it, or use another runKey.`;
      throw new DedupeKeyReusedError(error.code, message, error.status, error.problem);
    }
  }

  /** The suspender for further pauses of a claimed run, and the state of the framework. */
  static ofClaim<State>(framework: string, claim: RunClaim, client: AgentClient | undefined): [Suspender, State] {
    claim.signal.throwIfAborted();
    const stored = parse(claim.state);
    if (stored.version !== VERSION || stored.framework !== framework) {
      throw new StateError(`This group was not suspended by @sayso/sdk/${framework}`);
    }
    const { runKey, pause = 1, group } = stored;
    const options = { name: claim.group.name, runKey: runKey ?? undefined, client, group };
    return [new Suspender(framework, options, pause + 1, claim.signal), stored.state as State];
  }
}

function parse(state: string | undefined): Partial<Stored> {
  try {
    return Object(JSON.parse(state ?? ""));
  } catch {
    return {};
  }
}

/** The decision about a tool call. Without it the run must not go on, because some frameworks run the tools that have one. */
export function decided<T>(outcome: T | undefined, toolCallId: string): T {
  if (outcome === undefined) throw new StateError(`The group has no outcome for the tool call ${toolCallId}`);
  return outcome;
}

export interface AskedQuestion {
  question: string;
  options: Option[] | undefined;
}

/** The question and the options among the arguments of a tool call. */
export function questionOf(input: unknown): AskedQuestion | undefined {
  const { question, options } = Object(input) as { question?: unknown; options?: unknown };
  if (typeof question !== "string") return undefined;
  return { question, options: Array.isArray(options) && options.length > 0 ? options : undefined };
}

/** A question as one ask of a group. */
export const questionAsk = ({ question, options }: AskedQuestion, toolCallId: string) => ({
  questions: [{ text: question, ...optionsOf(options) }] as NonNullable<NewAsk["questions"]>,
  toolCallId,
});
