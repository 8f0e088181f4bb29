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
  | { phase: "held"; decision: Decision; label: string; until: number }
  | { phase: "sending"; decision: Decision; label: string }
  | { phase: "failed"; decision: Decision; label: string; error: DecideError }
  | { phase: "lost"; decision: Decision; label: string; outcome: Outcome };

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
    this.#put(askId, { phase: "held", decision, label, until: Date.now() + holdMs });
    this.#timers.set(
      askId,
      setTimeout(() => void this.#send(askId, decision, label, false), holdMs),
    );
  }

  undo(askId: string): Decision | undefined {
    const sending = this.#sendings.get(askId);
    if (sending?.phase !== "held") return undefined;
    this.#stopTimer(askId);
    this.#put(askId, undefined);
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
