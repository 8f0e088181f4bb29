//! Finds out whether a batch was committed whose COMMIT had no clear reply.
//!
//! A plain read would be wrong both ways: the old transaction may still be committing, and a commit that is visible here may
//! not have reached the standby. So the row of the workspace is locked, which waits until the old transaction has ended, and
//! the transaction that reads is committed like any other before its result counts.

use tokio_postgres::Config;
use tokio_postgres::types::Type;

use super::batch::{BEGIN, BatchId, lock};
use super::line::Line;
use crate::error::StoreError;
use crate::event::WorkspaceId;

/// Whether the batch was committed. After an error it is still unknown.
pub(super) async fn settle(config: &Config, workspace: WorkspaceId, batch: &BatchId) -> Result<(bool, Line), StoreError> {
    let line = Line::open(config).await?;
    line.client.batch_execute(BEGIN).await?;
    lock(&line, &[workspace.0]).await?;
    let sql = "SELECT 1 FROM batch WHERE workspace = $1 AND id = $2";
    let found = line.client.query_typed_opt(sql, &[(&workspace.0, Type::INT8), (&batch.0, Type::BYTEA)]).await?;
    let warnings = line.warnings();
    line.client.batch_execute("COMMIT").await?;
    if line.warnings() != warnings {
        return Err(StoreError::Unavailable("PostgreSQL did not wait for its standby".to_owned()));
    }
    Ok((found.is_some(), line))
}
