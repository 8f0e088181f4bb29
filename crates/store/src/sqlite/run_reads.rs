//! Reading runs.

use std::sync::Arc;

use rusqlite::{Connection as Sqlite, OptionalExtension, params};
use sayso_core::id::{RunId, SessionId};
use sayso_core::run::Run;
use sayso_core::session::SessionStatus;
use sayso_core::texts;

use super::{ask_row, column, events, json, sessions};
use crate::error::StoreError;
use crate::event::{About, WorkspaceId};
use crate::read::{GetRun, ListRuns, LookAtSteps, OpenRuns, Page, Query, RunDetail, SessionLook, StepsLook};

/// A run with its steps, and where it stands.
pub(super) fn get(db: &Sqlite, workspace: WorkspaceId, id: RunId) -> Result<Option<(Run, i64)>, StoreError> {
    let found: Option<(String, i64)> = db
        .prepare_cached("SELECT data, version FROM run WHERE id = ?1 AND workspace = ?2")?
        .query_row(params![id.as_bytes(), workspace.0], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((text, version)) = found else { return Ok(None) };
    Ok(Some((whole(db, &text)?, version)))
}

fn whole(db: &Sqlite, text: &str) -> Result<Run, StoreError> {
    let mut run: Run = json("run", text)?;
    let mut statement = db.prepare_cached("SELECT data FROM run_step WHERE run = ?1 ORDER BY position")?;
    let mut rows = statement.query([run.id.as_bytes()])?;
    while let Some(row) = rows.next()? {
        run.steps.push(json("step", &column::<String>(row, 0)?)?);
    }
    Ok(run)
}

/// Who may see what happened in a run.
pub(super) fn about(db: &Sqlite, id: RunId) -> Result<Option<Arc<About>>, StoreError> {
    let text: Option<String> =
        db.prepare_cached("SELECT data FROM run WHERE id = ?1")?.query_row([id.as_bytes()], |row| row.get(0)).optional()?;
    let run: Option<Run> = text.map(|text| json("run", &text)).transpose()?;
    Ok(run.map(|run| Arc::new(About { labels: run.labels, opened_by: Some(run.opened_by), step: None })))
}

impl Query for GetRun {
    type Output = Option<RunDetail>;
    fn run(self, db: &Sqlite) -> Result<Self::Output, StoreError> {
        let Some((run, version)) = get(db, self.workspace, self.run)?.filter(|(run, _)| run.visible_to(&self.scope)) else {
            return Ok(None);
        };
        // First come, first shown, whichever step asks.
        let mut statement = db.prepare_cached(concat!(
            "SELECT ",
            ask_row::columns!(""),
            " FROM ask WHERE status < 2
                 AND (session IN (SELECT session FROM run_step WHERE run = ?1 AND session IS NOT NULL)
                      OR id IN (SELECT ask FROM run_step WHERE run = ?1 AND ask IS NOT NULL))
             ORDER BY n"
        ))?;
        let mut rows = statement.query([self.run.as_bytes()])?;
        let mut pending = Vec::new();
        while let Some(row) = rows.next()? {
            pending.push(ask_row::read(row, 0)?);
        }
        Ok(Some(RunDetail { run, version, pending, seq: events::head(db, self.workspace)? }))
    }
}

impl Query for ListRuns {
    type Output = Page<(Run, u32)>;
    fn run(self, db: &Sqlite) -> Result<Self::Output, StoreError> {
        let mut statement = db.prepare_cached(
            "SELECT r.n, r.data,
                 (SELECT count(*) FROM run_step s JOIN ask a ON a.session = s.session WHERE s.run = r.id AND a.status < 2)
                 + (SELECT count(*) FROM run_step s JOIN ask a ON a.id = s.ask WHERE s.run = r.id AND a.status < 2)
             FROM run r WHERE r.workspace = ?1 AND r.n < ?2 AND (?3 = 0 OR r.over = 0)
               AND (?4 IS NULL OR substr(lower(hex(r.id)), -length(?4)) = ?4)
             ORDER BY r.n DESC",
        )?;
        let suffix = self.id_ends_with.as_deref().map(|suffix| suffix.trim_start_matches(RunId::PREFIX).to_owned());
        let mut rows = statement.query(params![self.workspace.0, self.after.unwrap_or(i64::MAX), self.open_only, suffix])?;
        let mut page = Page { rows: Vec::new(), next: None, seq: events::head(db, self.workspace)? };
        let mut last = 0;
        while let Some(row) = rows.next()? {
            let run = whole(db, &column::<String>(row, 1)?)?;
            if !run.visible_to(&self.scope) {
                continue;
            }
            if page.rows.len() == self.limit {
                page.next = Some(last);
                break;
            }
            last = column(row, 0)?;
            page.rows.push((run, column(row, 2)?));
        }
        Ok(page)
    }
}

impl Query for OpenRuns {
    type Output = Vec<RunId>;
    fn run(self, db: &Sqlite) -> Result<Self::Output, StoreError> {
        let mut statement = db.prepare_cached("SELECT id FROM run WHERE over = 0 ORDER BY n")?;
        let ids = statement.query_map([], |row| row.get::<_, [u8; 16]>(0))?;
        Ok(ids.map(|id| id.map(RunId::from_bytes)).collect::<Result<_, _>>()?)
    }
}

impl Query for LookAtSteps {
    type Output = StepsLook;
    fn run(self, db: &Sqlite) -> Result<Self::Output, StoreError> {
        let sessions = self.sessions.into_iter().map(|session| look(db, self.workspace, session)).collect::<Result<_, _>>()?;
        let asks = self.asks.into_iter().map(|ask| ask_row::get(db, self.workspace, ask)).collect::<Result<_, _>>()?;
        Ok(StepsLook { sessions, asks })
    }
}

fn look(db: &Sqlite, workspace: WorkspaceId, id: SessionId) -> Result<SessionLook, StoreError> {
    let status = sessions::get(db, workspace, id)?.map(|session| session.status);
    if status != Some(SessionStatus::Idle) {
        return Ok(SessionLook { status, busy: false, interrupted: false, last_words: None });
    }
    let busy: bool = db
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM ask WHERE session = ?1 AND status < 2)
                 OR EXISTS (SELECT 1 FROM outbox WHERE session = ?1 AND ask IS NOT NULL)",
        )?
        .query_row([id.as_bytes()], |row| row.get(0))?;
    // By a person who stopped the turn or denied with a stop, or because nothing was heard for long.
    let interrupted: bool = db
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM block WHERE session = ?1 AND data ->> '$.type' = 'notice' AND data ->> '$.text' = ?2)
                 OR EXISTS (SELECT 1 FROM ask WHERE session = ?1 AND (outcome ->> '$.decision.denied.stop' OR outcome ->> '$.decision.rejected.stop'))",
        )?
        .query_row(params![id.as_bytes(), texts::WITHDRAWN_INTERRUPTED], |row| row.get(0))?;
    let last_words = db
        .prepare_cached(
            "SELECT data ->> '$.text' FROM block WHERE session = ?1 AND data ->> '$.type' = 'message'
                 AND data ->> '$.role' = 'assistant' AND data ->> '$.subagent' IS NULL ORDER BY seq DESC LIMIT 1",
        )?
        .query_row([id.as_bytes()], |row| row.get(0))
        .optional()?;
    Ok(SessionLook { status, busy, interrupted, last_words })
}
