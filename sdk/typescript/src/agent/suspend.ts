import { createHash } from "node:crypto";
import type { Group, NewAsk, NewGroup } from "../api/index.js";
import { SaysoError } from "../errors.js";
import { type AgentClient, defaultClient, type Option, optionsOf } from "./client.js";
import type { RunClaim } from "./results.js";

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
  group: SuspendOptions["group"];
  state: unknown;
}

/** Opens groups for the pauses of one run. */
export class Suspender {
  constructor(
    private readonly framework: string,
    private readonly options: SuspendOptions,
  ) {}

  /** Opens one pause. The ids of its tool calls tell the pauses of one run apart. */
  async suspend(asks: (NewAsk & { toolCallId: string })[], state: unknown): Promise<Suspended> {
    const { name, runKey, client = defaultClient(), group } = this.options;
    const stored: Stored = { version: VERSION, framework: this.framework, runKey: runKey ?? null, group, state };
    const ids = asks.map(({ toolCallId }) => toolCallId).sort();
    const turn = createHash("sha256").update(ids.join("\n")).digest("hex").slice(0, 16);
    const key = runKey === undefined ? {} : { key: `${runKey}:${turn}` };
    return new Suspended(await client.openGroup({ ...group, ...key, name, asks, state: JSON.stringify(stored) }));
  }

  /** The suspender for further pauses of a claimed run, and the state of the framework. */
  static ofClaim<State>(framework: string, claim: RunClaim, client: AgentClient | undefined): [Suspender, State] {
    const stored = parse(claim.state);
    if (stored.version !== VERSION || stored.framework !== framework) {
      throw new StateError(`This group was not suspended by @sayso/sdk/${framework}`);
    }
    const { runKey, group } = stored;
    const suspender = new Suspender(framework, { name: claim.group.name, runKey: runKey ?? undefined, client, group });
    return [suspender, stored.state as State];
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

/** The arguments of a tool call as an object, which cards show. */
export function argumentsOf(input: unknown): Record<string, unknown> {
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
  return isObject ? (input as Record<string, unknown>) : { arguments: input };
}
