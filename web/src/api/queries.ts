import { ConnectionError } from "@sayso/sdk";

/** The name of a reply: its first part is the name of a list, for example `["runs", "run_1"]`. */
export type QueryKey = readonly (string | number | undefined)[];

/** What is known of a reply. `data` stays when reading it again fails. */
export interface QueryState<T = unknown> {
  data?: T;
  error?: Error;
}

interface CachedReply {
  key: QueryKey;
  state: QueryState;
  /** When it was read, in milliseconds; 0 if it has to be read again. */
  readAt: number;
  reading?: Promise<void>;
  /** Whether it was invalidated while it was being read. */
  again: boolean;
  read?: () => Promise<unknown>;
  observers: Set<() => void>;
  removal?: ReturnType<typeof setTimeout>;
}

const NOTHING: QueryState = {};
const RETRY_MS = 1_000;
const KEPT_MS = 300_000;

/**
 * Replies of the server by key. Components that show the same key share one reply and one request. A reply that nobody
 * shows is dropped after five minutes.
 */
export class Queries {
  #replies = new Map<string, CachedReply>();

  state = (key: QueryKey): QueryState => this.#replies.get(JSON.stringify(key))?.state ?? NOTHING;

  /** Reads the reply unless it is younger than `maxAgeMs`, and calls `onChange` when it changes. Returns how to stop. */
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

  /** Reads a reply that is shown again, now. */
  refetch(key: QueryKey): Promise<void> {
    return this.#read(this.#reply(key));
  }

  /** Reads every reply whose key begins with `prefix` again: those that are shown now, the others when they are. */
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

  /** Reads replies again that are shown, and are older than `maxAgeMs` or failed. */
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
    // A request that is under way may have been answered before the change that asks for another one.
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
    // The same reply again keeps its identity, so that nothing is computed or drawn anew for it.
    const same = JSON.stringify(state.data) === JSON.stringify(reply.state.data);
    if (same && state.error === reply.state.error && reply.state !== NOTHING) return;
    reply.state = same ? { ...state, data: reply.state.data } : state;
    for (const changed of reply.observers) changed();
  }
}

const isStale = ({ readAt, state }: CachedReply, maxAgeMs: number): boolean =>
  readAt === 0 || Date.now() - readAt >= maxAgeMs || state.error !== undefined;

/** Tries a request once more if no reply came. A reply of the server, also a refusal, would be the same again. */
async function withRetry(read: () => Promise<unknown>): Promise<unknown> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    return read();
  }
}
