//! Queries of runs.

use std::sync::Arc;

use sayso_core::ask::{Decision, Outcome};
use sayso_core::id::{RunId, SessionId};
use sayso_core::run::Run;
use sayso_core::texts;
use sayso_core::transcript::{Block, BlockBody, Role};

use super::page::{PageBuilder, pending_asks};
use super::{events, id_suffix};
use crate::columns::decode::{ask_columns, json};
use crate::columns::numbers::{is_pending, is_resolved};
use crate::columns::value::{column, params, text};
use crate::error::StoreError;
use crate::event::{EventAudience, WorkspaceId};
use crate::read::{GetRun, ListOpenRuns, ListRuns, Page, Query, ReadLastTurn, RunDetail, TurnEnd};
use crate::snapshot::{Next, Snapshot, all, one};

/// Reads a run with its steps, its version and its `seq`.
pub(crate) fn read_run(db: &dyn Snapshot, workspace: WorkspaceId, id: RunId) -> Result<Option<(Run, i64, i64)>, StoreError> {
    let sql = "SELECT data, version, seq FROM run WHERE workspace = ?1 AND id = ?2";
    let found = one(db, sql, params![workspace.0, id.as_bytes()], |row| {
        Ok((column::<String>(row, 0)?, column(row, 1)?, column(row, 2)?))
    })?;
    let Some((text, version, seq)) = found else { return Ok(None) };
    Ok(Some((with_steps(db, workspace, &text)?.0, version, seq)))
}

/// Parses a run and reads its steps. Also returns the bytes of all of them.
fn with_steps(db: &dyn Snapshot, workspace: WorkspaceId, text: &str) -> Result<(Run, usize), StoreError> {
    let mut run: Run = json("run", text)?;
    let mut bytes = text.len();
    let sql = "SELECT data FROM run_step WHERE workspace = ?1 AND run = ?2 ORDER BY position";
    run.steps = all(db, sql, params![workspace.0, run.id.as_bytes()], |row| {
        let step: String = column(row, 0)?;
        bytes += step.len();
        json("step", &step)
    })?;
    Ok((run, bytes))
}

/// Finds who can see the events of a run.
pub(super) fn find_audience(
    db: &dyn Snapshot,
    workspace: WorkspaceId,
    id: RunId,
) -> Result<Option<Arc<EventAudience>>, StoreError> {
    let sql = "SELECT data FROM run WHERE workspace = ?1 AND id = ?2";
    let run: Option<Run> = one(db, sql, params![workspace.0, id.as_bytes()], |row| json("run", &text(row, 0)?))?;
    Ok(run.map(|run| Arc::new(EventAudience { labels: run.labels, opened_by: Some(run.opened_by), step: None })))
}

impl Query for GetRun {
    type Found = Option<RunDetail>;
    fn run(self, db: &dyn Snapshot) -> Result<Self::Found, StoreError> {
        let found = read_run(db, self.workspace, self.run)?.filter(|(run, ..)| run.visible_to(&self.scope));
        let Some((run, version, _)) = found else { return Ok(None) };
        let sql = concat!(
            "SELECT ",
            ask_columns!(""),
            " FROM ask WHERE workspace = ?1 AND ",
            is_pending!(),
            "
                 AND (session IN (SELECT session FROM run_step WHERE workspace = ?1 AND run = ?2 AND session IS NOT NULL)
                      OR id IN (SELECT ask FROM run_step WHERE workspace = ?1 AND run = ?2 AND ask IS NOT NULL))
             ORDER BY seq"
        );
        let pending = pending_asks(db, sql, params![self.workspace.0, self.run.as_bytes()])?;
        Ok(Some(RunDetail { run, version, pending, seq: events::read_feed_head(db, self.workspace)? }))
    }
}

impl Query for ListRuns {
    type Found = Page<(Run, u32)>;
    fn run(self, db: &dyn Snapshot) -> Result<Self::Found, StoreError> {
        let suffix = id_suffix(self.id_ends_with.as_deref(), RunId::PREFIX);
        let sql = format!(
            concat!(
                "SELECT r.seq, r.data,
                 (SELECT count(*) FROM run_step s JOIN ask a ON a.session = s.session AND +a.workspace = s.workspace
                     WHERE s.workspace = r.workspace AND s.run = r.id AND ",
                is_pending!("a."),
                ")
                 + (SELECT count(*) FROM run_step s JOIN ask a ON a.workspace = s.workspace AND a.id = s.ask
                     WHERE s.workspace = r.workspace AND s.run = r.id AND ",
                is_pending!("a."),
                ")
             FROM run r WHERE r.workspace = ?1 AND r.seq < ?2 AND (?3 = 0 OR r.over = 0) AND (?4 IS NULL OR {})
             ORDER BY r.seq DESC"
            ),
            db.id_ends_with("r.id", "?4")
        );
        let after = self.after.unwrap_or(i64::MAX);
        let mut page = PageBuilder::new(self.limit, events::read_feed_head(db, self.workspace)?);
        db.each_row(&sql, params![self.workspace.0, after, self.open_only, suffix], &mut |row| {
            let (run, bytes) = with_steps(db, self.workspace, &text(row, 1)?)?;
            if !run.visible_to(&self.scope) {
                return Ok(Next::Continue(()));
            }
            Ok(page.push(column(row, 0)?, (run, column(row, 2)?), bytes))
        })?;
        Ok(page.finish())
    }
}

impl Query for ListOpenRuns {
    type Found = Vec<RunId>;
    fn run(self, db: &dyn Snapshot) -> Result<Self::Found, StoreError> {
        all(db, "SELECT id FROM run WHERE workspace = ?1 AND over = 0 ORDER BY seq", params![self.workspace.0], |row| {
            Ok(RunId::from_bytes(column(row, 0)?))
        })
    }
}

impl Query for ReadLastTurn {
    type Found = TurnEnd;
    fn run(self, db: &dyn Snapshot) -> Result<Self::Found, StoreError> {
        let (noticed, last_words) = read_turn_end(db, self.workspace, self.session)?;
        Ok(TurnEnd { interrupted: noticed || was_stopped(db, self.workspace, self.session)?, last_words })
    }
}

/// Returns whether a notice says that the turn was interrupted, and the last message of the agent.
fn read_turn_end(db: &dyn Snapshot, workspace: WorkspaceId, id: SessionId) -> Result<(bool, Option<String>), StoreError> {
    let sql = "SELECT data FROM block WHERE session = ?1 AND +workspace = ?2 ORDER BY seq DESC";
    let (mut noticed, mut last_words) = (false, None);
    db.each_row(sql, params![id.as_bytes(), workspace.0], &mut |row| {
        let block: Block = json("block", &text(row, 0)?)?;
        match block.body {
            BlockBody::Notice { text } => noticed |= text == texts::WITHDRAWN_INTERRUPTED,
            BlockBody::Message { role: Role::Assistant, text } if block.subagent.is_none() && last_words.is_none() => {
                last_words = Some(text);
            }
            BlockBody::Message { .. } | BlockBody::Tool { .. } | BlockBody::Error { .. } => {}
        }
        Ok(Next::Continue(()))
    })?;
    Ok((noticed, last_words))
}

/// Returns whether a person denied or rejected an ask and stopped the agent.
fn was_stopped(db: &dyn Snapshot, workspace: WorkspaceId, id: SessionId) -> Result<bool, StoreError> {
    let sql = concat!("SELECT outcome FROM ask WHERE session = ?1 AND +workspace = ?2 AND ", is_resolved!());
    let outcomes: Vec<Outcome> = all(db, sql, params![id.as_bytes(), workspace.0], |row| json("outcome", &text(row, 0)?))?;
    Ok(outcomes.iter().any(|outcome| match &outcome.decision {
        Decision::Rejected { stop, .. } | Decision::Denied { stop, .. } => *stop,
        Decision::Answered { .. } | Decision::Approved { .. } | Decision::Withdrawn { .. } => false,
    }))
}
