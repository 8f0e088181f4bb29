import { describe, expect, it } from "vitest";
import { anApproval } from "../../../sdk/react/src/test/asks";
import type { Explained } from "../api/client";
import { allowedBy, commandPattern, compare, placeOf, suggest, toToml, withRule } from "./model";

describe("a rule", () => {
  it.each([
    ["cargo test --workspace", "cargo test *"],
    ["ls -la", "ls *"],
    ["make", "make"],
    ["  git   status ", "git status *"],
  ])("of the command %j begins as %j", (command, pattern) => expect(commandPattern(command)).toBe(pattern));

  it("is valid in a policy file", () => {
    expect(toToml(suggest(anApproval(), "project"))).toBe(
      '[[rules]]\nname = "cargo test * from the page"\ndo = "allow"\nrun = ["cargo test *"]\nproject = "/home/ada/work/shop-api"\n',
    );
  });

  it("matches the folder of an edit, and the tool of other actions", () => {
    const edit = anApproval({ action: "edit", paths: ["/home/ada/work/shop-api/src/a/b.rs"] });
    expect(suggest(edit, "everywhere")).toEqual({ on: "edit", pattern: "src/a/**", project: undefined });
    expect(suggest(anApproval({ action: "other", tool: "WebSearch" }), "everywhere")).toEqual({
      on: "tool",
      pattern: "WebSearch",
      project: undefined,
    });
  });
});

describe("a policy file", () => {
  it("gets a rule at its end", () => {
    expect(withRule("", "[[rules]]\n")).toBe("[[rules]]\n");
    expect(withRule("# mine\n\n\n", "[[rules]]\n")).toBe("# mine\n\n[[rules]]\n");
  });

  it("is searched for a rule by name, by number, and for a setting", () => {
    const text = '[approvals]\npolicy = "deny"\n[[rules]]\nname = "a"\n[[rules]]\n';
    const at = (rule: string) => {
      const place = placeOf(text, rule);
      return place && [place.from, text.slice(place.from, place.to)];
    };
    expect(["a", "rule 2 (user)", 'approvals.policy = "deny"', "gone", "rule 9 (user)"].map(at)).toEqual([
      [45, '"a"'],
      [49, "[[rules]]"],
      [0, "[approvals]"],
      undefined,
      undefined,
    ]);
  });
});

it("describes the permissions of a grant", () => {
  expect(allowedBy({ id: "g", run: ["ls"], edit: ["src/**", "docs/**"], until: null })).toEqual([
    ["run", "ls"],
    ["edit", "src/**"],
    ["edit", "docs/**"],
  ]);
});

it("compares a dry run with past outcomes and with the current policy", () => {
  const one = (askId: string, verdict: string, status: Explained["status"]): Explained => ({
    askId,
    summary: "",
    status,
    verdict,
    because: "",
  });
  const after = [
    one("a", "approve", "approved"),
    one("b", "approve", "denied"),
    one("c", "ask", "approved"),
    one("d", "approve", "approved"),
    one("e", "deny", "withdrawn"),
  ];
  const [a, b, , , e] = after;
  expect(compare(after, [one("d", "approve", "approved")])).toEqual({
    decided: [a, b, e],
    asYouDid: [a],
    otherwise: [b],
    unchanged: 2,
  });
});
