import type { Ask, Question } from "../api";
import type { Sending } from "./sender";

/** The visual state of a card. */
export type CardState =
  | "pending"
  | "parked"
  | "snoozed"
  | "sending"
  | "answered"
  | "rejected"
  | "withdrawn"
  | "undelivered";

/** The state of a card, from the ask and the decision that is being sent. */
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

/** The parts of an ask that a decision depends on, as text to compare. */
export const contentOf = ({ questions, approval, link }: Ask): string => JSON.stringify([questions, approval, link]);

/** The first digits of the digest of an ask, for people to compare. */
export const shortDigest = (ask: Ask): string => (ask.digest ?? "").slice(0, 12);

/** Whether the controls are shown. */
export const isOpen = (state: CardState): boolean => state === "pending" || state === "parked" || state === "snoozed";

/** Whether people can make this decision about an approval. Other asks have no such limits. */
export function allows({ approval }: Ask, decision: "approve" | "edit" | "deny"): boolean {
  if (!approval) return true;
  return (decision !== "edit" || approval.editable === true) && (approval.allowedDecisions?.includes(decision) ?? true);
}

/** The question of a one-click card, whose options are buttons that send. */
export function oneClickQuestion(ask: Ask): Question | undefined {
  const [question, second] = ask.questions ?? [];
  if (!question || second || question.multiple) return undefined;
  const input = question.input ?? "choice";
  return input === "yesNo" || (input === "choice" && (question.options ?? []).length > 0) ? question : undefined;
}

const isField = (question: Question): boolean =>
  question.input === "text" || question.input === "number" || (isChoice(question) && !question.options?.length);
const isChoice = (question: Question): boolean => (question.input ?? "choice") === "choice";

/** Whether the answer is typed. Then letters are text, so single letters must not act on the card. */
export const takesTyping = (ask: Ask): boolean =>
  ask.kind === "question" && (ask.questions ?? []).length > 0 && (ask.questions ?? []).every(isField);

/** The only question of the ask, if it is a yes/no question. */
export function yesNoQuestion(ask: Ask): Question | undefined {
  const [question, second] = ask.questions ?? [];
  return question?.input === "yesNo" && !second ? question : undefined;
}

/** Whether the question accepts free text in addition to its options. */
export const takesOther = (question: Question): boolean => isChoice(question) && question.custom !== false;

const last = (path: string): string => path.replace(/\/+$/, "").split("/").at(-1) || path;

/** The last component of a path. */
export const baseName = (path: string | null | undefined): string => (path ? last(path) : "");

/** The title of an ask in one line, and whether it is code. */
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
