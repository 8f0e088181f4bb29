import type { FeedEvent } from "@sayso/sdk";
import { describe, expect, it } from "vitest";
import { anApproval, anAsk } from "../../../sdk/react/src/test/asks";
import { addEvent, type Entry, readTranscript } from "./transcript";

const at = "2026-11-15T14:00:00Z";
const tool = (status: string, output: string | null = null) => ({
  id: "blk_2",
  at,
  type: "tool",
  toolCallId: "call-1",
  name: "Bash",
  input: { command: "ls" },
  output,
  status,
});
const action = (ask: object) => ({ id: "ask_1", at, type: "action", action_type: "approval_request", ask });
const event = (type: string, data: object) => ({ seq: 1, at, type, sessionId: "ses_1", data }) as FeedEvent;

const joined = (ask: object, status: string, output: string | null): Entry =>
  ({
    kind: "tool",
    id: "blk_2",
    at,
    tool: { toolCallId: "call-1", name: "Bash", input: { command: "ls" }, output, status },
    ask,
  }) as Entry;

describe("a transcript", () => {
  it("merges a tool call and its ask in any order", () => {
    const ask = anApproval();
    const expected = [joined(ask, "running", null)];
    expect(readTranscript([tool("running"), action(ask)])).toEqual(expected);
    expect(readTranscript([action(ask), tool("running")])).toEqual(expected);
  });

  it("applies events without a second entry", () => {
    const ask = anApproval();
    const approved = { ...ask, status: "approved" };
    const entries = [
      event("tool.started", tool("running")),
      event("approval.requested", ask),
      event("approval.resolved", approved),
      event("tool.completed", tool("complete", "ok")),
    ].reduce(addEvent, []);
    expect(entries).toEqual([joined(approved, "complete", "ok")]);
  });

  it("shows messages, notices, errors and unknown blocks", () => {
    const unknown = { id: "blk_9", at, type: "dance", steps: 3 };
    expect(
      readTranscript([
        { id: "blk_1", at, type: "message", role: "user", text: "hi" },
        { id: "blk_3", at, type: "message", role: "assistant", text: "ho", subagent: "explore" },
        { id: "blk_4", at, type: "error", text: "no" },
        unknown,
      ]),
    ).toEqual([
      { kind: "message", id: "blk_1", at, role: "user", text: "hi" },
      { kind: "message", id: "blk_3", at, role: "assistant", text: "ho", subagent: "explore" },
      { kind: "notice", id: "blk_4", at, text: "no", error: true },
      { kind: "unknown", id: "blk_9", at, text: JSON.stringify(unknown, null, 2) },
    ]);
  });

  it("ignores events of other sessions", () => {
    const entries = readTranscript([action(anAsk())]);
    expect(addEvent(entries, event("session.status", { status: "idle" }))).toBe(entries);
  });
});
