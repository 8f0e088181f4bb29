import type { Ask, Question } from "../api";
import type { Sending } from "./sender";

/** How a card looks. */
export type CardState =
  | "pending"
  | "parked"
  | "snoozed"
  | "sending"
  | "answered"
  | "rejected"
  | "withdrawn"
  | "undelivered";

/** The state of a card: what the server says, and what is on its way from here. */
export function stateOf(ask: Ask, sending: Sending | undefined, now: number): CardState {
  if (ask.status === "pending") {
    if (sending && sending.phase !== "failed" && sending.phase !== "lost") return "sending";
    if (ask.snoozedUntil && Date.parse(ask.snoozedUntil) > now) return "snoozed";
    return ask.reach === "parked" ? "parked" : "pending";
  }
  switch (ask.status) {
    case "answered":
    case "approved":
      return ask.delivery === "undeliverable" ? "undelivered" : "answered";
    case "rejected":
    case "denied":
      return "rejected";
    case "withdrawn":
      return "withdrawn";
  }
}

/** Everything about an ask that a decision depends on, as text to compare. */
export const contentOf = ({ questions, approval, link }: Ask): string => JSON.stringify([questions, approval, link]);

/** The first digits of an ask's digest, for people to compare. */
export const shortDigest = (ask: Ask): string => (ask.digest ?? "").slice(0, 12);

/** Whether the controls are shown. */
export const isOpen = (state: CardState): boolean => state === "pending" || state === "parked" || state === "snoozed";

/** The one question whose options are buttons that send, if the ask is such a one. */
export function oneClickQuestion(ask: Ask): Question | undefined {
  const [question, second] = ask.questions ?? [];
  if (!question || second || question.multiple) return undefined;
  const input = question.input ?? "choice";
  return input === "yesNo" || (input === "choice" && (question.options ?? []).length > 0) ? question : undefined;
}

const isField = (question: Question): boolean =>
  question.input === "text" || question.input === "number" || (isChoice(question) && !question.options?.length);
const isChoice = (question: Question): boolean => (question.input ?? "choice") === "choice";

/** Whether the answer to the ask is typed. Then letters are meant as text, and no single letter may act on the card. */
export const takesTyping = (ask: Ask): boolean =>
  ask.kind === "question" && (ask.questions ?? []).length > 0 && (ask.questions ?? []).every(isField);

/** The ask's one question, if it is answered with yes or no. */
export function yesNoQuestion(ask: Ask): Question | undefined {
  const [question, second] = ask.questions ?? [];
  return question?.input === "yesNo" && !second ? question : undefined;
}

/** Whether the question takes words of the person's own beside its options. */
export const takesOther = (question: Question): boolean => isChoice(question) && question.custom !== false;

const last = (path: string): string => path.replace(/\/+$/, "").split("/").at(-1) || path;

/** The name of a directory or a file, without where it is. */
export const baseName = (path: string | null | undefined): string => (path ? last(path) : "");

/** One line that says what an ask is about, and whether it is code. */
export function titleOf(ask: Ask): { text: string; code: boolean } {
  if (ask.kind === "link") return { text: ask.link?.message || ask.link?.url || ask.title, code: false };
  if (ask.approval) {
    const { approval } = ask;
    if (approval.action === "run" && approval.command) return { text: approval.command, code: true };
    return { text: approval.title || approval.tool, code: false };
  }
  const questions = ask.questions ?? [];
  if (questions.length > 1) return { text: questions.map((one) => one.header || one.text).join(", "), code: false };
  return { text: questions[0]?.text ?? ask.title, code: false };
}
