import type { Decision, Outcome } from "../api";

/** Why a decision was not taken. Thrown by `decide`. */
export class DecideError extends Error {
  constructor(
    message: string,
    readonly details: {
      offline?: boolean;
      outcome?: Outcome;
      own?: boolean;
      problems?: { index: number; reason: string }[];
    } = {},
  ) {
    super(message);
  }
}

/** Sends a decision to the server. `last` is set when the page is going away. */
export type Decide = (askId: string, decision: Decision, options: { last: boolean }) => Promise<void>;

/** A decision on its way: held for a moment, being sent, or come back. */
export type Sending =
  | { phase: "held"; decision: Decision; label: string; until: number; batch?: Batch }
  | { phase: "sending"; decision: Decision; label: string }
  | { phase: "failed"; decision: Decision; label: string; error: DecideError }
  | { phase: "lost"; decision: Decision; label: string; outcome: Outcome };

/** Decisions that a person made with one action, and that are taken back together. */
export interface Batch {
  askIds: readonly string[];
  /** The kind of all decisions, or undefined when they differ. */
  kind: Decision["kind"] | undefined;
}

/** Holds each decision for a moment, in which it can be taken back, and then sends it. */
export class Sender {
  readonly #sendings = new Map<string, Sending>();
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #listeners = new Set<() => void>();

  constructor(
    private readonly decide: Decide,
    private readonly settled: (askId: string) => void = () => {},
  ) {}

  get(askId: string): Sending | undefined {
    return this.#sendings.get(askId);
  }

  /** The newest decision that can still be taken back. */
  newestHeld(): string | undefined {
    return [...this.#sendings].filter(([, sending]) => sending.phase === "held").at(-1)?.[0];
  }

  hold(askId: string, decision: Decision, label: string, holdMs: number): void {
    const now = this.#sendings.get(askId);
    if (now?.phase === "held" || now?.phase === "sending") return;
    if (holdMs <= 0) {
      void this.#send(askId, decision, label, false);
      return;
    }
    this.#hold([{ askId, decision, label }], holdMs);
  }

  /** Holds the decisions of one action as a unit: they are sent together, and `undo` of one takes all of them back. */
  holdAll(decisions: readonly { askId: string; decision: Decision; label: string }[], holdMs: number): void {
    const free = decisions.filter(({ askId }) => {
      const phase = this.#sendings.get(askId)?.phase;
      return phase !== "held" && phase !== "sending";
    });
    if (holdMs > 0) this.#hold(free, holdMs);
    else for (const { askId, decision, label } of free) void this.#send(askId, decision, label, false);
  }

  #hold(decisions: readonly { askId: string; decision: Decision; label: string }[], holdMs: number): void {
    const kinds = new Set(decisions.map(({ decision }) => decision.kind));
    const [kind] = kinds.size === 1 ? kinds : [];
    const askIds = decisions.map(({ askId }) => askId);
    const batch = decisions.length > 1 ? { batch: { askIds, kind } } : {};
    const until = Date.now() + holdMs;
    const timer = setTimeout(() => {
      for (const { askId, decision, label } of decisions) void this.#send(askId, decision, label, false);
    }, holdMs);
    for (const { askId, decision, label } of decisions) {
      this.#timers.set(askId, timer);
      this.#put(askId, { phase: "held", decision, label, until, ...batch });
    }
  }

  /** Takes a held decision back, and all others of its batch. */
  undo(askId: string): Decision | undefined {
    const sending = this.#sendings.get(askId);
    if (sending?.phase !== "held") return undefined;
    for (const id of sending.batch?.askIds ?? [askId]) {
      if (this.#sendings.get(id)?.phase !== "held") continue;
      this.#stopTimer(id);
      this.#put(id, undefined);
    }
    return sending.decision;
  }

  /** Forgets what came back. */
  clear(askId: string): void {
    const phase = this.#sendings.get(askId)?.phase;
    if (phase === "failed" || phase === "lost") this.#put(askId, undefined);
  }

  /** Sends everything that is held, at once: the page is going away. */
  flush(): void {
    for (const [askId, sending] of [...this.#sendings]) {
      if (sending.phase === "held") void this.#send(askId, sending.decision, sending.label, true);
    }
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  async #send(askId: string, decision: Decision, label: string, last: boolean): Promise<void> {
    this.#stopTimer(askId);
    this.#put(askId, { phase: "sending", decision, label });
    try {
      await this.decide(askId, decision, { last });
      this.settled(askId);
      this.#put(askId, undefined);
    } catch (thrown) {
      const error = thrown instanceof DecideError ? thrown : new DecideError(String(thrown), { offline: true });
      const { outcome, own } = error.details;
      if (outcome && own) {
        this.settled(askId);
        this.#put(askId, undefined);
      } else if (outcome) this.#put(askId, { phase: "lost", decision, label, outcome });
      else this.#put(askId, { phase: "failed", decision, label, error });
    }
  }

  #stopTimer(askId: string): void {
    clearTimeout(this.#timers.get(askId));
    this.#timers.delete(askId);
  }

  #put(askId: string, sending: Sending | undefined): void {
    this.#sendings.delete(askId);
    if (sending) this.#sendings.set(askId, sending);
    for (const listener of this.#listeners) listener();
  }
}
