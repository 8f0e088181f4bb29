import type { components, Outcome, Problem, QuestionProblem } from "./api/index.js";

/** Error codes. Later servers can add codes. */
export type ErrorCode =
  | components["schemas"]["ErrorCode"]
  /** No response arrived, so the effect of the call is unknown. It is safe to repeat the call. */
  | "connection_lost"
  | (string & {});

/** A failed call. `code` is the reason. */
export class SaysoError extends Error {
  override readonly name: string = "SaysoError";

  constructor(
    readonly code: ErrorCode,
    message: string,
    /** The HTTP status, or 0 without a response. */
    readonly status: number,
    /** The problem document of the server. */
    readonly problem: Partial<Problem> = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The ask was already decided. `winner` and `outcome` describe the decision. */
export class AlreadyResolvedError extends SaysoError {
  override readonly name = "AlreadyResolvedError";

  /** The outcome of the ask. */
  get outcome(): Outcome | undefined {
    return this.problem.outcome ?? undefined;
  }

  /** Whether an earlier call with this token decided the ask. */
  get own(): boolean {
    return this.problem.own === true;
  }

  /** The name of the person who decided, or `policy`, `timeout`, `agent`, … */
  get winner(): string {
    return this.outcome?.by.name ?? this.outcome?.by.kind ?? "someone else";
  }
}

/** The answers do not fit the questions. The ask stays pending. */
export class InvalidAnswersError extends SaysoError {
  override readonly name = "InvalidAnswersError";

  /** The errors, by question. */
  get problems(): QuestionProblem[] {
    return this.problem.problems ?? [];
  }
}

/** The session cannot accept a message while these asks are pending. */
export class AskPendingError extends SaysoError {
  override readonly name = "AskPendingError";

  /** The ids of the pending asks. */
  get asks(): string[] {
    return this.problem.asks ?? [];
  }
}

/** The token is missing, invalid, expired or revoked. */
export class UnauthorizedError extends SaysoError {
  override readonly name = "UnauthorizedError";
}

/** The token lacks a permission, or the server does not allow the origin of the page. */
export class ForbiddenError extends SaysoError {
  override readonly name = "ForbiddenError";
}

/** The resource does not exist, or the token cannot see it. */
export class NotFoundError extends SaysoError {
  override readonly name = "NotFoundError";
}

/** The decision does not fit the kind of the ask. */
export class WrongKindError extends SaysoError {
  override readonly name = "WrongKindError";
}

/** The request is invalid. */
export class InvalidRequestError extends SaysoError {
  override readonly name: string = "InvalidRequestError";
}

/** The edited input does not fit the `inputSchema` of the approval. The ask stays pending. */
export class InvalidInputError extends InvalidRequestError {
  override readonly name = "InvalidInputError";
}

/** The schema is not a JSON Schema, is too large, or refers to itself or to other documents. No ask was opened. */
export class InvalidSchemaError extends InvalidRequestError {
  override readonly name = "InvalidSchemaError";
}

/** The approval does not permit this decision. The ask stays pending. */
export class DecisionNotAllowedError extends InvalidRequestError {
  override readonly name = "DecisionNotAllowedError";
}

/** No callback target of this name is configured. */
export class UnknownCallbackError extends InvalidRequestError {
  override readonly name = "UnknownCallbackError";
}

/** An ask or a group with this key asks for something else. */
export class DedupeKeyReusedError extends SaysoError {
  override readonly name = "DedupeKeyReusedError";
}

/** The group is pending, claimed by a worker, or waits for the decision of a person. */
export class GroupNotReadyError extends SaysoError {
  override readonly name = "GroupNotReadyError";
}

/** The group was resumed, withdrawn or given up. */
export class GroupEndedError extends SaysoError {
  override readonly name = "GroupEndedError";
}

/** The token sent too many requests. */
export class RateLimitedError extends SaysoError {
  override readonly name = "RateLimitedError";
}

/** Another program with this token took the approval and calls the tool. An approval is used once. */
export class OutcomeTakenError extends SaysoError {
  override readonly name = "OutcomeTakenError";
}

/** The lease of the claim expired, and the group was given up or claimed by another worker. Stop the run. */
export class ClaimLostError extends SaysoError {
  override readonly name = "ClaimLostError";
}

/** The stored state was changed, or the key of the server was replaced. */
export class StateUnreadableError extends SaysoError {
  override readonly name = "StateUnreadableError";
}

/** The connection failed before a response arrived. */
export class ConnectionError extends SaysoError {
  override readonly name = "ConnectionError";

  constructor(message: string, cause: unknown) {
    super("connection_lost", message, 0, {}, { cause });
  }
}

const BY_CODE: Record<string, typeof SaysoError> = {
  ask_already_resolved: AlreadyResolvedError,
  invalid_answers: InvalidAnswersError,
  ask_pending: AskPendingError,
  wrong_kind: WrongKindError,
  invalid_input: InvalidInputError,
  invalid_schema: InvalidSchemaError,
  decision_not_allowed: DecisionNotAllowedError,
  dedupe_key_reused: DedupeKeyReusedError,
  group_not_ready: GroupNotReadyError,
  group_ended: GroupEndedError,
  unknown_callback: UnknownCallbackError,
  outcome_taken: OutcomeTakenError,
  claim_lost: ClaimLostError,
  state_unreadable: StateUnreadableError,
};

const BY_STATUS: Record<number, typeof SaysoError> = {
  400: InvalidRequestError,
  401: UnauthorizedError,
  403: ForbiddenError,
  404: NotFoundError,
  405: InvalidRequestError,
  413: InvalidRequestError,
  421: ForbiddenError,
  422: InvalidRequestError,
  429: RateLimitedError,
};

const CODE_OF_STATUS: Record<number, ErrorCode> = {
  401: "unauthorized",
  403: "forbidden",
  404: "not_found",
  413: "too_large",
  429: "rate_limited",
};

/** Converts an error response. The body is not trusted, because a proxy can have sent the response. */
export function errorOf(status: number, body: unknown): SaysoError {
  const problem = (typeof body === "object" && body !== null ? body : {}) as Partial<Problem>;
  const code: ErrorCode = problem.code ?? CODE_OF_STATUS[status] ?? (status >= 500 ? "internal" : "invalid_request");
  const Kind = BY_CODE[code] ?? BY_STATUS[status] ?? SaysoError;
  const error = new Kind(code, problem.detail ?? `the server replied with HTTP ${status}`, status, problem);
  if (error instanceof AlreadyResolvedError && error.outcome) {
    error.message = `already ${error.outcome.status} by ${error.winner}`;
  }
  return error;
}
