import type { Ask, MessageAccepted, NewSession, Session, SessionPage, Transcript } from "./api/index.js";
import type { Asks } from "./asks.js";
import { type EventsOptions, events, type FeedEvent } from "./events.js";
import type { AskContext, Feed } from "./feed.js";
import { type CallOptions, type Http, part } from "./http.js";
import type { ApprovalReply, QuestionReply } from "./replies.js";

/** What a callback may do: return the reply, or nothing and reply later. */
// biome-ignore lint/suspicious/noConfusingVoidType: a callback without `return` has this type
export type Maybe<Reply> = Reply | undefined | null | void | Promise<Reply | undefined | null | void>;
export type OnQuestion = (question: Ask, context: AskContext) => Maybe<QuestionReply>;
export type OnApproval = (approval: Ask, context: AskContext) => Maybe<ApprovalReply>;

/** Listening and deciding, for everything that the token sees or for one session. */
export class Listening {
  constructor(
    protected readonly http: Http,
    readonly asks: Asks,
    protected readonly feed: Feed,
    private readonly only?: string,
  ) {}

  /** Calls back for each event of a type, or of every type with `*`, from now on. Also for `reset`. */
  on<Type extends FeedEvent["type"]>(
    type: Type,
    callback: (event: Extract<FeedEvent, { type: Type | "reset" }>) => void,
  ): () => void;
  on(type: "*", callback: (event: FeedEvent) => void): () => void;
  on(type: string, callback: (event: never) => void): () => void {
    return this.feed.onEvent(type, this.only, callback as (event: FeedEvent) => void);
  }

  /** Calls back once for each question, also for those that wait already. */
  onQuestion = (callback: OnQuestion): (() => void) => this.feed.onAsk(["question"], this.only, callback);

  /** Calls back once for each approval, also for those that wait already. */
  onApproval = (callback: OnApproval): (() => void) => this.feed.onAsk(["approval"], this.only, callback);

  /** Calls back once for each link. It is approved when the person has opened it, or denied. */
  onLink = (callback: OnApproval): (() => void) => this.feed.onAsk(["link"], this.only, callback);

  /** Answers a question: one list of entries per question of the set. */
  replyQuestion = (id: string, answers: string[][], note?: string): Promise<Ask> =>
    this.asks.answer(id, answers, note === undefined ? {} : { note });

  rejectQuestion = (id: string, message?: string): Promise<Ask> =>
    this.asks.reject(id, message === undefined ? {} : { message });

  approve = (id: string, how?: { choice?: string; input?: Record<string, unknown> }): Promise<Ask> =>
    this.asks.approve(id, how);

  deny = (id: string, message?: string): Promise<Ask> => this.asks.deny(id, message === undefined ? {} : { message });

  /** The feed, from `since` or from now, resuming by itself. */
  events = (options: Omit<EventsOptions, "session"> = {}): AsyncIterableIterator<FeedEvent> =>
    events(this.http, { ...options, session: this.only });
}

/** One session. */
export class SaysoSession extends Listening {
  constructor(
    http: Http,
    asks: Asks,
    feed: Feed,
    /** The session as it was when it was read. */
    readonly info: Session,
  ) {
    super(http, asks, feed, info.id);
  }

  get id(): string {
    return this.info.id;
  }

  /** Says something. While asks wait, it may answer one, or throw an `AskPendingError`. */
  message = (text: string, options?: { ifPending?: "queue" }): Promise<MessageAccepted> =>
    this.http.post(`${this.#path}/messages`, { text, ...options });

  /** Ends the turn; what is open is withdrawn. */
  interrupt = (): Promise<Session> => this.http.post(`${this.#path}/interrupt`, {});

  resume = (): Promise<Session> => this.http.post(`${this.#path}/resume`, {});

  /** Ends the session. */
  close = (): Promise<Session> => this.http.delete(this.#path);

  transcript = (query: { limit?: number; cursor?: string } = {}): Promise<Transcript> =>
    this.http.get(`${this.#path}/transcript`, { query });

  get #path(): string {
    return `/sessions/${part(this.id)}`;
  }
}

export interface SessionQuery {
  open?: boolean;
  limit?: number;
  cursor?: string;
}

/** The sessions that the token sees. */
export class Sessions {
  readonly #http: Http;
  readonly #asks: Asks;
  readonly #feed: Feed;

  constructor(http: Http, asks: Asks, feed: Feed) {
    this.#http = http;
    this.#asks = asks;
    this.#feed = feed;
  }

  create = async (session: NewSession): Promise<SaysoSession> => this.#of(await this.#http.post("/sessions", session));

  list = (query: SessionQuery = {}, options: CallOptions = {}): Promise<SessionPage> =>
    this.#http.get("/sessions", { query: { ...query }, ...options });

  /** One session, with its pending asks in `info.asks`. */
  get = async (id: string): Promise<SaysoSession> => this.#of(await this.#http.get(`/sessions/${part(id)}`));

  #of(info: Session): SaysoSession {
    return new SaysoSession(this.#http, this.#asks, this.#feed, info);
  }
}
