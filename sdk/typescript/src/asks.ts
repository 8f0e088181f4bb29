import type { Ask, AskFiles, AskPage, NewAsk } from "./api/index.js";
import { Backoff, pause } from "./backoff.js";
import { SaysoError } from "./errors.js";
import { type EventsOptions, type FeedEvent, outcomes } from "./events.js";
import { type CallOptions, type Http, part } from "./http.js";

/** A filter for asks. All conditions must match. */
export interface AskQuery {
  /** A status, or `resolved` for every status except `pending`. */
  status?: "pending" | "resolved" | Ask["status"];
  /** The id of a session. */
  session?: string;
  /** `question`, `approval` or `link`. */
  kind?: Ask["kind"];
  /** `key=value` */
  label?: string;
  /** The name of the agent. */
  agent?: string;
  /** The path of the project. */
  project?: string;
  /** Opened at this time or later, RFC 3339. */
  since?: string;
  /** Opened before this time, RFC 3339. */
  until?: string;
  /** Words to search for. */
  q?: string;
  /** The page size, 1 to 500. */
  limit?: number;
  /** `nextCursor` of the previous page. */
  cursor?: string;
}

/** How long one call waits for an answer before it is repeated. */
const WAIT = "30s";

/** The asks that the token can see. */
export class Asks {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Lists asks. `seq` is the feed position of the list: stream from there to miss no event. */
  list = (query: AskQuery = {}, options: CallOptions = {}): Promise<AskPage> =>
    this.#http.get("/asks", { query: { ...query }, ...options });

  /** Reads one ask. With `raw`, the result includes the original request of the agent. */
  get = async (id: string, { raw, ...options }: CallOptions & { raw?: boolean } = {}): Promise<Ask> =>
    this.#http.get(`/asks/${part(id)}`, { query: { raw }, ...options });

  /** Waits until the ask is decided, without a time limit. Reconnects after network errors. */
  async wait(id: string, options: CallOptions = {}): Promise<Ask> {
    const path = `/asks/${part(id)}`;
    const backoff = new Backoff();
    for (;;) {
      options.signal?.throwIfAborted();
      try {
        const ask = await this.#http.get<Ask>(path, { query: { wait: WAIT }, ...options });
        if (ask.status !== "pending") return ask;
        backoff.reset();
      } catch (error) {
        const passing = error instanceof SaysoError && (error.status === 0 || error.status >= 500);
        if (!passing) throw error;
        await pause(backoff.next(), options.signal);
      }
    }
  }

  /** Streams the outcomes of all asks that this token opened, over one connection. While the stream is open, asks with `keep`
   * are not parked. */
  outcomes = (options: Omit<EventsOptions, "session"> = {}): AsyncIterableIterator<FeedEvent> =>
    outcomes(this.#http, options);

  /** Opens an ask. The policy is applied, so it may already be decided. */
  open = (ask: NewAsk): Promise<Ask> => this.#http.post("/asks", ask);

  /** Answers all questions of an ask, with one list of entries for each. */
  answer = (id: string, answers: string[][], body: { note?: string } = {}, options?: CallOptions): Promise<Ask> =>
    this.#decide(id, "answer", { answers, ...body }, options);

  /** Rejects the questions of an ask. With `stop`, also ends the turn of the agent. */
  reject = (id: string, body: { message?: string; stop?: boolean } = {}, options?: CallOptions): Promise<Ask> =>
    this.#decide(id, "reject", body, options);

  /** Approves a tool call, a plan or a link. `input` replaces the input of the agent, and `choice` is one of its own choices. */
  approve = (
    id: string,
    body: { choice?: string; input?: Record<string, unknown>; contentDigest?: string } = {},
    options?: CallOptions,
  ): Promise<Ask> => this.#decide(id, "approve", body, options);

  /** Reads the files that the command of an approval executes, as they are now. Send their digest with the approval. */
  files = (id: string): Promise<AskFiles> => this.#http.get(`/asks/${part(id)}/files`);

  /** Denies a tool call, a plan or a link. With `stop`, also ends the turn of the agent. */
  deny = (id: string, body: { message?: string; stop?: boolean } = {}, options?: CallOptions): Promise<Ask> =>
    this.#decide(id, "deny", body, options);

  /** Hides the ask from inboxes until the given time. `null` shows it again. */
  snooze = (id: string, until: Date | null): Promise<Ask> =>
    this.#decide(id, "snooze", { until: until?.toISOString() ?? null });

  /** Collects the outcome of an ask that this token opened. Secret answers are returned in plain text, and only once. */
  receipt = async (id: string): Promise<Ask> => this.#http.post(`/asks/${part(id)}/receipt`, undefined, { once: true });

  /** Withdraws an ask that this token opened. */
  withdraw = async (id: string, reason?: string): Promise<Ask> =>
    this.#http.delete(`/asks/${part(id)}`, { query: { reason } });

  /** Withdraws the pending ask that this token opened with this `dedupeKey`. */
  withdrawByKey = async (dedupeKey: string, reason?: string): Promise<Ask> =>
    this.#http.delete("/asks", { query: { dedupeKey, reason } });

  async #decide(id: string, how: string, body: object, options?: CallOptions): Promise<Ask> {
    return this.#http.post(`/asks/${part(id)}/${how}`, body, options);
  }
}
