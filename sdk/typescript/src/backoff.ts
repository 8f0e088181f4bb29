const FIRST = 250;
const LONGEST = 15_000;

/** Waits that double, with some chance in them so that a thousand clients do not come back at once. */
export class Backoff {
  #wait = FIRST;

  /** How long to wait now, in milliseconds. */
  next(): number {
    const wait = this.#wait;
    this.#wait = Math.min(LONGEST, wait * 2);
    return wait * (0.8 + Math.random() * 0.4);
  }

  reset(): void {
    this.#wait = FIRST;
  }
}

/** Sleeps, or less when the signal is given. */
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
