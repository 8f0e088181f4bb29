import type { Ask, AskPage } from "./api/index.js";
import { type Http, part } from "./http.js";
import { endable, REOPENED, type StreamOptions, values } from "./stream.js";

/** Events whose data is an ask. */
export type AskEventType =
  | "question.requested"
  | "question.resolved"
  | "approval.requested"
  | "approval.resolved"
  | "link.requested"
  | "link.resolved";

/** Events that say how far the outcome of an ask has come, or where the ask is. */
export type AskNewsType = "ask.parked" | "ask.snoozed" | "ask.delivery";

/** One event of the feed. Be ready for types that are not named here, and pass over them. */
export type FeedEvent =
  | EachOf<AskEventType, Ask>
  | EachOf<AskNewsType, Partial<Ask> & { id: string }>
  | EachOf<"reset", Record<string, never>>
  | EachOf<OtherEventType, Record<string, unknown>>;

/** One type of event per name, so that the name tells the data. */
type EachOf<Type extends string, Data> = Type extends string ? EventOf<Type, Data> : never;

type OtherEventType =
  | "session.created"
  | "session.status"
  | "session.ended"
  | "message.started"
  | "message.delta"
  | "message.completed"
  | "tool.started"
  | "tool.delta"
  | "tool.updated"
  | "tool.completed"
  | "policy.changed"
  | "notice"
  | "error";

interface EventOf<Type extends string, Data> {
  type: Type;
  /** The place in the feed; live-only events have none. */
  seq?: number;
  at?: string;
  sessionId?: string | null;
  data: Data;
}

export interface EventsOptions extends StreamOptions {
  /** Begin after this place in the feed. Without it, begin now. */
  since?: number | undefined;
  /** Only what belongs to this session. */
  session?: string | undefined;
}

/** The feed as an iterator that resumes where it was. A `reset` says that the past is gone: list again, and go on. */
export function events(http: Http, options: EventsOptions = {}): AsyncIterableIterator<FeedEvent> {
  return endable((signal) => follow(http, { ...options, signal }), options.signal);
}

async function* follow(http: Http, options: EventsOptions & { signal: AbortSignal }): AsyncGenerator<FeedEvent> {
  const path = options.session === undefined ? "/events" : `/sessions/${part(options.session)}/events`;
  let last = options.since;
  // A stream that begins now needs to know where that is, or a broken line would lose what came meanwhile.
  const since = async (signal: AbortSignal) => {
    last ??= (await http.get<AskPage>("/asks", { query: { limit: 1 }, signal })).seq;
    return { since: last };
  };
  for await (const value of values(http, path, since, options)) {
    if (value === REOPENED || !isEvent(value)) continue;
    if (value.type !== "reset" && value.seq !== undefined && value.seq <= (last ?? 0)) continue;
    last = value.seq ?? last;
    yield value;
  }
}

const isEvent = (value: unknown): value is FeedEvent =>
  typeof value === "object" && value !== null && typeof (value as FeedEvent).type === "string";
