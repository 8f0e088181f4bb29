import { Backoff, pause } from "../backoff.js";
import { SaysoError } from "../errors.js";

/** Whether the same call can succeed later without any change. */
const isPassing = (error: unknown): boolean =>
  error instanceof SaysoError && (error.code === "connection_lost" || error.status === 429 || error.status >= 500);

/** Repeats a call until the server replies, however long that takes. */
export async function persist<T>(call: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const backoff = new Backoff();
  for (;;) {
    signal?.throwIfAborted();
    try {
      return await call();
    } catch (error) {
      if (!isPassing(error)) throw error;
      await pause(backoff.next(), signal);
    }
  }
}

/** The result of the promise, or the reason of the signal if that aborts first. */
export async function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  let abort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort);
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** Makes the calls at once. If one fails, the signal of the others aborts, and their asks are withdrawn. */
export async function allOf<T>(
  calls: readonly ((signal: AbortSignal) => Promise<T>)[],
  signal: AbortSignal | undefined,
): Promise<T[]> {
  const failed = new AbortController();
  const either = signal ? AbortSignal.any([signal, failed.signal]) : failed.signal;
  try {
    return await Promise.all(calls.map((call) => call(either)));
  } catch (error) {
    failed.abort(error);
    throw error;
  }
}
