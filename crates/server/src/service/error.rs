//! Why a use case was refused or failed. Every surface renders this type in its own protocol.

use std::io;
use std::path::PathBuf;

use sayso_core::id::{AskId, TokenId};
use sayso_core::limits::LimitExceeded;
use sayso_core::plain_text::ContainsNul;
use sayso_core::policy::PolicyError;
use sayso_core::texts;
use sayso_core::workflow::WorkflowError;
use sayso_store::StoreError;
use sayso_store::ops::ResolveError;

use super::asks::ContentChanged;
use super::json_schema::InvalidSchema;

/// Why a use case was refused or failed. Clients receive the text, which ends with the next step where there is one.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServiceError {
    /// The caller's role lacks the permission.
    #[error("this token may not do this")]
    Forbidden,
    /// Only admins choose variables, because `PATH` selects programs.
    #[error("only an admin token may send `environment`")]
    EnvironmentForbidden,
    /// Only admins choose a mode in which the agent may act without asking.
    #[error("only an admin token may choose a permission mode that skips approvals; ask an admin, or choose `default` or `plan`")]
    ModeForbidden,
    /// Only tokens that see every ask read the policy for all of them.
    #[error("a token for one session or for labels does not read the policy; ask an admin")]
    PolicyForbidden,
    /// The name or directory that an agent reports contradicts its token.
    #[error("{0}")]
    IdentityRefused(String),
    /// A login code that is unknown, used or expired.
    #[error("this code is invalid, expired or already used; create a new one with `sayso login` or `sayso phone`")]
    InvalidLoginCode,
    /// The token was revoked or expired during a long request.
    #[error("this token is no longer valid; use another one")]
    TokenEnded,
    /// Unknown or invisible to the caller.
    #[error("no such ask")]
    AskNotFound,
    /// Unknown or invisible to the caller.
    #[error("no such session")]
    SessionNotFound,
    /// Unknown or invisible to the caller.
    #[error("no such run")]
    RunNotFound,
    /// Unknown, or opened with another token.
    #[error("no such group; a group belongs to the token that opened it")]
    GroupNotFound,
    /// Asks are pending, a worker has the claim, or a person must decide about the run.
    #[error("the group cannot be claimed or withdrawn now; see its `status`")]
    GroupNotReady,
    /// The group was resumed, withdrawn or abandoned.
    #[error("the group has ended; see its `status`")]
    GroupEnded,
    /// The epoch of the report is not the one of the current claim.
    #[error("this claim has ended, because its lease expired or another worker has the group; stop, and report nothing")]
    ClaimLost,
    /// The stored state was modified, or the key file was replaced.
    #[error(
        "the state of this group cannot be decrypted: it was modified, or the key file was replaced; a person decides about the run"
    )]
    StateUnreadable,
    /// A schema that is invalid, or too large or too complex to validate with.
    #[error(transparent)]
    InvalidSchema(#[from] InvalidSchema),
    /// Only admins configure targets.
    #[error("no callback target `{0}` is configured; an admin adds [callbacks.{0}] to config.toml")]
    UnknownCallback(String),
    /// The ask is not a question of that run.
    #[error("no such question of this run")]
    QuestionNotFound,
    /// Anything else that does not exist.
    #[error("{0}")]
    NotFound(&'static str),
    /// The request is well-formed, but its values are invalid.
    #[error("{0}")]
    Invalid(String),
    /// A size or count limit.
    #[error(transparent)]
    Limit(#[from] LimitExceeded),
    /// A name, an id or a path with a character that databases cannot store in text.
    #[error(transparent)]
    ContainsNul(#[from] ContainsNul),
    /// The caller has too many pending asks.
    #[error("too many asks of this token are pending; wait until some of them are decided")]
    TooManyPending,
    /// The byte quota of the token or the session is used up.
    #[error("this token or session has stored too much text in a short time; wait a few minutes, or send less with each ask")]
    ByteQuota,
    /// All threads for policy work stayed busy for too long.
    #[error("too many policies are being tried at once; try again in a moment")]
    PolicyWorkerBusy,
    /// The idempotency key belongs to another request.
    #[error("this Idempotency-Key was used with another body; use a new key for a new call")]
    KeyReused,
    /// The call that the idempotency key belongs to was approved, and its caller has collected the approval.
    #[error("the approval for this Idempotency-Key was already delivered; use a new key for a new call")]
    ApprovalDelivered,
    /// The dedupe key belongs to an ask for something else.
    #[error("this dedupeKey belongs to an ask with other content; use a new key for a new ask")]
    DedupeKeyReused,
    /// `policyOnly` was requested and no rule decides the ask.
    #[error("the policy leaves this to a person; nothing was opened")]
    NotDecided,
    /// The caller wants an outcome that does not exist yet.
    #[error("the ask has no outcome yet; wait for it first")]
    OutcomePending,
    /// Another program with this token has collected the approval.
    #[error("this approval was already collected; open a new ask to do the same again")]
    OutcomeTaken,
    /// The ask was not resolved. Contains the caller's token, so that the response can tell the winner that it won.
    #[error("{error}")]
    NotResolved { error: ResolveError, caller: TokenId },
    /// A file that the command executes differs from the version that the person saw.
    #[error(
        "a file that this command executes has changed, and the ask is still pending; review the file again before you approve"
    )]
    ContentChanged(ContentChanged),
    /// The session has ended.
    #[error("the session has ended")]
    SessionEnded,
    /// A person runs this agent; Sayso cannot send it messages or commands.
    #[error("{}", texts::EXTERNAL)]
    ExternalSession,
    /// The agent's permission mode and model are fixed when it starts.
    #[error("{}", texts::SETTINGS_FIXED)]
    SettingsFixed,
    /// Asks are pending that a message cannot answer.
    #[error(
        "the agent waits for a decision that a message cannot give; decide the ask, or send the message with ifPending \"queue\""
    )]
    MessageBlocked(Vec<AskId>),
    /// The session has not ended, or its agent has no resume.
    #[error("the session has not ended, or its agent cannot resume sessions")]
    NotResumable,
    /// The run has ended.
    #[error("the run has ended")]
    RunEnded,
    /// The sentence names the known agents.
    #[error("{0}")]
    UnknownAgent(String),
    /// The sentence says how to install the agent.
    #[error("{0}")]
    AgentNotInstalled(String),
    /// The sentence says why the agent's server does not answer.
    #[error("{0}")]
    AgentUnreachable(String),
    /// Not a directory, or outside the configured roots.
    #[error("{0}")]
    DirectoryNotAllowed(String),
    /// No workflow file of that name.
    #[error("{0}")]
    UnknownWorkflow(String),
    /// The errors of a workflow; at least one.
    #[error("the workflow cannot be used")]
    InvalidWorkflow(Vec<WorkflowError>),
    /// A policy text that cannot be used.
    #[error(transparent)]
    InvalidPolicy(#[from] PolicyError),
    /// Someone else wrote the policy file since the caller read it.
    #[error("the policy file changed after you read it, so nothing was written; read it again and apply your change to it")]
    PolicyChanged,
    /// The policy file cannot be written.
    #[error("{} cannot be written: {error}; nothing changed", path.display())]
    PolicyFile { path: PathBuf, error: io::Error },
    /// An internal error. The log has the details.
    #[error("{0}")]
    Internal(&'static str),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ServiceError {
    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::Invalid(detail.into())
    }
}
