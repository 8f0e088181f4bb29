import { titleOf } from "@sayso/react";
import type { FeedEvent } from "@sayso/sdk";
import { askOf } from "../live/events";

export const EVENT_KINDS = ["all", "asks", "tools", "messages"] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

const OF_KIND: Record<Exclude<EventKind, "all">, RegExp> = {
  asks: /^(question|approval|link|ask)\./,
  tools: /^tool\./,
  messages: /^message\./,
};

export const isOfKind = (event: FeedEvent, kind: EventKind): boolean =>
  kind === "all" || OF_KIND[kind].test(event.type);

/** One line about an event. */
export function summaryOf(event: FeedEvent): string {
  const { type } = event;
  const data = event.data as Record<string, unknown>;
  const ask = askOf(event);
  if (ask) {
    const by = ask.outcome?.by;
    const who = by ? [by.name ?? by.rule ?? by.kind, by.via].filter(Boolean).join(", ") : "";
    return [ask.status === "pending" ? "" : ask.status, titleOf(ask).text, who].filter(Boolean).join(" · ");
  }
  if (type.startsWith("message.")) return `${data.role ?? ""}: ${String(data.text ?? "")}`;
  if (type.startsWith("tool.")) return `${data.name ?? ""} ${data.status ?? ""}`;
  if (type === "ask.delivery") return String(data.delivery ?? "");
  if (type.startsWith("session.")) return String(data.status ?? data.title ?? "");
  return String(data.text ?? JSON.stringify(data));
}
