//! How often rules decide, and what people decided about the same action before.

use rusqlite::{Connection as Sqlite, params};
use sayso_core::ask::{AskBody, AskState, Decision};
use sayso_core::time::Time;

use crate::error::StoreError;
use crate::ops::decide::is_visible;
use crate::read::{CountPrecedents, CountRuleHits, Precedents, RuleHits};
use crate::sqlite::SqliteQuery;
use crate::sqlite::decode::{self, ask_columns, column, json, one};
use crate::sqlite::load::read_ask;
use crate::sqlite::numbers::kind_number;

/// The position of the body in `ask_columns!`.
const BODY: usize = 7;

impl SqliteQuery for CountRuleHits {
    type Found = Vec<RuleHits>;

    fn run(self, db: &Sqlite) -> Result<Self::Found, StoreError> {
        let mut count = db.prepare_cached(
            "SELECT count(*) FROM (SELECT 1 FROM rule_hit WHERE workspace = ?1 AND rule = ?2 AND at_ms >= ?3 LIMIT ?4)",
        )?;
        let mut last = db.prepare_cached("SELECT max(at_ms) FROM rule_hit WHERE workspace = ?1 AND rule = ?2")?;
        let most = i64::try_from(Self::MOST).unwrap_or(i64::MAX);
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

impl SqliteQuery for CountPrecedents {
    type Found = Option<Precedents>;

    fn run(self, db: &Sqlite) -> Result<Self::Found, StoreError> {
        let asked = read_ask(db, self.workspace, self.ask)?.map(|row| row.ask).filter(|ask| is_visible(ask, &self.scope));
        let Some(asked) = asked else { return Ok(None) };
        let mut found = Precedents::default();
        let AskBody::Approval(wanted) = &*asked.body else { return Ok(Some(found)) };
        let is_same =
            |body: &AskBody| matches!(body, AskBody::Approval(past) if past.tool == wanted.tool && past.action == wanted.action);
        let too_old = one(
            db,
            "SELECT seq FROM ask WHERE workspace = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2",
            params![self.workspace.0, i64::try_from(Self::MOST).unwrap_or(i64::MAX)],
            |row| column::<i64>(row, 0),
        )?;
        let mut statement = db.prepare_cached(concat!(
            "SELECT ",
            ask_columns!(""),
            " FROM ask WHERE workspace = ?1 AND seq > ?2 AND kind = ?3 AND status IN (4, 5) ORDER BY seq DESC"
        ))?;
        let mut rows = statement.query(params![self.workspace.0, too_old.unwrap_or(i64::MIN), kind_number(asked.kind())])?;
        while let Some(row) = rows.next()? {
            if !is_same(&json("ask body", &column::<String>(row, BODY)?)?) {
                continue;
            }
            let past = decode::ask(row, 0)?.ask;
            let AskState::Resolved { outcome, .. } = &past.state else { continue };
            if !outcome.by.is_person() || !is_visible(&past, &self.scope) {
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
