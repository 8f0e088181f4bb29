export type * from "./api/index.js";
export { type AskChange, askChange } from "./askEvents.js";
export type { AskQuery, Asks } from "./asks.js";
export {
  AlreadyResolvedError,
  AskPendingError,
  ClaimLostError,
  ConnectionError,
  DecisionNotAllowedError,
  DedupeKeyReusedError,
  type ErrorCode,
  ForbiddenError,
  GroupEndedError,
  GroupNotReadyError,
  InvalidAnswersError,
  InvalidInputError,
  InvalidRequestError,
  InvalidSchemaError,
  NotFoundError,
  OutcomeTakenError,
  RateLimitedError,
  SaysoError,
  StateUnreadableError,
  UnauthorizedError,
  UnknownCallbackError,
  WrongKindError,
} from "./errors.js";
export { type EventsOptions, type FeedEvent, ignoreUnknownEvent } from "./events.js";
export type { AskContext } from "./feed.js";
export type { Groups } from "./groups.js";
export type { CallOptions, ConnectOptions, Query, RequestOptions } from "./http.js";
export type { ApprovalReply, QuestionReply } from "./replies.js";
export type { RunQuery, RunReply, Runs } from "./runs.js";
export { Sayso, type SaysoOptions } from "./sayso.js";
export { servicesOf } from "./services.js";
export type { Listening, OnApproval, OnQuestion, SaysoSession, SessionQuery, Sessions } from "./sessions.js";
export type { Connection, StreamOptions } from "./stream.js";
export type { Tokens } from "./tokens.js";
export { DirectTransport, HttpTransport, type Services, type SessionEvent, type Transport } from "./transport.js";
export { emptyView, type SessionItem, type SessionView, type ToolCallState, viewAfter } from "./view.js";
