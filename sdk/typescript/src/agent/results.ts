import type { Ask, Claim } from "../api/index.js";
import { SaysoError } from "../errors.js";

/** The outcome of an approval. */
export interface Decision {
  /** Whether the tool may be used. */
  approved: boolean;
  /** For the model. Never empty if the approval was not given. */
  message: string;
  /** The arguments to use instead, if the person edited them. */
  input: Record<string, unknown> | undefined;
  /** The id of the choice that the person took, for example `always`. */
  choice: string | undefined;
  /** Whether the person told the agent to stop. */
  stop: boolean;
  /** `approved`, `denied` or `withdrawn`. */
  status: Ask["status"];
  /** Who decided: the name of a person, or `policy` or `timeout`. */
  by: string;
  /** The id of the ask. */
  askId: string;
}

/** There is no answer: a person, the policy or a timeout rejected the question, or it was withdrawn. The message is written for
 * the model: return it as the result of the tool call. */
export class QuestionRejectedError extends SaysoError {
  override readonly name = "QuestionRejectedError";

  constructor(
    message: string,
    /** The id of the ask. */
    readonly askId: string,
    /** Whether the person told the agent to stop. */
    readonly stop: boolean,
  ) {
    super("question_rejected", message, 0);
  }
}

/** Two tool calls have the same id, so it is unclear which one a decision is about. No tool is called. */
export class RepeatedCallError extends SaysoError {
  override readonly name = "RepeatedCallError";

  constructor(toolCallId: string) {
    const unclear = `Two tool calls have the id ${toolCallId}, so it is unclear which one a decision is about`;
    super("repeated_call", `${unclear}. Give each call an id of its own.`, 0);
  }
}

/** The secret answer was handed out already. If that reply was lost, ask again. */
export class SecretLostError extends SaysoError {
  override readonly name = "SecretLostError";

  constructor() {
    super("secret_lost", "The secret answer was handed out already. Ask again.", 0);
  }
}

export function decisionOf(ask: Ask): Decision {
  const { outcome, delivery } = ask;
  const status = outcome?.status ?? ask.status;
  // `withheld`: a file that the command executes changed after the approval.
  const approved = status === "approved" && delivery !== "withheld";
  const refusal = status === "withdrawn" ? "The approval was withdrawn." : "User denied tool execution";
  return {
    approved,
    message: outcome?.message || (approved ? "" : refusal),
    input: approved ? (outcome?.input ?? undefined) : undefined,
    choice: outcome?.choice ?? undefined,
    stop: outcome?.stop === true,
    status,
    by: outcome?.by.name ?? outcome?.by.kind ?? "",
    askId: ask.id,
  };
}

/** The entries of each question. Throws a {@link QuestionRejectedError} if there is no answer. */
export function answersOf(ask: Ask): string[][] {
  const { outcome } = ask;
  const status = outcome?.status ?? ask.status;
  if (status !== "answered") {
    const message = status === "withdrawn" ? "The question was withdrawn" : "The user declined to answer";
    throw new QuestionRejectedError(outcome?.message || message, ask.id, outcome?.stop === true);
  }
  return (outcome?.answers ?? []).map((entries) => {
    if (Array.isArray(entries)) return entries.map(String);
    throw new SecretLostError();
  });
}

/** The answer as the result of a tool call, with the note of the person. */
export function answerForModel(ask: Ask): string {
  const text = answersOf(ask)
    .map((entries) => entries.join(", "))
    .join("\n");
  const note = ask.outcome?.note;
  return note ? `${text}\n\n${note}` : text;
}

/** The answer, or what the model reads instead. */
export function replyForModel(ask: Ask): string {
  try {
    return answerForModel(ask);
  } catch (error) {
    if (error instanceof QuestionRejectedError) return error.message;
    throw error;
  }
}

/** The right to resume one suspended run. */
export class RunClaim {
  /** The group at the time of the claim. */
  readonly group: Claim["group"];
  /** The number of this claim, which every report carries. */
  readonly epoch: number;
  /** The text that was stored with the group. */
  readonly state: string | undefined;
  /** The text that was given as `resumeRef` of the group. */
  readonly resumeRef: string | undefined;

  constructor(
    claim: Claim,
    /** Aborts when the claim is lost or the worker has to end. Stop the run then. */
    readonly signal: AbortSignal = new AbortController().signal,
  ) {
    this.group = claim.group;
    this.epoch = claim.epoch;
    this.state = claim.state ?? undefined;
    this.resumeRef = claim.resumeRef ?? undefined;
  }

  /** The id of the group. */
  get groupId(): string {
    return this.group.id;
  }

  /** The asks with their outcomes, in the order in which they were opened. */
  get asks(): Ask[] {
    return this.group.asks;
  }

  /** The outcome of the approval for this tool call. */
  decision(toolCallId: string): Decision | undefined {
    const ask = this.#ask(toolCallId);
    return ask && decisionOf(ask);
  }

  /** The answer to the question of this tool call, or what the model reads instead. */
  reply(toolCallId: string): string | undefined {
    const ask = this.#ask(toolCallId);
    return ask && replyForModel(ask);
  }

  #ask(toolCallId: string): Ask | undefined {
    const [ask, another] = this.asks.filter((ask) => ask.toolCallId === toolCallId);
    if (another) throw new RepeatedCallError(toolCallId);
    return ask;
  }
}
