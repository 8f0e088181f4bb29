import { Backoff, pause } from "./backoff.js";
import { ConnectionError, errorOf, InvalidRequestError, NotFoundError, SaysoError } from "./errors.js";

/** The address of the server and the credentials. */
export interface ConnectOptions {
  /** For example `http://127.0.0.1:4517`. In a page it may be relative to the page. A function is called before each request. */
  baseUrl: string | (() => string);
  /** A token, or a function that returns the current token if tokens expire. Only signing in works without a token. */
  token?: string | (() => string | Promise<string>) | undefined;
  /** The surface that outcomes name as the place of the decision. Letters, digits and `-`. */
  via?: string;
  /** A replacement for `fetch`, for example to use a proxy. */
  fetch?: typeof globalThis.fetch;
}

/** Options of one call. */
export interface CallOptions {
  /** Aborts the call. */
  signal?: AbortSignal | undefined;
  /** Let the request continue after the page is closed. */
  keepalive?: boolean | undefined;
}

/** Options of a call to any route. */
export interface RequestOptions extends CallOptions {
  /** The query parameters. Parameters without a value are omitted. */
  query?: Query;
  /** Sent as JSON. */
  body?: unknown;
  /** Do not repeat the call without a response, because the server returns the result only once. */
  once?: boolean;
  /** Names the call. Two calls with the same key take effect once. By default each call has a key of its own. */
  idempotencyKey?: string | undefined;
}

/** How often a call without a response is repeated. The idempotency key prevents a second effect. */
const RETRIES = 3;

/** Query parameters by name. */
export type Query = Record<string, string | number | boolean | null | undefined>;

/** Calls of the HTTP API. */
export class Http {
  readonly #base: () => string;
  readonly #options: ConnectOptions;

  constructor(options: ConnectOptions) {
    this.#options = options;
    const { baseUrl } = options;
    const fixed = typeof baseUrl === "function" ? undefined : absolute(baseUrl);
    this.#base = () => fixed ?? absolute((baseUrl as () => string)());
  }

  get = <T>(path: string, options: CallOptions & { query?: Query } = {}): Promise<T> =>
    this.request("GET", path, options);

  post = <T>(path: string, body: unknown, options: Omit<RequestOptions, "body"> = {}): Promise<T> =>
    this.request("POST", path, { ...options, body });

  delete = <T>(path: string, options: CallOptions & { query?: Query } = {}): Promise<T> =>
    this.request("DELETE", path, options);

  /** Opens a stream. Throws the result of {@link errorOf} if the server refuses. */
  async open(path: string, query: Query, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const init = { headers: { Accept: "text/event-stream" }, signal, cache: "no-store" as const };
    const response = await this.#fetch(path + search(query), init);
    if (!response.ok || !response.body) throw errorOf(response.status, await readBody(response));
    return response.body;
  }

  /** Sends a call. After a network error, repeats it with the same idempotency key, unless `once` is set. */
  async request<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
    const { query, body, signal, keepalive, once, idempotencyKey } = options;
    const headers: Record<string, string> = {};
    if (body !== undefined) headers["Content-Type"] = "application/json";
    if (method !== "GET") headers["Idempotency-Key"] = idempotencyKey ?? uniqueKey();
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
        if (!isRetryable(error) || left <= 0) throw error;
        await pause(backoff.next(), signal);
      }
    }
  }

  async #fetch(path: string, init: RequestInit): Promise<Response> {
    const { token, via = "sdk", fetch = globalThis.fetch } = this.#options;
    const base = this.#base();
    const secret = typeof token === "function" ? await token() : token;
    const headers: Record<string, string> = { ...(init.headers as Record<string, string>), "X-Sayso-Via": via };
    if (secret) headers.Authorization = `Bearer ${secret}`;
    try {
      return await fetch(`${base}/v1${path}`, { ...init, headers });
    } catch (error) {
      throw lost(error, init.signal, base);
    }
  }
}

function absolute(baseUrl: string): string {
  try {
    return new URL(baseUrl, globalThis.location?.href).href.replace(/\/+$/, "");
  } catch {
    throw new InvalidRequestError("invalid_request", `invalid baseUrl: ${baseUrl}`, 0);
  }
}

/** Whether a call can be repeated: there was no response, or the server is stopping. */
const isRetryable = (error: unknown): boolean =>
  error instanceof ConnectionError || (error instanceof SaysoError && error.status === 503);

/** The error of a failed `fetch`: the caller aborted it, or the connection failed. */
function lost(error: unknown, signal: AbortSignal | null | undefined, where: string): unknown {
  if (signal?.aborted) return signal.reason;
  return new ConnectionError(`no response from ${where}: ${String((error as Error)?.message ?? error)}`, error);
}

async function readBody(response: Response): Promise<unknown> {
  let text: string;
  try {
    text = await response.text();
  } catch (error) {
    throw new ConnectionError("the connection closed before the response was complete", error);
  }
  try {
    return text === "" ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Encodes an id as one path segment. Throws a `NotFoundError` for ids that cannot be one. */
export function part(id: string): string {
  if (typeof id !== "string" || id === "" || id === "." || id === "..") {
    throw new NotFoundError("not_found", `no resource has the id ${JSON.stringify(id)}`, 404);
  }
  return encodeURIComponent(id);
}

function search(query: Query = {}): string {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  return entries.length === 0 ? "" : `?${new URLSearchParams(entries.map(([key, value]) => [key, String(value)]))}`;
}

/** Generates an idempotency key. It also works outside a secure context. */
function uniqueKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
