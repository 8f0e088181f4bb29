//! Queries of asks.

use std::sync::Arc;

use sayso_core::ask::Ask;
use sayso_core::id::AskId;
use sayso_core::time::Time;

use super::page::PageBuilder;
use super::{events, id_suffix};
use crate::columns::decode::{self, ask_columns};
use crate::columns::numbers::{is_pending, is_resolved, kind_number, outcome_number};
use crate::columns::value::{ToValue, Value, column, params};
use crate::error::StoreError;
use crate::event::WorkspaceId;
use crate::ops::decide::is_visible;
use crate::read::{CountPending, FindToolCallAsk, GetAsk, ListAsks, Page, PendingCount, Query, StatusFilter};
use crate::rows::AskRow;
use crate::snapshot::{Next, Snapshot, one};

/// Escapes words for LIKE and matches them anywhere in a text.
fn like_pattern(words: &str) -> String {
    let plain = words.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
    format!("%{plain}%")
}

pub(crate) fn read_ask(db: &dyn Snapshot, workspace: WorkspaceId, id: AskId) -> Result<Option<AskRow>, StoreError> {
    let sql = concat!("SELECT ", ask_columns!(""), " FROM ask WHERE workspace = ?1 AND id = ?2");
    one(db, sql, params![workspace.0, id.as_bytes()], |row| decode::ask(row, 0))
}

impl Query for GetAsk {
    type Found = Option<Ask>;
    fn run(self, db: &dyn Snapshot) -> Result<Self::Found, StoreError> {
        let found = read_ask(db, self.workspace, self.ask)?.map(|row| Arc::unwrap_or_clone(row.ask));
        Ok(found.filter(|ask| is_visible(ask, &self.scope)))
    }
}

/// The conditions of a WHERE clause with their parameters.
struct Conditions {
    sql: String,
    params: Vec<Param>,
}

enum Param {
    Integer(i64),
    Text(String),
    Id([u8; 16]),
}

impl Param {
    fn value(&self) -> Value<'_> {
        match self {
            Self::Integer(number) => number.to_value(),
            Self::Text(text) => text.to_value(),
            Self::Id(id) => id.to_value(),
        }
    }
}

impl Conditions {
    fn add(&mut self, condition: &str) {
        self.sql.push_str(" AND ");
        self.sql.push_str(condition);
    }

    /// Adds a condition in which every `?` is this parameter.
    fn add_with(&mut self, condition: &str, param: Param) {
        self.params.push(param);
        self.add(&condition.replace('?', &format!("?{}", self.params.len())));
    }
}

impl ListAsks {
    fn conditions(&self, db: &dyn Snapshot, oldest_first: bool) -> Conditions {
        let sql = String::from(concat!("SELECT ", ask_columns!(""), " FROM ask WHERE workspace = ?1"));
        let mut also = Conditions { sql, params: vec![Param::Integer(self.workspace.0)] };
        match self.status {
            StatusFilter::Any => {}
            StatusFilter::Pending => also.add(is_pending!()),
            StatusFilter::Resolved => also.add(is_resolved!()),
            StatusFilter::Outcome(status) => also.add_with("status = ?", Param::Integer(outcome_number(status))),
        }
        if let Some(session) = self.session {
            also.add_with("session = ?", Param::Id(*session.as_bytes()));
        }
        if let Some(kind) = self.kind {
            also.add_with("kind = ?", Param::Integer(kind_number(kind)));
        }
        if let Some(agent) = self.agent.clone() {
            also.add_with("agent = ?", Param::Text(agent));
        }
        if let Some(project) = &self.project {
            let project = project.trim_end_matches('/').to_owned();
            let below = "(project = ? OR substr(project, 1, length(?) + 1) = ? || '/')";
            also.add_with(below, Param::Text(project));
        }
        if let Some(since) = self.since {
            also.add_with("opened_ms >= ?", Param::Integer(since.as_millis()));
        }
        if let Some(until) = self.until {
            also.add_with("opened_ms < ?", Param::Integer(until.as_millis()));
        }
        if let Some(words) = &self.words {
            let says =
                format!("(asked_text {like} ? ESCAPE '\\' OR decided_text {like} ? ESCAPE '\\')", like = db.like_operator());
            also.add_with(&says, Param::Text(like_pattern(words)));
        }
        if let Some(suffix) = id_suffix(self.id_ends_with.as_deref(), AskId::PREFIX) {
            also.add_with(&db.id_ends_with("id", "?"), Param::Text(suffix));
        }
        if let Some(after) = self.after {
            also.add_with(if oldest_first { "seq > ?" } else { "seq < ?" }, Param::Integer(after));
        }
        also.sql.push_str(if oldest_first { " ORDER BY seq" } else { " ORDER BY seq DESC" });
        also
    }
}

impl Query for ListAsks {
    type Found = Page<Ask>;

    fn run(self, db: &dyn Snapshot) -> Result<Self::Found, StoreError> {
        let Conditions { sql, params } = self.conditions(db, self.status == StatusFilter::Pending);
        let params: Vec<_> = params.iter().map(Param::value).collect();
        let mut page = PageBuilder::new(self.limit, events::read_feed_head(db, self.workspace)?);
        db.each_row(&sql, &params, &mut |row| {
            let row = decode::ask(row, 0)?;
            let ask = Arc::unwrap_or_clone(row.ask);
            let labelled = self.label.as_ref().is_none_or(|(key, value)| ask.context.labels.get(key) == Some(value));
            if !labelled || !is_visible(&ask, &self.scope) {
                return Ok(Next::Continue(()));
            }
            let bytes = ask.text_size();
            Ok(page.push(row.seq, ask, bytes))
        })?;
        Ok(page.finish())
    }
}

impl Query for FindToolCallAsk {
    type Found = Option<Ask>;

    fn run(self, db: &dyn Snapshot) -> Result<Self::Found, StoreError> {
        macro_rules! of_tool_call {
            ($status:expr) => {
                concat!(
                    "SELECT ",
                    ask_columns!(""),
                    " FROM ask WHERE workspace = ?1 AND session = ?2 AND kind = ?3 AND (tool_call_id = ?4 OR id = ?5) AND ",
                    $status,
                    " ORDER BY seq DESC LIMIT 1"
                )
            };
        }
        let id: Option<AskId> = self.tool_call_id.parse().ok();
        let (session, kind) = (self.session.as_bytes(), kind_number(self.kind));
        for sql in [of_tool_call!(is_pending!()), of_tool_call!(is_resolved!())] {
            // No ask has the nil id, so it matches nothing.
            let id = id.as_ref().map_or(&[0; 16], AskId::as_bytes);
            let params = params![self.workspace.0, session, kind, self.tool_call_id, id];
            if let Some(row) = one(db, sql, params, |row| decode::ask(row, 0))? {
                return Ok(Some(Arc::unwrap_or_clone(row.ask)));
            }
        }
        Ok(None)
    }
}

impl Query for CountPending {
    type Found = PendingCount;
    fn run(self, db: &dyn Snapshot) -> Result<PendingCount, StoreError> {
        let count = |sql| one(db, sql, params![self.workspace.0], |row| column::<i64>(row, 0)).map(Option::unwrap_or_default);
        let pending = count(concat!("SELECT count(*) FROM ask WHERE workspace = ?1 AND ", is_pending!()))?;
        let oldest = concat!("SELECT opened_ms FROM ask WHERE workspace = ?1 AND ", is_pending!(), " ORDER BY seq LIMIT 1");
        let oldest = one(db, oldest, params![self.workspace.0], |row| column::<i64>(row, 0))?;
        let outbox = count("SELECT count(*) FROM outbox WHERE workspace = ?1")?;
        Ok(PendingCount {
            pending: u64::try_from(pending).unwrap_or(0),
            oldest: oldest.map(Time::from_millis),
            outbox: u64::try_from(outbox).unwrap_or(0),
        })
    }
}
