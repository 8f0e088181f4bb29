import type { Ask, Outcome } from "@sayso/react";
import { describe, expect, it } from "vitest";
import { anAsk, database, token } from "../../../sdk/react/src/test/asks";
import {
  answerText,
  axisOf,
  filtered,
  historyQuery,
  NO_FILTERS,
  perDay,
  quantile,
  shares,
  toCsv,
  withEmptyDays,
} from "./model";

const decided = (waitedMs: number, outcome: Partial<Outcome> = {}, change: Partial<Ask> = {}): Ask => {
  const openedAt = "2026-11-15T12:00:00.000Z";
  const at = new Date(Date.parse(openedAt) + waitedMs).toISOString();
  const whole: Outcome = {
    status: "answered",
    answers: [["sqlite"]],
    by: { kind: "person", name: "ada", via: "page" },
    at,
    ...outcome,
  };
  return anAsk({ openedAt, status: whole.status, outcome: whole, ...change });
};

describe("history", () => {
  it("computes the median and the 90th percentile of waiting times per day", () => {
    const asks = [1000, 2000, 3000, 10_000].map((ms) => decided(ms));
    const byRule = decided(0, { by: { kind: "policy", rule: "x" } });
    expect(perDay([...asks, byRule])).toEqual([{ day: "2026-11-15", median: 2000, most: 10_000, count: 4 }]);
  });

  it("counts deciders, and messages as people", () => {
    const kinds = ["person", "message", "policy", "policy", "timeout", "agent"];
    expect(shares(kinds.map((kind) => decided(0, { by: { kind } })))).toEqual({ person: 2, policy: 2, timeout: 1 });
  });

  it("shows answers by their labels, and never a secret", () => {
    const ask = decided(0, { answers: [["sqlite"], { secret: true }] }, { questions: [database, token] });
    expect(answerText(ask)).toBe("SQLite");
  });

  it("filters by outcome, decider and agent", () => {
    const asks = [
      decided(0),
      decided(0, { status: "rejected", by: { kind: "timeout" }, answers: null }, { agent: "codex" }),
    ];
    const found = (filters: object) => filtered(asks, { ...NO_FILTERS, ...filters }).map((ask) => ask.agent);
    expect([found({}), found({ outcome: "rejected" }), found({ by: "person" }), found({ agent: "codex" })]).toEqual([
      ["claude", "codex"],
      ["codex"],
      ["claude"],
      ["codex"],
    ]);
  });

  it("queries whole days, a project and a search text", () => {
    const now = new Date(2026, 10, 16, 9, 30).getTime();
    const day = (date: number) => new Date(2026, 10, date).toISOString();
    const days = { period: "custom", from: "2026-11-02", to: "2026-11-30" } as const;
    const wanted = { ...NO_FILTERS, ...days, text: " push ", project: "/p" };
    expect([historyQuery(NO_FILTERS, now), historyQuery(wanted, now)]).toEqual([
      { since: day(3), until: undefined, project: undefined, q: undefined },
      { since: day(2), until: day(31), project: "/p", q: "push" },
    ]);
    expect(historyQuery({ ...wanted, period: 1 }, now)).toMatchObject({ since: day(16), until: undefined });
  });

  it("shows all days of the period across the end of a month", () => {
    const busy = { day: "2026-11-01", median: 1, most: 2, count: 3 };
    const empty = { median: 0, most: 0, count: 0 };
    expect(withEmptyDays([busy], 3, "2026-11-02")).toEqual([
      { day: "2026-10-31", ...empty },
      busy,
      { day: "2026-11-02", ...empty },
    ]);
  });

  it("has an axis up to at least the longest wait", () => {
    const minutes = [0, 1, 2, 3, 31, 1441, 10_000];
    expect(minutes.map((most) => axisOf(most * 60_000)[2])).toEqual([2, 2, 2, 4, 60, 2880, 11_520]);
  });

  it("exports a table without formulas", () => {
    const ask = decided(
      1500,
      { answers: [['=1+"2"']] },
      { id: "ask_1", digest: "abab", questions: [{ ...database, text: "a, b" }] },
    );
    expect(toCsv([ask])).toBe(
      "id,opened_at,decided_at,waited_ms,agent,project,kind,status,decided_by,via,rule,ask,answer,digest\r\n" +
        'ask_1,2026-11-15T12:00:00.000Z,2026-11-15T12:00:01.500Z,1500,claude,/home/ada/work/shop-api,question,answered,ada,page,,"a, b","\'=1+""2""",abab\r\n',
    );
  });

  it("has no quantile of nothing", () => expect(quantile([], 0.5)).toBe(0));
});
