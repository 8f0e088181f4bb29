import type { Ask, Decision } from "../api";
import { answersOf, type Draft, entryLabel, newDraft } from "./draft";

/** The text of a decision that was not sent, to copy. Secrets are left out. */
export function decisionWords(ask: Ask, label: string, decision: Decision): string {
  const words = "message" in decision ? decision.message : "note" in decision ? decision.note : undefined;
  const given = decision.kind === "answer" ? answerWords(ask, decision.answers) : [label];
  return [...given, ...(words ? [words] : [])].join("\n");
}

/** The unsent input of a card, to copy. Undefined if there is none, or only a secret. */
export function draftWords(ask: Ask, draft: Draft, agentInput: string): string | undefined {
  const questions = ask.questions ?? [];
  const before = answersOf(questions, newDraft(ask));
  const changed = answersOf(questions, draft).map((answer, index) =>
    JSON.stringify(answer) === JSON.stringify(before[index]) ? [] : answer,
  );
  const words = answerWords(ask, changed);
  if (draft.input !== null && draft.input !== agentInput) words.push(draft.input);
  for (const text of [draft.reason, draft.note]) if (text?.trim()) words.push(text.trim());
  return words.length > 0 ? words.join("\n") : undefined;
}

function answerWords(ask: Ask, answers: string[][]): string[] {
  return (ask.questions ?? []).flatMap((question, index) =>
    question.secret ? [] : (answers[index] ?? []).map((entry) => entryLabel(question, entry)),
  );
}
