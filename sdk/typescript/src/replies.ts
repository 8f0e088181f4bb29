import type { Ask } from "./api/index.js";
import type { Asks } from "./asks.js";
import { InvalidRequestError } from "./errors.js";

/** The return value of a callback for questions. Without a value, the ask stays pending. */
export type QuestionReply =
  /** One list of entries for each question. */
  string[][] | { answers: string[][]; note?: string } | { reject: true | string };

/** The return value of a callback for approvals and links. Without a value, the ask stays pending. */
export type ApprovalReply =
  | "approve"
  | "deny"
  | { approve: { choice?: string; input?: Record<string, unknown> } }
  | { deny: string; stop?: boolean };

/** Sends the return value of a callback. Throws for an invalid value, and the ask stays pending. */
export async function reply(asks: Asks, ask: Ask, given: unknown): Promise<void> {
  if (given === undefined || given === null) return;
  const sent = ask.kind === "question" ? replyQuestion(asks, ask, given) : replyApproval(asks, ask, given);
  if (!sent) {
    const text = `a callback returned ${typeof given} for ${ask.id}, which is not a valid reply to this ${ask.kind}; the ask stays pending`;
    throw new InvalidRequestError("invalid_request", text, 0);
  }
  await sent;
}

function replyQuestion(asks: Asks, ask: Ask, given: unknown): Promise<Ask> | undefined {
  const { answers = given, note, reject } = given as { answers?: unknown; note?: string; reject?: true | string };
  if (reject === true) return asks.reject(ask.id);
  if (typeof reject === "string") return asks.reject(ask.id, { message: reject });
  return isAnswers(answers) ? asks.answer(ask.id, answers, note === undefined ? {} : { note }) : undefined;
}

function replyApproval(asks: Asks, ask: Ask, given: unknown): Promise<Ask> | undefined {
  if (given === "approve") return asks.approve(ask.id);
  if (given === "deny") return asks.deny(ask.id);
  const { approve, deny, stop } = given as { approve?: object; deny?: string; stop?: boolean };
  if (typeof deny === "string")
    return asks.deny(ask.id, stop === undefined ? { message: deny } : { message: deny, stop });
  return typeof approve === "object" && approve !== null ? asks.approve(ask.id, approve) : undefined;
}

const isAnswers = (value: unknown): value is string[][] =>
  Array.isArray(value) &&
  value.every((entries) => Array.isArray(entries) && entries.every((entry) => typeof entry === "string"));
