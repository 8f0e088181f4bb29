//! The rows that operations read and change, independent of how a backend stores them.

use std::sync::Arc;

use sayso_core::ask::{Ask, AskState, Delivery};
use sayso_core::id::{AskId, ConnectionId, SessionId, TokenId};
use sayso_core::raw::Raw;
use sayso_core::run::Run;
use sayso_core::session::Session;
use sayso_core::time::Time;
use sayso_core::transcript::Block;

/// The id of a connection or of a caller's token. Request ids are unique among the pending asks of one owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct OwnerId(pub(crate) [u8; 16]);

impl From<ConnectionId> for OwnerId {
    fn from(id: ConnectionId) -> Self {
        Self(*id.as_bytes())
    }
}

impl From<TokenId> for OwnerId {
    fn from(id: TokenId) -> Self {
        Self(*id.as_bytes())
    }
}

/// An ask and the `seq` of the event that opened it, which orders lists.
#[derive(Debug, Clone)]
pub(crate) struct AskRow {
    pub(crate) ask: Arc<Ask>,
    pub(crate) seq: i64,
}

impl AskRow {
    pub(crate) fn owner(&self) -> Option<OwnerId> {
        owner_of(&self.ask)
    }

    pub(crate) fn is_pending(&self) -> bool {
        matches!(self.ask.state, AskState::Pending(_))
    }

    /// Whether the ask has an outcome that was not delivered.
    pub(crate) fn is_undelivered(&self) -> bool {
        matches!(self.ask.state, AskState::Resolved { delivery: Delivery::Queued, .. })
    }

    /// Whether the ask has an outcome that its caller has not collected.
    pub(crate) fn is_uncollected(&self) -> bool {
        self.is_undelivered() && self.ask.origin.connection.is_none()
    }
}

pub(crate) fn owner_of(ask: &Ask) -> Option<OwnerId> {
    ask.origin.connection.map(OwnerId::from).or_else(|| ask.origin.opened_by.map(OwnerId::from))
}

/// A session and the `seq` of the event that created it.
#[derive(Debug, Clone)]
pub(crate) struct SessionRow {
    pub(crate) session: Session,
    pub(crate) seq: i64,
}

/// A run with its steps, its version, and the `seq` that the feed had reached when it started.
#[derive(Debug, Clone)]
pub(crate) struct RunRow {
    pub(crate) run: Run,
    pub(crate) version: i64,
    pub(crate) seq: i64,
    /// Indexes of the steps that changed since the row was loaded.
    pub(crate) changed_steps: Vec<usize>,
}

/// One block of a transcript. `seq` is the number of the event that announced it.
#[derive(Debug, Clone)]
pub(crate) struct BlockRow {
    pub(crate) session: SessionId,
    pub(crate) seq: i64,
    pub(crate) block: Block,
}

/// An entry of the outbox.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OutboxEntry {
    pub(crate) connection: ConnectionId,
    pub(crate) session: SessionId,
    pub(crate) body: OutboxBody,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum OutboxBody {
    /// The outcome of an ask. The row of the ask has its content.
    Outcome {
        ask: AskId,
        follow_up: bool,
    },
    Command(Raw),
    /// A message to the agent's process or server. `message` is `None` if it is secret and stored in the row of the secret.
    Send {
        ask: Option<AskId>,
        message: Option<Raw>,
        tried: bool,
    },
}

impl OutboxEntry {
    /// The ask whose outcome the entry carries.
    pub(crate) const fn ask(&self) -> Option<AskId> {
        match &self.body {
            OutboxBody::Outcome { ask, .. } => Some(*ask),
            OutboxBody::Send { ask, .. } => *ask,
            OutboxBody::Command(_) => None,
        }
    }

    /// Whether the entry is a message to one process, which must not be sent to another one.
    pub(crate) const fn is_send(&self) -> bool {
        matches!(self.body, OutboxBody::Send { .. })
    }
}

/// The record of a call with an idempotency key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IdempotencyRow {
    pub(crate) fingerprint: [u8; 32],
    pub(crate) target: String,
    pub(crate) at: Time,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LoginCodeRow {
    pub(crate) role: String,
    pub(crate) actor: String,
    pub(crate) expires_at: Time,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GrantRow {
    pub(crate) until: Option<Time>,
    pub(crate) data: Raw,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TrustRow {
    pub(crate) hash: String,
    pub(crate) at: Time,
}
