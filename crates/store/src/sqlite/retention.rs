//! Deletes old rows, a bounded number at a time, so that no commit takes long.

use rusqlite::{Connection, params};
use sayso_core::time::Time;

use crate::error::StoreError;
use crate::store::RetentionLimits;

/// Also deletes rows whose own expiry time has passed. Returns whether more rows are left to delete. The change log must be
/// flushed.
pub(super) fn retain(db: &Connection, what: &RetentionLimits, now: Time) -> Result<bool, StoreError> {
    let transaction = db.unchecked_transaction()?;
    let limit = i64::try_from(what.at_most).unwrap_or(i64::MAX);
    // Events are ordered by time, so the oldest come first.
    let events = db
        .prepare_cached(
            "DELETE FROM event WHERE (workspace, seq) IN
               (SELECT workspace, seq FROM (SELECT workspace, seq, at_ms FROM event ORDER BY workspace, seq LIMIT ?2) WHERE at_ms < ?1)",
        )?
        .execute(params![what.events_before.as_millis(), limit])?;
    let keys = db
        .prepare_cached(
            "DELETE FROM idempotency WHERE (workspace, token, route, key) IN
               (SELECT workspace, token, route, key FROM idempotency WHERE at_ms < ?1 ORDER BY at_ms LIMIT ?2)",
        )?
        .execute(params![what.keys_before.as_millis(), limit])?;
    db.prepare_cached("DELETE FROM login_code WHERE expires_ms < ?1")?.execute([now.as_millis()])?;
    db.prepare_cached("DELETE FROM grant_rule WHERE until_ms < ?1")?.execute([now.as_millis()])?;
    db.prepare_cached("DELETE FROM ask_group WHERE expires_ms < ?1")?.execute([now.as_millis()])?;
    transaction.commit()?;
    Ok(events >= what.at_most || keys >= what.at_most)
}
