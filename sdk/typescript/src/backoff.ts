const FIRST = 250;
const LONGEST = 15_000;

/** Exponential backoff with jitter, so that many clients do not reconnect at the same time. */
export class Backoff {
  #wait = FIRST;

  /** The next delay, in milliseconds. */
  next(): number {
    const wait = this.#wait;
    this.#wait = Math.min(LONGEST, wait * 2);
    return wait * (0.8 + Math.random() * 0.4);
  }

  reset(): void {
    this.#wait = FIRST;
  }
}

/** Sleeps. Returns early when the signal aborts. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done);
  });
}
