import type { GatewayEvent } from "./api/index.js";
import { InvalidRequestError, NotFoundError } from "./errors.js";
import { type ConnectOptions, Http, part } from "./http.js";
import { endable, REOPENED, type StreamOptions, values } from "./stream.js";

/** A value of a session stream. `reopened` means that the stream reconnected and sends the pending asks again. */
export type SessionEvent = GatewayEvent | { type: "reopened"; data: Record<string, never> };

/** Connects a component with an agent, by session and tool call. */
export interface Transport {
  /** Answers by position: `{"0": "SQLite", "1": "[\"Auth\",\"Billing\"]"}`. Lists are for questions with several choices. */
  submitAnswers(sessionId: string, toolCallId: string, answers: Record<string, string>): Promise<{ ok: boolean }>;
  /** Approves the tool call. */
  approveTool(sessionId: string, toolCallId: string): Promise<{ ok: boolean }>;
  /** Denies the tool call. */
  denyTool(sessionId: string, toolCallId: string): Promise<{ ok: boolean }>;
  /** Streams the events of the session, starting with the pending asks. */
  stream(sessionId: string, options?: StreamOptions): AsyncIterable<SessionEvent>;
}

/** Uses the gateway API of the server over HTTP. */
export class HttpTransport implements Transport {
  readonly #http: Http;

  constructor(to: ConnectOptions | Http) {
    this.#http = to instanceof Http ? to : new Http(to);
  }

  submitAnswers = (sessionId: string, toolCallId: string, answers: Record<string, string>): Promise<{ ok: boolean }> =>
    this.#post(sessionId, "submit-answers", { toolCallId, answers });

  /** Approves the tool call. */
  approveTool = (sessionId: string, toolCallId: string): Promise<{ ok: boolean }> =>
    this.#post(sessionId, "approve", { toolCallId });

  /** Denies the tool call. */
  denyTool = (sessionId: string, toolCallId: string): Promise<{ ok: boolean }> =>
    this.#post(sessionId, "deny", { toolCallId });

  stream = (sessionId: string, options: StreamOptions = {}): AsyncIterableIterator<SessionEvent> =>
    endable((signal) => this.#follow(sessionId, { ...options, signal }), options.signal);

  async #post(sessionId: string, how: string, body: object): Promise<{ ok: boolean }> {
    return this.#http.post(`/sessions/${part(sessionId)}/${how}`, body);
  }

  async *#follow(sessionId: string, options: StreamOptions & { signal: AbortSignal }): AsyncGenerator<SessionEvent> {
    const path = `/sessions/${part(sessionId)}/stream`;
    for await (const value of values(this.#http, path, async () => ({}), options)) {
      if (value === REOPENED) yield { type: "reopened", data: {} };
      else if (typeof (value as SessionEvent | null)?.type === "string") yield value as SessionEvent;
    }
  }
}

/** Functions that a host in the same process gives to {@link DirectTransport}. They return whether an ask was pending, and
 * throw on failure. */
export interface Services {
  /** Answers the question of a tool call, by position. */
  submitAnswers(sessionId: string, toolCallId: string, answers: Record<string, string>): Promise<boolean>;
  /** Approves the tool call. */
  approveTool(sessionId: string, toolCallId: string): Promise<boolean>;
  /** Denies the tool call. */
  denyTool(sessionId: string, toolCallId: string): Promise<boolean>;
  /** Streams the events of the session, starting with the pending asks. */
  stream(sessionId: string, options?: StreamOptions): AsyncIterable<SessionEvent>;
}

/** Calls functions instead of HTTP, for pages whose server or main process has the client. */
export class DirectTransport implements Transport {
  readonly #services: Services;

  constructor(services: Services) {
    this.#services = services;
  }

  submitAnswers = async (sessionId: string, toolCallId: string, answers: Record<string, string>) => {
    if (!toolCallId || typeof answers !== "object" || answers === null) {
      throw new InvalidRequestError("malformed_request", "toolCallId and answers are required", 400);
    }
    return found("question", await this.#services.submitAnswers(sessionId, toolCallId, answers));
  };

  /** Approves the tool call. */
  approveTool = async (sessionId: string, toolCallId: string) =>
    found("approval", await this.#services.approveTool(sessionId, named(toolCallId)));

  /** Denies the tool call. */
  denyTool = async (sessionId: string, toolCallId: string) =>
    found("approval", await this.#services.denyTool(sessionId, named(toolCallId)));

  stream = (sessionId: string, options: StreamOptions = {}): AsyncIterable<SessionEvent> =>
    this.#services.stream(sessionId, options);
}

function named(toolCallId: string): string {
  if (!toolCallId) throw new InvalidRequestError("malformed_request", "toolCallId is required", 400);
  return toolCallId;
}

function found(what: "question" | "approval", waited: boolean): { ok: true } {
  if (!waited) throw new NotFoundError("ask_not_found", `No pending ${what}`, 404);
  return { ok: true };
}
