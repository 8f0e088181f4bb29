//! What people were told of asks.

use rusqlite::{Connection as Sqlite, OptionalExtension, Row, params};
use sayso_core::id::AskId;
use sayso_core::time::Time;

use super::column;
use super::tx::Tx;
use crate::error::StoreError;
use crate::read::{GetNote, NotesLook, PendingNotes, Query};
use crate::write::{DropNote, NoteRow, NoteState, Operation, PutNote};

fn read(row: &Row<'_>) -> Result<NoteRow, StoreError> {
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
    type Output = NotesLook;

    fn run(self, db: &Sqlite) -> Result<NotesLook, StoreError> {
        let mut look = NotesLook::default();
        let mut statement = db.prepare_cached("SELECT id, opened_ms FROM ask WHERE workspace = ?1 AND status < 2 ORDER BY n")?;
        let mut rows = statement.query([self.workspace.0])?;
        while let Some(row) = rows.next()? {
            look.pending.push((AskId::from_bytes(column(row, 0)?), Time::from_millis(column(row, 1)?)));
        }
        let mut statement =
            db.prepare_cached("SELECT ask, channel, state, attempts, due_ms, message FROM note WHERE workspace = ?1")?;
        let mut rows = statement.query([self.workspace.0])?;
        while let Some(row) = rows.next()? {
            look.notes.push(read(row)?);
        }
        Ok(look)
    }
}

impl Query for GetNote {
    type Output = Option<NoteRow>;

    fn run(self, db: &Sqlite) -> Result<Option<NoteRow>, StoreError> {
        db.prepare_cached(
            "SELECT ask, channel, state, attempts, due_ms, message FROM note WHERE ask = ?1 AND channel = ?2 AND workspace = ?3",
        )?
        .query_row(params![self.ask.as_bytes(), self.channel, self.workspace.0], |row| Ok(read(row)))
        .optional()?
        .transpose()
    }
}

impl Operation for PutNote {
    type Output = ();

    fn apply(self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let NoteRow { ask, channel, state, attempts, message } = self.note;
        let (number, due) = match state {
            NoteState::Again(at) => (0, at.as_millis()),
            NoteState::Told => (1, 0),
            NoteState::GivenUp => (2, 0),
        };
        tx.db()
            .prepare_cached(
                "INSERT OR REPLACE INTO note (ask, channel, workspace, state, attempts, due_ms, message) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?
            .execute(params![ask.as_bytes(), channel, self.workspace.0, number, attempts, due, message])?;
        Ok(())
    }
}

impl Operation for DropNote {
    type Output = ();

    fn apply(self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        tx.db().prepare_cached("DELETE FROM note WHERE ask = ?1 AND channel = ?2 AND workspace = ?3")?.execute(params![
            self.ask.as_bytes(),
            self.channel,
            self.workspace.0
        ])?;
        Ok(())
    }
}
