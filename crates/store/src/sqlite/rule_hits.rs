//! How often rules decide, and what people decided about the same action before.

use rusqlite::{Connection as Sqlite, OptionalExtension, params};
use sayso_core::ask::{Ask, AskBody, AskState, Decision};
use sayso_core::time::Time;

use super::{ask_row, column};
use crate::error::StoreError;
use crate::event::WorkspaceId;
use crate::read::{CountPrecedents, CountRuleHits, Precedents, Query, RuleHits};

/// Records the rules that an ask is counted for.
pub(super) fn insert(db: &Sqlite, workspace: WorkspaceId, ask: &Ask) -> Result<(), StoreError> {
    for rule in &ask.policy.hits {
        db.prepare_cached("INSERT OR IGNORE INTO rule_hit (workspace, rule, at_ms, ask) VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![workspace.0, rule, ask.opened_at.as_millis(), ask.id.as_bytes()])?;
    }
    Ok(())
}

impl Query for CountRuleHits {
    type Output = Vec<RuleHits>;

    fn run(self, db: &Sqlite) -> Result<Self::Output, StoreError> {
        let mut count = db.prepare_cached(
            "SELECT count(*) FROM (SELECT 1 FROM rule_hit WHERE workspace = ?1 AND rule = ?2 AND at_ms >= ?3 LIMIT ?4)",
        )?;
        let mut last = db.prepare_cached("SELECT max(at_ms) FROM rule_hit WHERE workspace = ?1 AND rule = ?2")?;
        let most = i64::try_from(CountRuleHits::MOST).unwrap_or(i64::MAX);
        self.rules
            .into_iter()
            .map(|rule| {
                let hits: i64 =
                    count.query_row(params![self.workspace.0, rule, self.since.as_millis(), most], |row| row.get(0))?;
                let last_at: Option<i64> = last.query_row(params![self.workspace.0, rule], |row| row.get(0))?;
                Ok(RuleHits { rule, hits: usize::try_from(hits).unwrap_or(0), last_at: last_at.map(Time::from_millis) })
            })
            .collect()
    }
}

impl Query for CountPrecedents {
    type Output = Option<Precedents>;

    fn run(self, db: &Sqlite) -> Result<Self::Output, StoreError> {
        let asked = ask_row::get(db, self.workspace, self.ask)?.filter(|ask| ask_row::visible(ask, &self.scope));
        let Some(asked) = asked else { return Ok(None) };
        let mut found = Precedents::default();
        let AskBody::Approval(wanted) = &*asked.body else { return Ok(Some(found)) };
        let newest: Option<i64> =
            db.prepare_cached("SELECT max(n) FROM ask")?.query_row([], |row| row.get(0)).optional()?.flatten();
        let oldest = newest.unwrap_or(0).saturating_sub(i64::try_from(CountPrecedents::MOST).unwrap_or(i64::MAX));
        let mut statement = db.prepare_cached(concat!(
            "SELECT ",
            ask_row::columns!(""),
            " FROM ask WHERE n > ?1 AND workspace = ?2 AND kind = ?3 AND status IN (4, 5) ORDER BY n DESC"
        ))?;
        let mut rows = statement.query(params![oldest, self.workspace.0, ask_row::kind_number(asked.kind())])?;
        while let Some(row) = rows.next()? {
            let body: String = column(row, 8)?;
            let is_same = |body: &AskBody| matches!(body, AskBody::Approval(past) if past.tool == wanted.tool && past.action == wanted.action);
            if !is_same(&super::json::<AskBody>("ask body", &body)?) {
                continue;
            }
            let past = ask_row::read(row, 0)?;
            let AskState::Resolved { outcome, .. } = &past.state else { continue };
            if !outcome.by.is_person() || !ask_row::visible(&past, &self.scope) {
                continue;
            }
            match outcome.decision {
                Decision::Approved { .. } => found.approved += 1,
                Decision::Denied { .. } => found.denied += 1,
                Decision::Answered { .. } | Decision::Rejected { .. } | Decision::Withdrawn { .. } => {}
            }
            found.last_at = found.last_at.max(Some(outcome.at));
        }
        Ok(Some(found))
    }
}
