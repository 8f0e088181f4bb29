import type { components, Outcome, Problem, QuestionProblem } from "./api/index.js";

/** What went wrong, to decide by. The server may learn new ones. */
export type ErrorCode =
  | components["schemas"]["ErrorCode"]
  /** No reply came. Whether the call had its effect is not known; the same call again is safe. */
  | "connection_lost"
  | (string & {});

/** A call that did not do what it should. `code` says why. */
export class SaysoError extends Error {
  override readonly name: string = "SaysoError";

  constructor(
    readonly code: ErrorCode,
    message: string,
    /** The HTTP status; 0 when there was no reply. */
    readonly status: number,
    /** All that the server said. */
    readonly problem: Partial<Problem> = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Somebody, or something, was faster. `winner` and `outcome` say who and how. */
export class AlreadyResolvedError extends SaysoError {
  override readonly name = "AlreadyResolvedError";

  /** How it ended. */
  get outcome(): Outcome | undefined {
    return this.problem.outcome ?? undefined;
  }

  /** Whether an earlier call with this token brought that outcome. */
  get own(): boolean {
    return this.problem.own === true;
  }

  /** Who decided: a person's name, else `policy`, `timeout`, `agent`, … */
  get winner(): string {
    return this.outcome?.by.name ?? this.outcome?.by.kind ?? "somebody else";
  }
}

/** The answers do not fit the questions; the ask still waits. */
export class InvalidAnswersError extends SaysoError {
  override readonly name = "InvalidAnswersError";

  /** What is wrong, per question. */
  get problems(): QuestionProblem[] {
    return this.problem.problems ?? [];
  }
}

/** A message cannot be taken while these asks wait. */
export class AskPendingError extends SaysoError {
  override readonly name = "AskPendingError";

  get asks(): string[] {
    return this.problem.asks ?? [];
  }
}

/** No token, or one that is wrong, expired or revoked. */
export class UnauthorizedError extends SaysoError {
  override readonly name = "UnauthorizedError";
}

/** The token may not do this, or the page's origin may not call. */
export class ForbiddenError extends SaysoError {
  override readonly name = "ForbiddenError";
}

/** There is nothing, or nothing that this token sees. */
export class NotFoundError extends SaysoError {
  override readonly name = "NotFoundError";
}

/** This kind of ask is not decided in this way. */
export class WrongKindError extends SaysoError {
  override readonly name = "WrongKindError";
}

/** The call has the wrong shape, or names something that does not exist. */
export class InvalidRequestError extends SaysoError {
  override readonly name = "InvalidRequestError";
}

/** Too many calls. */
export class RateLimitedError extends SaysoError {
  override readonly name = "RateLimitedError";
}

/** The line broke before the reply was there. */
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

/** The error that a reply stands for. Something in between may have replied, so its body is not trusted to be ours. */
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
