//! Loads everything that a connection actor needs to continue. This is an operation although it changes nothing: operations
//! find rows that are newer than their tables, so starting an actor does not force a flush of the log.

use std::sync::Arc;

use sayso_core::ask::{AskState, Decision};
use sayso_core::connection::Connection;
use sayso_core::id::{AskId, ConnectionId};
use sayso_core::session::Session;

use crate::error::StoreError;
use crate::event::{OutboxPayload, OutboxRow, WorkspaceId};
use crate::operation::{Operation, PendingOf, Read, Reads};
use crate::rows::{OutboxBody, OwnerId};
use crate::unit::Unit;

#[derive(Debug)]
pub struct LoadConnection {
    pub workspace: WorkspaceId,
    pub connection: ConnectionId,
}

#[derive(Debug, Clone)]
pub struct LoadedConnection {
    /// The connection.
    pub connection: Connection,
    /// Oldest first.
    pub sessions: Vec<Session>,
    /// The messages to send, in order.
    pub outbox: Vec<OutboxRow>,
    /// The number of pending asks.
    pub pending: usize,
}

impl Operation for LoadConnection {
    type Output = Option<LoadedConnection>;

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        reads.add(Read::Connection(self.connection));
        reads.add(Read::SessionsOfConnection(self.connection));
        reads.add(Read::OutboxOfConnection(self.connection));
        reads.add(Read::PendingIds(PendingOf::Owner(OwnerId::from(self.connection))));
    }

    fn more_reads(&self, unit: &Unit, reads: &mut Reads) {
        for ask in unit.outbox.present().filter(|entry| entry.connection == self.connection).filter_map(|entry| entry.ask()) {
            reads.add(Read::Ask(ask));
            reads.add(Read::Secret(ask));
        }
    }

    fn apply(&self, unit: &mut Unit) -> Result<Self::Output, StoreError> {
        let Some(connection) = unit.connections.get(&self.connection)? else { return Ok(None) };
        let mut outbox = Vec::new();
        for (id, entry) in unit.outbox_of_connection(self.connection)? {
            let payload = match &entry.body {
                OutboxBody::Outcome { ask, follow_up } => outcome(unit, *ask, *follow_up)?,
                OutboxBody::Command(command) => Some(OutboxPayload::Command(command.clone())),
                OutboxBody::Send { ask, message: Some(message), tried } => {
                    Some(OutboxPayload::Send { ask: *ask, message: message.clone(), tried: *tried })
                }
                OutboxBody::Send { ask: Some(ask), message: None, tried } => unit
                    .secrets
                    .get(ask)?
                    .map(|message| OutboxPayload::Send { ask: Some(*ask), message: message.as_ref().clone(), tried: *tried }),
                OutboxBody::Send { ask: None, message: None, .. } => None,
            };
            outbox.extend(payload.map(|payload| OutboxRow { id, connection: self.connection, session: entry.session, payload }));
        }
        Ok(Some(LoadedConnection {
            connection: Connection::clone(connection),
            sessions: unit.sessions_of_connection(self.connection)?,
            outbox,
            pending: unit.count_pending(PendingOf::Owner(OwnerId::from(self.connection)))?,
        }))
    }
}

/// Builds the payload of an outcome, with secret answers in clear.
fn outcome(unit: &Unit, ask: AskId, follow_up: bool) -> Result<Option<OutboxPayload>, StoreError> {
    let Some(ask) = unit.asks.get(&ask)?.map(|row| Arc::clone(&row.ask)) else { return Ok(None) };
    let AskState::Resolved { outcome, .. } = &ask.state else { return Ok(None) };
    let mut decision = outcome.decision.clone();
    if let (Decision::Answered { answers, .. }, Some(clear)) = (&mut decision, unit.secret_answers(ask.id)?) {
        *answers = clear;
    }
    Ok(Some(OutboxPayload::Outcome { ask, decision, follow_up }))
}
