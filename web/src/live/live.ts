import { type Connection, type FeedEvent, NotFoundError, SaysoError } from "@sayso/sdk";
import type { Client } from "../api/client";
import { elect } from "./election";
import { askOf } from "./events";
import { LiveStore } from "./store";

type Wire = { kind: "event"; event: FeedEvent } | { kind: "connection"; connection: Connection } | { kind: "tryNow" };

const PAGE = 500;
/** The delay after the server refused the stream for another reason than the token, in milliseconds. */
const REFUSED_WAIT = 15_000;
const CHANNEL = "sayso.feed";

/** Keeps the store up to date with a snapshot and the feed. One tab of the browser holds the stream for all tabs. */
export class Live {
  readonly store = new LiveStore();
  readonly #id = `${Date.now()}-${Math.random()}`;
  readonly #listeners = new Set<() => void>();
  readonly #eventListeners = new Set<(event: FeedEvent) => void>();
  readonly #channel = typeof BroadcastChannel === "function" ? new BroadcastChannel(CHANNEL) : undefined;
  #connection: Connection = { state: "connecting" };
  #early: FeedEvent[] | undefined = [];
  /** Set while this tab is the leader. Aborting it closes the stream. */
  #stream: AbortController | undefined;
  #stopElection: () => void = () => {};
  #stopped = false;

  constructor(
    private readonly client: Client,
    private readonly refused: () => void,
  ) {
    this.#channel?.addEventListener("message", ({ data }: MessageEvent<Wire>) => this.#hear(data));
    void this.#start();
  }

  stop(): void {
    this.#stopped = true;
    this.#stopElection();
    this.#channel?.close();
  }

  connection = (): Connection => this.#connection;

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Subscribes to all events, including transient ones. */
  onEvent(listener: (event: FeedEvent) => void): () => void {
    this.#eventListeners.add(listener);
    return () => this.#eventListeners.delete(listener);
  }

  /** Reconnects immediately, in the tab that holds the stream. */
  tryNow = (): void => {
    this.#reconnect();
    this.#channel?.postMessage({ kind: "tryNow" } satisfies Wire);
  };

  async #start(): Promise<void> {
    for (let wait = 500; !this.#stopped; wait = Math.min(15_000, wait * 2)) {
      try {
        await this.#snapshot();
        break;
      } catch {
        this.#setConnection({ state: "waiting", retryAt: Date.now() + wait });
        await new Promise((resolve) => setTimeout(resolve, wait));
      }
    }
    if (this.#stopped) return;
    const lead = () => {
      this.#openStream();
      return () => {
        this.#stream?.abort();
        this.#stream = undefined;
      };
    };
    this.#stopElection = this.#channel ? elect(this.#id, lead).stop : lead();
  }

  /** Loads the lists. Events that arrive during the load are applied afterwards. */
  async #snapshot(): Promise<void> {
    this.#early ??= [];
    const [first, sessions] = await Promise.all([
      this.client.asks({ status: "pending", limit: PAGE }),
      this.client.sessions({ open: true, limit: PAGE }),
    ]);
    this.store.takeSessions(sessions.data);
    this.store.takeAsks(first.data);
    this.store.seq = Math.max(this.store.seq, Math.min(first.seq, sessions.seq));
    this.store.finishLoading();
    const early = this.#early;
    this.#early = undefined;
    for (const event of early) this.#take(event);
    await this.#rest(first.nextCursor ?? undefined, new Set(first.data.map((ask) => ask.id)));
  }

  async #rest(cursor: string | undefined, listed: Set<string>): Promise<void> {
    const waiting = this.store.pending().map((ask) => ask.id);
    for (let next = cursor; next && !this.#stopped; ) {
      const page = await this.client.asks({ status: "pending", limit: PAGE, cursor: next });
      this.store.takeAsks(page.data);
      for (const ask of page.data) listed.add(ask.id);
      next = page.nextCursor ?? undefined;
    }
    const gone = this.store.unlisted(listed).filter((id) => waiting.includes(id));
    await Promise.all(gone.map((id) => this.#readAgain(id)));
  }

  async #readAgain(id: string): Promise<void> {
    try {
      this.store.takeAsks([await this.client.ask(id)]);
    } catch (error) {
      if (error instanceof NotFoundError) this.store.forget(id);
    }
  }

  #openStream(): void {
    this.#stream?.abort();
    this.#stream = new AbortController();
    void this.#follow(this.#stream.signal);
  }

  #reconnect(): void {
    if (this.#stream && this.#connection.state === "waiting") this.#openStream();
  }

  /** Streams the feed to this tab and the other tabs until the signal aborts or the server refuses. */
  async #follow(signal: AbortSignal): Promise<void> {
    const onConnection = (connection: Connection) => {
      if (!signal.aborted) this.#announce(connection);
    };
    try {
      for await (const event of this.client.sayso.events({ since: this.store.seq, signal, onConnection })) {
        if (signal.aborted) return;
        this.#channel?.postMessage({ kind: "event", event } satisfies Wire);
        this.#take(event);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof SaysoError && (error.status === 401 || error.status === 403)) return this.refused();
      onConnection({ state: "waiting", retryAt: Date.now() + REFUSED_WAIT });
      setTimeout(() => signal.aborted || this.#openStream(), REFUSED_WAIT);
    }
  }

  #announce(connection: Connection): void {
    this.#channel?.postMessage({ kind: "connection", connection } satisfies Wire);
    this.#setConnection(connection);
  }

  #hear(wire: Wire): void {
    if (wire.kind === "event") this.#take(wire.event);
    else if (wire.kind === "connection") this.#setConnection(wire.connection);
    else this.#reconnect();
  }

  #take(event: FeedEvent): void {
    if (this.#early) {
      this.#early.push(event);
      return;
    }
    if (event.type === "reset") {
      this.store.seq = event.seq ?? this.store.seq;
      void this.#snapshot().catch(() => this.#reconnect());
    } else this.store.apply(event);
    const ask = askOf(event);
    if (ask?.truncated) void this.#readAgain(ask.id);
    for (const listener of this.#eventListeners) listener(event);
  }

  #setConnection(connection: Connection): void {
    this.#connection = connection;
    for (const listener of this.#listeners) listener();
  }
}
