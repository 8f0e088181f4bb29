import type { Ask, Question } from "../api";

/** The options and the text that a person entered for one question. */
export interface QuestionDraft {
  chosen: string[];
  other: boolean;
  text: string;
}

/** The input on a card that has not been sent yet. */
export interface Draft {
  questions: QuestionDraft[];
  note: string | null;
  reason: string | null;
  /** The edited input: a command, a plan, or JSON. */
  input: string | null;
}

/** The value that an answer contains for an option. */
export const optionValue = (option: { value?: string | null; label: string }): string => option.value ?? option.label;

/** The label of an option without "(Recommended)", which the card shows separately. */
export const optionLabel = (option: { label: string; recommended?: boolean }): string =>
  option.recommended ? option.label.replace(/\s*\(recommended\)\s*$/i, "") : option.label;

/** The label of an entry of an answer. */
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

/** The initial draft of a card: nothing is selected, except the preselection of a rule. */
export function newDraft(ask: Ask): Draft {
  return { questions: (ask.questions ?? []).map(begin), note: null, reason: null, input: null };
}

/** The entries to send for one question. Empty without an answer. */
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

/** The answers of all questions, one list for each. */
export function answersOf(questions: Question[], draft: Draft): string[][] {
  return questions.map((question, index) => {
    const own = draft.questions[index];
    return own ? answerOf(question, own) : [];
  });
}

/** The required questions without an answer. */
export function missing(questions: Question[], draft: Draft): Question[] {
  const answers = answersOf(questions, draft);
  return questions.filter((question, index) => question.required !== false && answers[index]?.length === 0);
}

/** Selects an option. With `multiple`, other options stay selected. */
export function choose(question: Question, draft: QuestionDraft, value: string): QuestionDraft {
  if (!question.multiple) return { ...draft, chosen: [value], other: false };
  const chosen = draft.chosen.includes(value) ? draft.chosen.filter((one) => one !== value) : [...draft.chosen, value];
  return { ...draft, chosen };
}

/** Changes the text of "Other", which also selects it. */
export function type(question: Question, draft: QuestionDraft, text: string): QuestionDraft {
  if (question.input !== undefined && question.input !== "choice") return { ...draft, text };
  return { ...draft, text, other: true, chosen: question.multiple ? draft.chosen : [] };
}

/** Selects or deselects "Other". */
export function chooseOther(question: Question, draft: QuestionDraft, on: boolean): QuestionDraft {
  return { ...draft, other: on, chosen: on && !question.multiple ? [] : draft.chosen };
}

/** Drafts by ask, so that a person can open another ask and return without losing input. */
export class Drafts {
  readonly #drafts = new Map<string, Draft>();
  readonly #listeners = new Set<() => void>();

  /** The draft of an ask, or of another id. */
  get(id: string): Draft | undefined {
    return this.#drafts.get(id);
  }

  /** Replaces a draft and notifies subscribers. */
  set(id: string, draft: Draft): void {
    this.#drafts.set(id, draft);
    for (const listener of this.#listeners) listener();
  }

  /** Deletes a draft, for example after it was sent. */
  delete(id: string): void {
    if (this.#drafts.delete(id)) for (const listener of this.#listeners) listener();
  }

  /** Calls the listener after each change. Returns a function that removes it. */
  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}
