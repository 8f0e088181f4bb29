import type { AskPage, components } from "./api/index.js";
import { type Http, part } from "./http.js";
import { endable, REOPENED, type StreamOptions, values } from "./stream.js";

/** Sent instead of events that the server no longer stores. */
type Reset = components["schemas"]["ResetEvent"];

/** One event of the feed, or a `reset`. `type` determines the type of `data`. Later servers can send other types: end every
 * switch with `default: ignoreUnknownEvent(event)`. */
export type FeedEvent =
  | Exclude<components["schemas"]["Event"], Reset>
  | (Reset & { at?: undefined; sessionId?: undefined });

/** Ends a switch over event types. The compiler checks that the switch handles all known types. At run time, unknown types
 * are ignored. */
export function ignoreUnknownEvent(_event: never): void {}

/** The part of the feed to stream. */
export interface EventsOptions extends StreamOptions {
  /** Start after this feed position. By default, start now. */
  since?: number | undefined;
  /** Only events of this session. */
  session?: string | undefined;
}

/** The feed as an iterator that resumes after network errors. After a `reset`, list the resources again and continue. */
export function events(http: Http, options: EventsOptions = {}): AsyncIterableIterator<FeedEvent> {
  const path = options.session === undefined ? "/events" : `/sessions/${part(options.session)}/events`;
  return endable((signal) => follow(http, path, { ...options, signal }), options.signal);
}

/** The outcomes of the asks that the token opened, as an iterator that resumes after network errors. After a `reset`, read
 * the asks that you wait for. */
export function outcomes(http: Http, options: Omit<EventsOptions, "session"> = {}): AsyncIterableIterator<FeedEvent> {
  return endable((signal) => follow(http, "/outcomes", { ...options, signal }), options.signal);
}

async function* follow(
  http: Http,
  path: string,
  options: EventsOptions & { signal: AbortSignal },
): AsyncGenerator<FeedEvent> {
  let last = options.since;
  // A stream that starts now needs its feed position, or it would lose events while it reconnects.
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
