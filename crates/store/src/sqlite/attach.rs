//! Servers that somebody else started: listening to one, and not any more.

use rusqlite::params;
use sayso_core::ask::Delivery;
use sayso_core::id::{AskId, SessionId};
use sayso_core::session::SessionStatus;
use sayso_core::texts;

use super::tx::Tx;
use super::{ask_row, create_session, resolve, sessions};
use crate::error::StoreError;
use crate::write::{AttachConnection, DetachConnection, Operation};

impl Operation for AttachConnection {
    type Output = ();

    fn apply(self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        create_session::insert_connection(tx, self.workspace, &self.connection)
    }
}

impl Operation for DetachConnection {
    /// Whether it was there.
    type Output = bool;

    fn apply(self, tx: &mut Tx<'_>) -> Result<bool, StoreError> {
        let gone = tx
            .db()
            .prepare_cached("DELETE FROM connection WHERE id = ?1 AND workspace = ?2 AND kind = 2")?
            .execute(params![self.connection.as_bytes(), self.workspace.0])?;
        if gone == 0 {
            return Ok(false);
        }
        let unsent: Vec<Option<[u8; 16]>> = tx
            .db()
            .prepare_cached("DELETE FROM outbox WHERE connection = ?1 RETURNING ask")?
            .query_map([self.connection.as_bytes()], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        for ask in unsent.into_iter().flatten() {
            let delivery = Delivery::Undeliverable { reason: texts::AGENT_GONE_NOT_CERTAIN.to_owned() };
            resolve::report(tx, self.workspace, AskId::from_bytes(ask), delivery, self.now)?;
        }
        let open: Vec<[u8; 16]> = tx
            .db()
            .prepare_cached("SELECT id FROM session WHERE connection = ?1 AND ended = 0")?
            .query_map([self.connection.as_bytes()], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        for session in open.into_iter().map(SessionId::from_bytes) {
            for ask in ask_row::pending_of(tx.db(), session)? {
                resolve::agent_gone(tx, self.workspace, ask, false, &self.reason, self.now)?;
            }
            let ended = SessionStatus::Ended { reason: self.reason.clone(), failed: false, resumable: false };
            if let Some(mut session) = sessions::get(tx.db(), self.workspace, session)? {
                sessions::set_status(tx, &mut session, ended, self.now)?;
            }
        }
        Ok(true)
    }
}
