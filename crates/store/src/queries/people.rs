//! Reading tokens, the policy's part of the database, notes and push subscriptions.

use sayso_core::id::{AskId, GrantId, TokenId};
use sayso_core::time::Time;

use crate::columns::decode::{self, raw};
use crate::columns::numbers::is_pending;
use crate::columns::value::{Columns, column, params};
use crate::error::StoreError;
use crate::ops::notes::{NoteRow, NoteState};
use crate::ops::pushes::PushRow;
use crate::ops::tokens::TokenRow;
use crate::read::{AllPushes, AllTokens, GetNote, NotesLook, PendingNotes, PolicyState, Query, StoredPolicy};
use crate::snapshot::{Snapshot, all, one};

impl Query for AllTokens {
    type Found = Vec<TokenRow>;
    fn run(self, db: &dyn Snapshot) -> Result<Self::Found, StoreError> {
        let sql = format!("SELECT {} FROM token ORDER BY created_ms DESC, id DESC", decode::TOKEN);
        all(db, &sql, &[], decode::token)
    }
}

impl Query for PolicyState {
    type Found = StoredPolicy;
    fn run(self, db: &dyn Snapshot) -> Result<Self::Found, StoreError> {
        let space = params![self.workspace.0];
        let grants = all(db, "SELECT id, until_ms, data FROM grant_rule WHERE workspace = ?1 ORDER BY id", space, |row| {
            let until = column::<Option<i64>>(row, 1)?.map(Time::from_millis);
            Ok((GrantId::from_bytes(column(row, 0)?), until, raw("grant", column(row, 2)?)?))
        })?;
        let settings = all(db, "SELECT key, value FROM setting WHERE workspace = ?1 ORDER BY key", space, |row| {
            Ok((column(row, 0)?, raw("setting", column(row, 1)?)?))
        })?;
        let trusted = all(db, "SELECT path, hash FROM trust WHERE workspace = ?1 ORDER BY path", space, |row| {
            Ok((column(row, 0)?, column(row, 1)?))
        })?;
        Ok(StoredPolicy { grants, settings, trusted })
    }
}

fn note(row: &dyn Columns) -> Result<NoteRow, StoreError> {
    let state = match column::<i64>(row, 2)? {
        0 => NoteState::Again(Time::from_millis(column(row, 4)?)),
        1 => NoteState::Told,
        _ => NoteState::GivenUp,
    };
    Ok(NoteRow {
        ask: AskId::from_bytes(column(row, 0)?),
        channel: column(row, 1)?,
        state,
        attempts: column(row, 3)?,
        message: column(row, 5)?,
    })
}

impl Query for PendingNotes {
    type Found = NotesLook;
    fn run(self, db: &dyn Snapshot) -> Result<Self::Found, StoreError> {
        let space = params![self.workspace.0];
        let pending = concat!("SELECT id, opened_ms FROM ask WHERE workspace = ?1 AND ", is_pending!(), " ORDER BY seq");
        let pending =
            all(db, pending, space, |row| Ok((AskId::from_bytes(column(row, 0)?), Time::from_millis(column(row, 1)?))))?;
        let sql = "SELECT ask, channel, state, attempts, due_ms, message FROM note WHERE workspace = ?1";
        Ok(NotesLook { pending, notes: all(db, sql, space, note)? })
    }
}

impl Query for GetNote {
    type Found = Option<NoteRow>;
    fn run(self, db: &dyn Snapshot) -> Result<Self::Found, StoreError> {
        let sql = "SELECT ask, channel, state, attempts, due_ms, message FROM note
            WHERE workspace = ?1 AND ask = ?2 AND channel = ?3";
        one(db, sql, params![self.workspace.0, self.ask.as_bytes(), self.channel], note)
    }
}

impl Query for AllPushes {
    type Found = Vec<PushRow>;
    fn run(self, db: &dyn Snapshot) -> Result<Self::Found, StoreError> {
        let sql = "SELECT token, endpoint, public_key, auth FROM push WHERE workspace = ?1";
        all(db, sql, params![self.workspace.0], |row| {
            Ok(PushRow {
                token: TokenId::from_bytes(column(row, 0)?),
                endpoint: column(row, 1)?,
                public_key: column(row, 2)?,
                auth: column(row, 3)?,
            })
        })
    }
}
