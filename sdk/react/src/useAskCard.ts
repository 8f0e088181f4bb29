import { useEffect, useMemo, useState } from "react";
import type { Ask, AskFiles, Decision, Question } from "./api";
import { type Host, useDraft, useHost, useNow, useSending } from "./host";
import {
  answersOf,
  choose,
  chooseOther,
  type Draft,
  entryLabel,
  missing,
  optionValue,
  type QuestionDraft,
  type,
} from "./model/draft";
import { fieldProblem, formFields } from "./model/schemaForm";
import type { Sending } from "./model/sender";
import { draftWords } from "./model/unsent";
import { allows, type CardState, contentOf, isOpen, oneClickQuestion, stateOf, takesOther } from "./model/view";
import { useFiles } from "./useFiles";
import type { Translate } from "./words";

/** The headless model of a card: its state and its actions. */
export interface AskCardModel {
  /** The ask of the card. */
  ask: Ask;
  /** The state that the card shows. */
  state: CardState;
  /** Whether the ask can be decided now. */
  open: boolean;
  /** The decision that is held or being sent. */
  sending: Sending | undefined;
  /** The answers and texts that are not sent yet. */
  draft: Draft;
  /** Whether the options are buttons that send. */
  oneClick: boolean;
  /** The option that Enter sends. No option is highlighted at first. */
  highlight: number | null;
  /** Highlights an option, or none. */
  setHighlight: (index: number | null) => void;
  /** The answers of the draft: one list of entries per question. */
  answers: string[][];
  /** The headers (or texts) of the questions that still need an answer. */
  missing: string[];
  /** Changes fields of the draft. */
  change: (change: Partial<Draft>) => void;
  /** Opens the field for the edited input, a reason or a note, and focuses it. */
  write: (field: WrittenField) => void;
  /** Closes a field if it is unchanged. */
  leaveField: (field: WrittenField) => void;
  /** The last call of `write`, with a counter so that a field can react to each call. */
  writing: { field: WrittenField; count: number } | undefined;
  /** Chooses an option, or removes it from the choice of several. */
  choose: (question: number, value: string) => void;
  /** Switches the typed answer of a question on or off. */
  chooseOther: (question: number, on: boolean) => void;
  /** Changes the typed answer of a question. */
  type: (question: number, text: string) => void;
  /** Sends one option of a one-click card. */
  sendOption: (index: number) => void;
  /** The errors of typed numbers, by question. Empty until the person tries to send. */
  problems: ReadonlyMap<number, string>;
  /** Sends the answers. Returns false if an answer is missing or invalid. */
  submit: () => boolean;
  /** Denies or rejects, by default with the typed reason. */
  no: (options?: { message?: string; stop?: boolean }) => void;
  /** Approves with the edited input, if there is one. */
  approve: (options?: { choice?: string; label?: string }) => void;
  /** Cancels the decision that is held. */
  undo: () => void;
  /** The files that the command executes. Undefined until they are loaded. */
  files: AskFiles | undefined;
  /** The unsent input, if another person or rule decided first. */
  unsent: string | undefined;
}

/** The optional fields of a card. */
export type WrittenField = "input" | "reason" | "note";

/** The edited input in the shape of the original input. Undefined if it is not a JSON object or a field of its form is wrong. */
export function editedInput(ask: Ask, text: string): Record<string, unknown> | undefined {
  const input = (ask.approval?.input ?? {}) as Record<string, unknown>;
  const field = editedField(ask);
  if (field) return { ...input, [field]: text };
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) return undefined;
    const values = parsed as Record<string, unknown>;
    return formFields(ask)?.some((field) => fieldProblem(field, values[field.name])) ? undefined : values;
  } catch {
    return undefined;
  }
}

/** The field of the input that is edited as text: a command or a plan. */
export function editedField(ask: Ask): "command" | "plan" | undefined {
  const input = (ask.approval?.input ?? {}) as Record<string, unknown>;
  if (ask.approval?.action === "run" && typeof input.command === "string") return "command";
  if (ask.approval?.action === "plan" && typeof input.plan === "string") return "plan";
  return undefined;
}

/** The initial text of the editor. */
export function inputText(ask: Ask): string {
  const input = (ask.approval?.input ?? {}) as Record<string, unknown>;
  const field = editedField(ask);
  return field ? String(input[field]) : JSON.stringify(input, null, 2);
}

const YES_NO = ["true", "false"];
const NO_PROBLEMS: ReadonlyMap<number, string> = new Map();

/** Validates a typed number like the server does. */
function numberProblem(t: Translate, question: Question, typed?: string) {
  if (question.input !== "number" || typed === undefined) return undefined;
  const { minimum: min, maximum: max } = question;
  const number = Number(typed);
  const inRange = number >= (min ?? -Infinity) && number <= (max ?? Infinity);
  return inRange ? undefined : rangeWords(t, question);
}

/** Says which numbers are valid. */
export function rangeWords(
  t: Translate,
  { minimum: min, maximum: max }: Pick<Question, "minimum" | "maximum">,
): string {
  if (min != null && max != null) return t("question.rangeBoth", { min, max });
  if (min != null) return t("question.rangeMin", { min });
  return max != null ? t("question.rangeMax", { max }) : t("question.range");
}

/** The headless card, for your own elements. `over` replaces parts of the host. */
export function useAskCard(ask: Ask, over: Partial<Host> = {}): AskCardModel {
  const { t, sender, drafts, holdMs, oneClick: allowed } = { ...useHost(), ...over };
  const sending = useSending(sender, ask.id);
  const [draft, change] = useDraft(drafts, ask);
  const [highlight, setHighlight] = useState<number | null>(null);
  const [tried, setTried] = useState(false);
  const [writing, setWriting] = useState<AskCardModel["writing"]>();
  const files = useFiles(ask, sending);
  const now = useNow(1000);
  const state = stateOf(ask, sending, now);
  const questions = useMemo(() => ask.questions ?? [], [ask]);
  const single = oneClickQuestion(ask);
  const answers = answersOf(questions, draft);
  const absent = missing(questions, draft);

  const problems = new Map(
    questions.flatMap((question, index): [number, string][] => {
      const problem = numberProblem(t, question, answers[index]?.[0]);
      return problem ? [[index, problem]] : [];
    }),
  );

  const { outcome } = ask;
  useEffect(() => {
    if (outcome) sender.lose(ask.id, outcome);
  }, [sender, ask.id, outcome]);

  const changeQuestion = (index: number, with_: (one: QuestionDraft) => QuestionDraft) =>
    change({ questions: draft.questions.map((one, at) => (at === index ? with_(one) : one)) });
  const send = (decision: Decision, label: string) => {
    sender.clear(ask.id);
    sender.hold(ask.id, decision, label, holdMs, contentOf(ask));
  };
  const note = draft.note?.trim() ? { note: draft.note.trim() } : {};
  const answer = (given: string[][]) => send({ kind: "answer", answers: given, ...note }, labelOf(given));
  const labelOf = (given: string[][]) =>
    questions
      .map((question, index) => {
        if (question.secret) return t("question.secret");
        const named = (value: string) => entryLabel(question, value);
        const yesNo = (value: string) => t(value === "true" ? "question.yes" : "question.no");
        return (given[index] ?? []).map(question.input === "yesNo" ? yesNo : named).join(", ");
      })
      .filter(Boolean)
      .join("; ");

  return {
    ask,
    state,
    open: isOpen(state),
    sending,
    draft,
    oneClick: allowed && single !== undefined,
    highlight,
    setHighlight,
    answers,
    missing: absent.map((question) => question.header || question.text),
    problems: tried ? problems : NO_PROBLEMS,
    change,
    write: (field) => {
      change({ [field]: draft[field] ?? (field === "input" ? inputText(ask) : "") });
      setWriting({ field, count: (writing?.count ?? 0) + 1 });
    },
    leaveField: (field) => {
      if (draft[field] === (field === "input" ? inputText(ask) : "")) change({ [field]: null });
    },
    writing,
    choose: (index, value) => changeQuestion(index, (one) => pick(questions[index], one, value)),
    chooseOther: (index, on) =>
      changeQuestion(index, (one) => (questions[index] ? chooseOther(questions[index], one, on) : one)),
    type: (index, text) => changeQuestion(index, (one) => (questions[index] ? type(questions[index], one, text) : one)),
    sendOption: (index) => {
      const values = single?.input === "yesNo" ? YES_NO : (single?.options ?? []).map(optionValue);
      const value = values[index];
      if (value !== undefined) answer([[value]]);
    },
    submit: () => {
      setTried(true);
      if (absent.length > 0 || problems.size > 0) return false;
      answer(answers);
      return true;
    },
    no: ({ message = draft.reason ?? "", stop } = {}) => {
      if (!allows(ask, "deny")) return;
      const kind = ask.kind === "question" ? "reject" : "deny";
      const words = message.trim() ? { message: message.trim() } : {};
      send({ kind, ...words, ...(stop ? { stop } : {}) }, t(kind === "reject" ? "button.reject" : "button.deny"));
    },
    approve: ({ choice, label } = {}) => {
      const input = draft.input === null || draft.input === inputText(ask) ? undefined : editedInput(ask, draft.input);
      if (draft.input !== null && draft.input !== inputText(ask) && !input) return;
      if (!allows(ask, input ? "edit" : "approve")) return;
      const seen = files?.digest ? { contentDigest: files.digest } : {};
      const decision: Decision = {
        kind: "approve",
        ...(choice ? { choice } : {}),
        ...(input ? { input } : {}),
        ...seen,
      };
      send(decision, label ?? t("button.approve"));
    },
    undo: () => void sender.undo(ask.id),
    files,
    unsent: ask.status === "pending" || sending ? undefined : draftWords(ask, draft, inputText(ask)),
  };
}

function pick(
  question: Ask["questions"] extends (infer Q)[] | undefined ? Q | undefined : never,
  one: QuestionDraft,
  value: string,
) {
  return question ? choose(question, one, value) : one;
}

/** How many options the digits can choose on a one-click card. */
export function optionCount(ask: Ask): number {
  const single = oneClickQuestion(ask);
  if (!single) return 0;
  return single.input === "yesNo" ? 2 : (single.options ?? []).length;
}

/** Whether the card has a field for free text. */
export const hasOther = (ask: Ask): boolean => {
  const single = oneClickQuestion(ask);
  return single !== undefined && takesOther(single);
};
