import { type Client, uniqueKey } from "../api/client";
import { elect } from "./election";
import type { FeedEvent } from "./sse";
import { LiveStore } from "./store";
import { type Connection, Stream } from "./stream";

type Wire = { kind: "event"; event: FeedEvent } | { kind: "connection"; connection: Connection } | { kind: "tryNow" };

const PAGE = 500;
const CHANNEL = "sayso.feed";

/** Keeps the store up to date: a snapshot, then the feed, held by one tab of the browser and passed to the others. */
export class Live {
  readonly store = new LiveStore();
  readonly #id = uniqueKey();
  readonly #listeners = new Set<() => void>();
  readonly #eventListeners = new Set<(event: FeedEvent) => void>();
  readonly #channel = typeof BroadcastChannel === "function" ? new BroadcastChannel(CHANNEL) : undefined;
  #connection: Connection = { state: "connecting" };
  #early: FeedEvent[] | undefined = [];
  #stream: Stream | undefined;
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

  /** Every event as it comes, also those that are live only. */
  onEvent(listener: (event: FeedEvent) => void): () => void {
    this.#eventListeners.add(listener);
    return () => this.#eventListeners.delete(listener);
  }

  tryNow = (): void => {
    this.#stream?.tryNow();
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
      this.#stream = this.#open();
      return () => this.#stream?.stop();
    };
    this.#stopElection = this.#channel ? elect(this.#id, lead).stop : lead();
  }

  /** Reads the lists. What the feed says meanwhile is kept and applied afterwards. */
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
    } catch {
      this.store.forget(id);
    }
  }

  #open(): Stream {
    return new Stream({
      url: "/v1/events",
      headers: () => this.client.headers(),
      since: () => this.store.seq,
      onEvent: (event) => {
        this.#channel?.postMessage({ kind: "event", event } satisfies Wire);
        this.#take(event);
      },
      onConnection: (connection) => {
        this.#channel?.postMessage({ kind: "connection", connection } satisfies Wire);
        this.#setConnection(connection);
      },
      onRefused: this.refused,
    });
  }

  #hear(wire: Wire): void {
    if (wire.kind === "event") this.#take(wire.event);
    else if (wire.kind === "connection") this.#setConnection(wire.connection);
    else this.#stream?.tryNow();
  }

  #take(event: FeedEvent): void {
    if (this.#early) {
      this.#early.push(event);
      return;
    }
    if (event.type === "reset") {
      this.store.seq = Number(event.data.seq ?? event.seq ?? this.store.seq);
      void this.#snapshot().catch(() => this.#stream?.tryNow());
    } else this.store.apply(event);
    if (event.data.truncated === true && typeof event.data.id === "string") void this.#readAgain(event.data.id);
    for (const listener of this.#eventListeners) listener(event);
  }

  #setConnection(connection: Connection): void {
    this.#connection = connection;
    for (const listener of this.#listeners) listener();
  }
}
