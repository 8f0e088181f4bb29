import type { Ask, Question } from "../api";

/** What a person has chosen and typed for one question. */
export interface QuestionDraft {
  chosen: string[];
  other: boolean;
  text: string;
}

/** Everything typed on a card that is not sent yet. */
export interface Draft {
  questions: QuestionDraft[];
  note: string | null;
  reason: string | null;
  /** The edited input: a command, a plan, or JSON. */
  input: string | null;
}

export const optionValue = (option: { value?: string | null; label: string }): string => option.value ?? option.label;

/** What a person reads of an option. That it is recommended is said beside it. */
export const optionLabel = (option: { label: string; recommended?: boolean }): string =>
  option.recommended ? option.label.replace(/\s*\(recommended\)\s*$/i, "") : option.label;

/** An entry of an answer as a person reads it. */
export function entryLabel(question: Question, entry: string): string {
  const option = question.options?.find((one) => optionValue(one) === entry);
  return option ? optionLabel(option) : entry;
}

function begin(question: Question): QuestionDraft {
  const preselected = question.preselected ?? [];
  const options = (question.options ?? []).map(optionValue);
  const chosen = preselected.filter((entry) => options.includes(entry));
  const text = preselected.find((entry) => !options.includes(entry)) ?? "";
  return { chosen, other: text !== "", text };
}

/** The draft a card opens with: nothing chosen, except what a rule of the person preselects. */
export function newDraft(ask: Ask): Draft {
  return { questions: (ask.questions ?? []).map(begin), note: null, reason: null, input: null };
}

/** The entries to send for one question; none when there is no answer yet. */
export function answerOf(question: Question, draft: QuestionDraft): string[] {
  const typed = question.secret ? draft.text : draft.text.trim();
  const own = typed === "" ? [] : [typed];
  switch (question.input ?? "choice") {
    case "text":
    case "number":
      return own;
    case "yesNo":
      return draft.chosen.slice(0, 1);
    case "choice": {
      if (!question.multiple) return draft.other ? own : draft.chosen.slice(0, 1);
      const inOrder = (question.options ?? []).map(optionValue).filter((value) => draft.chosen.includes(value));
      return draft.other ? [...inOrder, ...own] : inOrder;
    }
  }
}

/** The answers of all questions, one list each. */
export function answersOf(questions: Question[], draft: Draft): string[][] {
  return questions.map((question, index) => {
    const own = draft.questions[index];
    return own ? answerOf(question, own) : [];
  });
}

/** The questions that must be answered and are not. */
export function missing(questions: Question[], draft: Draft): Question[] {
  const answers = answersOf(questions, draft);
  return questions.filter((question, index) => question.required !== false && answers[index]?.length === 0);
}

/** Chooses an option: in place of the others, or beside them. */
export function choose(question: Question, draft: QuestionDraft, value: string): QuestionDraft {
  if (!question.multiple) return { ...draft, chosen: [value], other: false };
  const chosen = draft.chosen.includes(value) ? draft.chosen.filter((one) => one !== value) : [...draft.chosen, value];
  return { ...draft, chosen };
}

/** Types into the field of one's own words, which chooses it. */
export function type(question: Question, draft: QuestionDraft, text: string): QuestionDraft {
  if (question.input !== undefined && question.input !== "choice") return { ...draft, text };
  return { ...draft, text, other: true, chosen: question.multiple ? draft.chosen : [] };
}

/** Chooses "Other", or takes it back. */
export function chooseOther(question: Question, draft: QuestionDraft, on: boolean): QuestionDraft {
  return { ...draft, other: on, chosen: on && !question.multiple ? [] : draft.chosen };
}

/** Drafts by ask, so that moving to another ask and back loses nothing. */
export class Drafts {
  readonly #drafts = new Map<string, Draft>();
  readonly #listeners = new Set<() => void>();

  get(id: string): Draft | undefined {
    return this.#drafts.get(id);
  }

  set(id: string, draft: Draft): void {
    this.#drafts.set(id, draft);
    for (const listener of this.#listeners) listener();
  }

  delete(id: string): void {
    if (this.#drafts.delete(id)) for (const listener of this.#listeners) listener();
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}
