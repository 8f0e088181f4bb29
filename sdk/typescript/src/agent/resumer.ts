import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Claim } from "../api/index.js";
import { pause } from "../backoff.js";
import { ClaimLostError, StateUnreadableError } from "../errors.js";
import { type AgentClient, defaultClient } from "./client.js";
import { RunClaim } from "./results.js";
import { abortable, persist } from "./waiting.js";

/** One call waits this long for a complete group, in seconds. */
const WAIT = 30;
/** The lease of a claim, in seconds. It is renewed three times in this time. */
export const LEASE = 60;
/** The pause after a group whose state cannot be read, in milliseconds. */
const PAUSE_AFTER_UNREADABLE = 1000;

/** Resumes one run. */
export type Resume = (claim: RunClaim) => unknown;

const NAME = Symbol.for("sayso.resumer");

/** Says which runs a function resumes: `sayso-resume ./app.js#resume` claims groups of this name. */
export function resumer<F extends Resume>(name: string, resume: F): F & { [NAME]: string } {
  return Object.assign(resume, { [NAME]: name });
}

export const nameOf = (resume: Resume): string | undefined => (resume as Partial<{ [NAME]: string }>)[NAME];

/** How a worker resumes runs. */
export interface ResumeOptions {
  /** The client, by default for the server and the agent token of this machine. */
  client?: AgentClient | undefined;
  /** The name of this worker, which people see. */
  worker?: string | undefined;
  /** Seconds until a silent worker counts as lost. */
  lease?: number | undefined;
  /** Return when no group is complete. */
  once?: boolean | undefined;
  /** Claims no further group after this signal, and returns when the current run is finished. */
  stop?: AbortSignal | undefined;
  /** Abandons the current run: its claim is released, and a person decides whether the run is resumed again. */
  abort?: AbortSignal | undefined;
  /** Receives a line for people about each run. */
  report?: ((line: string) => void) | undefined;
}

/** Waits for complete groups of a name, claims one at a time, and calls the function. If it returns, the run counts as resumed.
 * If it throws, a person decides whether the run is resumed again, because tools may have been called. */
export async function resumeAll(resume: Resume, name: string, options: ResumeOptions = {}): Promise<void> {
  const worker = new Worker(resume, name, options);
  while (!options.stop?.aborted && !options.abort?.aborted) {
    if (!(await worker.resumeNext()) && options.once) return;
  }
}

class Worker {
  readonly #groups;
  readonly #lease: number;
  readonly #ended: AbortSignal;
  readonly #report: (line: string) => void;

  constructor(
    private readonly resume: Resume,
    private readonly name: string,
    private readonly options: ResumeOptions,
  ) {
    this.#groups = (options.client ?? defaultClient()).groups;
    this.#lease = options.lease ?? LEASE;
    this.#report = options.report ?? (() => {});
    const signals = [options.stop, options.abort].filter((signal) => signal !== undefined);
    this.#ended = AbortSignal.any(signals);
  }

  /** Resumes one run. Returns whether there was one. */
  async resumeNext(): Promise<boolean> {
    const claim = await this.#claim();
    if (!claim) return false;
    if (this.#ended.aborted) {
      // The signal came while the claim was on its way. Nothing ran, so another worker can have it.
      await this.#groups.release(claim, false);
      return false;
    }
    await this.#resume(claim);
    return true;
  }

  async #claim(): Promise<Claim | undefined> {
    const { once, worker = `${hostname()}:${process.pid}` } = this.options;
    const lease = `${this.#lease}s`;
    const wait = once ? 0 : WAIT;
    // If the reply to a claim is lost, the same key gets the same claim again. Otherwise it would expire, although nothing ran.
    const idempotencyKey = randomUUID();
    try {
      const ready = await persist(() => this.#groups.ready(this.name, wait, { signal: this.#ended }), this.#ended);
      if (ready === 0) return undefined;
      const claim = () => this.#groups.claim({ name: this.name, worker, lease }, { idempotencyKey });
      return await persist(claim, this.options.abort);
    } catch (error) {
      if (this.#ended.aborted) return undefined;
      if (!(error instanceof StateUnreadableError)) throw error;
      this.#report(`cannot resume: ${error.message}`);
      await pause(PAUSE_AFTER_UNREADABLE, this.#ended);
      return undefined;
    }
  }

  async #resume(claimed: Claim): Promise<void> {
    const lost = new AbortController();
    const { abort } = this.options;
    const claim = new RunClaim(claimed, abort ? AbortSignal.any([abort, lost.signal]) : lost.signal);
    const { groupId } = claim;
    this.#report(`resuming ${groupId}`);
    const ended = new AbortController();
    void this.#renew(claim, lost, ended.signal);
    try {
      // A run cannot be interrupted from outside. It is no longer waited for after its claim was lost.
      await abortable(
        Promise.resolve().then(() => this.resume(claim)),
        claim.signal,
      );
      await persist(() => this.#groups.acknowledge(claim), claim.signal);
      this.#report(`resumed ${groupId}`);
    } catch (error) {
      if (lost.signal.aborted || error instanceof ClaimLostError) this.#report(`lost the claim of ${groupId}`);
      else await this.#release(claim, error);
    } finally {
      ended.abort();
    }
  }

  async #release(claim: RunClaim, error: unknown): Promise<void> {
    const { abort } = this.options;
    const stopped = abort?.aborted === true;
    this.#report(stopped ? `stopped ${claim.groupId}` : `failed to resume ${claim.groupId}: ${String(error)}`);
    // The message may contain data of the run, so people get the class only.
    const reason = stopped ? "The worker was stopped." : error instanceof Error ? error.name : "Error";
    try {
      const release = () => this.#groups.release(claim, true, reason);
      await (stopped ? release() : persist(release, abort));
    } catch (failure) {
      // Without a report, the lease expires, and a person decides as well.
      this.#report(`cannot release ${claim.groupId}: ${String(failure)}`);
    }
  }

  /** Extends the lease until the run has ended. Aborts the run if the claim is lost. */
  async #renew(claim: RunClaim, lost: AbortController, ended: AbortSignal): Promise<void> {
    for (;;) {
      await pause((this.#lease * 1000) / 3, ended);
      if (ended.aborted) return;
      try {
        await persist(() => this.#groups.renew(claim, `${this.#lease}s`), ended);
      } catch (error) {
        if (!ended.aborted) lost.abort(error);
        return;
      }
    }
  }
}
