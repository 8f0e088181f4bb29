//! Finds out whether a batch was committed after COMMIT had no clear reply.
//!
//! A plain read could be wrong in both directions: the old transaction may still be committing, and a commit that is visible
//! may not have reached the standby. Therefore the row of the workspace is locked, which waits for the end of the old
//! transaction, and the transaction that reads is itself committed before its result counts.

use tokio_postgres::types::Type;

use super::batch::{BEGIN, BatchId, lock};
use super::connection::PgConnection;
use super::options::PostgresOptions;
use crate::error::StoreError;
use crate::event::WorkspaceId;

/// Returns whether the batch was committed. After an error the result is still unknown.
pub(super) async fn settle(
    options: &PostgresOptions,
    workspace: WorkspaceId,
    batch: &BatchId,
) -> Result<(bool, PgConnection), StoreError> {
    let connection = PgConnection::open(options).await?;
    let is_committed = connection.in_time(find(&connection, workspace, batch)).await?;
    Ok((is_committed, connection))
}

async fn find(connection: &PgConnection, workspace: WorkspaceId, batch: &BatchId) -> Result<bool, StoreError> {
    connection.client.batch_execute(BEGIN).await?;
    lock(connection, &[workspace.0]).await?;
    let sql = "SELECT 1 FROM batch WHERE workspace = $1 AND id = $2";
    let found = connection.client.query_typed_opt(sql, &[(&workspace.0, Type::INT8), (&batch.0, Type::BYTEA)]).await?;
    let warnings = connection.warnings();
    connection.client.batch_execute("COMMIT").await?;
    if connection.warnings() != warnings {
        return Err(StoreError::Unavailable("PostgreSQL did not wait for its standby".to_owned()));
    }
    Ok(found.is_some())
}
