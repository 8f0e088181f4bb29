//! One input of a connection and everything that follows from it.

use std::sync::Arc;

use rusqlite::{OptionalExtension, params};
use sayso_core::actor::Actor;
use sayso_core::ask::{Decision, Delivery};
use sayso_core::id::AskId;
use sayso_core::session::SessionStatus;
use sayso_core::time::Time;

use super::tx::Tx;
use super::{ask_row, open_ask, resolve, sessions};
use crate::error::StoreError;
use crate::event::OutboxId;
use crate::write::{Advance, Advanced, Change, Operation};

impl Operation for Advance {
    type Output = Advanced;

    fn apply(self, tx: &mut Tx<'_>) -> Result<Advanced, StoreError> {
        let moved = tx
            .db()
            .prepare_cached(
                "UPDATE connection SET position = ?4, state = ?5, wake_ms = ?6 WHERE id = ?1 AND epoch = ?2 AND position = ?3",
            )?
            .execute(params![
                self.connection.as_bytes(),
                self.epoch.0,
                self.from.0,
                self.to.0,
                self.state.as_str(),
                self.wake_at.map(Time::as_millis),
            ])?;
        if moved == 0 {
            return Ok(Advanced::Stale);
        }
        let undeliverable = |ask: AskId| {
            self.changes.iter().any(|change| matches!(change, Change::Delivery { ask: about, delivery: Delivery::Undeliverable { .. } } if *about == ask))
        };
        for id in self.delivered {
            if let Some(ask) = taken(tx, id)?
                && !undeliverable(ask)
            {
                resolve::report(tx, self.workspace, ask, Delivery::Delivered, self.now)?;
            }
        }
        for change in self.changes {
            match change {
                Change::OpenAsk(ask) => {
                    open_ask::open(tx, self.workspace, *ask)?;
                }
                Change::Withdraw { native_id, reason } => {
                    if let Some(ask) = ask_row::pending_by_native(tx.db(), self.connection.as_bytes(), &native_id)? {
                        let decision = Decision::Withdrawn { reason };
                        let _ = resolve::decide(tx, self.workspace, Arc::new(ask), decision, Actor::Agent, self.now)?;
                    }
                }
                Change::Delivery { ask, delivery } => resolve::report(tx, self.workspace, ask, delivery, self.now)?,
                Change::Block { session, block, event } => sessions::put_block(tx, self.workspace, session, &block, event)?,
                Change::Status { session, status } => {
                    if let SessionStatus::Ended { reason, resumable, .. } = &status {
                        for ask in ask_row::pending_of(tx.db(), session)? {
                            resolve::agent_gone(tx, self.workspace, ask, *resumable, reason, self.now)?;
                        }
                    }
                    sessions::set_status(tx, self.workspace, session, status, self.now)?;
                }
            }
        }
        Ok(Advanced::Yes)
    }
}

/// Removes a row that the agent has; tells the ask whose outcome it was.
fn taken(tx: &Tx<'_>, id: OutboxId) -> Result<Option<AskId>, StoreError> {
    let ask: Option<Option<[u8; 16]>> = tx
        .db()
        .prepare_cached("DELETE FROM outbox WHERE id = ?1 RETURNING ask")?
        .query_row([id.0], |row| row.get(0))
        .optional()?;
    Ok(ask.flatten().map(AskId::from_bytes))
}
