import { emptyView, type SessionEvent, type SessionView, viewAfter } from "@sayso/sdk";
import { describe, expect, it } from "vitest";

type News = Parameters<typeof viewAfter>[1];

const statuses = (view: SessionView) => view.items.map((item) => (item.kind === "tool" ? item.call.status : item.kind));
const after = (...news: News[]) => statuses(news.reduce(viewAfter, emptyView));

/** Checklist 4.38. */
describe("the state of a tool call", () => {
  const input = "{}";
  const asked: SessionEvent = { type: "approval_required", data: { toolCallId: "a", toolName: "Bash", input } };
  const ended = (status: string): SessionEvent => ({
    type: "tool_result",
    data: { toolCallId: "a", toolName: "Bash", status, result: "12 passed" },
  });
  const settled: News = { type: "settled", data: { toolCallId: "a" } };

  it("goes from pending over running to its end", () => {
    expect(after(asked)).toEqual(["pending"]);
    expect(after(asked, settled)).toEqual(["running"]);
    expect(after(asked, settled, ended("complete"))).toEqual(["complete"]);
    expect(after(asked, ended("error"))).toEqual(["error"]);
  });

  it("stays at its end when the decision is told later than the result", () => {
    expect(after(asked, ended("complete"), settled)).toEqual(["complete"]);
    expect(after(asked, ended("error"), settled)).toEqual(["error"]);
    expect(after(settled)).toEqual([]);
  });
});
