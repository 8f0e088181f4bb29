//! Forgetting what is old, a bounded piece at a time, so that no commit becomes long.

use rusqlite::params;

use super::tx::Tx;
use crate::error::StoreError;
use crate::write::{Operation, Retain};

impl Operation for Retain {
    /// Whether something is left to forget.
    type Output = bool;

    fn apply(self, tx: &mut Tx<'_>) -> Result<bool, StoreError> {
        let limit = i64::try_from(self.at_most).unwrap_or(i64::MAX);
        let db = tx.db();
        // Events are in the order of time, so the oldest stand first.
        let events = db
            .prepare_cached(
                "DELETE FROM event WHERE (workspace, seq) IN
                   (SELECT workspace, seq FROM (SELECT workspace, seq, at_ms FROM event ORDER BY workspace, seq LIMIT ?2) WHERE at_ms < ?1)",
            )?
            .execute(params![self.events_before.as_millis(), limit])?;
        let keys = db
            .prepare_cached(
                "DELETE FROM idempotency WHERE (token, route, key) IN
                   (SELECT token, route, key FROM idempotency WHERE at_ms < ?1 ORDER BY at_ms LIMIT ?2)",
            )?
            .execute(params![self.keys_before.as_millis(), limit])?;
        db.prepare_cached("DELETE FROM login_code WHERE expires_ms < ?1")?.execute([self.now.as_millis()])?;
        db.prepare_cached("DELETE FROM grant_rule WHERE until_ms < ?1")?.execute([self.now.as_millis()])?;
        Ok(events >= self.at_most || keys >= self.at_most)
    }
}
