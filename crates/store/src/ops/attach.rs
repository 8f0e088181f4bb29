//! Attaches to agent servers that Sayso did not start, and detaches from them.

use std::sync::Arc;

use sayso_core::ask::Delivery;
use sayso_core::connection::{Connection, ConnectionKind};
use sayso_core::id::ConnectionId;
use sayso_core::session::SessionStatus;
use sayso_core::texts;

use super::decide::{park_or_withdraw, report_delivery};
use super::session_rows;
use crate::error::StoreError;
use crate::event::WorkspaceId;
use crate::operation::{Operation, Read, Reads};
use crate::unit::Unit;

/// Stores the connection to a server.
#[derive(Debug)]
pub struct AttachConnection {
    pub workspace: WorkspaceId,
    /// The connection, with the state of its translator.
    pub connection: Connection,
}

impl Operation for AttachConnection {
    type Output = ();

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        reads.add(Read::Connection(self.connection.id));
    }

    fn apply(&self, unit: &mut Unit) -> Result<(), StoreError> {
        unit.connections.insert(self.connection.id, Arc::new(self.connection.clone()))
    }
}

/// Deletes the connection to a server. Its sessions end in Sayso and their pending asks are withdrawn, but the server
/// continues. Returns whether the connection existed.
#[derive(Debug)]
pub struct DetachConnection {
    pub workspace: WorkspaceId,
    pub connection: ConnectionId,
    /// The reason, shown in the ended sessions.
    pub reason: String,
}

impl Operation for DetachConnection {
    type Output = bool;

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        reads.add(Read::Connection(self.connection));
        reads.add(Read::OutboxOfConnection(self.connection));
        reads.add(Read::SessionsOfConnection(self.connection));
    }

    fn more_reads(&self, unit: &Unit, reads: &mut Reads) {
        for entry in unit.outbox.present().filter(|entry| entry.connection == self.connection) {
            if let Some(ask) = entry.ask() {
                reads.add(Read::Ask(ask));
                reads.add(Read::Secret(ask));
            }
        }
        for session in unit.open_sessions_of_connection(self.connection).unwrap_or_default() {
            reads.add(Read::PendingOfSession(session));
        }
    }

    fn apply(&self, unit: &mut Unit) -> Result<bool, StoreError> {
        let found = unit.connections.get(&self.connection)?;
        if found.is_none_or(|connection| connection.kind != ConnectionKind::Attached) {
            return Ok(false);
        }
        unit.connections.remove(self.connection);
        for (id, entry) in unit.outbox_of_connection(self.connection)? {
            unit.outbox.remove(id);
            if let Some(ask) = entry.ask() {
                let delivery = Delivery::Undeliverable { reason: texts::AGENT_GONE_NOT_CERTAIN.to_owned() };
                report_delivery(unit, ask, delivery)?;
            }
        }
        for session in unit.open_sessions_of_connection(self.connection)? {
            for row in unit.pending_of_session(session)? {
                park_or_withdraw(unit, &row, false, &self.reason);
            }
            let ended = SessionStatus::Ended { reason: self.reason.clone(), failed: false, resumable: false };
            session_rows::set_status(unit, session, ended)?;
        }
        Ok(true)
    }
}
