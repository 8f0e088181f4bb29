import { expect, it } from "vitest";
import type { TextCode } from "../api";
import { anApproval, anAsk } from "../test/asks";
import { translator, zhCN } from "../words";
import { serverText } from "./serverText";
import { whyWords } from "./why";

const en = translator();
const zh = translator(zhCN);
const whole = (what: string): TextCode => ({ code: "no_rule_allows", params: { what } });
const run = (command: string, whyCode: TextCode, t = en) => whyWords(t, { ...anApproval({ command }), whyCode });

it("does not repeat what the card shows in full", () => {
  const long = `cargo test ${"--feature ".repeat(20)}`;
  expect(run("cargo  test", whole("`cargo test`"))).toBe("No rule allows this command.");
  expect(run(long, whole("`cargo test --feature…`"))).toBe("No rule allows this command.");
  expect(run("cargo test", whole("`cargo test`"), zh)).toBe("没有规则允许此命令。");
});

it("names the part that no rule allows", () => {
  expect(run("ls && rm x", whole("`rm x`"))).toBe("No rule allows `rm x`.");
});

it("explains why no rule can allow a command, and names the rule that asks", () => {
  const comment = { code: "no_rule_can_allow", params: { what: "`a #`", found: "a comment", foundCode: "comment" } };
  expect(run("a #", comment)).toBe("No rule can allow this because it contains a comment.");
  expect(run("a #", comment, zh)).toBe("没有规则可以允许此操作，因为其中含有注释。");
  const rule = { code: "rule_asks", params: { rule: "shared systems", what: "`ls`" } };
  expect(run("ls", rule)).toBe("Your rule “shared systems” asks you.");
});

it("shows the text of the server when it has no code or an unknown one", () => {
  const ask = anAsk({ why: "a checkpoint of the workflow" });
  expect(whyWords(en, ask)).toBe("A checkpoint of the workflow.");
  expect(whyWords(zh, { ...ask, whyCode: { code: "checkpoint" } })).toBe("工作流的检查点。");
  expect(whyWords(zh, { ...ask, why: "a new reason", whyCode: { code: "new_code" } })).toBe("A new reason.");
});

it("translates reasons of outcomes and deliveries, with their durations", () => {
  const late = { code: "question_timed_out", params: { after: "10 minutes" } };
  expect(serverText(zh, "User did not respond within 10 minutes", late)).toBe("用户在 10 分钟内没有回应");
  expect(serverText(en, "User did not respond within 10 minutes", late)).toBe("User did not respond within 10 minutes");
  expect(serverText(zh, "use the other table", undefined)).toBe("use the other table");
});
