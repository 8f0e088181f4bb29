import { expect, it } from "vitest";
import { anApproval } from "../test/asks";
import { translator } from "../words";
import { whyWords } from "./why";

const t = translator();
const run = (command: string, why: string) => whyWords(t, { ...anApproval({ command }), why });

it("does not repeat what the card shows in full", () => {
  const long = `cargo test ${"--feature ".repeat(20)}`;
  expect(run("cargo  test", "no rule allows `cargo test`")).toBe("No rule allows this command.");
  expect(run(long, "no rule allows `cargo test --feature…`")).toBe("No rule allows this command.");
});

it("names the part that no rule allows", () => {
  expect(run("ls && rm x", "no rule allows `rm x`")).toBe("No rule allows `rm x`.");
});

it("says why no rule can help, and which rule asks", () => {
  expect(run("a $(b)", "no rule can allow `a $(b)`: it holds a substitution")).toBe(
    "No rule can allow this: it holds a substitution.",
  );
  expect(run("ls", 'rule "shared systems" asks for `ls`')).toBe("Your rule “shared systems” asks you.");
  expect(run("ls", "a checkpoint of the workflow")).toBe("A checkpoint of the workflow.");
});
