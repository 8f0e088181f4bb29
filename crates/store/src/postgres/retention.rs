//! Deletes old rows, a bounded number at a time, so that no transaction takes long.

use tokio_postgres::types::Type;

use super::batch::BEGIN;
use super::connection::PgConnection;
use crate::error::StoreError;
use crate::store::RetentionLimits;

/// Batch ids are kept for a day, in milliseconds. Unknown commits are settled long before.
const BATCHES: i64 = 24 * 60 * 60 * 1000;

/// Also deletes rows whose own expiry time has passed. Returns whether more rows are left to delete.
pub(super) async fn retain(connection: &PgConnection, what: &RetentionLimits) -> Result<bool, StoreError> {
    let client = &connection.client;
    let limit = i64::try_from(what.at_most).unwrap_or(i64::MAX);
    let (events_before, keys_before) = (what.events_before.as_millis(), what.keys_before.as_millis());
    client.batch_execute(BEGIN).await?;
    client.batch_execute("SELECT id FROM workspace ORDER BY id FOR UPDATE").await?;
    let now = connection.number("SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint").await?;
    // Events are ordered by time, so the oldest come first.
    let events = "DELETE FROM event WHERE (workspace, seq) IN
        (SELECT workspace, seq FROM (SELECT workspace, seq, at_ms FROM event ORDER BY workspace, seq LIMIT $2) AS oldest
         WHERE at_ms < $1)";
    let events = client.execute_typed(events, &[(&events_before, Type::INT8), (&limit, Type::INT8)]).await?;
    let keys = "DELETE FROM idempotency WHERE (workspace, token, route, key) IN
        (SELECT workspace, token, route, key FROM idempotency WHERE at_ms < $1 ORDER BY workspace, at_ms LIMIT $2)";
    let keys = client.execute_typed(keys, &[(&keys_before, Type::INT8), (&limit, Type::INT8)]).await?;
    let batches = "DELETE FROM batch WHERE (workspace, id) IN
        (SELECT workspace, id FROM batch WHERE at_ms < $1 ORDER BY workspace, at_ms LIMIT $2)";
    let batches = client.execute_typed(batches, &[(&(now - BATCHES), Type::INT8), (&limit, Type::INT8)]).await?;
    client.execute_typed("DELETE FROM login_code WHERE expires_ms < $1", &[(&now, Type::INT8)]).await?;
    client.execute_typed("DELETE FROM grant_rule WHERE until_ms < $1", &[(&now, Type::INT8)]).await?;
    client.execute_typed("DELETE FROM ask_group WHERE expires_ms < $1", &[(&now, Type::INT8)]).await?;
    client.batch_execute("COMMIT").await?;
    let at_most = u64::try_from(what.at_most).unwrap_or(u64::MAX);
    Ok(events >= at_most || keys >= at_most || batches >= at_most)
}
