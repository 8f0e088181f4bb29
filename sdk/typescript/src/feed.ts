import type { Ask } from "./api/index.js";
import { askChange } from "./askEvents.js";
import type { Asks } from "./asks.js";
import { Backoff, pause } from "./backoff.js";
import { SaysoError } from "./errors.js";
import { events, type FeedEvent } from "./events.js";
import type { Http } from "./http.js";
import { reply } from "./replies.js";
import type { Connection } from "./stream.js";

/** The second argument of a callback. */
export interface AskContext {
  /** Aborts when the ask is decided by anyone. Close the prompt then. */
  signal: AbortSignal;
}

type AskCallback = (ask: Ask, context: AskContext) => unknown;

interface AskListener {
  session: string | undefined;
  kinds: readonly Ask["kind"][];
  callback: AskCallback;
  /** The pending asks that this listener was called for. */
  told: Map<string, AbortController>;
}

interface EventListener {
  session: string | undefined;
  type: string;
  callback: (event: FeedEvent) => void;
}

const PAGE = 200;

/** One stream shared by all listeners, and the pending asks. It runs while there are listeners. It never answers an ask on
 * its own: it sends only the return values of callbacks. */
export class Feed {
  readonly #http: Http;
  readonly #asks: Asks;
  readonly #onError: (error: unknown, ask?: Ask) => void;
  readonly #askListeners = new Set<AskListener>();
  readonly #eventListeners = new Set<EventListener>();
  readonly #changeListeners = new Set<() => void>();
  readonly #pending = new Map<string, Ask>();
  #connection: Connection = { state: "closed" };
  #running: AbortController | undefined;
  #loaded = false;

  constructor(http: Http, asks: Asks, onError: (error: unknown, ask?: Ask) => void) {
    this.#http = http;
    this.#asks = asks;
    this.#onError = onError;
  }

  /** Calls the listener once for each pending ask, now and in the future. */
  onAsk(kinds: readonly Ask["kind"][], session: string | undefined, callback: AskCallback): () => void {
    const listener: AskListener = { session, kinds, callback, told: new Map() };
    for (const ask of this.#pending.values()) queueMicrotask(() => this.#tell(listener, ask));
    return this.#join(this.#askListeners, listener, () => {
      for (const open of listener.told.values()) open.abort();
    });
  }

  /** Calls the listener for events of a type, or for all events with `*`. */
  onEvent(type: string, session: string | undefined, callback: (event: FeedEvent) => void): () => void {
    return this.#join(this.#eventListeners, { session, type, callback });
  }

  /** Calls the listener when {@link pending}, {@link connection} or {@link loaded} changes. */
  onChange(listener: () => void): () => void {
    return this.#join(this.#changeListeners, listener);
  }

  pending = (): ReadonlyMap<string, Ask> => this.#pending;
  connection = (): Connection => this.#connection;
  /** Whether the pending asks have been loaded. */
  loaded = (): boolean => this.#loaded;

  close(): void {
    for (const set of [this.#askListeners, this.#eventListeners, this.#changeListeners]) set.clear();
    this.#stop();
  }

  #join<T>(set: Set<T>, listener: T, left: () => void = () => {}): () => void {
    set.add(listener);
    if (!this.#running) this.#start();
    return () => {
      if (!set.delete(listener)) return;
      left();
      if (this.#askListeners.size + this.#eventListeners.size + this.#changeListeners.size === 0) this.#stop();
    };
  }

  #start(): void {
    const running = new AbortController();
    this.#running = running;
    void this.#run(running.signal).catch((error: unknown) => {
      if (running.signal.aborted) return;
      this.#running = undefined;
      this.#setConnection({ state: "closed", error });
      this.#onError(error);
    });
  }

  #stop(): void {
    this.#running?.abort();
    this.#running = undefined;
    this.#pending.clear();
    this.#loaded = false;
    this.#connection = { state: "closed" };
  }

  async #run(signal: AbortSignal): Promise<void> {
    const since = await this.#load(signal);
    const onConnection = (connection: Connection) => {
      if (!signal.aborted) this.#setConnection(connection);
    };
    for await (const event of events(this.#http, { since, signal, onConnection })) {
      if (signal.aborted) return;
      const changed = event.type === "reset" ? await this.#load(signal) : await this.#apply(event, signal);
      if (signal.aborted) return;
      this.#publish(event);
      if (changed) this.#changed();
    }
  }

  /** Loads the pending asks, with retries. Returns the feed position of the list. */
  async #load(signal: AbortSignal): Promise<number> {
    const backoff = new Backoff();
    for (;;) {
      try {
        return await this.#read(signal);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof SaysoError && error.status >= 400 && error.status < 500 && error.status !== 429)
          throw error;
        const wait = backoff.next();
        this.#setConnection({ state: "waiting", retryAt: Date.now() + wait });
        await pause(wait, signal);
      }
    }
  }

  async #read(signal: AbortSignal): Promise<number> {
    const query = { status: "pending", limit: PAGE } as const;
    let page = await this.#asks.list(query, { signal });
    const { seq } = page;
    const listed = new Map(page.data.map((ask) => [ask.id, ask]));
    while (page.nextCursor) {
      page = await this.#asks.list({ ...query, cursor: page.nextCursor }, { signal });
      for (const ask of page.data) listed.set(ask.id, ask);
    }
    signal.throwIfAborted();
    for (const id of [...this.#pending.keys()]) if (!listed.has(id)) this.#settled(id);
    for (const ask of listed.values()) this.#wait(ask);
    this.#loaded = true;
    this.#changed();
    return seq;
  }

  /** Applies an event to the pending asks. Returns whether they changed. */
  async #apply(event: FeedEvent, signal: AbortSignal): Promise<boolean> {
    const change = askChange(event);
    if (!change) return false;
    if (change.kind === "requested") {
      // Large asks are shortened in the stream. A decision needs the whole ask.
      const whole = change.ask.truncated ? await this.#whole(change.ask, signal) : change.ask;
      if (whole.status === "pending") this.#wait(whole);
      return true;
    }
    if (change.kind === "resolved") {
      this.#settled(change.ask.id);
      return true;
    }
    const before = this.#pending.get(change.fields.id);
    if (before) this.#pending.set(before.id, { ...before, ...change.fields });
    return before !== undefined;
  }

  async #whole(ask: Ask, signal: AbortSignal): Promise<Ask> {
    try {
      return await this.#asks.get(ask.id, { signal });
    } catch (error) {
      this.#onError(error, ask);
      return ask;
    }
  }

  #wait(ask: Ask): void {
    this.#pending.set(ask.id, ask);
    for (const listener of this.#askListeners) this.#tell(listener, ask);
  }

  #settled(id: string): void {
    this.#pending.delete(id);
    for (const { told } of this.#askListeners) {
      told.get(id)?.abort();
      told.delete(id);
    }
  }

  #tell(listener: AskListener, ask: Ask): void {
    const wanted = listener.kinds.includes(ask.kind) && (listener.session ?? ask.sessionId) === ask.sessionId;
    if (!wanted || listener.told.has(ask.id) || !this.#askListeners.has(listener) || !this.#pending.has(ask.id)) return;
    const open = new AbortController();
    listener.told.set(ask.id, open);
    const answered = async () => reply(this.#asks, ask, await listener.callback(ask, { signal: open.signal }));
    void answered().catch((error: unknown) => this.#onError(error, ask));
  }

  #publish(event: FeedEvent): void {
    for (const { type, session, callback } of [...this.#eventListeners]) {
      if (type !== "*" && type !== event.type && event.type !== "reset") continue;
      if (session !== undefined && session !== event.sessionId && event.type !== "reset") continue;
      try {
        callback(event);
      } catch (error) {
        this.#onError(error);
      }
    }
  }

  #setConnection(connection: Connection): void {
    this.#connection = connection;
    this.#changed();
  }

  #changed(): void {
    for (const listener of [...this.#changeListeners]) listener();
  }
}
