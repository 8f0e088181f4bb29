import { ConnectionError } from "@sayso/sdk";

/** The key of a response. Its first part is the name of a list, for example `["runs", "run_1"]`. */
export type QueryKey = readonly (string | number | undefined)[];

/** The state of a cached response. `data` is kept when a refetch fails. */
export interface QueryState<T = unknown> {
  data?: T;
  error?: Error;
}

interface CachedReply {
  key: QueryKey;
  state: QueryState;
  /** The time of the last fetch, in milliseconds. 0 if the response must be fetched again. */
  readAt: number;
  reading?: Promise<void>;
  /** Whether the response was invalidated while it was being fetched. */
  again: boolean;
  read?: () => Promise<unknown>;
  observers: Set<() => void>;
  removal?: ReturnType<typeof setTimeout>;
}

const NOTHING: QueryState = {};
const RETRY_MS = 1_000;
const KEPT_MS = 300_000;

/**
 * A cache of responses by key. Components with the same key share one response and one request. Unused responses are dropped
 * after five minutes.
 */
export class Queries {
  #replies = new Map<string, CachedReply>();

  state = (key: QueryKey): QueryState => this.#replies.get(JSON.stringify(key))?.state ?? NOTHING;

  /** Subscribes to a response, and fetches it if it is older than `maxAgeMs`. Returns a function that unsubscribes. */
  observe(key: QueryKey, read: () => Promise<unknown>, maxAgeMs: number, onChange: () => void): () => void {
    const reply = this.#reply(key);
    clearTimeout(reply.removal);
    reply.read = read;
    reply.observers.add(onChange);
    if (isStale(reply, maxAgeMs) && !reply.reading) void this.#read(reply);
    return () => {
      reply.observers.delete(onChange);
      if (reply.observers.size === 0) this.#removeLater(reply);
    };
  }

  /** Fetches a response again immediately. */
  refetch(key: QueryKey): Promise<void> {
    return this.#read(this.#reply(key));
  }

  /** Invalidates all responses whose key begins with `prefix`. Visible ones are fetched now, others when they are shown. */
  invalidate(prefix: QueryKey): void {
    for (const reply of this.#replies.values()) {
      if (!prefix.every((part, index) => reply.key[index] === part)) continue;
      reply.readAt = 0;
      if (reply.observers.size > 0) void this.#read(reply);
    }
  }

  set(key: QueryKey, data: unknown): void {
    this.#take(this.#reply(key), { data });
  }

  /** Fetches visible responses that are older than `maxAgeMs` or failed. */
  refresh(maxAgeMs: number): void {
    for (const reply of this.#replies.values()) {
      if (reply.observers.size > 0 && isStale(reply, maxAgeMs) && !reply.reading) void this.#read(reply);
    }
  }

  clear(): void {
    for (const reply of this.#replies.values()) clearTimeout(reply.removal);
    this.#replies.clear();
  }

  #reply(key: QueryKey): CachedReply {
    const name = JSON.stringify(key);
    const known = this.#replies.get(name);
    if (known) return known;
    const reply: CachedReply = { key, state: NOTHING, readAt: 0, again: false, observers: new Set() };
    this.#replies.set(name, reply);
    this.#removeLater(reply);
    return reply;
  }

  #removeLater(reply: CachedReply): void {
    clearTimeout(reply.removal);
    reply.removal = setTimeout(() => this.#replies.delete(JSON.stringify(reply.key)), KEPT_MS);
  }

  #read(reply: CachedReply): Promise<void> {
    // A request in flight may return data from before the change that invalidated it.
    if (reply.reading) reply.again = true;
    else reply.reading = this.#readUntilFresh(reply);
    return reply.reading;
  }

  async #readUntilFresh(reply: CachedReply): Promise<void> {
    do {
      reply.again = false;
      const { read } = reply;
      if (!read) break;
      try {
        this.#take(reply, { data: await withRetry(read) });
      } catch (error) {
        this.#take(reply, { data: reply.state.data, error: error instanceof Error ? error : new Error(String(error)) });
      }
    } while (reply.again);
    reply.reading = undefined;
  }

  #take(reply: CachedReply, state: QueryState): void {
    reply.readAt = Date.now();
    // An equal response keeps its identity, so that nothing is computed or rendered again.
    const same = JSON.stringify(state.data) === JSON.stringify(reply.state.data);
    if (same && state.error === reply.state.error && reply.state !== NOTHING) return;
    reply.state = same ? { ...state, data: reply.state.data } : state;
    for (const changed of reply.observers) changed();
  }
}

const isStale = ({ readAt, state }: CachedReply, maxAgeMs: number): boolean =>
  readAt === 0 || Date.now() - readAt >= maxAgeMs || state.error !== undefined;

/** Repeats a request once if there was no response. Error responses are not repeated. */
async function withRetry(read: () => Promise<unknown>): Promise<unknown> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    return read();
  }
}
