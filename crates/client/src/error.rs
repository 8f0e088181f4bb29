//! What can go wrong between a program and its server.

use std::path::PathBuf;

use sayso_api::ask::Outcome;
use sayso_api::error::{ErrorCode, Problem};

/// A call did not succeed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The server said no, and why.
    #[error("{}", .0.detail)]
    Api(Box<Problem>),
    /// No server answers at this address.
    #[error("no server answers at {url}")]
    Unreachable {
        /// The address that was tried.
        url: String,
        /// What the network said.
        #[source]
        source: reqwest::Error,
    },
    /// Something answered, but not as Sayso does.
    #[error("{url} does not answer as Sayso does: {reason}")]
    Protocol {
        /// The address that was called.
        url: String,
        /// What was unexpected.
        reason: String,
    },
    /// The address is not one that this client can call.
    #[error("{url} is not an address of a server: {reason}")]
    Address {
        /// The address.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// No id ends like this, or several do.
    #[error(transparent)]
    Find(#[from] FindError),
    /// There is no server or no token to use.
    #[error(transparent)]
    Discover(#[from] DiscoverError),
    /// The system gave no random bytes for an idempotency key.
    #[error("the system gives no random bytes: {0}")]
    Random(String),
}

impl Error {
    /// The server's code, if the server answered.
    #[must_use]
    pub fn code(&self) -> Option<ErrorCode> {
        self.problem().map(|problem| problem.code)
    }

    /// What the server said, if it did.
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

    /// The outcome that stands, if the ask had one before this call.
    #[must_use]
    pub fn already_resolved(&self) -> Option<&Outcome> {
        self.problem().filter(|problem| problem.code == ErrorCode::AskAlreadyResolved)?.outcome.as_ref()
    }

    /// Whether the earlier outcome was brought by this very token.
    #[must_use]
    pub fn is_own(&self) -> bool {
        self.problem().and_then(|problem| problem.own).unwrap_or(false)
    }

    /// Whether no server was reached at all.
    #[must_use]
    pub fn is_unreachable(&self) -> bool {
        matches!(self, Self::Unreachable { .. })
    }

    /// Whether the thing is not there, or may not be seen.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.problem().is_some_and(|problem| problem.status == 404)
    }
}

/// No id ends like this, or several do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// No id ends like this.
    #[error("no {what} has an id that ends in {suffix}")]
    None {
        /// `ask` or `session`.
        what: &'static str,
        /// What was looked for.
        suffix: String,
    },
    /// Several ids end like this.
    #[error("several {what}s have an id that ends in {suffix}")]
    Several {
        /// `ask` or `session`.
        what: &'static str,
        /// What was looked for.
        suffix: String,
        /// Their ids, each with one line that says what it is.
        candidates: Vec<(String, String)>,
    },
}

/// There is no server or no token to use.
#[derive(Debug, thiserror::Error)]
pub enum DiscoverError {
    /// No server has left its address.
    #[error("no server runs here (looked in {})", .looked_in.display())]
    NoServer {
        /// The file that a running server writes.
        looked_in: PathBuf,
    },
    /// The address is known, the token is not.
    #[error("there is no token to use (looked in SAYSO_TOKEN and {})", .looked_in.display())]
    NoToken {
        /// The file of the admin token.
        looked_in: PathBuf,
    },
    /// An agent runs this, and it has no token of its own.
    #[error("this shell belongs to an agent ({marker} is set); a person must run this")]
    AgentShell {
        /// The variable that shows it.
        marker: String,
    },
    /// A file is there but cannot be used.
    #[error("{} cannot be read: {reason}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The directories of this user are not known.
    #[error(transparent)]
    Paths(#[from] crate::paths::PathsError),
}
