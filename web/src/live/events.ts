import { type Ask, type FeedEvent, ignoreUnknownEvent } from "@sayso/sdk";

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
    case "ask.parked":
    case "ask.snoozed":
    case "ask.delivery":
    case "session.created":
    case "session.status":
    case "session.ended":
    case "message.delta":
    case "message.completed":
    case "tool.started":
    case "tool.updated":
    case "tool.completed":
    case "notice":
    case "error":
    case "policy.changed":
    case "run.started":
    case "run.completed":
    case "run.failed":
    case "run.cancelled":
    case "step.started":
    case "step.completed":
    case "step.failed":
    case "step.cancelled":
    case "agent_question_asked":
    case "agent_question_answered":
    case "reset":
      return undefined;
    default:
      ignoreUnknownEvent(event);
      return undefined;
  }
}

/** The id of the ask that an event is about. */
export function askIdOf(event: FeedEvent): string | undefined {
  if (event.type === "ask.parked" || event.type === "ask.snoozed" || event.type === "ask.delivery")
    return event.data.id;
  return askOf(event)?.id;
}
