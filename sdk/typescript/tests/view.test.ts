import { emptyView, type SessionEvent, type SessionView, viewAfter } from "@sayso/sdk";
import { describe, expect, it } from "vitest";

type News = Parameters<typeof viewAfter>[1];

const statuses = (view: SessionView) => view.items.map((item) => (item.kind === "tool" ? item.call.status : item.kind));
const statusesAfter = (...news: News[]) => statuses(news.reduce(viewAfter, emptyView));

describe("the state of a tool call", () => {
  const input = "{}";
  const asked: SessionEvent = { type: "approval_required", data: { toolCallId: "a", toolName: "Bash", input } };
  const ended = (status: string): SessionEvent => ({
    type: "tool_result",
    data: { toolCallId: "a", toolName: "Bash", status, result: "12 passed" },
  });
  const settled: News = { type: "settled", data: { toolCallId: "a" } };

  it("goes from pending to running to its end", () => {
    expect(statusesAfter(asked)).toEqual(["pending"]);
    expect(statusesAfter(asked, settled)).toEqual(["running"]);
    expect(statusesAfter(asked, settled, ended("complete"))).toEqual(["complete"]);
    expect(statusesAfter(asked, ended("error"))).toEqual(["error"]);
  });

  it("stays at its end if the decision arrives after the result", () => {
    expect(statusesAfter(asked, ended("complete"), settled)).toEqual(["complete"]);
    expect(statusesAfter(asked, ended("error"), settled)).toEqual(["error"]);
    expect(statusesAfter(settled)).toEqual([]);
  });
});
