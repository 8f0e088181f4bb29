import type { Ask } from "../api/index.js";
import { SaysoError } from "../errors.js";
import { type Http, part } from "../http.js";
import { REOPENED, values } from "../stream.js";
import { persist } from "./waiting.js";

/** How many asks are read at once after events were lost. */
const READS = 16;
/** How long one call waits for the outcome of an ask, if the server has no stream of outcomes. */
const WAIT = "30s";

/** The wait for one ask. */
export interface Waiter {
  decided: Promise<void>;
  leave(): void;
}

interface Pending {
  resolve(): void;
  reject(error: unknown): void;
}

/** The waiters for one ask. `ended` aborts when there are none. */
interface Waiting {
  readonly waiters: Set<Pending>;
  readonly ended: AbortController;
}

/** One event stream that carries the outcomes of all asks that this client waits for. It is open while anybody waits, so it does
 * not keep a program alive. With an older server that has no such stream, each ask is polled. */
export class Outcomes {
  readonly #http: Http;
  readonly #waiting = new Map<string, Waiting>();
  /** Asks that were decided while an ask was being opened. The ask may be one of them. */
  readonly #early = new Set<string>();
  #opening = 0;
  #stream: AbortController | undefined;
  /** The feed position of the stream, once it is known. */
  #position: number | undefined;
  /** The server has no stream of outcomes. */
  #polls = false;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Opens an ask, and starts to wait for it unless it is decided already. */
  async open(open: () => Promise<Ask>): Promise<{ ask: Ask; waiter?: Waiter }> {
    const stream = this.#position === undefined ? undefined : this.#stream;
    this.#opening++;
    try {
      const ask = await open();
      if (ask.status !== "pending") return { ask };
      const waiter = this.#wait(ask.id);
      if (this.#early.has(ask.id)) this.#tell(ask.id);
      // A stream that was not there before the ask may start after its outcome. A stream without a position reads it later.
      else if (this.#stream !== stream && this.#position !== undefined) void this.#look(ask.id);
      return { ask, waiter };
    } finally {
      this.#opening--;
      if (this.#opening === 0) this.#early.clear();
      this.#closeIfIdle();
    }
  }

  #wait(id: string): Waiter {
    let pending: Pending | undefined;
    const decided = new Promise<void>((resolve, reject) => {
      pending = { resolve, reject };
    });
    // A caller whose signal aborts no longer waits for this promise.
    decided.catch(() => {});
    const known = this.#waiting.get(id);
    const all = known ?? { waiters: new Set(), ended: new AbortController() };
    all.waiters.add(pending as unknown as Pending);
    this.#waiting.set(id, all);
    if (!this.#polls && !this.#stream) this.#start();
    else if (this.#polls && !known) void this.#poll(id);
    return {
      decided,
      leave: () => {
        all.waiters.delete(pending as unknown as Pending);
        if (all.waiters.size === 0) {
          all.ended.abort();
          if (this.#waiting.get(id) === all) this.#waiting.delete(id);
        }
        this.#closeIfIdle();
      },
    };
  }

  #start(): void {
    const stream = new AbortController();
    this.#stream = stream;
    this.#position = undefined;
    void this.#follow(stream.signal).catch((error: unknown) => {
      if (stream.signal.aborted) return;
      this.#stream = undefined;
      this.#polls = error instanceof SaysoError && error.status === 404;
      for (const id of [...this.#waiting.keys()]) {
        if (this.#polls) void this.#poll(id);
        else this.#tell(id, error);
      }
    });
  }

  #closeIfIdle(): void {
    if (this.#waiting.size > 0 || this.#opening > 0) return;
    this.#stream?.abort();
    this.#stream = undefined;
  }

  async #follow(signal: AbortSignal): Promise<void> {
    // A stream without a position begins with a `reset`, which has the position.
    const since = async () => ({ since: this.#position });
    for await (const value of values(this.#http, "/outcomes", since, { signal })) {
      if (signal.aborted) return;
      if (value === REOPENED) continue;
      const { type, seq, data } = value as { type?: unknown; seq?: unknown; data?: { id?: unknown } };
      if (typeof seq === "number") this.#position = seq;
      if (type === "reset") void this.#lookAtAll();
      else if (typeof data?.id === "string") {
        if (this.#opening > 0) this.#early.add(data.id);
        this.#tell(data.id);
      }
    }
  }

  async #lookAtAll(): Promise<void> {
    const left = [...this.#waiting.keys()];
    const reader = async () => {
      for (let id = left.pop(); id !== undefined; id = left.pop()) await this.#look(id);
    };
    await Promise.all(Array.from({ length: READS }, reader));
  }

  /** Reads one ask, and tells its waiters if it is decided. With `wait`, the server replies when it is decided. */
  async #look(id: string, wait?: string): Promise<void> {
    const signal = this.#waiting.get(id)?.ended.signal;
    if (!signal) return;
    try {
      const ask = await persist(() => this.#http.get<Ask>(`/asks/${part(id)}`, { query: { wait }, signal }), signal);
      if (ask.status !== "pending") this.#tell(id);
    } catch (error) {
      if (!signal.aborted) this.#tell(id, error);
    }
  }

  async #poll(id: string): Promise<void> {
    while (this.#waiting.has(id)) await this.#look(id, WAIT);
  }

  #tell(id: string, error?: unknown): void {
    const all = this.#waiting.get(id);
    this.#waiting.delete(id);
    all?.ended.abort();
    for (const { resolve, reject } of all?.waiters ?? []) {
      if (error === undefined) resolve();
      else reject(error);
    }
  }
}
