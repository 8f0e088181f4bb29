import type { Ask, MessageAccepted, NewSession, Session, SessionPage, Transcript } from "./api/index.js";
import type { Asks } from "./asks.js";
import { type EventsOptions, events, type FeedEvent } from "./events.js";
import type { AskContext, Feed } from "./feed.js";
import { type CallOptions, type Http, part } from "./http.js";
import type { ApprovalReply, QuestionReply } from "./replies.js";

/** A callback returns the reply, or returns nothing and replies later. */
// biome-ignore lint/suspicious/noConfusingVoidType: a callback without `return` has this type
export type Maybe<Reply> = Reply | undefined | null | void | Promise<Reply | undefined | null | void>;
/** Called for each question. */
export type OnQuestion = (question: Ask, context: AskContext) => Maybe<QuestionReply>;
/** Called for each approval or link. */
export type OnApproval = (approval: Ask, context: AskContext) => Maybe<ApprovalReply>;

/** Listeners and decisions, for everything that the token can see or for one session. */
export class Listening {
  constructor(
    protected readonly http: Http,
    readonly asks: Asks,
    protected readonly feed: Feed,
    private readonly only?: string,
  ) {}

  /** Calls the listener for each new event of a type, or of all types with `*`. `reset` is also a type. */
  on<Type extends FeedEvent["type"]>(
    type: Type,
    callback: (event: Extract<FeedEvent, { type: Type | "reset" }>) => void,
  ): () => void;
  on(type: "*", callback: (event: FeedEvent) => void): () => void;
  on(type: string, callback: (event: never) => void): () => void {
    return this.feed.onEvent(type, this.only, callback as (event: FeedEvent) => void);
  }

  /** Calls the listener once for each question, including questions that are already pending. */
  onQuestion = (callback: OnQuestion): (() => void) => this.feed.onAsk(["question"], this.only, callback);

  /** Calls the listener once for each approval, including approvals that are already pending. */
  onApproval = (callback: OnApproval): (() => void) => this.feed.onAsk(["approval"], this.only, callback);

  /** Calls the listener once for each link. Approve a link after the person opened it, or deny it. */
  onLink = (callback: OnApproval): (() => void) => this.feed.onAsk(["link"], this.only, callback);

  /** Answers an ask, with one list of entries for each of its questions. */
  replyQuestion = (id: string, answers: string[][], note?: string): Promise<Ask> =>
    this.asks.answer(id, answers, note === undefined ? {} : { note });

  /** Rejects a question. The agent gets the message. */
  rejectQuestion = (id: string, message?: string): Promise<Ask> =>
    this.asks.reject(id, message === undefined ? {} : { message });

  /** Approves a tool call, a plan or a link. */
  approve = (id: string, how?: { choice?: string; input?: Record<string, unknown> }): Promise<Ask> =>
    this.asks.approve(id, how);

  /** Denies a tool call, a plan or a link. The agent gets the message. */
  deny = (id: string, message?: string): Promise<Ask> => this.asks.deny(id, message === undefined ? {} : { message });

  /** The feed, from `since` or from now. Resumes after network errors. */
  events = (options: Omit<EventsOptions, "session"> = {}): AsyncIterableIterator<FeedEvent> =>
    events(this.http, { ...options, session: this.only });
}

/** One session. */
export class SaysoSession extends Listening {
  constructor(
    http: Http,
    asks: Asks,
    feed: Feed,
    /** The session at the time of the call that returned it. */
    readonly info: Session,
  ) {
    super(http, asks, feed, info.id);
  }

  /** The id of the session. */
  get id(): string {
    return this.info.id;
  }

  /** Sends a message to the agent. While asks are pending, it can answer one of them, or throw an `AskPendingError`. */
  message = (text: string, options?: { ifPending?: "queue" }): Promise<MessageAccepted> =>
    this.http.post(`${this.#path}/messages`, { text, ...options });

  /** Interrupts the turn. Pending asks are withdrawn. */
  interrupt = (): Promise<Session> => this.http.post(`${this.#path}/interrupt`, {});

  /** Restarts the agent of an ended session. */
  resume = (): Promise<Session> => this.http.post(`${this.#path}/resume`, {});

  /** Closes the session. */
  close = (): Promise<Session> => this.http.delete(this.#path);

  /** Reads a page of the transcript. */
  transcript = (query: { limit?: number; cursor?: string } = {}): Promise<Transcript> =>
    this.http.get(`${this.#path}/transcript`, { query });

  get #path(): string {
    return `/sessions/${part(this.id)}`;
  }
}

/** A filter for sessions. */
export interface SessionQuery {
  /** Only sessions that have not ended. */
  open?: boolean;
  /** The page size, 1 to 500. */
  limit?: number;
  /** `nextCursor` of the previous page. */
  cursor?: string;
}

/** The sessions that the token can see. */
export class Sessions {
  readonly #http: Http;
  readonly #asks: Asks;
  readonly #feed: Feed;

  constructor(http: Http, asks: Asks, feed: Feed) {
    this.#http = http;
    this.#asks = asks;
    this.#feed = feed;
  }

  /** Starts an agent. */
  create = async (session: NewSession): Promise<SaysoSession> => this.#of(await this.#http.post("/sessions", session));

  /** Lists sessions, newest first. */
  list = (query: SessionQuery = {}, options: CallOptions = {}): Promise<SessionPage> =>
    this.#http.get("/sessions", { query: { ...query }, ...options });

  /** Reads one session, with its pending asks in `info.asks`. */
  get = async (id: string): Promise<SaysoSession> => this.#of(await this.#http.get(`/sessions/${part(id)}`));

  #of(info: Session): SaysoSession {
    return new SaysoSession(this.#http, this.#asks, this.#feed, info);
  }
}
