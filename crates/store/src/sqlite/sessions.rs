//! Sessions, their connections and their transcripts.

use rusqlite::{Connection as Sqlite, OptionalExtension, params};
use sayso_core::connection::{Connection, ConnectionKind, Epoch, Position, WirePosition};
use sayso_core::id::{AskId, ConnectionId, SessionId};
use sayso_core::raw::Raw;
use sayso_core::scope::{Scope, Visible};
use sayso_core::session::{Session, SessionStatus, StatusNews};
use sayso_core::time::Time;
use sayso_core::transcript::{Block, BlockBody};

use super::tx::Tx;
use super::{ask_row, column, events, json, to_json};
use crate::error::StoreError;
use crate::event::{EventKind, WorkspaceId};
use crate::read::{
    Beginnings, GetSession, ListAttached, ListSessions, LoadConnection, LoadedConnection, Page, Query, ReadTranscript,
    SessionDetail, TranscriptEntry, Unfinished,
};

pub(super) const fn kind_number(kind: ConnectionKind) -> i64 {
    match kind {
        ConnectionKind::InProcess => 0,
        ConnectionKind::Supervised => 1,
        ConnectionKind::Attached => 2,
        ConnectionKind::Caller => 3,
    }
}

fn kind_of(number: i64) -> Result<ConnectionKind, StoreError> {
    match number {
        0 => Ok(ConnectionKind::InProcess),
        1 => Ok(ConnectionKind::Supervised),
        2 => Ok(ConnectionKind::Attached),
        3 => Ok(ConnectionKind::Caller),
        other => Err(StoreError::Unreadable { what: "connection", detail: format!("kind {other}") }),
    }
}

pub(super) fn wire_number(process: Option<WirePosition>) -> Option<i64> {
    process.map(|WirePosition(read)| i64::try_from(read).unwrap_or(i64::MAX))
}

pub(super) fn get(db: &Sqlite, workspace: WorkspaceId, id: SessionId) -> Result<Option<Session>, StoreError> {
    let text: Option<String> = db
        .prepare_cached("SELECT data FROM session WHERE id = ?1 AND workspace = ?2")?
        .query_row(params![id.as_bytes(), workspace.0], |row| row.get(0))
        .optional()?;
    text.map(|text| json("session", &text)).transpose()
}

pub(super) fn visible(session: &Session, scope: &Scope) -> bool {
    scope.sees(Visible { session: Some(session.id), labels: &session.labels, opened_by: session.opened_by })
}

/// Stores what a session does now, and says so on the feed if it is news.
pub(super) fn set_status(
    tx: &mut Tx<'_>,
    workspace: WorkspaceId,
    id: SessionId,
    status: SessionStatus,
    now: Time,
) -> Result<(), StoreError> {
    let Some(mut session) = get(tx.db(), workspace, id)? else { return Ok(()) };
    if session.status == status {
        return Ok(());
    }
    session.status = status;
    session.updated_at = now;
    put(tx, &session)?;
    let kind = if session.status.is_ended() { EventKind::SessionEnded } else { EventKind::SessionStatus };
    tx.event(kind, now, Some(id), None, Some(Raw::of(&session.status.news())))?;
    Ok(())
}

/// Stores the permission mode and the model of a session, and says so on the feed if one of them is new.
pub(super) fn set_settings(
    tx: &mut Tx<'_>,
    workspace: WorkspaceId,
    id: SessionId,
    permission_mode: Option<String>,
    model: Option<String>,
    now: Time,
) -> Result<(), StoreError> {
    let Some(mut session) = get(tx.db(), workspace, id)? else { return Ok(()) };
    let permission_mode = permission_mode.filter(|mode| *mode != session.permission_mode);
    let model = model.filter(|model| Some(model) != session.model.as_ref());
    if permission_mode.is_none() && model.is_none() {
        return Ok(());
    }
    let news = StatusNews { permission_mode: permission_mode.clone(), model: model.clone(), ..session.status.news() };
    session.permission_mode = permission_mode.unwrap_or(session.permission_mode);
    session.model = model.or(session.model);
    session.updated_at = now;
    put(tx, &session)?;
    tx.event(EventKind::SessionStatus, now, Some(id), None, Some(Raw::of(&news)))?;
    Ok(())
}

/// Whether somebody's own session was closed here, while it goes on where it runs.
pub(super) fn is_closed(tx: &Tx<'_>, workspace: WorkspaceId, id: SessionId) -> Result<bool, StoreError> {
    let ended: Option<i64> = tx
        .db()
        .prepare_cached("SELECT n FROM session WHERE id = ?1 AND ended = 1")?
        .query_row([id.as_bytes()], |row| row.get(0))
        .optional()?;
    Ok(ended.is_some() && get(tx.db(), workspace, id)?.is_some_and(|session| session.external.is_some()))
}

/// Writes a session over its older self.
pub(super) fn put(tx: &Tx<'_>, session: &Session) -> Result<(), StoreError> {
    tx.db().prepare_cached("UPDATE session SET ended = ?2, updated_ms = ?3, data = ?4 WHERE id = ?1")?.execute(params![
        session.id.as_bytes(),
        session.status.is_ended(),
        session.updated_at.as_millis(),
        to_json("session", session)?,
    ])?;
    Ok(())
}

/// Adds a block, or replaces the one with the same id, and says so on the feed.
pub(super) fn put_block(
    tx: &mut Tx<'_>,
    workspace: WorkspaceId,
    session: SessionId,
    block: &Block,
    event: EventKind,
) -> Result<(), StoreError> {
    let data = Raw::of(block);
    // An agent tells what a tool was called with once, and not again with what came of it.
    let replace = match block.body {
        BlockBody::Tool { input: None, .. } => {
            "UPDATE block SET data = CASE WHEN data ->> '$.input' IS NULL THEN ?2
                 ELSE json_set(?2, '$.input', json(data -> '$.input')) END WHERE id = ?1 RETURNING data"
        }
        _ => "UPDATE block SET data = ?2 WHERE id = ?1 RETURNING data",
    };
    let replaced: Option<String> =
        tx.db().prepare_cached(replace)?.query_row(params![block.id.as_bytes(), data.as_str()], |row| row.get(0)).optional()?;
    if let Some(text) = replaced {
        let data = Raw::parse(text).map_err(|error| StoreError::Unreadable { what: "block", detail: error.to_string() })?;
        tx.event(event, block.at, Some(session), None, Some(data))?;
        return Ok(());
    }
    tx.db()
        .prepare_cached("INSERT INTO block (session, seq, id, workspace, data) VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![session.as_bytes(), tx.next_seq(), block.id.as_bytes(), workspace.0, data.as_str()])?;
    // The block stands at the place of its event, so the event need not hold it a second time.
    tx.event_of_block(event, block.at, session, data)?;
    Ok(())
}

impl Query for GetSession {
    type Output = Option<SessionDetail>;
    fn run(self, db: &Sqlite) -> Result<Self::Output, StoreError> {
        let Some(session) = get(db, self.workspace, self.session)?.filter(|session| visible(session, &self.scope)) else {
            return Ok(None);
        };
        let pending = ask_row::pending_of(db, self.session)?;
        Ok(Some(SessionDetail { session, pending, seq: events::head(db, self.workspace)? }))
    }
}

impl Query for ListSessions {
    type Output = Page<(Session, u32)>;
    fn run(self, db: &Sqlite) -> Result<Self::Output, StoreError> {
        let mut statement = db.prepare_cached(
            "SELECT s.n, s.data, (SELECT count(*) FROM ask WHERE ask.session = s.id AND ask.status < 2)
             FROM session s WHERE s.workspace = ?1 AND s.n < ?2 AND (?3 = 0 OR s.ended = 0)
               AND (?4 IS NULL OR substr(lower(hex(s.id)), -length(?4)) = ?4)
             ORDER BY s.n DESC",
        )?;
        let suffix = self.id_ends_with.as_deref().map(|suffix| suffix.trim_start_matches(SessionId::PREFIX).to_owned());
        let mut rows = statement.query(params![self.workspace.0, self.after.unwrap_or(i64::MAX), self.open_only, suffix])?;
        let mut page = Page { rows: Vec::new(), next: None, seq: events::head(db, self.workspace)? };
        let mut last = 0;
        while let Some(row) = rows.next()? {
            let session: Session = json("session", &column::<String>(row, 1)?)?;
            let labelled = self.label.as_ref().is_none_or(|(key, value)| session.labels.get(key) == Some(value));
            if !labelled || !visible(&session, &self.scope) {
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

impl Query for ReadTranscript {
    type Output = Page<TranscriptEntry>;
    fn run(self, db: &Sqlite) -> Result<Self::Output, StoreError> {
        let mut entries: Vec<(i64, TranscriptEntry)> = Vec::new();
        let limit = i64::try_from(self.limit + 1).unwrap_or(i64::MAX);
        let mut blocks =
            db.prepare_cached("SELECT seq, data FROM block WHERE session = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3")?;
        let mut rows = blocks.query(params![self.session.as_bytes(), self.after, limit])?;
        while let Some(row) = rows.next()? {
            let block = Raw::parse(column(row, 1)?)
                .map_err(|error| StoreError::Unreadable { what: "block", detail: error.to_string() })?;
            entries.push((column(row, 0)?, TranscriptEntry::Block(block)));
        }
        let mut asks = db.prepare_cached(concat!(
            "SELECT ",
            ask_row::columns!(""),
            ", seq FROM ask WHERE session = ?1 AND seq > ?2 ORDER BY n LIMIT ?3"
        ))?;
        let mut rows = asks.query(params![self.session.as_bytes(), self.after, limit])?;
        while let Some(row) = rows.next()? {
            entries.push((column(row, ask_row::WIDTH)?, TranscriptEntry::Ask(Box::new(ask_row::read(row, 0)?))));
        }
        entries.sort_by_key(|(seq, _)| *seq);
        let next = (entries.len() > self.limit).then(|| entries[self.limit - 1].0);
        entries.truncate(self.limit);
        let rows = entries.into_iter().map(|(_, entry)| entry).collect();
        Ok(Page { rows, next, seq: events::head(db, self.workspace)? })
    }
}

/// A connection as it is stored.
fn connection(db: &Sqlite, id: ConnectionId) -> Result<Option<Connection>, StoreError> {
    let found = db
        .prepare_cached("SELECT kind, agent, epoch, position, state, wake_ms, wire FROM connection WHERE id = ?1")?
        .query_row([id.as_bytes()], |row| {
            Ok((
                row.get::<_, i64>(0)?,
                row.get::<_, String>(1)?,
                row.get::<_, i64>(2)?,
                row.get::<_, i64>(3)?,
                row.get::<_, Option<String>>(4)?,
                row.get::<_, Option<i64>>(5)?,
                row.get::<_, Option<i64>>(6)?,
            ))
        })
        .optional()?;
    let Some((kind, agent, epoch, position, state, wake, wire)) = found else { return Ok(None) };
    Ok(Some(Connection {
        id,
        kind: kind_of(kind)?,
        agent,
        epoch: Epoch(epoch),
        position: Position(position),
        process: wire.map(|read| WirePosition(read.unsigned_abs())),
        state: state
            .map(Raw::parse)
            .transpose()
            .map_err(|error| StoreError::Unreadable { what: "translator state", detail: error.to_string() })?,
        wake_at: wake.map(Time::from_millis),
    }))
}

impl Query for ListAttached {
    type Output = Vec<Connection>;
    fn run(self, db: &Sqlite) -> Result<Self::Output, StoreError> {
        let mut statement = db.prepare_cached("SELECT id FROM connection WHERE kind = 2 AND workspace = ?1 ORDER BY id")?;
        let ids: Vec<[u8; 16]> = statement.query_map([self.workspace.0], |row| row.get(0))?.collect::<Result<_, _>>()?;
        ids.into_iter().filter_map(|id| connection(db, ConnectionId::from_bytes(id)).transpose()).collect()
    }
}

impl Query for LoadConnection {
    type Output = Option<LoadedConnection>;
    fn run(self, db: &Sqlite) -> Result<Self::Output, StoreError> {
        let Some(connection) = connection(db, self.connection)? else { return Ok(None) };
        let mut statement = db.prepare_cached("SELECT data FROM session WHERE connection = ?1 ORDER BY n")?;
        let mut rows = statement.query([self.connection.as_bytes()])?;
        let mut sessions = Vec::new();
        while let Some(row) = rows.next()? {
            sessions.push(json("session", &column::<String>(row, 0)?)?);
        }
        let pending: i64 = db
            .prepare_cached("SELECT count(*) FROM ask WHERE owner = ?1 AND status < 2")?
            .query_row([self.connection.as_bytes()], |row| row.get(0))?;
        let outbox = events::outbox_of(db, self.connection)?;
        Ok(Some(LoadedConnection { connection, sessions, outbox, pending: usize::try_from(pending).unwrap_or(0) }))
    }
}

impl Query for Unfinished {
    type Output = Beginnings;
    fn run(self, db: &Sqlite) -> Result<Self::Output, StoreError> {
        let mut statement = db.prepare_cached(
            "SELECT DISTINCT connection FROM outbox UNION SELECT id FROM connection WHERE wake_ms IS NOT NULL
                 UNION SELECT id FROM connection WHERE wire IS NOT NULL UNION SELECT id FROM connection WHERE kind = 2",
        )?;
        let connections = statement
            .query_map([], |row| row.get::<_, [u8; 16]>(0))?
            .map(|id| id.map(ConnectionId::from_bytes))
            .collect::<Result<_, _>>()?;
        let mut statement = db.prepare_cached(
            "SELECT id, deadline_ms FROM ask WHERE status < 2 AND deadline_ms IS NOT NULL ORDER BY deadline_ms",
        )?;
        let deadlines = statement
            .query_map([], |row| Ok((AskId::from_bytes(row.get(0)?), Time::from_millis(row.get(1)?))))?
            .collect::<Result<_, _>>()?;
        Ok(Beginnings { connections, deadlines, kept: super::kept::pending(db)? })
    }
}
