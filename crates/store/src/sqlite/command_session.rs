//! Interrupting, ending and resuming a session.

use rusqlite::params;
use sayso_core::ask::{AskState, Decision, Delivery};
use sayso_core::id::AskId;
use sayso_core::session::SessionStatus;
use sayso_core::session_lifecycle::{CommandEffect, CommandRefused, command_effect};
use sayso_core::texts;

use super::tx::Tx;
use super::{ask_row, resolve, sessions};
use crate::error::StoreError;
use crate::event::OutboxKind;
use crate::write::{CommandSession, Commanded, Operation};

impl Operation for CommandSession {
    type Output = Commanded;

    fn apply(self, tx: &mut Tx<'_>) -> Result<Commanded, StoreError> {
        let found = sessions::get(tx.db(), self.workspace, self.session)?;
        let Some(mut session) = found.filter(|session| sessions::visible(session, &self.scope)) else {
            return Ok(Commanded::NotFound);
        };
        match command_effect(&session, self.kind) {
            Err(CommandRefused::External) => return Ok(Commanded::External),
            Err(CommandRefused::Ended) => return Ok(Commanded::Ended),
            Err(CommandRefused::NotResumable) => return Ok(Commanded::NotResumable),
            Ok(CommandEffect::CloseHere) => {
                for ask in ask_row::pending_of(tx.db(), self.session)? {
                    resolve::agent_gone(tx, self.workspace, ask, false, texts::WITHDRAWN_CLOSED, self.now)?;
                }
                let closed = SessionStatus::Ended { reason: texts::WITHDRAWN_CLOSED.to_owned(), failed: false, resumable: false };
                sessions::set_status(tx, &mut session, closed, self.now)?;
                return Ok(Commanded::Queued(Box::new(session)));
            }
            Ok(CommandEffect::StopAgent) => self.cancel_approvals(tx)?,
            Ok(CommandEffect::ResumeAgent) => sessions::set_status(tx, &mut session, SessionStatus::Running, self.now)?,
        }
        if let (SessionStatus::Running | SessionStatus::Stalled, Some(said)) = (&session.status, self.said) {
            said.apply(tx)?;
        }
        tx.send_command(session.connection, self.session, self.command)?;
        Ok(Commanded::Queued(Box::new(session)))
    }
}

impl CommandSession {
    /// An approval that has not left must not reach an agent that was told to stop. What is on its way
    /// to a process already is left alone: it may have arrived.
    fn cancel_approvals(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let waiting: Vec<(i64, [u8; 16])> = tx
            .db()
            .prepare_cached("SELECT id, ask FROM outbox WHERE session = ?1 AND kind = ?2")?
            .query_map(params![self.session.as_bytes(), OutboxKind::Outcome as i64], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<_, _>>()?;
        for (row, ask) in waiting {
            let id = AskId::from_bytes(ask);
            let approved = tx.ask(self.workspace, id)?.is_some_and(
                |ask| matches!(&ask.state, AskState::Resolved { outcome, .. } if matches!(outcome.decision, Decision::Approved { .. })),
            );
            if approved {
                tx.db().prepare_cached("DELETE FROM outbox WHERE id = ?1")?.execute([row])?;
                let reason = "The turn was interrupted before the approval arrived.".to_owned();
                resolve::report(tx, self.workspace, id, Delivery::Undeliverable { reason }, self.now)?;
            }
        }
        Ok(())
    }
}
