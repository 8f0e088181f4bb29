import { Backoff, pause } from "./backoff.js";
import { ConnectionError, errorOf, InvalidRequestError, NotFoundError, SaysoError } from "./errors.js";

/** Where the server is, and who we are. */
export interface ConnectOptions {
  /** For example `http://127.0.0.1:4517`. In a page it may be relative to the page. */
  baseUrl: string;
  /** A token, or a function that returns the current one: for tokens that expire. Only signing in needs none. */
  token?: string | (() => string | Promise<string>) | undefined;
  /** What outcomes say about where the decision was made. Letters, digits and `-`. */
  via?: string;
  /** A `fetch` of one's own, for proxies. */
  fetch?: typeof globalThis.fetch;
}

export interface CallOptions {
  signal?: AbortSignal | undefined;
  /** The page is going away: the call goes on without it. */
  keepalive?: boolean | undefined;
}

export interface RequestOptions extends CallOptions {
  query?: Query;
  /** Sent as JSON. */
  body?: unknown;
  /** The reply is given only once, so the call is not repeated when no reply came. */
  once?: boolean;
}

/** How often a call is sent again when no reply came. It has its effect once all the same. */
const RETRIES = 3;

export type Query = Record<string, string | number | boolean | null | undefined>;

/** Calls of the HTTP API. */
export class Http {
  readonly #base: string;
  readonly #options: ConnectOptions;

  constructor(options: ConnectOptions) {
    this.#options = options;
    try {
      this.#base = new URL(options.baseUrl, globalThis.location?.href).href.replace(/\/+$/, "");
    } catch {
      throw new InvalidRequestError("invalid_request", `baseUrl is not an address: ${options.baseUrl}`, 0);
    }
  }

  get = <T>(path: string, options: CallOptions & { query?: Query } = {}): Promise<T> =>
    this.request("GET", path, options);

  post = <T>(path: string, body: unknown, options: CallOptions & { once?: boolean } = {}): Promise<T> =>
    this.request("POST", path, { ...options, body });

  delete = <T>(path: string, options: CallOptions & { query?: Query } = {}): Promise<T> =>
    this.request("DELETE", path, options);

  /** Begins a stream. Throws what {@link errorOf} makes of a refusal. */
  async open(path: string, query: Query, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const init = { headers: { Accept: "text/event-stream" }, signal, cache: "no-store" as const };
    const response = await this.#fetch(path + search(query), init);
    if (!response.ok || !response.body) throw errorOf(response.status, await readBody(response));
    return response.body;
  }

  /** Sends a call, and again with the same key when the line breaks, unless its reply is given only `once`. */
  async request<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
    const { query, body, signal, keepalive, once } = options;
    const headers: Record<string, string> = {};
    if (body !== undefined) headers["Content-Type"] = "application/json";
    if (method !== "GET") headers["Idempotency-Key"] = uniqueKey();
    const init: RequestInit = { method, headers, cache: "no-store" };
    if (body !== undefined) init.body = JSON.stringify(body);
    if (signal) init.signal = signal;
    if (keepalive) init.keepalive = true;
    const backoff = new Backoff();
    for (let left = once ? 0 : RETRIES; ; left--) {
      try {
        const response = await this.#fetch(path + search(query), init);
        const read = await readBody(response);
        if (response.ok) return read as T;
        throw errorOf(response.status, read);
      } catch (error) {
        if (!worthRepeating(error) || left <= 0) throw error;
        await pause(backoff.next(), signal);
      }
    }
  }

  async #fetch(path: string, init: RequestInit): Promise<Response> {
    const { token, via = "sdk", fetch = globalThis.fetch } = this.#options;
    const secret = typeof token === "function" ? await token() : token;
    const headers: Record<string, string> = { ...(init.headers as Record<string, string>), "X-Sayso-Via": via };
    if (secret) headers.Authorization = `Bearer ${secret}`;
    try {
      return await fetch(`${this.#base}/v1${path}`, { ...init, headers });
    } catch (error) {
      throw lost(error, init.signal, this.#base);
    }
  }
}

/** No reply came, or the server is just stopping: it did nothing, or knows the key. */
const worthRepeating = (error: unknown): boolean =>
  error instanceof ConnectionError || (error instanceof SaysoError && error.status === 503);

/** What a failed `fetch` means: the caller's own wish, or a broken line. */
function lost(error: unknown, signal: AbortSignal | null | undefined, where: string): unknown {
  if (signal?.aborted) return signal.reason;
  return new ConnectionError(`no reply from ${where}: ${String((error as Error)?.message ?? error)}`, error);
}

async function readBody(response: Response): Promise<unknown> {
  let text: string;
  try {
    text = await response.text();
  } catch (error) {
    throw new ConnectionError("the reply broke off", error);
  }
  try {
    return text === "" ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** An id as one part of a path. What cannot be one names nothing. */
export function part(id: string): string {
  if (typeof id !== "string" || id === "" || id === "." || id === "..") {
    throw new NotFoundError("not_found", `there is nothing with the id ${JSON.stringify(id)}`, 404);
  }
  return encodeURIComponent(id);
}

function search(query: Query = {}): string {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  return entries.length === 0 ? "" : `?${new URLSearchParams(entries.map(([key, value]) => [key, String(value)]))}`;
}

/** A name for one act, so that sending it twice has its effect once. Works without a secure context too. */
function uniqueKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
