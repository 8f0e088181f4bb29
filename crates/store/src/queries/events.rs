//! Reading the feed and the outbox.

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
use crate::event::{About, EventKind, StoredEvent, WorkspaceId};
use crate::read::{EventsAfter, FeedHead, PastEvents, Query};
use crate::snapshot::{Next, Snapshot, one};

/// The last `seq` of a workspace.
pub(super) fn head(db: &dyn Snapshot, workspace: WorkspaceId) -> Result<i64, StoreError> {
    let sql = "SELECT last_seq FROM workspace WHERE id = ?1";
    Ok(one(db, sql, params![workspace.0], |row| column(row, 0))?.unwrap_or(0))
}

impl Query for FeedHead {
    type Found = i64;
    fn run(self, db: &dyn Snapshot) -> Result<i64, StoreError> {
        head(db, self.workspace)
    }
}

/// Events with the ask or the block that each is about.
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

impl Query for EventsAfter {
    type Found = PastEvents;
    fn run(self, db: &dyn Snapshot) -> Result<PastEvents, StoreError> {
        let head = head(db, self.workspace)?;
        let oldest = one(db, "SELECT min(seq) FROM event WHERE workspace = ?1", params![self.workspace.0], |row| column(row, 0))?
            .flatten();
        let oldest = oldest.unwrap_or(head + 1);
        let limit = i64::try_from(self.limit).unwrap_or(i64::MAX);
        let mut found = PastEvents { events: Vec::new(), looked_to: self.after, oldest, head };
        let mut looked = 0;
        let mut abouts = HashMap::new();
        let mut each = |row: &dyn Columns| {
            looked += 1;
            found.looked_to = column(row, 0)?;
            found.events.extend(read_event(db, self.workspace, row, &mut abouts)?);
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
            found.looked_to = head;
        }
        Ok(found)
    }
}

/// The event of a row of `page!`. `None`: there is nothing to show of it.
fn read_event(
    db: &dyn Snapshot,
    workspace: WorkspaceId,
    row: &dyn Columns,
    abouts: &mut HashMap<SessionId, Option<Arc<About>>>,
) -> Result<Option<StoredEvent>, StoreError> {
    let seq: i64 = column(row, 0)?;
    let session = column::<Option<[u8; 16]>>(row, 3)?.map(SessionId::from_bytes);
    let Some(kind) = EventKind::from_number(column(row, 2)?) else { return Ok(None) };
    // The ask may have been deleted since; then there is nothing to show of it.
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
        // A stream that ended here would end here again and again.
        Err(error) => {
            tracing::error!(seq, %error, "skipped an event that cannot be read");
            return Ok(None);
        }
    };
    let at = Time::from_millis(column(row, 1)?);
    let about = match (payload.ask(), run, session) {
        (None, Some(run), _) => runs::about(db, workspace, run)?,
        (None, None, Some(session)) => about(db, workspace, session, abouts)?,
        (Some(_), _, _) | (None, None, None) => None,
    };
    Ok(Some(StoredEvent { workspace, seq, at, session, run, about, payload }))
}

/// Who may see what happened in a session; asked once per page.
fn about(
    db: &dyn Snapshot,
    workspace: WorkspaceId,
    session: SessionId,
    known: &mut HashMap<SessionId, Option<Arc<About>>>,
) -> Result<Option<Arc<About>>, StoreError> {
    if let Some(about) = known.get(&session) {
        return Ok(about.clone());
    }
    let found = read_session(db, workspace, session)?;
    let about = found.map(|found| Arc::new(About::from(found.session)));
    known.insert(session, about.clone());
    Ok(about)
}
