import { describe, expect, it } from "vitest";
import { anAsk, areas, database, token } from "../test/asks";
import { answerOf, answersOf, choose, chooseOther, Drafts, missing, newDraft, type } from "./draft";

const empty = { chosen: [], other: false, text: "" };

describe("the answer of a question", () => {
  it("is one option, and the last one chosen", () => {
    const draft = choose(database, choose(database, empty, "sqlite"), "postgres");
    expect(answerOf(database, draft)).toEqual(["postgres"]);
  });

  it("is own words in place of the option when one is taken", () => {
    const draft = type(database, choose(database, empty, "sqlite"), "  DuckDB ");
    expect(draft).toEqual({ chosen: [], other: true, text: "  DuckDB " });
    expect(answerOf(database, draft)).toEqual(["DuckDB"]);
  });

  it("has several options in the agent's order, and own words last", () => {
    const draft = type(areas, choose(areas, choose(areas, empty, "Billing"), "Auth"), "Search");
    expect(answerOf(areas, draft)).toEqual(["Auth", "Billing", "Search"]);
  });

  it("takes an option back when it is chosen twice", () => {
    expect(answerOf(areas, choose(areas, choose(areas, empty, "Auth"), "Auth"))).toEqual([]);
  });

  it("is none while Other is chosen and blank", () => {
    expect(answerOf(database, chooseOther(database, choose(database, empty, "sqlite"), true))).toEqual([]);
    expect(answerOf(database, type(database, empty, "   "))).toEqual([]);
  });

  it("keeps every character of a secret, and trims other text", () => {
    expect(answerOf(token, { ...empty, text: " s3 " })).toEqual([" s3 "]);
    expect(answerOf({ ...token, secret: false }, { ...empty, text: " s3 " })).toEqual(["s3"]);
  });

  it("is yes or no as true or false", () => {
    const question = { ...database, input: "yesNo" as const, options: [] };
    expect(answerOf(question, choose(question, empty, "false"))).toEqual(["false"]);
  });
});

describe("a draft", () => {
  it("begins with nothing chosen", () => {
    const ask = anAsk({ questions: [database, areas] });
    expect(newDraft(ask)).toEqual({ questions: [empty, empty], note: null, reason: null, input: null });
  });

  it("begins with what a rule preselects, own words too", () => {
    const ask = anAsk({
      questions: [
        { ...database, preselected: ["postgres"] },
        { ...areas, preselected: ["Auth", "Search"] },
      ],
    });
    expect(answersOf(ask.questions ?? [], newDraft(ask))).toEqual([["postgres"], ["Auth", "Search"]]);
  });

  it("misses what is required, and nothing else", () => {
    const questions = [database, { ...areas, required: false }, token];
    expect(missing(questions, newDraft(anAsk({ questions })))).toEqual([database, token]);
  });

  it("is kept by ask, and told to who listens", () => {
    const drafts = new Drafts();
    let told = 0;
    const stop = drafts.subscribe(() => told++);
    const draft = newDraft(anAsk());
    drafts.set("ask_1", draft);
    drafts.delete("ask_2");
    expect([drafts.get("ask_1"), drafts.get("ask_2"), told]).toEqual([draft, undefined, 1]);
    stop();
    drafts.delete("ask_1");
    expect([drafts.get("ask_1"), told]).toEqual([undefined, 1]);
  });
});
