//! Closed sets of rows.
//!
//! A backend loads all stored rows of a set. Rows that the batch changed are also in the unit, so the members of a loaded set
//! are the rows in the unit that match. Reading a set that was not loaded is an error.

use std::collections::HashSet;
use std::sync::Arc;

use sayso_core::id::{AskId, ConnectionId, SessionId};
use sayso_core::session::Session;

use super::Unit;
use crate::error::StoreError;
use crate::event::OutboxId;
use crate::operation::{PendingOf, Read};
use crate::rows::{AskRow, OutboxEntry, OwnerId};

impl Unit {
    /// Whether the rows of this read were loaded.
    pub(crate) fn is_loaded(&self, read: &Read) -> bool {
        match read {
            Read::Ask(id) => self.asks.is_loaded(id),
            Read::Block(id) => self.blocks.is_loaded(id),
            Read::Connection(id) => self.connections.is_loaded(id),
            Read::External(key) => self.externals.is_loaded(key),
            Read::Grant(id) => self.grants.is_loaded(id),
            Read::Group(id) => self.groups.is_loaded(id),
            Read::GroupState(id) => self.group_states.is_loaded(id),
            Read::Idempotency(key) => self.idempotency.is_loaded(key),
            Read::LoginCode(hash) => self.login_codes.is_loaded(hash),
            Read::Outbox(id) => self.outbox.is_loaded(id),
            Read::Run(id) => self.runs.is_loaded(id),
            Read::Secret(ask) => self.secrets.is_loaded(ask),
            Read::Session(id) => self.sessions.is_loaded(id),
            Read::Token(id) => self.tokens.is_loaded(id),
            Read::PendingIds(of) => self.pending_ids.contains_key(of),
            Read::PendingOfSession(_)
            | Read::PendingByNative(..)
            | Read::UncollectedByNative(..)
            | Read::UndeliveredOfSession(_)
            | Read::OutboxOfConnection(_)
            | Read::OutboxOfSession(_)
            | Read::SessionsOfConnection(_)
            | Read::TokenByHash(_) => self.sets.contains(read),
        }
    }

    /// Marks a set as loaded: all its stored rows are in the unit.
    pub(crate) fn mark_set_loaded(&mut self, read: Read) {
        self.sets.insert(read);
    }

    pub(crate) fn load_pending_ids(&mut self, of: PendingOf, ids: HashSet<AskId>) {
        self.pending_ids.insert(of, ids);
    }

    /// Adds one id. Call [`Self::complete_pending_ids`] after the last one.
    pub(crate) fn add_pending_id(&mut self, of: PendingOf, id: AskId) {
        self.pending_ids.entry(of).or_default().insert(id);
    }

    /// Marks the ids as complete.
    pub(crate) fn complete_pending_ids(&mut self, of: PendingOf) {
        self.pending_ids.entry(of).or_default();
    }

    fn require(&self, read: &Read, table: &'static str) -> Result<(), StoreError> {
        if self.sets.contains(read) { Ok(()) } else { Err(StoreError::NotLoaded { table }) }
    }

    /// Returns the matching asks, oldest first.
    fn asks_where(&self, matches: impl Fn(&AskRow) -> bool) -> Vec<Arc<AskRow>> {
        let mut found: Vec<_> = self.asks.present().filter(|row| matches(row)).cloned().collect();
        found.sort_by_key(|row| row.seq);
        found
    }

    /// Oldest first.
    pub(crate) fn pending_of_session(&self, session: SessionId) -> Result<Vec<Arc<AskRow>>, StoreError> {
        self.require(&Read::PendingOfSession(session), "pending asks of a session")?;
        Ok(self.asks_where(|row| row.is_pending() && row.ask.origin.session == Some(session)))
    }

    pub(crate) fn pending_by_native(&self, owner: OwnerId, native_id: &str) -> Result<Option<Arc<AskRow>>, StoreError> {
        self.require(&Read::PendingByNative(owner, native_id.to_owned()), "pending ask of a request")?;
        Ok(self.asks_where(|row| row.is_pending() && belongs(row, owner, native_id)).pop())
    }

    pub(crate) fn uncollected_by_native(&self, owner: OwnerId, native_id: &str) -> Result<Option<Arc<AskRow>>, StoreError> {
        self.require(&Read::UncollectedByNative(owner, native_id.to_owned()), "uncollected outcome of a request")?;
        Ok(self.asks_where(|row| row.is_uncollected() && belongs(row, owner, native_id)).pop())
    }

    /// Oldest first.
    pub(crate) fn undelivered_of_session(&self, session: SessionId) -> Result<Vec<Arc<AskRow>>, StoreError> {
        self.require(&Read::UndeliveredOfSession(session), "undelivered outcomes of a session")?;
        Ok(self.asks_where(|row| row.is_undelivered() && row.ask.origin.session == Some(session)))
    }

    pub(crate) fn has_token_hash(&self, hash: [u8; 32]) -> Result<bool, StoreError> {
        self.require(&Read::TokenByHash(hash), "token")?;
        Ok(self.tokens.present().any(|token| token.hash == hash))
    }

    pub(crate) fn count_pending(&self, of: PendingOf) -> Result<usize, StoreError> {
        let Some(stored) = self.pending_ids.get(&of) else { return Err(StoreError::NotLoaded { table: "pending ids" }) };
        let matches = |row: &AskRow| {
            row.is_pending()
                && match of {
                    PendingOf::Session(session) => row.ask.origin.session == Some(session),
                    PendingOf::Owner(owner) => row.owner() == Some(owner),
                }
        };
        let mut count = stored.len();
        for (id, row) in self.asks.changes() {
            match (stored.contains(id), row.is_some_and(|row| matches(row))) {
                (true, false) => count -= 1,
                (false, true) => count += 1,
                (true, true) | (false, false) => {}
            }
        }
        Ok(count)
    }

    /// Returns the entries in the order of sending.
    pub(crate) fn outbox_of_connection(&self, connection: ConnectionId) -> Result<Vec<(OutboxId, Arc<OutboxEntry>)>, StoreError> {
        self.require(&Read::OutboxOfConnection(connection), "outbox of a connection")?;
        Ok(self.outbox_where(|entry| entry.connection == connection))
    }

    /// Returns the entries in the order of sending.
    pub(crate) fn outbox_of_session(&self, session: SessionId) -> Result<Vec<(OutboxId, Arc<OutboxEntry>)>, StoreError> {
        self.require(&Read::OutboxOfSession(session), "outbox of a session")?;
        Ok(self.outbox_where(|entry| entry.session == session))
    }

    fn outbox_where(&self, matches: impl Fn(&OutboxEntry) -> bool) -> Vec<(OutboxId, Arc<OutboxEntry>)> {
        let mut found: Vec<_> =
            self.outbox.entries().filter(|(_, entry)| matches(entry)).map(|(id, entry)| (*id, Arc::clone(entry))).collect();
        found.sort_by_key(|(id, _)| *id);
        found
    }

    /// Returns the sessions, oldest first.
    pub(crate) fn sessions_of_connection(&self, connection: ConnectionId) -> Result<Vec<Session>, StoreError> {
        self.require(&Read::SessionsOfConnection(connection), "sessions of a connection")?;
        let mut found: Vec<_> = self.sessions.present().filter(|row| row.session.connection == connection).collect();
        found.sort_by_key(|row| row.seq);
        Ok(found.into_iter().map(|row| row.session.clone()).collect())
    }

    /// Returns the sessions that have not ended, oldest first.
    pub(crate) fn open_sessions_of_connection(&self, connection: ConnectionId) -> Result<Vec<SessionId>, StoreError> {
        let sessions = self.sessions_of_connection(connection)?;
        Ok(sessions.into_iter().filter(|session| !session.status.is_ended()).map(|session| session.id).collect())
    }
}

pub(crate) fn belongs(row: &AskRow, owner: OwnerId, native_id: &str) -> bool {
    row.owner() == Some(owner) && row.ask.origin.native_id.as_deref() == Some(native_id)
}
