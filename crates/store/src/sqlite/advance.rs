//! One input of a connection and everything that follows from it.

use std::sync::Arc;

use rusqlite::{OptionalExtension, params};
use sayso_core::actor::Actor;
use sayso_core::ask::{Decision, Delivery};
use sayso_core::connection::WirePosition;
use sayso_core::id::{AskId, ConnectionId};
use sayso_core::session::SessionStatus;
use sayso_core::texts;
use sayso_core::time::Time;

use super::tx::Tx;
use super::{ask_row, create_session, open_ask, resolve, sessions};
use crate::error::StoreError;
use crate::event::{OutboxId, OutboxKind, WorkspaceId};
use crate::write::{Advance, Advanced, Change, Operation, Process};

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
        let process = match self.process {
            Process::Same => None,
            Process::Read(position) => Some((self.epoch.0, Some(position))),
            Process::Launched => Some((self.epoch.0 + 1, Some(WirePosition(0)))),
            Process::Gone => Some((self.epoch.0, None)),
        };
        if let Some((epoch, wire)) = process {
            tx.db().prepare_cached("UPDATE connection SET epoch = ?2, wire = ?3 WHERE id = ?1")?.execute(params![
                self.connection.as_bytes(),
                epoch,
                sessions::wire_number(wire)
            ])?;
        }
        // What goes on to a process, or cannot go on, is not with the agent yet.
        let on_its_way = |ask: AskId| {
            self.changes.iter().any(|change| match change {
                Change::Delivery { ask: about, delivery: Delivery::Undeliverable { .. } }
                | Change::Send { ask: Some(about), .. } => *about == ask,
                Change::NewSession { .. }
                | Change::OpenAsk(_)
                | Change::Withdraw { .. }
                | Change::Delivery { .. }
                | Change::Send { .. }
                | Change::Block { .. }
                | Change::Status { .. }
                | Change::Settings { .. } => false,
            })
        };
        for id in self.trying {
            // Each kind of message stands two before the one that says it was tried.
            tx.db().prepare_cached("UPDATE outbox SET kind = kind + 2 WHERE id = ?1 AND kind IN (?2, ?3)")?.execute(params![
                id.0,
                OutboxKind::Send as i64,
                OutboxKind::SendSecret as i64
            ])?;
        }
        for id in self.delivered {
            if let Some(ask) = taken(tx, id)?
                && !on_its_way(ask)
            {
                resolve::report(tx, self.workspace, ask, Delivery::Delivered, self.now)?;
            }
        }
        if matches!(self.process, Process::Launched | Process::Gone) {
            void_messages(tx, self.workspace, self.connection, self.now)?;
        }
        for change in self.changes {
            match change {
                Change::NewSession { session, announced } => {
                    create_session::insert_session(tx, self.workspace, &session, announced)?;
                }
                Change::OpenAsk(ask) => {
                    // What a person closed here goes on with the next thing that their own agent asks.
                    if let Some(session) = ask.origin.session
                        && sessions::is_closed(tx, self.workspace, session)?
                    {
                        sessions::set_status(tx, self.workspace, session, SessionStatus::Running, self.now)?;
                    }
                    open_ask::open(tx, self.workspace, *ask)?;
                }
                Change::Withdraw { native_id, reason } => {
                    if let Some(ask) = ask_row::pending_by_native(tx.db(), self.connection.as_bytes(), &native_id)? {
                        let decision = Decision::Withdrawn { reason };
                        let _ = resolve::decide(tx, self.workspace, Arc::new(ask), decision, Actor::Agent, self.now)?;
                    }
                }
                Change::Delivery { ask, delivery } => resolve::report(tx, self.workspace, ask, delivery, self.now)?,
                Change::Send { session, ask, message, secret } => {
                    tx.send_message(self.connection, session, ask, message, secret)?;
                }
                Change::Block { session, block, event } => sessions::put_block(tx, self.workspace, session, &block, event)?,
                Change::Settings { session, permission_mode, model } => {
                    sessions::set_settings(tx, self.workspace, session, permission_mode, model, self.now)?;
                }
                Change::Status { session, .. } if sessions::is_closed(tx, self.workspace, session)? => {}
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

/// Messages to a process that is gone do not leave any more.
fn void_messages(tx: &mut Tx<'_>, workspace: WorkspaceId, connection: ConnectionId, now: Time) -> Result<(), StoreError> {
    let void: Vec<Option<[u8; 16]>> = tx
        .db()
        .prepare_cached("DELETE FROM outbox WHERE connection = ?1 AND kind >= ?2 RETURNING ask")?
        .query_map(params![connection.as_bytes(), OutboxKind::Send as i64], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for ask in void.into_iter().flatten() {
        let reason = texts::AGENT_GONE_NOT_CERTAIN.to_owned();
        resolve::report(tx, workspace, AskId::from_bytes(ask), Delivery::Undeliverable { reason }, now)?;
    }
    Ok(())
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
