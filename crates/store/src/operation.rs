//! What an operation is: a pure function over rows that were loaded for it.
//!
//! A backend drives an operation in four steps. It loads [`Operation::reads`]; it asks [`Operation::more_reads`] for rows
//! that only the loaded ones name, at most [`MORE_READS`] times; it calls [`Operation::apply`], which looks only at the
//! [`Unit`] and stages changes there; and it commits the changes of the whole batch at once. Operations of one batch share
//! the unit, so a later one sees what an earlier one staged.
//!
//! `apply` may run again when a commit has to be repeated. It must therefore give the same result for the same unit: ids are
//! part of the operation, and the current time is part of the unit. A time inside an operation is a value that the caller
//! has decided on, for example a deadline.

use sayso_core::id::{AskId, BlockId, ConnectionId, GrantId, GroupId, RunId, SessionId, TokenId};

use crate::error::StoreError;
use crate::event::{OutboxId, WorkspaceId};
use crate::ops::external::ExternalKey;
use crate::rows::OwnerId;
use crate::unit::Unit;

/// How often [`Operation::more_reads`] is called: idempotency key → target, outbox → ask → secret.
pub(crate) const MORE_READS: usize = 2;

/// One change of the database.
pub trait Operation: Send + 'static {
    /// The result, once the change is durable.
    type Output: Send + 'static;

    /// The workspace whose rows the operation touches.
    #[doc(hidden)]
    fn workspace(&self) -> WorkspaceId;

    /// Names the rows that `apply` looks at.
    #[doc(hidden)]
    fn reads(&self, reads: &mut Reads);

    /// Names rows that can be found only through loaded ones.
    #[doc(hidden)]
    fn more_reads(&self, _unit: &Unit, _reads: &mut Reads) {}

    /// Decides and stages the changes. A refusal is an output and stages nothing; after an error the unit takes everything
    /// back that the operation staged.
    ///
    /// # Errors
    /// When a row was not loaded, or an id exists already.
    #[doc(hidden)]
    fn apply(&self, unit: &mut Unit) -> Result<Self::Output, StoreError>;
}

/// A row, or a closed set of rows, that an operation wants to look at.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Read {
    Ask(AskId),
    Block(BlockId),
    Connection(ConnectionId),
    External(ExternalKey),
    Grant(GrantId),
    Group(GroupId),
    GroupState(GroupId),
    Idempotency(IdempotencyId),
    LoginCode([u8; 32]),
    Outbox(OutboxId),
    Run(RunId),
    Secret(AskId),
    Session(SessionId),
    Token(TokenId),
    /// The token with this hash.
    TokenByHash([u8; 32]),
    /// The ids of pending asks, for limits. Their rows are not loaded.
    PendingIds(PendingOf),
    /// The pending asks of a session.
    PendingOfSession(SessionId),
    /// The pending ask with this request id.
    PendingByNative(OwnerId, String),
    /// The newest outcome for this request id that its caller has not collected.
    UncollectedByNative(OwnerId, String),
    /// Outcomes of a session that have reached nobody.
    UndeliveredOfSession(SessionId),
    OutboxOfConnection(ConnectionId),
    OutboxOfSession(SessionId),
    SessionsOfConnection(ConnectionId),
}

/// Whose pending asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum PendingOf {
    Session(SessionId),
    Owner(OwnerId),
}

/// The key of an idempotency row.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct IdempotencyId {
    pub(crate) token: TokenId,
    pub(crate) route: String,
    pub(crate) key: String,
}

/// The reads that operations of a batch have named.
#[derive(Debug, Default)]
pub struct Reads(Vec<Read>);

impl Reads {
    pub(crate) fn add(&mut self, read: Read) {
        self.0.push(read);
    }

    pub(crate) fn key(&mut self, key: Option<&IdempotencyKey>) {
        if let Some(key) = key {
            self.add(Read::Idempotency(key.id()));
        }
    }

    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Read> {
        self.0.drain(..)
    }
}

/// A caller's own name for a call. A repeated call with the same key has no second effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey {
    /// The caller.
    pub token: TokenId,
    /// The route that was called.
    pub route: String,
    /// The key that the caller chose.
    pub key: String,
    /// A keyed hash of the body. It detects another body without keeping anything of it.
    pub fingerprint: [u8; 32],
}

impl IdempotencyKey {
    pub(crate) fn id(&self) -> IdempotencyId {
        IdempotencyId { token: self.token, route: self.route.clone(), key: self.key.clone() }
    }
}

/// The idempotency key was used before, with another body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the idempotency key was used with another body")]
pub struct KeyReused;

/// The result of a call with an idempotency key.
#[derive(Debug, Clone, PartialEq)]
pub enum Once<T> {
    /// The call took effect now.
    Done(T),
    /// An earlier call took effect; this is what it created.
    Before(T),
    /// The key belongs to a call with another body.
    Reused,
}
