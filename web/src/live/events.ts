import type { Ask, FeedEvent } from "@sayso/sdk";

/** The ask of an event that says how it was opened or decided. */
export function askOf(event: FeedEvent): Ask | undefined {
  switch (event.type) {
    case "question.requested":
    case "approval.requested":
    case "link.requested":
    case "question.resolved":
    case "approval.resolved":
    case "link.resolved":
      return event.data;
    default:
      return undefined;
  }
}
