import { randomBytes } from "node:crypto";
import type { Approval, Ask, Group, NewAsk, NewGroup, Question } from "../api/index.js";
import { Asks } from "../asks.js";
import { Groups } from "../groups.js";
import { type Http, part } from "../http.js";
import { findToken, findUrl } from "./discover.js";
import { AgentHttp } from "./http.js";
import { Outcomes } from "./outcomes.js";
import { answersOf, type Decision, decisionOf } from "./results.js";
import { abortable, persist } from "./waiting.js";

/** How long the server keeps an ask for a caller that is gone. With a key, the caller can come back for it. */
const KEEP_WITH_KEY = "1d";
const KEEP_WITHOUT_KEY = "1h";

/** The server, the token, and how people see the program. */
export interface AgentOptions {
  /** The address of the server. By default `SAYSO_URL`, or the server of this machine. */
  url?: string | undefined;
  /** An agent token. By default `SAYSO_AGENT_TOKEN`, or the agent token of this machine. */
  token?: string | undefined;
  /** The name that people see. */
  agent?: string | undefined;
  /** An absolute path. The policy of this project applies. */
  project?: string | undefined;
  /** Labels of every ask, if the token may set them. */
  labels?: Record<string, string> | undefined;
  /** A replacement for `fetch`, for example to use a proxy. */
  fetch?: typeof globalThis.fetch;
}

/** Fields of an ask that all calls accept. */
export interface AskOptions
  extends Pick<NewAsk, "title" | "context" | "timeout" | "toolCallId" | "keep">,
    WaitOptions {}

/** How a call waits. */
export interface WaitOptions {
  /** A name that is the same after a restart of the program, which then continues its ask. */
  key?: string | undefined;
  /** Withdraws the ask, and rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
}

/** An option of a question: a label, or an object with the label and more fields. */
export type Option = string | { label: string; value?: string; description?: string };

/** The options of `ask`. */
export interface QuestionOptions extends AskOptions {
  /** The person chooses one of these. */
  options?: readonly Option[] | undefined;
  /** Whether the person may write an answer of their own. True by default. */
  custom?: boolean | undefined;
  /** The answer is a password or a key. It is handed out once. */
  secret?: boolean | undefined;
  /** A few words that name the question. */
  header?: string | undefined;
  /** A JSON Schema that an answer of the person's own has to fit: with `"type": "string"` as text, otherwise as JSON. */
  schema?: Record<string, unknown> | undefined;
}

/** The options of `approve`. */
export interface ApprovalOptions extends AskOptions {
  /** Let the person edit the arguments. Set it only if you use `decision.input`. */
  editable?: boolean | undefined;
  /** A JSON Schema that edited arguments have to fit. */
  inputSchema?: Approval["inputSchema"];
  /** The decisions that people can make; by default all of them. A rule of the policy or a timeout can always deny. */
  allowedDecisions?: Approval["allowedDecisions"];
  /** Further ways to approve. `decision.choice` is the id of the one that the person took. */
  choices?: { id: string; label: string }[] | undefined;
  /** The line that the card shows. */
  summary?: string | undefined;
  /** Why the tool is needed. */
  reason?: string | undefined;
  /** The shell command that the tool executes, for rules of the policy. */
  command?: string | undefined;
  /** The address that the tool fetches. */
  url?: string | undefined;
  /** The files that the tool reads or edits, with `action`. */
  paths?: string[] | undefined;
  /** What the tool does, for rules of the policy. */
  action?: Approval["action"] | undefined;
}

/** Asks people on behalf of one agent. Needs a token with the role `agent`. Only for Node.js. */
export class AgentClient {
  /** The asks of the token. */
  readonly asks: Asks;
  /** Suspended runs and their workers. */
  readonly groups: Groups;
  readonly #http: Http;
  readonly #outcomes: Outcomes;
  readonly #shared: Pick<NewAsk, "agent" | "project" | "labels">;

  /** Sends nothing. The first call looks up the server and the token. */
  constructor({ url, token, agent, project, labels, fetch }: AgentOptions = {}) {
    let last = url;
    // A server that is restarted may get another port. While there is none, the last address stays.
    const baseUrl = () => {
      if (url !== undefined) return url;
      try {
        last = findUrl();
      } catch (error) {
        if (last === undefined) throw error;
      }
      return last;
    };
    this.#http = new AgentHttp({
      baseUrl,
      token: () => token ?? findToken(agent),
      via: "node",
      ...(fetch && { fetch }),
    });
    this.asks = new Asks(this.#http);
    this.groups = new Groups(this.#http);
    this.#outcomes = new Outcomes(this.#http);
    this.#shared = { ...(agent && { agent }), ...(project && { project }), ...(labels && { labels }) };
  }

  /** Asks one question and returns the answer. Throws a `QuestionRejectedError` if there is none. */
  async ask(
    question: string,
    { options, custom, secret, header, schema, ...ask }: QuestionOptions = {},
  ): Promise<string> {
    const asked = { text: question, ...optionsOf(options), custom, secret, header, responseSchema: schema };
    return (await this.#entries(asked, ask)).join(", ");
  }

  /** Lets the person choose any number of options. */
  select(question: string, options: readonly Option[], ask: AskOptions & { custom?: boolean } = {}): Promise<string[]> {
    const { custom, ...rest } = ask;
    return this.#entries({ text: question, ...optionsOf(options), multiple: true, custom }, rest);
  }

  /** Asks a question that is answered with yes or no. Use `approve` for permission to do something. */
  async confirm(question: string, ask: AskOptions = {}): Promise<boolean> {
    return (await this.#entries({ text: question, input: "yesNo" }, ask))[0] === "true";
  }

  /** Asks for permission to call a tool. The policy decides first. */
  async approve(tool: string, input: Record<string, unknown> = {}, options: ApprovalOptions = {}): Promise<Decision> {
    const { editable = false, inputSchema, allowedDecisions, choices, summary, ...others } = options;
    const { reason, command, url, paths, action, ...ask } = others;
    const inferred = command !== undefined ? "run" : url !== undefined ? "fetch" : "other";
    const terms = { editable, inputSchema, allowedDecisions, choices };
    const approval = given({ tool, input, ...terms, reason, command, url, paths, title: summary });
    return decisionOf(await this.settle({ ...ask, approval: { ...approval, action: action ?? inferred } as Approval }));
  }

  /** Opens an ask, waits until it is decided, and takes the outcome. The wait has no limit. */
  async settle({ key, signal, ...ask }: NewAsk & WaitOptions): Promise<Ask> {
    signal?.throwIfAborted();
    const body: NewAsk = given({ ...this.#shared, ...ask });
    if (key !== undefined) body.dedupeKey = key;
    body.keep ??= body.dedupeKey ? KEEP_WITH_KEY : KEEP_WITHOUT_KEY;
    const opening = this.#outcomes.open(() => this.asks.open(body));
    const { ask: opened, waiter } = await abortable(opening, signal).catch((error: unknown) => {
      const withdraw = (late: Awaited<typeof opening>) => {
        late.waiter?.leave();
        return this.#withdraw(late.ask.id);
      };
      opening.then(withdraw).catch(() => {});
      throw error;
    });
    try {
      if (waiter) await abortable(waiter.decided, signal);
      const taken = await this.#take(opened.id, signal);
      // An approval that arrives after the abort must not run the tool.
      signal?.throwIfAborted();
      return taken;
    } catch (error) {
      if (signal?.aborted) void this.#withdraw(opened.id);
      throw error;
    } finally {
      waiter?.leave();
    }
  }

  /** Opens the asks of one pause of a suspended run, with the state that a worker needs to resume it. */
  openGroup({ asks = [], ...group }: NewGroup): Promise<Group> {
    return this.groups.open({ ...group, asks: asks.map((ask) => ({ ...this.#shared, ...ask })) });
  }

  async #entries(question: Partial<Question>, ask: AskOptions): Promise<string[]> {
    return answersOf(await this.settle({ ...ask, questions: [given(question) as Question] }))[0] ?? [];
  }

  /** Tells the server that the outcome arrived. Of two programs that wait for the same approval, one gets it. */
  #take(id: string, signal: AbortSignal | undefined): Promise<Ask> {
    const query = { taker: randomBytes(16).toString("hex") };
    return persist(() => this.#http.request<Ask>("POST", `/asks/${part(id)}/receipt`, { query }), signal);
  }

  async #withdraw(id: string): Promise<void> {
    try {
      await persist(() => this.asks.withdraw(id, "The agent stopped waiting."));
    } catch {
      // The ask was decided in the meantime, or the token was revoked: there is nothing to withdraw.
    }
  }
}

export function optionsOf(options: readonly Option[] | undefined): Pick<Question, "options"> {
  if (!options?.length) return {};
  return { options: options.map((option) => (typeof option === "string" ? { label: option } : option)) } as Pick<
    Question,
    "options"
  >;
}

/** Without the values that were not given. */
function given<T extends object>(values: T): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T;
}

let shared: AgentClient | undefined;

/** The client on the server and the agent token of this machine, which adapters use by default. */
export function defaultClient(): AgentClient {
  shared ??= new AgentClient();
  return shared;
}
