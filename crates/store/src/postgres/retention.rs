//! Deletes what is old, a bounded piece at a time, so that no transaction takes long.

use tokio_postgres::types::Type;

use super::batch::BEGIN;
use super::line::Line;
use crate::error::StoreError;
use crate::store::Retain;

/// Batch ids are kept for a day: an unknown commit is settled long before.
const BATCHES: i64 = 24 * 60 * 60 * 1000;

/// Deletes also rows that carry their own end, if it has passed. Returns whether more is left to delete.
pub(super) async fn retain(line: &Line, what: &Retain) -> Result<bool, StoreError> {
    let client = &line.client;
    let limit = i64::try_from(what.at_most).unwrap_or(i64::MAX);
    let (events_before, keys_before) = (what.events_before.as_millis(), what.keys_before.as_millis());
    client.batch_execute(BEGIN).await?;
    client.batch_execute("SELECT id FROM workspace ORDER BY id FOR UPDATE").await?;
    let now = line.number("SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint").await?;
    // Events are in the order of time, so the oldest come first.
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
