import { describe, expect, it } from "vitest";
import { anAsk, areas, database, token } from "../test/asks";
import { answerOf, answersOf, choose, chooseOther, Drafts, missing, newDraft, type } from "./draft";

const empty = { chosen: [], other: false, text: "" };

describe("the answer of a question", () => {
  it("is the last selected option", () => {
    const draft = choose(database, choose(database, empty, "sqlite"), "postgres");
    expect(answerOf(database, draft)).toEqual(["postgres"]);
  });

  it("is free text instead of the option if one answer is allowed", () => {
    const draft = type(database, choose(database, empty, "sqlite"), "  DuckDB ");
    expect(draft).toEqual({ chosen: [], other: true, text: "  DuckDB " });
    expect(answerOf(database, draft)).toEqual(["DuckDB"]);
  });

  it("has several options in the agent's order, and free text last", () => {
    const draft = type(areas, choose(areas, choose(areas, empty, "Billing"), "Auth"), "Search");
    expect(answerOf(areas, draft)).toEqual(["Auth", "Billing", "Search"]);
  });

  it("deselects an option that is selected twice", () => {
    expect(answerOf(areas, choose(areas, choose(areas, empty, "Auth"), "Auth"))).toEqual([]);
  });

  it("is empty while Other is selected and blank", () => {
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
  it("starts with nothing selected", () => {
    const ask = anAsk({ questions: [database, areas] });
    expect(newDraft(ask)).toEqual({ questions: [empty, empty], note: null, reason: null, input: null });
  });

  it("starts with the preselection of a rule, including free text", () => {
    const ask = anAsk({
      questions: [
        { ...database, preselected: ["postgres"] },
        { ...areas, preselected: ["Auth", "Search"] },
      ],
    });
    expect(answersOf(ask.questions ?? [], newDraft(ask))).toEqual([["postgres"], ["Auth", "Search"]]);
  });

  it("reports only required questions as missing", () => {
    const questions = [database, { ...areas, required: false }, token];
    expect(missing(questions, newDraft(anAsk({ questions })))).toEqual([database, token]);
  });

  it("is stored by ask, and notifies listeners", () => {
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
