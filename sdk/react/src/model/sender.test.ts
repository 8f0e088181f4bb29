import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Decision, Outcome } from "../api";
import { type Decide, DecideError, Sender } from "./sender";

const yes: Decision = { kind: "approve" };
const outcome: Outcome = {
  status: "approved",
  by: { kind: "person", name: "ada", via: "terminal" },
  at: "2026-11-15T14:00:00Z",
};

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("a sender", () => {
  it("holds a decision, sends it once, and reports it as settled", async () => {
    const decide = vi.fn<Decide>().mockResolvedValue();
    const settled = vi.fn();
    const sender = new Sender(decide, settled);
    sender.hold("a", yes, "Approve", 3000);
    sender.hold("a", { kind: "deny" }, "Deny", 3000);
    expect(sender.get("a")).toMatchObject({ phase: "held", decision: yes, label: "Approve" });
    await vi.advanceTimersByTimeAsync(2999);
    expect(decide).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(decide.mock.calls).toEqual([["a", yes, { last: false }]]);
    expect([sender.get("a"), settled.mock.calls]).toEqual([undefined, [["a"]]]);
  });

  it("undoes held decisions, newest first", async () => {
    const decide = vi.fn<Decide>().mockResolvedValue();
    const sender = new Sender(decide);
    sender.hold("a", yes, "Approve", 3000);
    sender.hold("b", yes, "Approve", 3000);
    expect(sender.newestHeld()).toBe("b");
    expect(sender.undo("b")).toEqual(yes);
    expect([sender.newestHeld(), sender.undo("b")]).toEqual(["a", undefined]);
    await vi.advanceTimersByTimeAsync(5000);
    expect(decide.mock.calls.map(([askId]) => askId)).toEqual(["a"]);
  });

  it("lists decisions that can be undone and refused ones, each batch once", async () => {
    const sender = new Sender((askId) =>
      askId === "a" ? Promise.reject(new DecideError("no")) : new Promise(() => {}),
    );
    const listed = () => sender.unsettled().map(({ askIds, sending }) => [askIds.join(), sending.phase]);
    sender.hold("a", yes, "Approve", 0);
    sender.hold("on its way", yes, "Approve", 0);
    await vi.advanceTimersByTimeAsync(0);
    sender.holdAll(
      ["b", "c"].map((askId) => ({ askId, decision: yes, label: "Approve" })),
      3000,
    );
    sender.hold("d", yes, "Approve", 3000);
    expect(listed()).toEqual([
      ["a", "failed"],
      ["b,c", "held"],
      ["d", "held"],
    ]);
    sender.undo("c");
    expect(listed()).toEqual([
      ["a", "failed"],
      ["d", "held"],
    ]);
  });

  it("sends all decisions when the page is closed", () => {
    const decide = vi.fn<Decide>().mockResolvedValue();
    const sender = new Sender(decide);
    sender.hold("a", yes, "Approve", 3000);
    sender.hold("b", yes, "Approve", 3000);
    sender.flush();
    expect(decide.mock.calls).toEqual([
      ["a", yes, { last: true }],
      ["b", yes, { last: true }],
    ]);
  });

  it("keeps a refused decision until it is cleared", async () => {
    const error = new DecideError("too large", { problems: [{ index: 0, reason: "too large" }] });
    const sender = new Sender(() => Promise.reject(error));
    sender.hold("a", yes, "Approve", 0);
    await vi.advanceTimersByTimeAsync(0);
    expect(sender.get("a")).toEqual({ phase: "failed", decision: yes, label: "Approve", error });
    sender.clear("a");
    expect(sender.get("a")).toBeUndefined();
  });

  it("distinguishes a competing decision from its own retry", async () => {
    const lost = new Sender(() => Promise.reject(new DecideError("decided", { outcome, own: false })));
    lost.hold("a", yes, "Approve", 0);
    const again = new Sender(() => Promise.reject(new DecideError("decided", { outcome, own: true })));
    again.hold("a", yes, "Approve", 0);
    await vi.advanceTimersByTimeAsync(0);
    expect(lost.get("a")).toEqual({ phase: "lost", decision: yes, label: "Approve", outcome });
    expect(again.get("a")).toBeUndefined();
  });

  it("treats unknown errors as a lost connection", async () => {
    const sender = new Sender(() => Promise.reject(new TypeError("fetch failed")));
    sender.hold("a", yes, "Approve", 0);
    await vi.advanceTimersByTimeAsync(0);
    const sending = sender.get("a");
    expect(sending?.phase === "failed" && sending.error.details).toEqual({ offline: true });
  });

  it("holds, undoes and sends the decisions of one action together", async () => {
    const decide = vi.fn<Decide>().mockResolvedValue();
    const sender = new Sender(decide);
    const all = ["a", "b"].map((askId) => ({ askId, decision: yes, label: "Approve" }));
    sender.holdAll(all, 3000);
    expect(sender.get("b")).toMatchObject({ phase: "held", batch: { askIds: ["a", "b"], kind: "approve" } });
    sender.undo("a");
    await vi.advanceTimersByTimeAsync(3000);
    expect([sender.get("a"), sender.get("b"), decide.mock.calls.length]).toEqual([undefined, undefined, 0]);
    sender.holdAll(all, 3000);
    await vi.advanceTimersByTimeAsync(3000);
    expect(decide.mock.calls.map(([askId]) => askId)).toEqual(["a", "b"]);
  });

  describe("without a connection", () => {
    const offline = () => Promise.reject(new DecideError("no reply", { offline: true }));

    it("queues decisions, sends them when the connection is back, and undo cancels them", async () => {
      const decide = vi.fn<Decide>().mockImplementation(offline);
      const sender = new Sender(
        decide,
        () => {},
        async () => "same",
      );
      sender.hold("a", { kind: "deny" }, "Deny", 0, "same");
      sender.hold("b", yes, "Approve", 0, "same");
      await vi.advanceTimersByTimeAsync(0);
      expect([sender.get("a")?.phase, sender.get("b")?.phase, sender.queued()]).toEqual(["queued", "queued", 2]);
      expect(sender.undo("b")).toEqual(yes);
      decide.mockReset().mockResolvedValue();
      await sender.resume();
      expect([decide.mock.calls.length, sender.get("a"), sender.get("b")]).toEqual([1, undefined, undefined]);
    });

    it("needs a new decision for approvals after a minute and for changed asks, and sends answers", async () => {
      const decide = vi.fn<Decide>().mockImplementation(offline);
      const content = vi.fn<(id: string) => Promise<string>>().mockRejectedValue(new Error("offline"));
      const sender = new Sender(decide, () => {}, content);
      sender.hold("old", yes, "Approve", 0, "same");
      sender.hold("changed", { kind: "deny" }, "Deny", 0, "before");
      sender.hold("answer", { kind: "answer", answers: [["A"]] }, "A", 0, "same");
      await vi.advanceTimersByTimeAsync(60_001);
      content.mockImplementation(async () => "same");
      decide.mockReset().mockResolvedValue();
      await sender.resume();
      const stale = (id: string) => {
        const sending = sender.get(id);
        return sending?.phase === "failed" ? sending.error.details.stale : sending?.phase;
      };
      expect([stale("old"), stale("changed"), stale("answer")]).toEqual(["old", "changed", undefined]);
      expect(decide.mock.calls.map(([id]) => id)).toEqual(["answer"]);
    });

    it("drops a queued decision when the ask is decided elsewhere", async () => {
      const sender = new Sender(
        vi.fn<Decide>().mockImplementation(offline),
        () => {},
        async () => "same",
      );
      sender.hold("a", yes, "Approve", 0, "same");
      await vi.advanceTimersByTimeAsync(0);
      sender.lose("a", outcome);
      expect([sender.get("a")?.phase, sender.undo("a"), sender.queued()]).toEqual(["lost", undefined, 0]);
    });
  });
});
