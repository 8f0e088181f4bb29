//! Reading sessions, transcripts and connections.

use std::sync::Arc;

use rusqlite::{Connection as Sqlite, params};
use sayso_core::connection::Connection;
use sayso_core::id::{AskId, ConnectionId, SessionId};
use sayso_core::session::Session;
use sayso_core::time::{Span, Time};

use super::{events, id_suffix};
use crate::error::StoreError;
use crate::ops::session_rows::is_visible;
use crate::read::{
    Beginnings, GetExternal, GetSession, ListAttached, ListSessions, LoadConnection, LoadedConnection, Page, ReadTranscript,
    SessionDetail, TranscriptEntry, Unfinished,
};
use crate::sqlite::SqliteQuery;
use crate::sqlite::decode::{self, all, ask_columns, column, json, one, raw};
use crate::sqlite::encode::{is_attached, is_pending};
use crate::sqlite::load::read_session;

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
        let pending = all(db, sql, params![self.session.as_bytes(), self.workspace.0], |row| {
            decode::ask(row, 0).map(|row| Arc::unwrap_or_clone(row.ask))
        })?;
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
        let mut page = Page { rows: Vec::new(), next: None, seq: events::head(db, self.workspace)? };
        let mut last = 0;
        while let Some(row) = rows.next()? {
            let session: Session = json("session", &column::<String>(row, 1)?)?;
            let labelled = self.label.as_ref().is_none_or(|(key, value)| session.labels.get(key) == Some(value));
            if !labelled || !is_visible(&session, &self.scope) {
                continue;
            }
            if page.rows.len() == self.limit {
                page.next = Some(last);
                break;
            }
            last = column(row, 0)?;
            page.rows.push((session, column(row, 2)?));
        }
        Ok(page)
    }
}

impl SqliteQuery for ReadTranscript {
    type Found = Page<TranscriptEntry>;
    fn run(self, db: &Sqlite) -> Result<Self::Found, StoreError> {
        let limit = i64::try_from(self.limit + 1).unwrap_or(i64::MAX);
        // The plus keeps SQLite from choosing an index of the whole workspace.
        let after = params![self.session.as_bytes(), self.after, limit, self.workspace.0];
        let blocks = "SELECT seq, data FROM block WHERE session = ?1 AND seq > ?2 AND +workspace = ?4 ORDER BY seq LIMIT ?3";
        let mut entries =
            all(db, blocks, after, |row| Ok((column::<i64>(row, 0)?, TranscriptEntry::Block(raw("block", column(row, 1)?)?))))?;
        let asks = concat!(
            "SELECT ",
            ask_columns!(""),
            " FROM ask WHERE session = ?1 AND seq > ?2 AND +workspace = ?4 ORDER BY seq LIMIT ?3"
        );
        entries.extend(all(db, asks, after, |row| {
            let row = decode::ask(row, 0)?;
            Ok((row.seq, TranscriptEntry::Ask(Box::new(Arc::unwrap_or_clone(row.ask)))))
        })?);
        entries.sort_by_key(|(seq, _)| *seq);
        let next = (entries.len() > self.limit).then(|| entries[self.limit - 1].0);
        entries.truncate(self.limit);
        let rows = entries.into_iter().map(|(_, entry)| entry).collect();
        Ok(Page { rows, next, seq: events::head(db, self.workspace)? })
    }
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

impl SqliteQuery for LoadConnection {
    type Found = Option<LoadedConnection>;
    fn run(self, db: &Sqlite) -> Result<Self::Found, StoreError> {
        let key = params![self.workspace.0, self.connection.as_bytes()];
        let sql = format!("SELECT {} FROM connection WHERE workspace = ?1 AND id = ?2", decode::CONNECTION);
        let Some(connection) = one(db, &sql, key, decode::connection)? else { return Ok(None) };
        let sql = "SELECT data FROM session WHERE workspace = ?1 AND connection = ?2 ORDER BY seq";
        let sessions = all(db, sql, key, |row| json("session", &column::<String>(row, 0)?))?;
        let sql = concat!("SELECT count(*) FROM ask WHERE workspace = ?1 AND owner = ?2 AND ", is_pending!());
        let pending = one(db, sql, key, |row| column::<i64>(row, 0))?;
        let outbox = events::outbox_of(db, self.workspace, self.connection)?;
        let pending = usize::try_from(pending.unwrap_or(0)).unwrap_or(0);
        Ok(Some(LoadedConnection { connection, sessions, outbox, pending }))
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
            concat!("SELECT id, keep_ms FROM ask WHERE workspace = ?1 AND ", is_pending!(), " AND keep_ms IS NOT NULL"),
            [self.workspace.0],
            |row| {
                let keep = std::time::Duration::from_millis(column::<i64>(row, 1)?.unsigned_abs());
                Ok((AskId::from_bytes(column(row, 0)?), Span(keep)))
            },
        )?;
        Ok(Beginnings { connections, deadlines, kept })
    }
}
