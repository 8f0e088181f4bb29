//! Reading sessions, transcripts and connections.

use std::sync::Arc;

use rusqlite::{Connection as Sqlite, Row, Rows, params};
use sayso_core::ask::Ask;
use sayso_core::connection::Connection;
use sayso_core::id::{AskId, ConnectionId, SessionId, TokenId};
use sayso_core::raw::Raw;
use sayso_core::session::Session;
use sayso_core::time::{Span, Time};

use super::page::{PageBuilder, pending_asks};
use super::{events, id_suffix};
use crate::error::StoreError;
use crate::ops::session_rows::is_visible;
use crate::read::{
    Beginnings, GetExternal, GetSession, KeptAsk, ListAttached, ListSessions, Page, ReadTranscript, SessionDetail,
    TranscriptEntry, Unfinished,
};
use crate::sqlite::SqliteQuery;
use crate::sqlite::decode::{self, all, ask_columns, column, json, one, raw};
use crate::sqlite::load::read_session;
use crate::sqlite::numbers::{is_attached, is_pending};

impl SqliteQuery for GetSession {
    type Found = Option<SessionDetail>;
    fn run(self, db: &Sqlite) -> Result<Self::Found, StoreError> {
        let found = read_session(db, self.workspace, self.session)?.map(|row| row.session);
        let Some(session) = found.filter(|session| is_visible(session, &self.scope)) else { return Ok(None) };
        let sql = concat!(
            "SELECT ",
            ask_columns!(""),
            " FROM ask WHERE session = ?1 AND +workspace = ?2 AND ",
            is_pending!(),
            " ORDER BY seq"
        );
        let pending = pending_asks(db, sql, params![self.session.as_bytes(), self.workspace.0])?;
        Ok(Some(SessionDetail { session, pending, seq: events::head(db, self.workspace)? }))
    }
}

impl SqliteQuery for ListSessions {
    type Found = Page<(Session, u32)>;
    fn run(self, db: &Sqlite) -> Result<Self::Found, StoreError> {
        let mut statement = db.prepare_cached(concat!(
            "SELECT s.seq, s.data, (SELECT count(*) FROM ask WHERE ask.session = s.id AND +ask.workspace = s.workspace AND ",
            is_pending!("ask."),
            ")
             FROM session s WHERE s.workspace = ?1 AND s.seq < ?2 AND (?3 = 0 OR s.ended = 0)
               AND (?4 IS NULL OR substr(lower(hex(s.id)), -length(?4)) = ?4)
             ORDER BY s.seq DESC"
        ))?;
        let suffix = id_suffix(self.id_ends_with.as_deref(), SessionId::PREFIX);
        let mut rows = statement.query(params![self.workspace.0, self.after.unwrap_or(i64::MAX), self.open_only, suffix])?;
        let mut page = PageBuilder::new(self.limit, events::head(db, self.workspace)?);
        while let Some(row) = rows.next()? {
            let text: String = column(row, 1)?;
            let session: Session = json("session", &text)?;
            let labelled = self.label.as_ref().is_none_or(|(key, value)| session.labels.get(key) == Some(value));
            if !labelled || !is_visible(&session, &self.scope) {
                continue;
            }
            if !page.push(column(row, 0)?, (session, column(row, 2)?), text.len()) {
                break;
            }
        }
        Ok(page.finish())
    }
}

impl SqliteQuery for ReadTranscript {
    type Found = Page<TranscriptEntry>;
    fn run(self, db: &Sqlite) -> Result<Self::Found, StoreError> {
        let limit = i64::try_from(self.limit + 1).unwrap_or(i64::MAX);
        // The plus keeps SQLite from choosing an index of the whole workspace.
        let after = params![self.session.as_bytes(), self.after, limit, self.workspace.0];
        let blocks = "SELECT seq, data FROM block WHERE session = ?1 AND seq > ?2 AND +workspace = ?4 ORDER BY seq LIMIT ?3";
        let mut blocks = db.prepare_cached(blocks)?;
        let mut blocks = blocks.query(after)?;
        let asks = concat!(
            "SELECT ",
            ask_columns!(""),
            " FROM ask WHERE session = ?1 AND seq > ?2 AND +workspace = ?4 ORDER BY seq LIMIT ?3"
        );
        let mut asks = db.prepare_cached(asks)?;
        let mut asks = asks.query(after)?;
        let (mut block, mut ask) = (next_block(&mut blocks)?, next_ask(&mut asks)?);
        let mut page = PageBuilder::new(self.limit, events::head(db, self.workspace)?);
        // One row of each kind is in memory beside the page, so that large rows do not add up.
        loop {
            let block_first = match (&block, &ask) {
                (None, None) => break,
                (Some((block, _)), Some((ask, _))) => block <= ask,
                (Some(_), None) => true,
                (None, Some(_)) => false,
            };
            let next = if block_first {
                std::mem::replace(&mut block, next_block(&mut blocks)?)
                    .map(|(seq, block)| (seq, block.as_str().len(), TranscriptEntry::Block(block)))
            } else {
                std::mem::replace(&mut ask, next_ask(&mut asks)?)
                    .map(|(seq, ask)| (seq, ask.text_size(), TranscriptEntry::Ask(ask)))
            };
            if let Some((seq, bytes, entry)) = next
                && !page.push(seq, entry, bytes)
            {
                break;
            }
        }
        Ok(page.finish())
    }
}

fn next_block(rows: &mut Rows<'_>) -> Result<Option<(i64, Raw)>, StoreError> {
    rows.next()?.map(|row| Ok((column(row, 0)?, raw("block", column(row, 1)?)?))).transpose()
}

fn next_ask(rows: &mut Rows<'_>) -> Result<Option<(i64, Box<Ask>)>, StoreError> {
    let read = |row: &Row<'_>| {
        let row = decode::ask(row, 0)?;
        Ok((row.seq, Box::new(Arc::unwrap_or_clone(row.ask))))
    };
    rows.next()?.map(read).transpose()
}

impl SqliteQuery for GetExternal {
    type Found = Option<Session>;
    fn run(self, db: &Sqlite) -> Result<Self::Found, StoreError> {
        let key = &self.key;
        let sql = "SELECT session FROM external WHERE workspace = ?1 AND token = ?2 AND agent = ?3 AND native_id = ?4";
        let id = one(db, sql, params![key.workspace.0, key.token.as_bytes(), key.agent, key.native_id], |row| {
            Ok(SessionId::from_bytes(column(row, 0)?))
        })?;
        let found = id.map(|id| read_session(db, key.workspace, id)).transpose()?.flatten();
        Ok(found.map(|row| row.session).filter(|session| !session.status.is_ended()))
    }
}

impl SqliteQuery for ListAttached {
    type Found = Vec<Connection>;
    fn run(self, db: &Sqlite) -> Result<Self::Found, StoreError> {
        let attached = is_attached!();
        let sql = format!("SELECT {} FROM connection WHERE {attached} AND workspace = ?1 ORDER BY id", decode::CONNECTION);
        all(db, &sql, [self.workspace.0], decode::connection)
    }
}

impl SqliteQuery for Unfinished {
    type Found = Beginnings;
    fn run(self, db: &Sqlite) -> Result<Self::Found, StoreError> {
        let connections = all(
            db,
            concat!(
                "SELECT connection FROM outbox WHERE workspace = ?1
                 UNION SELECT id FROM connection WHERE workspace = ?1 AND wake_ms IS NOT NULL
                 UNION SELECT id FROM connection WHERE workspace = ?1 AND wire IS NOT NULL
                 UNION SELECT id FROM connection WHERE workspace = ?1 AND ",
                is_attached!()
            ),
            [self.workspace.0],
            |row| Ok(ConnectionId::from_bytes(column(row, 0)?)),
        )?;
        let deadlines = all(
            db,
            concat!(
                "SELECT id, deadline_ms FROM ask WHERE workspace = ?1 AND ",
                is_pending!(),
                " AND deadline_ms IS NOT NULL ORDER BY deadline_ms"
            ),
            [self.workspace.0],
            |row| Ok((AskId::from_bytes(column(row, 0)?), Time::from_millis(column(row, 1)?))),
        )?;
        let kept = all(
            db,
            concat!(
                "SELECT id, opened_by, keep_ms FROM ask WHERE workspace = ?1 AND ",
                is_pending!(),
                " AND keep_ms IS NOT NULL"
            ),
            [self.workspace.0],
            |row| {
                let opened_by = column::<Option<[u8; 16]>>(row, 1)?.map(TokenId::from_bytes);
                let keep = std::time::Duration::from_millis(column::<i64>(row, 2)?.unsigned_abs());
                Ok(KeptAsk { ask: AskId::from_bytes(column(row, 0)?), opened_by, keep: Span(keep) })
            },
        )?;
        Ok(Beginnings { connections, deadlines, kept })
    }
}
