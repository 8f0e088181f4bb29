import { type Ask, askChange, type FeedEvent } from "@sayso/sdk";

/** The ask of an event that reports a new ask or an outcome. */
export function askOf(event: FeedEvent): Ask | undefined {
  const change = askChange(event);
  return change && change.kind !== "updated" ? change.ask : undefined;
}

/** The id of the ask that an event is about. */
export function askIdOf(event: FeedEvent): string | undefined {
  const change = askChange(event);
  return change?.kind === "updated" ? change.fields.id : change?.ask.id;
}
