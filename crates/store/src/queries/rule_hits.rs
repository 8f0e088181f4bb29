//! Queries of rule hits, and of earlier decisions about the same action.

use sayso_core::ask::{AskBody, AskState, Decision};
use sayso_core::time::Time;

use super::asks::read_ask;
use crate::columns::decode::{self, ask_columns, json};
use crate::columns::numbers::kind_number;
use crate::columns::value::{column, params, text};
use crate::error::StoreError;
use crate::ops::decide::is_visible;
use crate::read::{CountPrecedents, CountRuleHits, Precedents, Query, RuleHits};
use crate::snapshot::{Next, Snapshot, one};

/// The index of the body in `ask_columns!`.
const BODY: usize = 7;

impl Query for CountRuleHits {
    type Found = Vec<RuleHits>;

    fn run(self, db: &dyn Snapshot) -> Result<Self::Found, StoreError> {
        let count = "SELECT count(*) FROM (SELECT 1 FROM rule_hit WHERE workspace = ?1 AND rule = ?2 AND at_ms >= ?3 LIMIT ?4) AS counted";
        let last = "SELECT max(at_ms) FROM rule_hit WHERE workspace = ?1 AND rule = ?2";
        let most = i64::try_from(Self::MAX_COUNT).unwrap_or(i64::MAX);
        let since = self.since.as_millis();
        self.rules
            .into_iter()
            .map(|rule| {
                let hits =
                    one(db, count, params![self.workspace.0, rule, since, most], |row| column::<i64>(row, 0))?.unwrap_or(0);
                let last_at = one(db, last, params![self.workspace.0, rule], |row| column::<Option<i64>>(row, 0))?.flatten();
                Ok(RuleHits { rule, hits: usize::try_from(hits).unwrap_or(0), last_at: last_at.map(Time::from_millis) })
            })
            .collect()
    }
}

impl Query for CountPrecedents {
    type Found = Option<Precedents>;

    fn run(self, db: &dyn Snapshot) -> Result<Self::Found, StoreError> {
        let asked = read_ask(db, self.workspace, self.ask)?.map(|row| row.ask).filter(|ask| is_visible(ask, &self.scope));
        let Some(asked) = asked else { return Ok(None) };
        let mut found = Precedents::default();
        let AskBody::Approval(wanted) = &*asked.body else { return Ok(Some(found)) };
        let is_same =
            |body: &AskBody| matches!(body, AskBody::Approval(past) if past.tool == wanted.tool && past.action == wanted.action);
        let too_old = one(
            db,
            "SELECT seq FROM ask WHERE workspace = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2",
            params![self.workspace.0, i64::try_from(Self::MAX_ASKS).unwrap_or(i64::MAX)],
            |row| column::<i64>(row, 0),
        )?;
        let decided = concat!(
            "SELECT ",
            ask_columns!(""),
            " FROM ask WHERE workspace = ?1 AND seq > ?2 AND kind = ?3 AND status IN (4, 5) ORDER BY seq DESC"
        );
        let (after, kind) = (too_old.unwrap_or(i64::MIN), kind_number(asked.kind()));
        db.each_row(decided, params![self.workspace.0, after, kind], &mut |row| {
            if !is_same(&json("ask body", &text(row, BODY)?)?) {
                return Ok(Next::Continue(()));
            }
            let past = decode::ask(row, 0)?.ask;
            let AskState::Resolved { outcome, .. } = &past.state else { return Ok(Next::Continue(())) };
            if !outcome.by.is_person() || !is_visible(&past, &self.scope) {
                return Ok(Next::Continue(()));
            }
            match outcome.decision {
                Decision::Approved { .. } => found.approved += 1,
                Decision::Denied { .. } => found.denied += 1,
                Decision::Answered { .. } | Decision::Rejected { .. } | Decision::Withdrawn { .. } => {}
            }
            found.last_at = found.last_at.max(Some(outcome.at));
            Ok(Next::Continue(()))
        })?;
        Ok(Some(found))
    }
}
