import type { components } from "./api/index.js";
import { type FeedEvent, ignoreUnknownEvent } from "./events.js";

type Schemas = components["schemas"];

/** A change of an ask: it was requested or resolved, or some of its fields changed. */
export type AskChange =
  | { kind: "requested"; ask: Schemas["AskEvent"] }
  | { kind: "resolved"; ask: Schemas["AskEvent"] }
  | { kind: "updated"; fields: Schemas["AskParked"] | Schemas["AskSnoozed"] | Schemas["AskDelivery"] };

/** The change of an ask that an event reports. `undefined` for events about anything else. */
export function askChange(event: FeedEvent): AskChange | undefined {
  switch (event.type) {
    case "question.requested":
    case "approval.requested":
    case "link.requested":
      return { kind: "requested", ask: event.data };
    case "question.resolved":
    case "approval.resolved":
    case "link.resolved":
      return { kind: "resolved", ask: event.data };
    case "ask.parked":
    case "ask.snoozed":
    case "ask.delivery":
      return { kind: "updated", fields: event.data };
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
