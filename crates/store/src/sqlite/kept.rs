//! Asks that are kept for a while when their caller no longer waits, and what callers say without asking.

use std::sync::Arc;

use rusqlite::{Connection as Sqlite, OptionalExtension, params};
use sayso_core::ask::{Ask, AskState, Reach};
use sayso_core::id::AskId;
use sayso_core::time::{Span, Time};

use super::resolve::reach_event;
use super::tx::Tx;
use super::{ask_row, sessions};
use crate::error::StoreError;
use crate::event::EventKind;
use crate::write::{Operation, SayNotice, SetReach};

/// What is pending and kept, with how long.
pub(super) fn pending(db: &Sqlite) -> Result<Vec<(AskId, Span)>, StoreError> {
    let mut statement = db.prepare_cached("SELECT id, context ->> '$.keep' FROM ask WHERE status < 2")?;
    let rows = statement.query_map([], |row| Ok((row.get::<_, [u8; 16]>(0)?, row.get::<_, Option<String>>(1)?)))?;
    let mut kept = Vec::new();
    for row in rows {
        let (id, keep) = row?;
        if let Some(keep) = keep.and_then(|keep| keep.parse().ok()) {
            kept.push((AskId::from_bytes(id), keep));
        }
    }
    Ok(kept)
}

/// The outcome that this caller has for this key and has not taken, if it is no older than it is kept.
pub(super) fn untaken(db: &Sqlite, owner: &[u8; 16], native: &str, keep: Span, now: Time) -> Result<Option<Ask>, StoreError> {
    let found = db
        .prepare_cached(concat!(
            "SELECT ",
            ask_row::columns!(""),
            " FROM ask WHERE owner = ?1 AND native_id = ?2 AND status >= 2 AND delivery = 0 AND connection IS NULL
                 AND native_id IS NOT NULL ORDER BY n DESC LIMIT 1"
        ))?
        .query_row(params![owner, native], |row| Ok(ask_row::read(row, 0)))
        .optional()?
        .transpose()?;
    Ok(found.filter(|ask: &Ask| ask.outcome().is_some_and(|outcome| now.since(outcome.at) <= keep.0)))
}

impl Operation for SetReach {
    type Output = ();

    fn apply(self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let Some(ask) = tx.ask(self.workspace, self.ask)? else { return Ok(()) };
        let parkable = ask.can_be_parked() && ask.origin.connection.is_none();
        let state: Option<AskState> = match self.reach {
            Reach::Parked if parkable => ask.state.parked(),
            Reach::Parked => None,
            Reach::Live => ask.state.revived(),
        };
        let Some(state) = state else { return Ok(()) };
        let mut ask = Arc::unwrap_or_clone(ask);
        ask.state = state;
        ask_row::update_state(tx.db(), &ask)?;
        reach_event(tx, ask, self.reach, self.now)
    }
}

impl Operation for SayNotice {
    type Output = ();

    fn apply(self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        match self.session {
            Some(session) => sessions::put_block(tx, self.workspace, session, &self.block, EventKind::Notice),
            None => tx.event(EventKind::Notice, self.block.at, None, None, Some(self.data)).map(|_| ()),
        }
    }
}
