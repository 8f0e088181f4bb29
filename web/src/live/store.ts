import type { Ask, FeedEvent } from "@sayso/sdk";
import type { Session } from "../api/client";

const ASK_EVENT = /^(question|approval|link)\.(requested|resolved)$|^ask\./;
const KEPT_DECIDED = 300;

/** What the page knows of asks and sessions: a list read once, and the feed since. */
export class LiveStore {
  #asks = new Map<string, Ask>();
  #sessions = new Map<string, Session>();
  #pending: Ask[] | undefined;
  #open: Session[] | undefined;
  #loaded = false;
  readonly #listeners = new Set<() => void>();
  /** The place in the feed up to which everything is known. */
  seq = 0;

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  get loaded(): boolean {
    return this.#loaded;
  }

  ask = (id: string): Ask | undefined => this.#asks.get(id);
  session = (id: string): Session | undefined => this.#sessions.get(id);

  /** The asks that wait, in no order. The same array until something changes. */
  pending = (): Ask[] => {
    this.#pending ??= [...this.#asks.values()].filter((ask) => ask.status === "pending");
    return this.#pending;
  };

  /** The sessions that are open, newest first. The same array until something changes. */
  sessions = (): Session[] => {
    this.#open ??= [...this.#sessions.values()].sort((a, b) => b.createdAt.localeCompare(a.createdAt));
    return this.#open;
  };

  /** Takes a page of a list. An ask that is decided stays so: a list may be older than what the feed said. */
  takeAsks(asks: Ask[]): void {
    for (const ask of asks) this.#put(ask);
    this.#changed();
  }

  takeSessions(sessions: Session[]): void {
    for (const session of sessions) this.#sessions.set(session.id, session);
    this.#changed();
  }

  finishLoading(): void {
    this.#loaded = true;
    this.#changed();
  }

  /** Pending asks that a whole list does not have: they were decided while nobody listened. */
  unlisted(listed: Set<string>): string[] {
    return this.pending()
      .filter((ask) => !listed.has(ask.id))
      .map((ask) => ask.id);
  }

  forget(id: string): void {
    this.#asks.delete(id);
    this.#changed();
  }

  /** Takes an event of the feed, once. */
  apply(event: FeedEvent): void {
    if (event.seq !== undefined) {
      if (event.seq <= this.seq) return;
      this.seq = event.seq;
    }
    if (ASK_EVENT.test(event.type)) this.#applyAsk(event.data as unknown as Ask & { askId?: string });
    else if (event.type.startsWith("session.")) this.#applySession(event);
    else return;
    this.#changed();
  }

  #applyAsk(data: Ask & { askId?: string }): void {
    const id = data.id ?? data.askId;
    const before = this.#asks.get(id);
    if (!before && data.kind === undefined) return;
    this.#put(before ? { ...before, ...data, id } : data);
  }

  #applySession(event: FeedEvent): void {
    const data = event.data as unknown as Session;
    const id = data.id ?? event.sessionId;
    const before = this.#sessions.get(id);
    if (before) this.#sessions.set(id, { ...before, ...data, id });
    else if (data.agent) this.#sessions.set(id, data);
  }

  #put(ask: Ask): void {
    const before = this.#asks.get(ask.id);
    if (before && before.status !== "pending" && ask.status === "pending") return;
    this.#asks.delete(ask.id);
    this.#asks.set(ask.id, ask);
  }

  #changed(): void {
    this.#pending = undefined;
    this.#open = undefined;
    this.#trim();
    for (const listener of this.#listeners) listener();
  }

  /** Decided asks are kept only while somebody may still look at them. */
  #trim(): void {
    const decided = this.#asks.size - this.pending().length;
    if (decided <= KEPT_DECIDED * 2) return;
    let left = decided - KEPT_DECIDED;
    for (const [id, ask] of this.#asks) {
      if (left === 0) break;
      if (ask.status === "pending") continue;
      this.#asks.delete(id);
      left--;
    }
  }
}
