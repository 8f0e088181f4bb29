//! Queries of sessions, transcripts and connections.

use std::sync::Arc;

use sayso_core::connection::Connection;
use sayso_core::id::{AskId, ConnectionId, SessionId, TokenId};
use sayso_core::session::Session;
use sayso_core::time::{Span, Time};

use super::page::{PageBuilder, pending_asks};
use super::{events, id_suffix};
use crate::columns::decode::{self, ask_columns, json, raw};
use crate::columns::numbers::{is_attached, is_pending};
use crate::columns::value::{column, params, text};
use crate::error::StoreError;
use crate::event::WorkspaceId;
use crate::ops::session_rows::is_visible;
use crate::read::{
    CallerAsk, FindUnfinishedWork, GetExternalSession, GetSession, ListAttachedConnections, ListSessions, Page, Query,
    ReadTranscript, SessionDetail, TranscriptEntry, UnfinishedWork,
};
use crate::rows::SessionRow;
use crate::snapshot::{Next, Snapshot, all, one};

impl Query for GetSession {
    type Found = Option<SessionDetail>;
    fn run(self, db: &dyn Snapshot) -> Result<Self::Found, StoreError> {
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
        Ok(Some(SessionDetail { session, pending, seq: events::read_feed_head(db, self.workspace)? }))
    }
}

impl Query for ListSessions {
    type Found = Page<(Session, u32)>;
    fn run(self, db: &dyn Snapshot) -> Result<Self::Found, StoreError> {
        let suffix = id_suffix(self.id_ends_with.as_deref(), SessionId::PREFIX);
        let sql = format!(
            concat!(
                "SELECT s.seq, s.data,
                 (SELECT count(*) FROM ask WHERE ask.session = s.id AND +ask.workspace = s.workspace AND ",
                is_pending!("ask."),
                ")
             FROM session s WHERE s.workspace = ?1 AND s.seq < ?2 AND (?3 = 0 OR s.ended = 0) AND (?4 IS NULL OR {})
             ORDER BY s.seq DESC"
            ),
            db.id_ends_with("s.id", "?4")
        );
        let after = self.after.unwrap_or(i64::MAX);
        let mut page = PageBuilder::new(self.limit, events::read_feed_head(db, self.workspace)?);
        db.each_row(&sql, params![self.workspace.0, after, self.open_only, suffix], &mut |row| {
            let text = text(row, 1)?;
            let session: Session = json("session", &text)?;
            let labelled = self.label.as_ref().is_none_or(|(key, value)| session.labels.get(key) == Some(value));
            if !labelled || !is_visible(&session, &self.scope) {
                return Ok(Next::Continue(()));
            }
            Ok(page.push(column(row, 0)?, (session, column(row, 2)?), text.len()))
        })?;
        Ok(page.finish())
    }
}

impl Query for ReadTranscript {
    type Found = Page<TranscriptEntry>;
    fn run(self, db: &dyn Snapshot) -> Result<Self::Found, StoreError> {
        let limit = i64::try_from(self.limit + 1).unwrap_or(i64::MAX);
        // The positions of blocks and asks are merged before their content is read, so that the sort does not hold large rows.
        let sql = concat!(
            "SELECT p.seq, b.data, p.ask IS NOT NULL, ",
            ask_columns!("a."),
            " FROM (SELECT seq, id AS block, NULL AS ask FROM block WHERE session = ?1 AND seq > ?2 AND +workspace = ?4
                UNION ALL SELECT seq, NULL, id FROM ask WHERE session = ?1 AND seq > ?2 AND +workspace = ?4
                ORDER BY seq LIMIT ?3) AS p
             LEFT JOIN block b ON b.workspace = ?4 AND b.id = p.block
             LEFT JOIN ask a ON a.workspace = ?4 AND a.id = p.ask
             ORDER BY p.seq, p.ask IS NOT NULL"
        );
        let session = self.session.as_bytes();
        let mut page = PageBuilder::new(self.limit, events::read_feed_head(db, self.workspace)?);
        db.each_row(sql, params![session, self.after, limit, self.workspace.0], &mut |row| {
            let seq = column(row, 0)?;
            if column(row, 2)? {
                let ask = Box::new(Arc::unwrap_or_clone(decode::ask(row, 3)?.ask));
                let bytes = ask.text_size();
                return Ok(page.push(seq, TranscriptEntry::Ask(ask), bytes));
            }
            let block = raw("block", column(row, 1)?)?;
            let bytes = block.as_str().len();
            Ok(page.push(seq, TranscriptEntry::Block(block), bytes))
        })?;
        Ok(page.finish())
    }
}

pub(crate) fn read_session(db: &dyn Snapshot, workspace: WorkspaceId, id: SessionId) -> Result<Option<SessionRow>, StoreError> {
    let sql = "SELECT data, seq FROM session WHERE workspace = ?1 AND id = ?2";
    one(db, sql, params![workspace.0, id.as_bytes()], |row| {
        Ok(SessionRow { session: json("session", &text(row, 0)?)?, seq: column(row, 1)? })
    })
}

impl Query for GetExternalSession {
    type Found = Option<Session>;
    fn run(self, db: &dyn Snapshot) -> Result<Self::Found, StoreError> {
        let key = &self.key;
        let sql = "SELECT session FROM external WHERE workspace = ?1 AND token = ?2 AND agent = ?3 AND native_id = ?4";
        let id = one(db, sql, params![key.workspace.0, key.token.as_bytes(), key.agent, key.native_id], |row| {
            Ok(SessionId::from_bytes(column(row, 0)?))
        })?;
        let found = id.map(|id| read_session(db, key.workspace, id)).transpose()?.flatten();
        Ok(found.map(|row| row.session).filter(|session| !session.status.is_ended()))
    }
}

impl Query for ListAttachedConnections {
    type Found = Vec<Connection>;
    fn run(self, db: &dyn Snapshot) -> Result<Self::Found, StoreError> {
        let attached = is_attached!();
        let sql = format!("SELECT {} FROM connection WHERE {attached} AND workspace = ?1 ORDER BY id", decode::CONNECTION);
        all(db, &sql, params![self.workspace.0], decode::connection)
    }
}

impl Query for FindUnfinishedWork {
    type Found = UnfinishedWork;
    fn run(self, db: &dyn Snapshot) -> Result<Self::Found, StoreError> {
        let connections = all(
            db,
            concat!(
                "SELECT connection FROM outbox WHERE workspace = ?1
                 UNION SELECT id FROM connection WHERE workspace = ?1 AND wake_ms IS NOT NULL
                 UNION SELECT id FROM connection WHERE workspace = ?1 AND wire IS NOT NULL
                 UNION SELECT id FROM connection WHERE workspace = ?1 AND ",
                is_attached!()
            ),
            params![self.workspace.0],
            |row| Ok(ConnectionId::from_bytes(column(row, 0)?)),
        )?;
        let deadlines = all(
            db,
            concat!(
                "SELECT id, deadline_ms FROM ask WHERE workspace = ?1 AND ",
                is_pending!(),
                " AND deadline_ms IS NOT NULL ORDER BY deadline_ms"
            ),
            params![self.workspace.0],
            |row| Ok((AskId::from_bytes(column(row, 0)?), Time::from_millis(column(row, 1)?))),
        )?;
        let kept = all(
            db,
            concat!(
                "SELECT id, opened_by, keep_ms FROM ask WHERE workspace = ?1 AND ",
                is_pending!(),
                " AND keep_ms IS NOT NULL"
            ),
            params![self.workspace.0],
            |row| {
                let opened_by = column::<Option<[u8; 16]>>(row, 1)?.map(TokenId::from_bytes);
                let keep = std::time::Duration::from_millis(column::<i64>(row, 2)?.unsigned_abs());
                Ok(CallerAsk { ask: AskId::from_bytes(column(row, 0)?), opened_by, keep: Span(keep) })
            },
        )?;
        Ok(UnfinishedWork { connections, deadlines, kept })
    }
}
