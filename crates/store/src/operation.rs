//! The interface of operations, which are the only way to change the database.
//!
//! An operation is a pure function over rows: it names the rows that it needs, and decides on the loaded rows which changes to
//! stage. It contains no SQL and knows no backend, so the same operation runs on SQLite and PostgreSQL, and its tests need no
//! database.
//!
//! # How a backend runs a batch
//!
//! 1. It collects [`Operation::reads`] of all waiting operations and loads these rows into a [`Unit`].
//! 2. It asks [`Operation::more_reads`] for rows that only the loaded ones name, [`MORE_READS`] times.
//! 3. It calls [`Operation::apply`] of one operation after the other, with the unit.
//! 4. It commits the staged changes, events and outbox rows of all operations in one transaction, and replies to the callers.
//!
//! Operations of a batch share the unit, so an operation sees what the operations before it staged. This is what makes a
//! compare-and-set such as [`ResolveAsk`](crate::ops::ResolveAsk) safe without locks: reading and writing happen in the same
//! batch, and batches of a workspace run one after the other.
//!
//! # How to write an operation
//!
//! - Put the request, the result and the implementation into one file of `ops/`. Ids, random values and deadlines are fields of
//!   the request. `apply` must be deterministic, because a backend runs it again when a commit is repeated. The current time is
//!   [`Unit::now`].
//! - Name every row in `reads`, including rows that should be absent. Looking at a row that was not named is an error,
//!   [`StoreError::NotLoaded`], and not an absent row: a forgotten read fails in the first test and cannot overwrite data.
//! - Refuse with a value of the output type and stage nothing. Return an error only for defects; the unit then rolls back what
//!   the operation staged, and the rest of the batch continues.
//! - Stage through the methods of [`Unit`], which also announce events and queue outbox rows. Events and rows become visible in
//!   the same commit or not at all.
//! - Test it in `ops/tests` with rows and an operation in, staged changes out, and once in the conformance suite, which runs it
//!   on both backends.

use sayso_core::id::{AskId, BlockId, ConnectionId, GrantId, GroupId, RunId, SessionId, TokenId};

use crate::error::StoreError;
use crate::event::{OutboxId, WorkspaceId};
use crate::ops::external_sessions::ExternalSessionKey;
use crate::rows::OwnerId;
use crate::unit::Unit;

/// The number of calls to [`Operation::more_reads`]. The longest chains are idempotency key → target, and outbox → ask →
/// secret.
pub(crate) const MORE_READS: usize = 2;

/// A change of the database. See the module for how backends run operations.
pub trait Operation: Send + 'static {
    /// The result. The caller gets it after the commit.
    type Output: Send + 'static;

    /// The workspace whose rows the operation reads and changes.
    #[doc(hidden)]
    fn workspace(&self) -> WorkspaceId;

    /// Names the rows that `apply` needs, as far as the request says which ones.
    #[doc(hidden)]
    fn reads(&self, reads: &mut Reads);

    /// Names further rows that the loaded rows refer to, for example the secret of an ask that an outbox row belongs to.
    #[doc(hidden)]
    fn more_reads(&self, _unit: &Unit, _reads: &mut Reads) {}

    /// Decides on the loaded rows and stages changes. A refusal is an output and stages nothing.
    ///
    /// # Errors
    /// When a row was not loaded, or an id of a new row exists. The unit rolls back what the operation staged.
    #[doc(hidden)]
    fn apply(&self, unit: &mut Unit) -> Result<Self::Output, StoreError>;
}

/// A row or a closed set of rows that an operation needs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Read {
    Ask(AskId),
    Block(BlockId),
    Connection(ConnectionId),
    External(ExternalSessionKey),
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
    TokenByHash([u8; 32]),
    /// The ids of pending asks, to count them for limits. Their rows are not loaded.
    PendingIds(PendingOf),
    PendingOfSession(SessionId),
    /// The pending ask that its owner opened under this request id.
    PendingByNative(OwnerId, String),
    /// The newest outcome for this request id that its caller has not collected.
    UncollectedByNative(OwnerId, String),
    /// Outcomes of a session that were not delivered.
    UndeliveredOfSession(SessionId),
    OutboxOfConnection(ConnectionId),
    OutboxOfSession(SessionId),
    SessionsOfConnection(ConnectionId),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum PendingOf {
    Session(SessionId),
    Owner(OwnerId),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct IdempotencyId {
    pub(crate) token: TokenId,
    pub(crate) route: String,
    pub(crate) key: String,
}

/// The reads that the operations of a batch have named.
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

/// The `Idempotency-Key` of a call. A repeated call with the same key takes effect once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey {
    pub token: TokenId,
    pub route: String,
    pub key: String,
    /// A keyed hash of the body. It detects a different body without storing the body.
    pub fingerprint: [u8; 32],
}

impl IdempotencyKey {
    pub(crate) fn id(&self) -> IdempotencyId {
        IdempotencyId { token: self.token, route: self.route.clone(), key: self.key.clone() }
    }
}

/// The idempotency key belongs to an earlier call with a different body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the idempotency key was used with another body")]
pub struct KeyReused;

/// The result of a call with an idempotency key.
#[derive(Debug, Clone, PartialEq)]
pub enum IdempotentResult<T> {
    /// The call took effect.
    Done(T),
    /// An earlier call with the same key and body took effect, with this result.
    Repeated(T),
    /// The key belongs to a call with a different body.
    Reused,
}
