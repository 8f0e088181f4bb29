import { describe, expect, it } from "vitest";
import { anApproval } from "../../../sdk/react/src/test/asks";
import type { Explained } from "../api/client";
import { commandPattern, compare, suggest, toToml } from "./model";

describe("a rule", () => {
  it.each([
    ["cargo test --workspace", "cargo test *"],
    ["ls -la", "ls *"],
    ["make", "make"],
    ["  git   status ", "git status *"],
  ])("of the command %j begins as %j", (command, pattern) => expect(commandPattern(command)).toBe(pattern));

  it("is what the policy file takes", () => {
    expect(toToml(suggest(anApproval(), "project"))).toBe(
      '[[rules]]\nname = "cargo test * from the page"\ndo = "allow"\nrun = ["cargo test *"]\nproject = "/home/ada/work/shop-api"\n',
    );
  });

  it("of an edit is about its folder, of anything else about the tool", () => {
    const edit = anApproval({ action: "edit", paths: ["/home/ada/work/shop-api/src/a/b.rs"] });
    expect(suggest(edit, "everywhere")).toEqual({ on: "edit", pattern: "src/a/**", project: undefined });
    expect(suggest(anApproval({ action: "other", tool: "WebSearch" }), "everywhere")).toEqual({
      on: "tool",
      pattern: "WebSearch",
      project: undefined,
    });
  });
});

it("compares what a policy would decide with what was decided, and with what it decides now", () => {
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
