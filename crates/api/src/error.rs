//! Error responses: `application/problem+json` with a stable `code`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::ask::{FileDiff, Outcome};

/// Identifies the kind of error. Codes are stable, so clients should branch on the code and never on the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorCode {
    /// The body is not valid JSON, lacks a field that the client dialect requires, or has a name, id or path that contains
    /// U+0000.
    MalformedRequest,
    /// The body is valid JSON but has unknown fields, missing fields or invalid values.
    InvalidRequest,
    /// The token is missing, unknown, expired or revoked.
    Unauthorized,
    /// The role or scope of the token does not permit this request.
    Forbidden,
    /// The token may not use this agent name, ask from this directory or set these labels.
    IdentityRefused,
    /// The request comes from a web page of another origin.
    ForeignOrigin,
    /// The `Host` header names a host that this server does not serve.
    ForeignHost,
    /// The resource does not exist, or the token may not see it.
    NotFound,
    /// The ask does not exist, or the token may not see it.
    AskNotFound,
    /// The session does not exist, or the token may not see it.
    SessionNotFound,
    /// The run does not exist, or the token may not see it.
    RunNotFound,
    /// This run has no question with this id.
    QuestionNotFound,
    /// The route does not support this HTTP method.
    MethodNotAllowed,
    /// The ask already has an outcome. The outcome is in `outcome`; `own` tells whether this token caused it.
    AskAlreadyResolved,
    /// A file that the command executes has changed. The differences are in `changes`.
    ContentChanged,
    /// Asks are pending that this message cannot answer. Their ids are in `asks`.
    AskPending,
    /// This kind of ask cannot be decided with this call, for example an approval with `answer`.
    WrongKind,
    /// The answers do not match the questions. The reasons are in `problems`.
    InvalidAnswers,
    /// The approval does not permit this decision; see its `allowedDecisions`.
    DecisionNotAllowed,
    /// The changed input does not fit the `inputSchema` of the approval.
    InvalidInput,
    /// The `inputSchema` or `responseSchema` is not a JSON Schema that this server can use.
    InvalidSchema,
    /// This server did not issue the answer link, or the person that it was issued for is no longer configured.
    InvalidLink,
    /// The answer link has expired.
    LinkExpired,
    /// The session has ended.
    SessionEnded,
    /// The run has finished.
    RunEnded,
    /// The agent does not support resuming this session.
    NotResumable,
    /// The agent cannot change its permission mode or model while a session runs.
    SettingsFixed,
    /// The request set `policyOnly`, and the policy leaves this ask to a person.
    NotDecided,
    /// A person runs this agent in their own terminal or editor, so messages and commands have to be entered there.
    ExternalSession,
    /// The `Idempotency-Key` was used with a different body, or the approval that it opened was already delivered.
    IdempotencyKeyReused,
    /// A pending ask has this `dedupeKey` but asks for something else.
    DedupeKeyReused,
    /// Another taker has already collected this approval.
    OutcomeTaken,
    /// No such group.
    GroupNotFound,
    /// The group is pending, claimed or uncertain.
    GroupNotReady,
    /// The group has ended.
    GroupEnded,
    /// The claim has ended: its lease expired, or another worker has the group.
    ClaimLost,
    /// The state was changed, or was encrypted by another server.
    StateUnreadable,
    /// No target of this name is configured.
    UnknownCallback,
    /// A limit on the size or number of items was exceeded.
    LimitExceeded,
    /// The request body is too large.
    TooLarge,
    /// The token or its session has stored too many bytes in a short time. Try again later.
    ByteQuotaExceeded,
    /// The request body did not arrive in time.
    RequestTimeout,
    /// Too many requests in a short time.
    RateLimited,
    /// The policy text does not parse or contains invalid settings.
    InvalidPolicy,
    /// The policy file has changed since the caller read it. Read it again and repeat the change.
    PolicyChanged,
    /// The workflow contains mistakes. They are listed in `faults`.
    InvalidWorkflow,
    /// No agent with this name is configured.
    UnknownAgent,
    /// The program of the agent was not found.
    AgentNotInstalled,
    /// The agent's server is not running at this address, or refused the credentials.
    AgentUnreachable,
    /// Sessions may not use this directory.
    DirectoryNotAllowed,
    /// The disk is full. No data was lost; try again when there is free space.
    StorageFull,
    /// The server is shutting down.
    ShuttingDown,
    /// A bug or an unexpected failure in the server.
    Internal,
}

/// Why the answer to one question is invalid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestionProblem {
    /// The position of the question, counted from 0.
    pub index: usize,
    /// The `key` of the question.
    pub key: String,
    /// A description of the mistake for people.
    pub reason: String,
}

/// One mistake in a workflow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowFault {
    /// The path of the invalid value, for example `steps[1].prompt`.
    pub path: String,
    /// The error and the correction.
    pub message: String,
    /// The line, counted from 1, if the workflow was read from a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The column, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
}

/// The body of an error response, as in RFC 9457. Fields after `code` are present only for the codes that mention them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// Always `about:blank`, because `code` identifies the kind of error.
    #[serde(rename = "type", default)]
    pub type_uri: String,
    /// A short summary, the same for every error with this code.
    pub title: String,
    /// The HTTP status code.
    pub status: u16,
    /// What happened, and what to do next.
    pub detail: String,
    /// The stable error code.
    pub code: ErrorCode,
    /// The same text as `detail`, for clients that expect a field of this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// With `ask_already_resolved`: the outcome of the ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// With `ask_already_resolved`: whether this token caused the outcome with an earlier call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<bool>,
    /// With `invalid_answers`: one entry per invalid answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<QuestionProblem>,
    /// With `ask_pending`: the ids of the pending asks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<String>,
    /// With `content_changed`: what changed in the files that the command executes. Empty if the server no longer has the
    /// earlier content.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<FileDiff>,
    /// With `invalid_workflow`: one entry per mistake.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<WorkflowFault>,
    /// The line of a mistake in a file or text, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The column of the mistake, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
}
