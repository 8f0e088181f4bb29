import { Backoff, pause } from "./backoff.js";
import { SaysoError } from "./errors.js";
import type { Http } from "./http.js";
import { SseReader } from "./sse.js";

/** The state of a stream. */
export type Connection =
  | { state: "connecting" }
  | { state: "open" }
  /** The connection failed. The next attempt is at this time, in milliseconds like `Date.now()`. */
  | { state: "waiting"; retryAt: number }
  /** There are no listeners, or the server refused with `error`. There is no automatic retry. */
  | { state: "closed"; error?: unknown };

/** Options of a stream. */
export interface StreamOptions {
  /** Ends the stream. */
  signal?: AbortSignal | undefined;
  /** Called when the state of the stream changes. */
  onConnection?: ((connection: Connection) => void) | undefined;
}

/** The server sends a comment every 15 seconds. After three missed comments the connection counts as lost. */
const SILENCE = 45_000;

/** Statuses after which the stream is opened again. */
const isTemporaryStatus = (error: unknown): boolean =>
  !(error instanceof SaysoError) || error.status === 0 || error.status === 429 || error.status >= 500;

/** The values of a stream, which reconnects after network errors. `query` is called before each attempt. The iterator ends
 * when `signal` aborts, when the caller leaves the loop, or with the error of a server that refuses. */
export async function* values(
  http: Http,
  path: string,
  query: (signal: AbortSignal) => Promise<Record<string, number | undefined>>,
  { signal, onConnection }: StreamOptions & { signal: AbortSignal },
): AsyncGenerator<unknown> {
  const backoff = new Backoff();
  let opened = false;
  while (!signal.aborted) {
    onConnection?.({ state: "connecting" });
    const line = new AbortController();
    const cut = () => line.abort();
    signal.addEventListener("abort", cut);
    try {
      const body = await http.open(path, await query(signal), line.signal);
      onConnection?.({ state: "open" });
      if (opened) yield REOPENED;
      opened = true;
      yield* read(body, line, backoff);
    } catch (error) {
      if (!signal.aborted && !isTemporaryStatus(error)) {
        onConnection?.({ state: "closed", error });
        throw error;
      }
    } finally {
      signal.removeEventListener("abort", cut);
      line.abort();
    }
    if (signal.aborted) break;
    const wait = backoff.next();
    onConnection?.({ state: "waiting", retryAt: Date.now() + wait });
    await pause(wait, signal);
  }
  onConnection?.({ state: "closed" });
}

/** Marks the place between values where the stream was opened again. */
export const REOPENED = Symbol("reopened");

async function* read(
  body: ReadableStream<Uint8Array>,
  line: AbortController,
  backoff: Backoff,
): AsyncGenerator<unknown> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const sse = new SseReader();
  for (;;) {
    const silence = setTimeout(() => line.abort(), SILENCE);
    const { done, value } = await reader.read().finally(() => clearTimeout(silence));
    if (done) return;
    backoff.reset();
    yield* sse.read(decoder.decode(value, { stream: true }));
  }
}

/** An iterator that can be closed while a caller waits for its next value. */
export function endable<T>(
  make: (signal: AbortSignal) => AsyncGenerator<T>,
  outer: AbortSignal | undefined,
): AsyncIterableIterator<T> {
  const own = new AbortController();
  const stop = () => own.abort();
  if (outer?.aborted) stop();
  outer?.addEventListener("abort", stop, { signal: own.signal });
  const inner = make(own.signal);
  return {
    next: () => inner.next(),
    return: () => {
      stop();
      return inner.return(undefined);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
