import type { FeedEvent } from "@sayso/sdk";
import { describe, expect, it } from "vitest";
import { anAsk } from "../../../sdk/react/src/test/asks";
import type { Session } from "../api/client";
import { LiveStore } from "./store";

const event = (seq: number, type: string, data: object, sessionId = "ses_1") =>
  ({ seq, at: "", type, sessionId, data }) as FeedEvent;
const answered = anAsk({ status: "answered", reach: null });

describe("the live store", () => {
  it("applies each event once, by its position", () => {
    const store = new LiveStore();
    let told = 0;
    store.subscribe(() => told++);
    store.apply(event(1, "question.requested", anAsk()));
    store.apply(event(2, "question.resolved", answered));
    store.apply(event(1, "question.requested", anAsk()));
    expect([store.seq, store.pending(), store.ask("ask_1"), told]).toEqual([2, [], answered, 2]);
  });

  it("keeps decided asks decided when an older list arrives", () => {
    const store = new LiveStore();
    store.apply(event(5, "question.resolved", answered));
    store.takeAsks([anAsk()]);
    expect(store.pending()).toEqual([]);
  });

  it("applies events about known asks, and ignores others", () => {
    const store = new LiveStore();
    store.takeAsks([answered]);
    store.apply(event(6, "ask.delivery", { id: "ask_1", delivery: "confirmed" }));
    store.apply(event(7, "ask.delivery", { id: "ask_9", delivery: "confirmed" }));
    expect([store.ask("ask_1"), store.ask("ask_9")]).toEqual([{ ...answered, delivery: "confirmed" }, undefined]);
  });

  it("returns the asks that a complete list lacks", () => {
    const store = new LiveStore();
    store.takeAsks([anAsk(), anAsk({ id: "ask_2" })]);
    expect(store.unlisted(new Set(["ask_2"]))).toEqual(["ask_1"]);
  });

  it("keeps sessions up to date, newest first", () => {
    const store = new LiveStore();
    const session = (id: string, createdAt: string) => ({ id, createdAt, agent: "mock", status: "running" }) as Session;
    store.apply(event(1, "session.created", session("ses_1", "2026-01-01")));
    store.apply(event(2, "session.created", session("ses_2", "2026-01-02"), "ses_2"));
    store.apply(event(3, "session.status", { status: "idle" }));
    store.apply(event(4, "session.status", { status: "idle" }, "ses_3"));
    expect(store.sessions().map(({ id, status }) => [id, status])).toEqual([
      ["ses_2", "running"],
      ["ses_1", "idle"],
    ]);
  });

  it("drops old decided asks and no waiting ones", () => {
    const store = new LiveStore();
    store.takeAsks([
      anAsk({ id: "waits" }),
      ...Array.from({ length: 700 }, (_, n) => anAsk({ id: `ask_${n}`, status: "answered" })),
    ]);
    expect([store.ask("waits")?.status, store.ask("ask_0"), store.ask("ask_699")?.status]).toEqual([
      "pending",
      undefined,
      "answered",
    ]);
  });
});
