//! Creates or upgrades the tables of a database.

use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

use super::connection::PgConnection;
use super::error::describe;
use crate::error::{OpenError, StoreError};

/// The schema changes, oldest first. Never edit one that was released; add another.
const MIGRATIONS: [&str; 1] = [include_str!("schema.sql")];
/// The oldest supported version of PostgreSQL, in the form of `server_version_num`.
const OLDEST_SERVER: i64 = 140_000;

/// The lock serialises nodes that start at the same time. It is released at the end of the transaction, which the server ends if
/// the node stops responding.
const BEGIN: &str = "BEGIN;
    SET LOCAL idle_in_transaction_session_timeout = '5s';
    SET LOCAL lock_timeout = '60s';
    SET LOCAL statement_timeout = 0;
    SELECT pg_advisory_xact_lock(7311027)";

fn failed(error: tokio_postgres::Error) -> OpenError {
    if error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) {
        return OpenError::PostgresPrivilege { detail: describe(&error) };
    }
    OpenError::Postgres(StoreError::from(error).into())
}

/// Creates or upgrades the tables in the first schema of the connection's search path.
pub(super) async fn migrate(connection: &PgConnection) -> Result<(), OpenError> {
    let version = connection.number("SELECT current_setting('server_version_num')::bigint").await.map_err(failed)?;
    if version < OLDEST_SERVER {
        return Err(OpenError::OldPostgres { found: version / 10_000 });
    }
    connection.client.batch_execute(BEGIN).await.map_err(failed)?;
    connection
        .client
        .batch_execute("CREATE TABLE IF NOT EXISTS sayso_schema (version BIGINT PRIMARY KEY)")
        .await
        .map_err(failed)?;
    let found = connection.number("SELECT coalesce(max(version), 0) FROM sayso_schema").await.map_err(failed)?;
    let done = usize::try_from(found).unwrap_or(usize::MAX);
    let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    if done > MIGRATIONS.len() {
        return Err(OpenError::NewerPostgres { found, known });
    }
    for (migration, version) in MIGRATIONS.iter().zip(1_i64..).skip(done) {
        tracing::info!(version, "creating the tables of the database");
        connection.client.batch_execute(migration).await.map_err(failed)?;
        let insert = "INSERT INTO sayso_schema (version) VALUES ($1)";
        connection.client.execute_typed(insert, &[(&version, Type::INT8)]).await.map_err(failed)?;
    }
    connection.client.batch_execute("COMMIT").await.map_err(failed)
}
