//! Reading asks.

use std::sync::Arc;

use rusqlite::{Connection as Sqlite, OptionalExtension, ToSql};
use sayso_core::ask::Ask;
use sayso_core::id::AskId;
use sayso_core::time::Time;

use super::events;
use super::page::PageBuilder;
use crate::error::StoreError;
use crate::ops::decide::is_visible;
use crate::read::{CountPending, FindToolCallAsk, GetAsk, ListAsks, Page, PendingCount, StatusFilter};
use crate::sqlite::SqliteQuery;
use crate::sqlite::decode::{self, ask_columns};
use crate::sqlite::load::read_ask;
use crate::sqlite::numbers::{is_pending, is_resolved, kind_number, outcome_number};

/// Whether a text of the ask, its context or its outcome contains the words.
const SAYS: &str = "(asked_text LIKE ? ESCAPE '\\' OR decided_text LIKE ? ESCAPE '\\')";

/// A pattern that matches the words anywhere in a text.
fn like(words: &str) -> String {
    let plain = words.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
    format!("%{plain}%")
}

impl SqliteQuery for GetAsk {
    type Found = Option<Ask>;
    fn run(self, db: &Sqlite) -> Result<Self::Found, StoreError> {
        let found = read_ask(db, self.workspace, self.ask)?.map(|row| Arc::unwrap_or_clone(row.ask));
        Ok(found.filter(|ask| is_visible(ask, &self.scope)))
    }
}

impl SqliteQuery for ListAsks {
    type Found = Page<Ask>;

    fn run(self, db: &Sqlite) -> Result<Self::Found, StoreError> {
        let oldest_first = self.status == StatusFilter::Pending;
        let mut sql = String::from(concat!("SELECT ", ask_columns!(""), " FROM ask WHERE workspace = ?1"));
        let mut values: Vec<Box<dyn ToSql>> = vec![Box::new(self.workspace.0)];
        let mut also = |condition: &str, value: Option<Box<dyn ToSql>>| {
            sql.push_str(" AND ");
            match value {
                None => sql.push_str(condition),
                Some(value) => {
                    values.push(value);
                    sql.push_str(&condition.replace('?', &format!("?{}", values.len())));
                }
            }
        };
        match self.status {
            StatusFilter::Any => {}
            StatusFilter::Pending => also(is_pending!(), None),
            StatusFilter::Resolved => also(is_resolved!(), None),
            StatusFilter::Outcome(status) => also("status = ?", Some(Box::new(outcome_number(status)))),
        }
        if let Some(session) = self.session {
            also("session = ?", Some(Box::new(*session.as_bytes())));
        }
        if let Some(kind) = self.kind {
            also("kind = ?", Some(Box::new(kind_number(kind))));
        }
        if let Some(agent) = self.agent.clone() {
            also("agent = ?", Some(Box::new(agent)));
        }
        if let Some(project) = &self.project {
            let project = project.trim_end_matches('/').to_owned();
            let below = "(project = ? OR substr(project, 1, length(?) + 1) = ? || '/')";
            also(below, Some(Box::new(project)));
        }
        if let Some(since) = self.since {
            also("opened_ms >= ?", Some(Box::new(since.as_millis())));
        }
        if let Some(until) = self.until {
            also("opened_ms < ?", Some(Box::new(until.as_millis())));
        }
        if let Some(words) = &self.words {
            also(SAYS, Some(Box::new(like(words))));
        }
        if let Some(suffix) = &self.id_ends_with {
            let suffix = suffix.trim_start_matches(AskId::PREFIX).to_ascii_lowercase();
            also("substr(lower(hex(id)), -length(?)) = ?", Some(Box::new(suffix)));
        }
        if let Some(after) = self.after {
            also(if oldest_first { "seq > ?" } else { "seq < ?" }, Some(Box::new(after)));
        }
        sql.push_str(if oldest_first { " ORDER BY seq" } else { " ORDER BY seq DESC" });

        let mut statement = db.prepare_cached(&sql)?;
        let mut rows = statement.query(rusqlite::params_from_iter(values.iter()))?;
        let mut page = PageBuilder::new(self.limit, events::head(db, self.workspace)?);
        while let Some(row) = rows.next()? {
            let row = decode::ask(row, 0)?;
            let ask = Arc::unwrap_or_clone(row.ask);
            let labelled = self.label.as_ref().is_none_or(|(key, value)| ask.context.labels.get(key) == Some(value));
            if !labelled || !is_visible(&ask, &self.scope) {
                continue;
            }
            let bytes = ask.text_size();
            if !page.push(row.seq, ask, bytes) {
                break;
            }
        }
        Ok(page.finish())
    }
}

impl SqliteQuery for FindToolCallAsk {
    type Found = Option<Ask>;

    fn run(self, db: &Sqlite) -> Result<Self::Found, StoreError> {
        macro_rules! of_tool_call {
            ($status:expr) => {
                concat!(
                    "SELECT ",
                    ask_columns!(""),
                    " FROM ask WHERE workspace = ?1 AND session = ?2 AND kind = ?3",
                    " AND (tool_call_id = ?4 OR 'ask_' || lower(hex(id)) = ?4) AND ",
                    $status,
                    " ORDER BY seq DESC LIMIT 1"
                )
            };
        }
        let values = (self.workspace.0, self.session.as_bytes(), kind_number(self.kind), self.tool_call_id);
        for sql in [of_tool_call!(is_pending!()), of_tool_call!(is_resolved!())] {
            let mut statement = db.prepare_cached(sql)?;
            if let Some(row) = statement.query(values.clone())?.next()? {
                return Ok(Some(Arc::unwrap_or_clone(decode::ask(row, 0)?.ask)));
            }
        }
        Ok(None)
    }
}

impl SqliteQuery for CountPending {
    type Found = PendingCount;
    fn run(self, db: &Sqlite) -> Result<PendingCount, StoreError> {
        let pending: i64 = db
            .prepare_cached(concat!("SELECT count(*) FROM ask WHERE workspace = ?1 AND ", is_pending!()))?
            .query_row([self.workspace.0], |row| row.get(0))?;
        let oldest: Option<i64> = db
            .prepare_cached(concat!(
                "SELECT opened_ms FROM ask WHERE workspace = ?1 AND ",
                is_pending!(),
                " ORDER BY seq LIMIT 1"
            ))?
            .query_row([self.workspace.0], |row| row.get(0))
            .optional()?;
        let outbox: i64 = db
            .prepare_cached("SELECT count(*) FROM outbox WHERE workspace = ?1")?
            .query_row([self.workspace.0], |row| row.get(0))?;
        Ok(PendingCount {
            pending: u64::try_from(pending).unwrap_or(0),
            oldest: oldest.map(Time::from_millis),
            outbox: u64::try_from(outbox).unwrap_or(0),
        })
    }
}
