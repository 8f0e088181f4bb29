import { type FeedEvent, SseReader } from "./sse";

/** How the stream is: connected, or waiting until it tries again. */
export type Connection = { state: "connecting" } | { state: "open" } | { state: "waiting"; retryAt: number };

export interface StreamOptions {
  url: string;
  headers: () => Record<string, string>;
  /** The place to go on from. */
  since: () => number;
  onEvent: (event: FeedEvent) => void;
  onConnection: (connection: Connection) => void;
  onRefused: (status: number) => void;
}

const FIRST_WAIT = 500;
const LONGEST_WAIT = 15_000;
/** The server says something every 15 seconds; after three times that, the line is dead. */
const SILENCE = 45_000;

/** The feed by `fetch`: resumes where it was, waits longer each time, and says honestly how it is. */
export class Stream {
  #stopped = false;
  #wait = FIRST_WAIT;
  #abort = new AbortController();
  #wake: () => void = () => {};

  constructor(private readonly options: StreamOptions) {
    void this.#run();
  }

  stop(): void {
    this.#stopped = true;
    this.#abort.abort();
    this.#wake();
  }

  /** Tries again without waiting. */
  tryNow(): void {
    this.#wake();
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      this.options.onConnection({ state: "connecting" });
      const refused = await this.#connect();
      if (this.#stopped || refused) return;
      this.options.onConnection({ state: "waiting", retryAt: Date.now() + this.#wait });
      await this.#pause(this.#wait);
      this.#wait = Math.min(LONGEST_WAIT, this.#wait * 2);
    }
  }

  /** Reads until the line breaks. True: the server does not want us. */
  async #connect(): Promise<boolean> {
    this.#abort = new AbortController();
    const since = this.options.since();
    try {
      const response = await fetch(`${this.options.url}?since=${since}`, {
        headers: { ...this.options.headers(), Accept: "text/event-stream", "Last-Event-ID": String(since) },
        signal: this.#abort.signal,
        cache: "no-store",
      });
      if (response.status === 401 || response.status === 403) {
        this.options.onRefused(response.status);
        return true;
      }
      if (!response.ok || !response.body) return false;
      this.options.onConnection({ state: "open" });
      this.#wait = FIRST_WAIT;
      await this.#read(response.body);
    } catch {
      // The line broke, which the loop answers.
    }
    return false;
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const reader = body.getReader();
    const decoder = new TextDecoder();
    const sse = new SseReader();
    let silence: ReturnType<typeof setTimeout> | undefined;
    try {
      for (;;) {
        clearTimeout(silence);
        silence = setTimeout(() => this.#abort.abort(), SILENCE);
        const { done, value } = await reader.read();
        if (done) return;
        for (const event of sse.read(decoder.decode(value, { stream: true }))) this.options.onEvent(event);
      }
    } finally {
      clearTimeout(silence);
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
