import { expect, it } from "vitest";
import type { FormRule, PolicyRule } from "../api/client";
import { aboutOf, complete, neighbour, ruleNamed, summaryOf, withAbout, withEffect, withField } from "./policyRule";

const formRule = (place: number, rule: PolicyRule): FormRule => ({
  place,
  key: rule.id ?? `rule ${place} (user)`,
  label: rule.name ?? `rule ${place} (user)`,
  rule,
});

it("finds the subject of a rule", () => {
  expect(aboutOf({ do: "deny" })).toBe("run");
  expect(aboutOf({ do: "allow", edit: ["src/**"] })).toBe("edit");
  expect(aboutOf({ do: "ask", match: "" })).toBe("question");
  expect(aboutOf({ do: "answer" })).toBe("question");
});

it("keeps fields that apply when the subject of a rule changes", () => {
  const rule: PolicyRule = { id: "r1", name: "reads", do: "allow", run: ["git status"], project: "/p" };
  expect(withAbout(rule, "edit")).toEqual({ id: "r1", name: "reads", do: "allow", edit: [], project: "/p" });
  expect(withAbout(rule, "question")).toEqual({ id: "r1", name: "reads", do: "answer", match: "", project: "/p" });
  expect(withEffect({ do: "deny", run: ["x"], message: "no" }, "allow")).toEqual({ do: "allow", run: ["x"] });
});

it("omits empty fields from requests", () => {
  expect(complete({ do: "ask", run: [], name: "", header: "db" })).toEqual({ do: "ask", header: "db" });
  expect(withField({ do: "ask", run: ["x"] }, "run", [])).toEqual({ do: "ask" });
});

it("summarizes a rule in one line", () => {
  expect(summaryOf({ do: "deny", run: ["rm -rf *", "git clean *"] })).toBe("rm -rf * · git clean *");
  expect(summaryOf({ do: "answer", header: "package manager", answer: ["pnpm"] })).toBe("“package manager” → “pnpm”");
});

it("moves an answer rule past the next answer rule", () => {
  const rules = [
    formRule(1, { do: "answer", match: "a", pick: 1 }),
    formRule(2, { do: "deny", run: ["x"] }),
    formRule(3, { do: "answer", match: "b", pick: 1 }),
  ];
  expect([neighbour(rules, 1, 1), neighbour(rules, 3, -1), neighbour(rules, 1, -1), neighbour(rules, 3, 1)]).toEqual([
    3,
    1,
    undefined,
    undefined,
  ]);
});

it("finds the rule that an outcome names", () => {
  const rules = [
    formRule(1, { id: "r1", name: "reads", do: "allow", run: ["x"] }),
    formRule(2, { do: "ask", run: ["y"] }),
  ];
  expect(ruleNamed(rules, "r1")?.place).toBe(1);
  expect(ruleNamed(rules, "rule 2 (user)")?.place).toBe(2);
  expect(ruleNamed(rules, "tests, reads")?.place).toBe(1);
  expect(ruleNamed(rules, "gone")).toBeUndefined();
});
