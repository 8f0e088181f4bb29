import type { Decision, FileDiff, Outcome } from "../api";

/** The reason why a decision was not accepted. Thrown by `decide`. */
export class DecideError extends Error {
  constructor(
    message: string,
    readonly details: {
      offline?: boolean;
      outcome?: Outcome;
      own?: boolean;
      problems?: { index: number; reason: string }[];
      /** A file that the command executes changed after the card showed it. Contains the changes if the server still has them. */
      changes?: FileDiff[];
      /** The person has to repeat a queued decision: it was queued for too long, or the ask changed. */
      stale?: "old" | "changed";
    } = {},
  ) {
    super(message);
  }
}

/** Sends a decision to the server. `last` is set when the page is going away. */
export type Decide = (askId: string, decision: Decision, options: { last: boolean }) => Promise<void>;

/** How long an approval may be queued before the person has to approve again, in milliseconds. */
export const APPROVAL_QUEUE_MS = 60_000;

/** How often queued decisions are tried again, in milliseconds. */
const RETRY_MS = 5_000;

/** The state of a decision: held for undo, being sent, queued until the connection is back, failed or lost. */
export type Sending =
  | { phase: "held"; decision: Decision; label: string; until: number; batch?: Batch }
  | { phase: "sending"; decision: Decision; label: string }
  | { phase: "queued"; decision: Decision; label: string; since: number; batch?: Batch }
  | { phase: "failed"; decision: Decision; label: string; error: DecideError }
  | { phase: "lost"; decision: Decision; label: string; outcome: Outcome };

/** Decisions that a person made with one action. They are undone together. */
export interface Batch {
  askIds: readonly string[];
  /** The kind of all decisions, or undefined when they differ. */
  kind: Decision["kind"] | undefined;
}

/** A decision, or all decisions of a batch, that are held or were refused. */
export interface UnsettledDecision {
  askIds: readonly string[];
  sending: Sending;
}

/** A decision of a person about an ask. */
export interface NewDecision {
  /** The ask to decide. */
  askId: string;
  /** The decision. */
  decision: Decision;
  /** The words of the decision, for example for the undo toast. */
  label: string;
  /** The `contentOf` the ask that the person saw. A queued decision is sent only if it is unchanged. */
  content?: string;
}

/** Holds each decision for a moment, in which it can be undone, and then sends it. */
export class Sender {
  readonly #sendings = new Map<string, Sending>();
  readonly #contents = new Map<string, string | undefined>();
  readonly #batches = new Map<string, Batch>();
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #listeners = new Set<() => void>();
  #retry: ReturnType<typeof setTimeout> | undefined;

  /**
   * `settled` is called when the server has a decision. `readContent` reads an ask's `contentOf` from the server: with it,
   * decisions are queued while there is no connection; without it they fail.
   */
  constructor(
    private readonly decide: Decide,
    private readonly settled: (askId: string) => void = () => {},
    private readonly readContent?: (askId: string) => Promise<string>,
  ) {}

  /** The decision about an ask that is held, queued or being sent. */
  get(askId: string): Sending | undefined {
    return this.#sendings.get(askId);
  }

  /** The asks whose decisions can still be undone, oldest decision first. */
  undoable(): string[] {
    return [...this.#sendings].filter(([, sending]) => canUndo(sending)).map(([askId]) => askId);
  }

  /** The ask of the newest decision that can still be undone. */
  newestHeld(): string | undefined {
    return this.undoable().at(-1);
  }

  /** The held and the refused decisions, oldest first. A batch is one entry. */
  unsettled(): UnsettledDecision[] {
    return [...this.#sendings].flatMap(([askId, sending]): UnsettledDecision[] => {
      if (sending.phase === "failed") return [{ askIds: [askId], sending }];
      if (sending.phase !== "held") return [];
      const askIds = sending.batch?.askIds ?? [askId];
      return askIds[0] === askId ? [{ askIds, sending }] : [];
    });
  }

  /** How many decisions wait for the connection. */
  queued(): number {
    return [...this.#sendings.values()].filter((sending) => sending.phase === "queued").length;
  }

  /** Holds one decision for `holdMs`, and then sends it. */
  hold(askId: string, decision: Decision, label: string, holdMs: number, content?: string): void {
    this.holdAll([{ askId, decision, label, ...(content === undefined ? {} : { content }) }], holdMs);
  }

  /** Holds the decisions of one action as a unit: they are sent together, and `undo` of one cancels all of them. */
  holdAll(decisions: readonly NewDecision[], holdMs: number): void {
    const free = decisions.filter(({ askId }) => {
      const sending = this.#sendings.get(askId);
      return !sending || sending.phase === "failed" || sending.phase === "lost";
    });
    const kinds = new Set(free.map(({ decision }) => decision.kind));
    const [kind] = kinds.size === 1 ? kinds : [];
    const batch = { askIds: free.map(({ askId }) => askId), kind };
    for (const { askId, content } of free) {
      this.#contents.set(askId, content);
      if (free.length > 1) this.#batches.set(askId, batch);
      else this.#batches.delete(askId);
    }
    if (holdMs > 0) this.#hold(free, holdMs);
    else for (const { askId, decision, label } of free) void this.#send(askId, decision, label, false);
  }

  #hold(decisions: readonly NewDecision[], holdMs: number): void {
    const until = Date.now() + holdMs;
    const timer = setTimeout(() => {
      for (const { askId, decision, label } of decisions) void this.#send(askId, decision, label, false);
    }, holdMs);
    for (const { askId, decision, label } of decisions) {
      this.#timers.set(askId, timer);
      this.#put(askId, { phase: "held", decision, label, until, ...this.#batchOf(askId) });
    }
  }

  #batchOf(askId: string): { batch?: Batch } {
    const batch = this.#batches.get(askId);
    return batch ? { batch } : {};
  }

  /** Cancels a held or queued decision, and all others of its batch. */
  undo(askId: string): Decision | undefined {
    const sending = this.#sendings.get(askId);
    if (!sending || !canUndo(sending)) return undefined;
    for (const id of sending.batch?.askIds ?? [askId]) {
      const other = this.#sendings.get(id);
      if (!other || !canUndo(other)) continue;
      this.#stopTimer(id);
      this.#put(id, undefined);
    }
    return sending.decision;
  }

  /** Another person or rule decided the ask. A decision that was not sent yet is lost, but its text can be copied. */
  lose(askId: string, outcome: Outcome): void {
    const sending = this.#sendings.get(askId);
    if (!sending || !canUndo(sending)) return;
    this.#stopTimer(askId);
    this.#put(askId, { phase: "lost", decision: sending.decision, label: sending.label, outcome });
  }

  /** Sends the queued decisions. Called when the connection is back. */
  async resume(): Promise<void> {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    const queued = [...this.#sendings].filter(([, sending]) => sending.phase === "queued");
    await Promise.all(queued.map(([askId]) => this.#resume(askId)));
  }

  async #resume(askId: string): Promise<void> {
    const now = await this.readContent?.(askId).catch(() => undefined);
    const sending = this.#sendings.get(askId);
    if (sending?.phase !== "queued") return;
    if (now === undefined) {
      this.#retryLater();
      return;
    }
    const { decision, label, since } = sending;
    const old = decision.kind === "approve" && Date.now() - since > APPROVAL_QUEUE_MS;
    const changed = now !== this.#contents.get(askId);
    if (changed || old) {
      const error = new DecideError("", { stale: changed ? "changed" : "old" });
      this.#put(askId, { phase: "failed", decision, label, error });
    } else await this.#send(askId, decision, label, false, since);
  }

  #retryLater(): void {
    this.#retry ??= setTimeout(() => void this.resume(), RETRY_MS);
  }

  /** Removes a failed or lost decision. */
  clear(askId: string): void {
    const phase = this.#sendings.get(askId)?.phase;
    if (phase === "failed" || phase === "lost") this.#put(askId, undefined);
  }

  /** Sends all held decisions immediately. Called before the page is closed. */
  flush(): void {
    for (const [askId, sending] of [...this.#sendings]) {
      if (sending.phase === "held") void this.#send(askId, sending.decision, sending.label, true);
    }
  }

  /** Calls the listener after each change. Returns a function that removes it. */
  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  async #send(askId: string, decision: Decision, label: string, last: boolean, since = Date.now()): Promise<void> {
    this.#stopTimer(askId);
    this.#put(askId, { phase: "sending", decision, label });
    try {
      await this.decide(askId, decision, { last });
      this.settled(askId);
      this.#put(askId, undefined);
    } catch (thrown) {
      const error = thrown instanceof DecideError ? thrown : new DecideError(String(thrown), { offline: true });
      const { outcome, own, offline } = error.details;
      if (outcome && own) {
        this.settled(askId);
        this.#put(askId, undefined);
      } else if (outcome) this.#put(askId, { phase: "lost", decision, label, outcome });
      else if (offline && this.readContent) {
        this.#put(askId, { phase: "queued", decision, label, since, ...this.#batchOf(askId) });
        this.#retryLater();
      } else this.#put(askId, { phase: "failed", decision, label, error });
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

type Undoable = Extract<Sending, { phase: "held" | "queued" }>;

/** Whether the decision has not been sent yet. */
const canUndo = (sending: Sending): sending is Undoable => sending.phase === "held" || sending.phase === "queued";
