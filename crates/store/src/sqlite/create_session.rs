//! Starting a session.

use rusqlite::params;
use sayso_core::connection::Connection;
use sayso_core::raw::Raw;
use sayso_core::session::Session;
use sayso_core::snapshot::SessionSnapshot;
use sayso_core::time::Time;

use super::tx::{Earlier, Tx};
use super::{sessions, to_json};
use crate::error::StoreError;
use crate::event::{EventKind, WorkspaceId};
use crate::payload::EventPayload;
use crate::write::{CreateSession, Once, Operation};

/// Writes a session with its connection, and says so on the feed.
pub(super) fn insert(
    tx: &mut Tx<'_>,
    workspace: WorkspaceId,
    session: &Session,
    connection: &Connection,
) -> Result<(), StoreError> {
    insert_connection(tx, workspace, connection)?;
    insert_session(tx, workspace, session)
}

/// Writes a connection.
pub(super) fn insert_connection(tx: &Tx<'_>, workspace: WorkspaceId, connection: &Connection) -> Result<(), StoreError> {
    tx.db()
        .prepare_cached("INSERT INTO connection (id, workspace, kind, agent, epoch, position, wire, state, wake_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")?
        .execute(params![
            connection.id.as_bytes(),
            workspace.0,
            sessions::kind_number(connection.kind),
            connection.agent,
            connection.epoch.0,
            connection.position.0,
            sessions::wire_number(connection.process),
            connection.state.as_ref().map(Raw::as_str),
            connection.wake_at.map(Time::as_millis),
        ])?;
    Ok(())
}

/// Writes a session, and says so on the feed.
pub(super) fn insert_session(tx: &mut Tx<'_>, workspace: WorkspaceId, session: &Session) -> Result<(), StoreError> {
    tx.db()
        .prepare_cached(
            "INSERT INTO session (id, workspace, connection, ended, updated_ms, data) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            session.id.as_bytes(),
            workspace.0,
            session.connection.as_bytes(),
            session.status.is_ended(),
            session.updated_at.as_millis(),
            to_json("session", session)?,
        ])?;
    let payload = EventPayload::SessionCreated(Box::new(SessionSnapshot::from(session)));
    tx.event(session.created_at, Some(session.id), payload)
}

impl Operation for CreateSession {
    type Output = Once<Box<Session>>;

    fn apply(self, tx: &mut Tx<'_>) -> Result<Self::Output, StoreError> {
        match tx.earlier(self.key.as_ref())? {
            Earlier::Fresh => {}
            Earlier::Other => return Ok(Once::Reused),
            Earlier::Same(id) => {
                let session = id.parse().ok().map(|id| sessions::get(tx.db(), self.workspace, id)).transpose()?.flatten();
                return Ok(session.map_or(Once::Reused, |session| Once::Before(Box::new(session))));
            }
        }
        let (session, connection) = (self.session, self.connection);
        insert(tx, self.workspace, &session, &connection)?;
        if let Some(prompt) = &self.prompt {
            sessions::put_block(tx, self.workspace, session.id, prompt, EventKind::MessageCompleted)?;
        }
        tx.send_command(connection.id, session.id, self.command)?;
        tx.remember(self.key.as_ref(), &session.id.to_string(), session.created_at)?;
        Ok(Once::Done(Box::new(session)))
    }
}
