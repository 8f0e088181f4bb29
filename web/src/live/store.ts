import { type Ask, type FeedEvent, ignoreUnknownEvent } from "@sayso/sdk";
import type { Session } from "../api/client";

const KEPT_DECIDED = 300;

/** The asks and sessions of the page: a list that is loaded once, and updates from the feed. */
export class LiveStore {
  #asks = new Map<string, Ask>();
  #sessions = new Map<string, Session>();
  #pending: Ask[] | undefined;
  #open: Session[] | undefined;
  #loaded = false;
  readonly #listeners = new Set<() => void>();
  /** The feed position of the store. */
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

  /** The pending asks, unordered. The array keeps its identity until something changes. */
  pending = (): Ask[] => {
    this.#pending ??= [...this.#asks.values()].filter((ask) => ask.status === "pending");
    return this.#pending;
  };

  /** The open sessions, newest first. The array keeps its identity until something changes. */
  sessions = (): Session[] => {
    this.#open ??= [...this.#sessions.values()].sort((a, b) => b.createdAt.localeCompare(a.createdAt));
    return this.#open;
  };

  /** Adds a page of a list. Decided asks stay decided, because a list can be older than the feed. */
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

  /** Pending asks that are missing in a complete list, because they were decided while the stream was closed. */
  unlisted(listed: Set<string>): string[] {
    return this.pending()
      .filter((ask) => !listed.has(ask.id))
      .map((ask) => ask.id);
  }

  forget(id: string): void {
    this.#asks.delete(id);
    this.#changed();
  }

  /** Applies an event of the feed. Events that were already applied are ignored. */
  apply(event: FeedEvent): void {
    if (event.seq !== undefined) {
      if (event.seq <= this.seq) return;
      this.seq = event.seq;
    }
    if (this.#take(event)) this.#changed();
  }

  /** Whether the event is about an ask or a session. */
  #take(event: FeedEvent): boolean {
    switch (event.type) {
      case "question.requested":
      case "approval.requested":
      case "link.requested":
      case "question.resolved":
      case "approval.resolved":
      case "link.resolved":
        this.#put({ ...this.#asks.get(event.data.id), ...event.data });
        return true;
      case "ask.parked":
      case "ask.snoozed":
      case "ask.delivery": {
        const before = this.#asks.get(event.data.id);
        if (before) this.#put({ ...before, ...event.data });
        return true;
      }
      case "session.created":
        this.#sessions.set(event.data.id, { ...this.#sessions.get(event.data.id), ...event.data });
        return true;
      case "session.status":
      case "session.ended": {
        const before = event.sessionId ? this.#sessions.get(event.sessionId) : undefined;
        if (before) {
          const permissionMode = event.data.permissionMode ?? before.permissionMode;
          this.#sessions.set(before.id, { ...before, ...event.data, permissionMode });
        }
        return true;
      }
      case "message.delta":
      case "message.completed":
      case "tool.started":
      case "tool.updated":
      case "tool.completed":
      case "notice":
      case "error":
      case "policy.changed":
      case "run.started":
      case "run.completed":
      case "run.failed":
      case "run.cancelled":
      case "step.started":
      case "step.completed":
      case "step.failed":
      case "step.cancelled":
      case "agent_question_asked":
      case "agent_question_answered":
      case "reset":
        return false;
      default:
        ignoreUnknownEvent(event);
        return false;
    }
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

  /** Drops old decided asks. */
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
