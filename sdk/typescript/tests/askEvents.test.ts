import { askChange, type FeedEvent } from "@sayso/sdk";
import { expect, it } from "vitest";

const at = "2026-01-01T00:00:00Z";
const event = (type: string, data: object): FeedEvent => ({ type, at, data }) as FeedEvent;

it("reads requests and outcomes of all kinds as an ask", () => {
  const ask = { id: "ask_1", status: "pending" };
  for (const kind of ["question", "approval", "link"]) {
    expect(askChange(event(`${kind}.requested`, ask))).toEqual({ kind: "requested", ask });
    expect(askChange(event(`${kind}.resolved`, ask))).toEqual({ kind: "resolved", ask });
  }
});

it("reads the fields that changed", () => {
  for (const [type, fields] of [
    ["ask.parked", { id: "ask_1", reach: "parked" }],
    ["ask.snoozed", { id: "ask_1", snoozedUntil: at }],
    ["ask.delivery", { id: "ask_1", delivery: "delivered" }],
  ] as const)
    expect(askChange(event(type, fields))).toEqual({ kind: "updated", fields });
});

it("ignores other events, and event types of later servers", () => {
  for (const type of [
    "session.status",
    "message.delta",
    "run.started",
    "agent_question_asked",
    "reset",
    "ask.invented",
  ])
    expect(askChange(event(type, { id: "ask_1" }))).toBeUndefined();
});
