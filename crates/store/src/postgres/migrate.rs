//! Brings a database to the current schema.

use tokio_postgres::types::Type;

use super::line::Line;
use crate::error::{OpenError, StoreError};

/// The changes of the schema, oldest first. Never change one that was released: add another.
const MIGRATIONS: [&str; 1] = [include_str!("schema.sql")];
/// The oldest PostgreSQL that is tested, as `server_version_num` writes it.
const OLDEST_SERVER: i64 = 140_000;

/// Creates or upgrades the tables in the first schema of the connection's search path.
pub(super) async fn migrate(line: &Line) -> Result<(), OpenError> {
    let failed = |error: tokio_postgres::Error| OpenError::Postgres(StoreError::from(error).into());
    let version = line.number("SELECT current_setting('server_version_num')::bigint").await.map_err(failed)?;
    if version < OLDEST_SERVER {
        return Err(OpenError::OldPostgres { found: version / 10_000 });
    }
    // Nodes that start at the same time create the tables once. The lock ends with the transaction.
    line.client.batch_execute("BEGIN; SELECT pg_advisory_xact_lock(7311027)").await.map_err(failed)?;
    line.client.batch_execute("CREATE TABLE IF NOT EXISTS sayso_schema (version BIGINT PRIMARY KEY)").await.map_err(failed)?;
    let found = line.number("SELECT coalesce(max(version), 0) FROM sayso_schema").await.map_err(failed)?;
    let done = usize::try_from(found).unwrap_or(usize::MAX);
    let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    if done > MIGRATIONS.len() {
        return Err(OpenError::NewerPostgres { found, known });
    }
    for (migration, version) in MIGRATIONS.iter().zip(1_i64..).skip(done) {
        tracing::info!(version, "creating the tables of the database");
        line.client.batch_execute(migration).await.map_err(failed)?;
        let insert = "INSERT INTO sayso_schema (version) VALUES ($1)";
        line.client.execute_typed(insert, &[(&version, Type::INT8)]).await.map_err(failed)?;
    }
    line.client.batch_execute("COMMIT").await.map_err(failed)
}
