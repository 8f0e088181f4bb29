//! Queries of the feed and the outbox.

use std::collections::HashMap;
use std::sync::Arc;

use sayso_core::id::{RunId, SessionId};
use sayso_core::time::Time;

use super::runs;
use super::sessions::read_session;
use crate::columns::decode::{self, ask_columns};
use crate::columns::event_row;
use crate::columns::value::{Columns, column, params};
use crate::error::StoreError;
use crate::event::{EventAudience, EventKind, StoredEvent, WorkspaceId};
use crate::read::{EventPage, Query, ReadEvents, ReadFeedHead};
use crate::snapshot::{Next, Snapshot, one};

/// Returns the last `seq` of a workspace.
pub(super) fn read_feed_head(db: &dyn Snapshot, workspace: WorkspaceId) -> Result<i64, StoreError> {
    let sql = "SELECT last_seq FROM workspace WHERE id = ?1";
    Ok(one(db, sql, params![workspace.0], |row| column(row, 0))?.unwrap_or(0))
}

impl Query for ReadFeedHead {
    type Found = i64;
    fn run(self, db: &dyn Snapshot) -> Result<i64, StoreError> {
        read_feed_head(db, self.workspace)
    }
}

/// Selects events, each with the ask or the block that it is about.
macro_rules! page {
    ($where:literal) => {
        concat!(
            "SELECT e.seq, e.at_ms, e.kind, e.session, coalesce(e.data, b.data), e.ask IS NOT NULL, e.run, ",
            ask_columns!("a."),
            " FROM event e LEFT JOIN ask a ON a.workspace = e.workspace AND a.id = e.ask LEFT JOIN block b ON b.session = e.session AND b.seq = e.seq AND +b.workspace = e.workspace WHERE ",
            $where,
            " AND e.seq > ?2 ORDER BY e.seq LIMIT ?3"
        )
    };
}

impl Query for ReadEvents {
    type Found = EventPage;
    fn run(self, db: &dyn Snapshot) -> Result<EventPage, StoreError> {
        let head = read_feed_head(db, self.workspace)?;
        let oldest = one(db, "SELECT min(seq) FROM event WHERE workspace = ?1", params![self.workspace.0], |row| column(row, 0))?
            .flatten();
        let oldest = oldest.unwrap_or(head + 1);
        let limit = i64::try_from(self.limit).unwrap_or(i64::MAX);
        let mut found = EventPage { events: Vec::new(), scanned_to: self.after, oldest, head };
        let mut looked = 0;
        let mut audiences = HashMap::new();
        let mut each = |row: &dyn Columns| {
            looked += 1;
            found.scanned_to = column(row, 0)?;
            found.events.extend(read_event(db, self.workspace, row, &mut audiences)?);
            Ok(Next::Continue(()))
        };
        match &self.session {
            None => db.each_row(page!("e.workspace = ?1"), params![self.workspace.0, self.after, limit], &mut each)?,
            Some(session) => {
                let sql = page!("e.session = ?4 AND +e.workspace = ?1");
                db.each_row(sql, params![self.workspace.0, self.after, limit, session.as_bytes()], &mut each)?;
            }
        }
        if looked < self.limit {
            found.scanned_to = head;
        }
        Ok(found)
    }
}

/// Reads an event from a row of `page!`. Returns `None` if it cannot be shown, for example because its ask was deleted.
fn read_event(
    db: &dyn Snapshot,
    workspace: WorkspaceId,
    row: &dyn Columns,
    audiences: &mut HashMap<SessionId, Option<Arc<EventAudience>>>,
) -> Result<Option<StoredEvent>, StoreError> {
    let seq: i64 = column(row, 0)?;
    let session = column::<Option<[u8; 16]>>(row, 3)?.map(SessionId::from_bytes);
    let Some(kind) = EventKind::from_number(column(row, 2)?) else { return Ok(None) };
    // Retention may have deleted the ask.
    let has_ask: bool = column(row, 5)?;
    let run = column::<Option<[u8; 16]>>(row, 6)?.map(RunId::from_bytes);
    let present: Option<[u8; 16]> = column(row, 7)?;
    if has_ask && present.is_none() {
        return Ok(None);
    }
    let ask = present.map(|_| decode::ask(row, 7)).transpose()?.map(|row| Arc::unwrap_or_clone(row.ask));
    let text: Option<String> = column(row, 4)?;
    let payload = match event_row::decode(kind, ask, session.is_some(), text.as_deref()) {
        Ok(payload) => payload,
        // Skip an unreadable event. A stream that failed here would fail again after every reconnect.
        Err(error) => {
            tracing::error!(seq, %error, "skipped an event that cannot be read");
            return Ok(None);
        }
    };
    let at = Time::from_millis(column(row, 1)?);
    let audience = match (payload.ask(), run, session) {
        (None, Some(run), _) => runs::find_audience(db, workspace, run)?,
        (None, None, Some(session)) => find_audience(db, workspace, session, audiences)?,
        (Some(_), _, _) | (None, None, None) => None,
    };
    Ok(Some(StoredEvent { workspace, seq, at, session, run, audience, payload }))
}

/// Finds who can see the events of a session. Cached for one page.
fn find_audience(
    db: &dyn Snapshot,
    workspace: WorkspaceId,
    session: SessionId,
    known: &mut HashMap<SessionId, Option<Arc<EventAudience>>>,
) -> Result<Option<Arc<EventAudience>>, StoreError> {
    if let Some(audience) = known.get(&session) {
        return Ok(audience.clone());
    }
    let found = read_session(db, workspace, session)?;
    let audience = found.map(|found| Arc::new(EventAudience::from(found.session)));
    known.insert(session, audience.clone());
    Ok(audience)
}
