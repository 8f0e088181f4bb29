import { expect, it } from "vitest";
import { anAsk } from "../../../sdk/react/src/test/asks";
import type { Run } from "../api/client";
import type { Words } from "../i18n";
import { en } from "../i18n/en";
import { traceOf } from "./trace";

const t: Words = (key, params = {}) =>
  (en as Record<string, string>)[key]?.replace(/\{\{(\w+)\}\}/g, (_, name: string) => String(params[name])) ?? key;
const at = (second: number) => `2026-11-15T12:00:0${second}.000Z`;

it("lists events in order, and a question that a rule answered after it was asked", () => {
  const run = {
    workflow: "release",
    status: "failed",
    reason: "build: no space",
    createdAt: at(0),
    updatedAt: at(6),
    steps: [
      { id: "plan", agent: "mock", status: "completed", attempts: 1, startedAt: at(1), endedAt: at(4) },
      {
        id: "build",
        agent: "mock",
        status: "failed",
        reason: "no space",
        attempts: 1,
        startedAt: at(5),
        endedAt: at(6),
      },
      { id: "check", status: "pending", attempts: 0 },
    ],
  } as unknown as Run;
  const by = { kind: "policy", rule: "db" };
  const outcome = { status: "answered", answers: [["sqlite"]], by, at: at(2) } as const;
  const ask = anAsk({
    stepId: "plan",
    openedAt: at(2),
    status: "answered",
    outcome: { ...outcome, answers: [["sqlite"]] },
  });
  expect(traceOf(t, run, [ask]).map(({ state, text }) => `${state} ${text}`)).toEqual([
    "plain run release started",
    "plain plan: started (mock)",
    "pending plan: asks: Database",
    "answered plan: answered: SQLite (rule “db”)",
    "plain plan: completed",
    "plain build: started (mock)",
    "rejected build: failed: no space",
    "rejected release: failed",
  ]);
});
