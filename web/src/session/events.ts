import { type Ask, titleOf } from "@sayso/react";
import { type FeedEvent, ignoreUnknownEvent } from "@sayso/sdk";

export const EVENT_KINDS = ["all", "asks", "tools", "messages"] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

const OF_KIND: Record<Exclude<EventKind, "all">, RegExp> = {
  asks: /^(question|approval|link|ask)\./,
  tools: /^tool\./,
  messages: /^message\./,
};

export const isOfKind = (event: FeedEvent, kind: EventKind): boolean =>
  kind === "all" || OF_KIND[kind].test(event.type);

function summaryOfAsk(ask: Ask): string {
  const by = ask.outcome?.by;
  const who = by ? [by.name ?? by.rule ?? by.kind, by.via].filter(Boolean).join(", ") : "";
  return [ask.status === "pending" ? "" : ask.status, titleOf(ask).text, who].filter(Boolean).join(" · ");
}

/** One line about an event. */
export function summaryOf(event: FeedEvent): string {
  switch (event.type) {
    case "question.requested":
    case "approval.requested":
    case "link.requested":
    case "question.resolved":
    case "approval.resolved":
    case "link.resolved":
      return summaryOfAsk(event.data);
    case "ask.delivery":
      return event.data.delivery;
    case "message.completed":
      return `${event.data.role}: ${event.data.text}`;
    case "message.delta":
    case "notice":
    case "error":
      return event.data.text;
    case "tool.started":
    case "tool.updated":
    case "tool.completed":
      return `${event.data.name} ${event.data.status}`;
    case "session.created":
    case "session.status":
    case "session.ended":
      return event.data.status;
    case "ask.parked":
    case "ask.snoozed":
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
      return JSON.stringify(event.data);
    default:
      ignoreUnknownEvent(event);
      return JSON.stringify((event as FeedEvent).data);
  }
}
