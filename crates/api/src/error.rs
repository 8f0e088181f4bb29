//! Errors: `application/problem+json` with a stable `code`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::ask::{FileDiff, Outcome};

/// The stable codes. Clients decide by them, never by the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorCode {
    /// The body is not JSON, a dialect misses a field, or a name, an id or a path contains U+0000.
    MalformedRequest,
    /// The body is JSON but does not fit.
    InvalidRequest,
    /// No token, or a bad one.
    Unauthorized,
    /// The token may not do this.
    Forbidden,
    /// The token may not call itself that, ask from there, or set these labels.
    IdentityRefused,
    /// A page of another origin.
    ForeignOrigin,
    /// A host name that this server does not serve.
    ForeignHost,
    /// Nothing there, or nothing you may see.
    NotFound,
    /// No such ask.
    AskNotFound,
    /// No such session.
    SessionNotFound,
    /// No such run.
    RunNotFound,
    /// No such question of this run.
    QuestionNotFound,
    /// The method is not for this route.
    MethodNotAllowed,
    /// The ask has its outcome; see `outcome` and `own`.
    AskAlreadyResolved,
    /// A file that the command executes has changed; see `changes`.
    ContentChanged,
    /// Something is pending that a message does not answer; see `asks`.
    AskPending,
    /// This kind of ask is not decided in this way.
    WrongKind,
    /// The answers do not fit; see `problems`.
    InvalidAnswers,
    /// An answer link that was never made here, or for somebody who is not configured any more.
    InvalidLink,
    /// An answer link that is too old.
    LinkExpired,
    /// The session is over.
    SessionEnded,
    /// The run is over.
    RunEnded,
    /// The agent cannot take it up again.
    NotResumable,
    /// The agent cannot change its permission mode or model while a session runs.
    SettingsFixed,
    /// The policy leaves it to a person, and only the policy was asked.
    NotDecided,
    /// A person runs the agent themselves; it can only be talked to there.
    ExternalSession,
    /// The same key came with another body, or its approval was delivered.
    IdempotencyKeyReused,
    /// An ask with this `dedupeKey` is open, and asks for something else.
    DedupeKeyReused,
    /// Another taker has the approval.
    OutcomeTaken,
    /// No such group.
    GroupNotFound,
    /// The group is pending, claimed or uncertain.
    GroupNotReady,
    /// The group is over.
    GroupEnded,
    /// The claim is over: its lease expired, or another worker has the group.
    ClaimLost,
    /// The state was changed, or was encrypted by another server.
    StateUnreadable,
    /// No target of this name is configured.
    UnknownCallback,
    /// Over a limit.
    LimitExceeded,
    /// The body is too large.
    TooLarge,
    /// The token or its session has stored too many bytes in a short time.
    ByteQuotaExceeded,
    /// The body of the request did not arrive in time.
    RequestTimeout,
    /// Too many calls.
    RateLimited,
    /// The policy does not parse or does not fit.
    InvalidPolicy,
    /// The policy file is not what the caller had read.
    PolicyChanged,
    /// The workflow cannot be used; see `faults`.
    InvalidWorkflow,
    /// No agent of this name.
    UnknownAgent,
    /// The agent's program is not there.
    AgentNotInstalled,
    /// There is no server of the agent at this place, or it does not let us in.
    AgentUnreachable,
    /// The directory is not one that may be used.
    DirectoryNotAllowed,
    /// The disk is full. Nothing was lost; try again when there is space.
    StorageFull,
    /// The server is stopping.
    ShuttingDown,
    /// A fault of ours.
    Internal,
}

/// What is wrong with the answer to one question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestionProblem {
    /// Which question, counted from 0.
    pub index: usize,
    /// Its key.
    pub key: String,
    /// What is wrong.
    pub reason: String,
}

/// What is wrong with a workflow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowFault {
    /// What it is about: `steps[1].prompt`.
    pub path: String,
    /// What is wrong and what to write.
    pub message: String,
    /// The line, where it was a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
}

/// An error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// Always `about:blank`: the code says it all.
    #[serde(rename = "type", default)]
    pub type_uri: String,
    /// A short name of the error.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// What happened and what to do.
    pub detail: String,
    /// The stable code.
    pub code: ErrorCode,
    /// The same as `detail`, for clients that look for this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The outcome that stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// Whether an earlier call with this token brought that outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<bool>,
    /// What is wrong, question by question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<QuestionProblem>,
    /// The asks that are pending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<String>,
    /// What changed in the files that the command executes. Empty if the server no longer knows what was there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<FileDiff>,
    /// What is wrong with a workflow, place by place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<WorkflowFault>,
    /// Where in a file or text, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
}
