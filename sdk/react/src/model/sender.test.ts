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
  it("holds a decision, sends it once, and says that it is settled", async () => {
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

  it("takes back what is held, the newest first", async () => {
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

  it("sends everything at once when the page goes away", () => {
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

  it("keeps a decision that was not taken, until it is cleared", async () => {
    const error = new DecideError("too large", { problems: [{ index: 0, reason: "too large" }] });
    const sender = new Sender(() => Promise.reject(error));
    sender.hold("a", yes, "Approve", 0);
    await vi.advanceTimersByTimeAsync(0);
    expect(sender.get("a")).toEqual({ phase: "failed", decision: yes, label: "Approve", error });
    sender.clear("a");
    expect(sender.get("a")).toBeUndefined();
  });

  it("tells a rival from a retry of its own", async () => {
    const lost = new Sender(() => Promise.reject(new DecideError("decided", { outcome, own: false })));
    lost.hold("a", yes, "Approve", 0);
    const again = new Sender(() => Promise.reject(new DecideError("decided", { outcome, own: true })));
    again.hold("a", yes, "Approve", 0);
    await vi.advanceTimersByTimeAsync(0);
    expect(lost.get("a")).toEqual({ phase: "lost", decision: yes, label: "Approve", outcome });
    expect(again.get("a")).toBeUndefined();
  });

  it("takes what it does not know for a broken line", async () => {
    const sender = new Sender(() => Promise.reject(new TypeError("fetch failed")));
    sender.hold("a", yes, "Approve", 0);
    await vi.advanceTimersByTimeAsync(0);
    const sending = sender.get("a");
    expect(sending?.phase === "failed" && sending.error.details).toEqual({ offline: true });
  });

  it("holds and takes back the decisions of one action together, and sends them together", async () => {
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
});
