//! Reading the feed and the outbox.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::{Connection as Sqlite, OptionalExtension, params};
use sayso_core::id::{RunId, SessionId};
use sayso_core::time::Time;

use super::runs;
use crate::error::StoreError;
use crate::event::{About, EventKind, StoredEvent, WorkspaceId};
use crate::read::{EventsAfter, FeedHead, PastEvents};
use crate::sqlite::decode::{self, ask_columns, column};
use crate::sqlite::load::read_session;
use crate::sqlite::{SqliteQuery, event_row};

/// The last `seq` of a workspace.
pub(super) fn head(db: &Sqlite, workspace: WorkspaceId) -> Result<i64, StoreError> {
    Ok(db
        .prepare_cached("SELECT last_seq FROM workspace WHERE id = ?1")?
        .query_row([workspace.0], |row| row.get(0))
        .optional()?
        .unwrap_or(0))
}

impl SqliteQuery for FeedHead {
    type Found = i64;
    fn run(self, db: &Sqlite) -> Result<i64, StoreError> {
        head(db, self.workspace)
    }
}

/// Events with the ask or the block that each is about.
macro_rules! page {
    ($by:literal) => {
        concat!(
            "SELECT e.seq, e.at_ms, e.kind, e.session, coalesce(e.data, b.data), e.ask IS NOT NULL, e.run, ",
            ask_columns!("a."),
            " FROM event e",
            $by,
            " LEFT JOIN ask a ON a.workspace = e.workspace AND a.id = e.ask LEFT JOIN block b ON b.session = e.session AND b.seq = e.seq AND +b.workspace = e.workspace"
        )
    };
}

impl SqliteQuery for EventsAfter {
    type Found = PastEvents;
    fn run(self, db: &Sqlite) -> Result<PastEvents, StoreError> {
        let head = head(db, self.workspace)?;
        let oldest: Option<i64> = db
            .prepare_cached("SELECT min(seq) FROM event WHERE workspace = ?1")?
            .query_row([self.workspace.0], |row| row.get(0))?;
        let oldest = oldest.unwrap_or(head + 1);
        let limit = i64::try_from(self.limit).unwrap_or(i64::MAX);
        let mut statement;
        let mut rows = match &self.session {
            None => {
                statement =
                    db.prepare_cached(concat!(page!(""), " WHERE e.workspace = ?1 AND e.seq > ?2 ORDER BY e.seq LIMIT ?3"))?;
                statement.query(params![self.workspace.0, self.after, limit])?
            }
            Some(session) => {
                statement = db.prepare_cached(concat!(
                    page!(" INDEXED BY event_session"),
                    " WHERE e.session = ?4 AND e.workspace = ?1 AND e.seq > ?2 ORDER BY e.seq LIMIT ?3"
                ))?;
                statement.query(params![self.workspace.0, self.after, limit, session.as_bytes()])?
            }
        };
        let mut found = PastEvents { events: Vec::new(), looked_to: self.after, oldest, head };
        let mut looked = 0;
        let mut abouts = HashMap::new();
        while let Some(row) = rows.next()? {
            looked += 1;
            let seq: i64 = column(row, 0)?;
            found.looked_to = seq;
            let session = column::<Option<[u8; 16]>>(row, 3)?.map(SessionId::from_bytes);
            let Some(kind) = EventKind::from_number(column(row, 2)?) else { continue };
            // The ask may have been deleted since; then there is nothing to show of it.
            let has_ask: bool = column(row, 5)?;
            let run = column::<Option<[u8; 16]>>(row, 6)?.map(RunId::from_bytes);
            let present: Option<[u8; 16]> = column(row, 7)?;
            if has_ask && present.is_none() {
                continue;
            }
            let ask = present.map(|_| decode::ask(row, 7)).transpose()?.map(|row| Arc::unwrap_or_clone(row.ask));
            let text: Option<String> = column(row, 4)?;
            let payload = match event_row::decode(kind, ask, session.is_some(), text.as_deref()) {
                Ok(payload) => payload,
                // A stream that ended here would end here again and again.
                Err(error) => {
                    tracing::error!(seq, %error, "skipped an event that cannot be read");
                    continue;
                }
            };
            let at = Time::from_millis(column(row, 1)?);
            let about = match (payload.ask(), run, session) {
                (None, Some(run), _) => runs::about(db, self.workspace, run)?,
                (None, None, Some(session)) => about(db, self.workspace, session, &mut abouts)?,
                (Some(_), _, _) | (None, None, None) => None,
            };
            found.events.push(StoredEvent { workspace: self.workspace, seq, at, session, run, about, payload });
        }
        if looked < self.limit {
            found.looked_to = head;
        }
        Ok(found)
    }
}

/// Who may see what happened in a session; asked once per page.
fn about(
    db: &Sqlite,
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
