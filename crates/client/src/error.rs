//! Errors of the client.

use std::path::PathBuf;

use sayso_api::ask::Outcome;
use sayso_api::error::{ErrorCode, Problem};

/// An error of a call.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The server refused the request with this problem.
    #[error("{}", .0.detail)]
    Api(Box<Problem>),
    /// The server cannot be reached.
    #[error("no server answers at {url}")]
    Unreachable {
        /// The URL that was called.
        url: String,
        /// The error of the HTTP client.
        #[source]
        source: reqwest::Error,
    },
    /// The reply is not from a Sayso server.
    #[error("the server at {url} is not a Sayso server: {reason}")]
    Protocol {
        /// The URL that was called.
        url: String,
        /// A description of the unexpected reply.
        reason: String,
    },
    /// The URL is invalid for this client.
    #[error("{url} is not a valid server address: {reason}")]
    Address {
        /// The URL that was rejected.
        url: String,
        /// A description of the problem.
        reason: String,
    },
    /// No id, or more than one id, has this suffix.
    #[error(transparent)]
    Find(#[from] FindError),
    /// No server or no token was found.
    #[error(transparent)]
    Discover(#[from] DiscoverError),
    /// The operating system provided no random bytes for an idempotency key.
    #[error("the system provided no random bytes: {0}")]
    Random(String),
}

impl Error {
    /// The server's error code, if the server replied.
    #[must_use]
    pub fn code(&self) -> Option<ErrorCode> {
        self.problem().map(|problem| problem.code)
    }

    /// The server's problem, if the server replied.
    #[must_use]
    pub fn problem(&self) -> Option<&Problem> {
        match self {
            Self::Api(problem) => Some(problem),
            Self::Unreachable { .. }
            | Self::Protocol { .. }
            | Self::Address { .. }
            | Self::Find(_)
            | Self::Discover(_)
            | Self::Random(_) => None,
        }
    }

    /// The existing outcome, if the ask already had one before this call.
    #[must_use]
    pub fn already_resolved(&self) -> Option<&Outcome> {
        self.problem().filter(|problem| problem.code == ErrorCode::AskAlreadyResolved)?.outcome.as_ref()
    }

    /// Whether the existing outcome was set by the same token.
    #[must_use]
    pub fn is_own(&self) -> bool {
        self.problem().and_then(|problem| problem.own).unwrap_or(false)
    }

    /// Whether the server could not be reached.
    #[must_use]
    pub fn is_unreachable(&self) -> bool {
        matches!(self, Self::Unreachable { .. })
    }

    /// Whether the resource does not exist or is not visible to this token.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.problem().is_some_and(|problem| problem.status == 404)
    }
}

/// No id, or more than one id, has the suffix.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// No id has this suffix.
    #[error("no {what} has an id that ends in {suffix}")]
    None {
        /// The type of resource: `ask`, `session` or `run`.
        what: &'static str,
        /// The suffix that was searched for.
        suffix: String,
    },
    /// Several ids have this suffix.
    #[error("several {what}s have an id that ends in {suffix}")]
    Several {
        /// The type of resource: `ask`, `session` or `run`.
        what: &'static str,
        /// The suffix that was searched for.
        suffix: String,
        /// The matching ids, each with a one-line description.
        candidates: Vec<(String, String)>,
    },
}

/// No server or no token was found.
#[derive(Debug, thiserror::Error)]
pub enum DiscoverError {
    /// No running server was found.
    #[error("no running server found (looked in {})", .looked_in.display())]
    NoServer {
        /// The file that a running server writes.
        looked_in: PathBuf,
    },
    /// The server is known, but no token was found.
    #[error("no token found (looked in SAYSO_TOKEN and {})", .looked_in.display())]
    NoToken {
        /// The file of the admin token.
        looked_in: PathBuf,
    },
    /// An agent runs this process, and it has no agent token.
    #[error("this shell belongs to an agent ({marker} is set); a person must run this")]
    AgentShell {
        /// The variable that identifies the agent's shell.
        marker: String,
    },
    /// A file exists but cannot be read.
    #[error("{} cannot be read: {reason}", .path.display())]
    Unreadable {
        /// The path of the file.
        path: PathBuf,
        /// A description of the problem.
        reason: String,
    },
    /// The directories of this user cannot be determined.
    #[error(transparent)]
    Paths(#[from] crate::paths::PathsError),
}
