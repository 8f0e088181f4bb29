//! One batch as one transaction.

use std::time::Duration;

use futures_util::future::{join4, try_join_all};
use sayso_core::time::Time;
use tokio::time::timeout;
use tokio_postgres::types::{ToSql, Type};

use super::changes::{ColumnTypes, writes};
use super::error::{Cause, cause};
use super::line::Line;
use super::load::load;
use crate::batch::Job;
use crate::columns::encode::{encode, encode_secrets};
use crate::columns::row_bytes::Changes;
use crate::error::StoreError;
use crate::event::WorkspaceId;
use crate::operation::{MORE_READS, Reads};
use crate::unit::{Counters, Unit};

/// Begins a transaction that writes. A node that stops in the middle of one loses it after five seconds, so that it does not
/// hold up the others. The time limit that a role may have must not end a COMMIT.
pub(super) const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED;
    SET LOCAL idle_in_transaction_session_timeout = '5s';
    SET LOCAL lock_timeout = '15s';
    SET LOCAL statement_timeout = 0";
/// A transaction whose replies take longer is given up together with its connection.
const REPLY: Duration = Duration::from_secs(30);

/// The id of a batch, chosen by the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BatchId(pub(super) Vec<u8>);

/// What came of a batch.
pub(super) enum Outcome {
    /// It is durable, or changed nothing.
    Done(Vec<Unit>),
    /// COMMIT was sent, and nobody knows yet whether it took place.
    Unknown { units: Vec<Unit>, workspace: WorkspaceId, batch: BatchId },
}

/// Runs the jobs in one transaction. After an error, nothing was committed.
pub(super) async fn run(line: &Line, types: &ColumnTypes, jobs: &mut [Box<dyn Job>]) -> Result<Outcome, StoreError> {
    let (units, batch) = in_time(apply(line, jobs)).await?;
    let mut changes = Changes::default();
    for unit in &units {
        encode(unit, &mut changes)?;
        encode_secrets(unit, &mut changes)?;
    }
    let Some(workspace) = units.first().map(|unit| unit.workspace).filter(|_| !changes.is_empty()) else {
        in_time(async { Ok(line.client.batch_execute("ROLLBACK").await?) }).await?;
        return Ok(Outcome::Done(units));
    };
    let writes = writes(types, &changes)?;
    let rows = try_join_all(writes.iter().map(|write| write.run(line)));
    let states = try_join_all(units.iter().map(|unit| set_state(line, unit, &batch)));
    in_time(async {
        let (rows, states) = futures_util::future::join(rows, states).await;
        rows?;
        states?;
        Ok(())
    })
    .await?;
    let warnings = line.warnings();
    match timeout(REPLY, line.client.batch_execute("COMMIT")).await {
        Ok(Ok(())) if line.warnings() == warnings => Ok(Outcome::Done(units)),
        // The server says that it did not commit.
        Ok(Err(error)) if matches!(cause(&error), Cause::Conflict | Cause::Full | Cause::Refused) => Err(error.into()),
        // A warning says that the server stopped waiting for its standby: the commit may be lost in a fail-over.
        Ok(Ok(()) | Err(_)) | Err(_) => Ok(Outcome::Unknown { units, workspace, batch }),
    }
}

async fn in_time<T>(work: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
    match timeout(REPLY, work).await {
        Ok(done) => done,
        Err(_) => Err(StoreError::Unavailable("PostgreSQL did not reply in time".to_owned())),
    }
}

/// Locks the workspaces, loads the rows of every job, and applies the jobs in order.
async fn apply(line: &Line, jobs: &mut [Box<dyn Job>]) -> Result<(Vec<Unit>, BatchId), StoreError> {
    let mut units: Vec<(Unit, Reads)> = Vec::new();
    for job in jobs.iter_mut() {
        let workspace = job.workspace();
        let at = match units.iter().position(|(unit, _)| unit.workspace == workspace) {
            Some(at) => at,
            None => {
                let counters = Counters { seq: 0, outbox: 0 };
                units.push((Unit::new(workspace, Time::from_millis(0), counters), Reads::default()));
                units.len() - 1
            }
        };
        job.reads(&mut units[at].1);
    }
    let workspaces: Vec<_> = units.iter().map(|(unit, _)| unit.workspace.0).collect();
    // One flight. Each of these sends its statements when it is first polled, in this order, and the server runs them one
    // after the other.
    let (begun, locked, state, loaded) = join4(
        line.client.batch_execute(BEGIN),
        lock(line, &workspaces),
        state(line, &workspaces),
        try_join_all(units.iter_mut().map(|(unit, reads)| load(line, unit, reads.drain().collect()))),
    )
    .await;
    begun?;
    locked?;
    let (states, batch) = state?;
    loaded?;
    for (unit, _) in &mut units {
        match states.iter().find(|(workspace, ..)| *workspace == unit.workspace) {
            Some((_, now, counters)) => unit.begin(*now, *counters),
            None => return Err(StoreError::Unreadable { what: "workspace", detail: "it does not exist".to_owned() }),
        }
    }
    for _ in 0..MORE_READS {
        for job in jobs.iter_mut() {
            if let Some((unit, reads)) = units.iter_mut().find(|(unit, _)| unit.workspace == job.workspace()) {
                job.more_reads(unit, reads);
            }
        }
        try_join_all(units.iter_mut().map(|(unit, reads)| load(line, unit, reads.drain().collect()))).await?;
    }
    for job in jobs.iter_mut() {
        let Some((unit, reads)) = units.iter_mut().find(|(unit, _)| unit.workspace == job.workspace()) else { continue };
        // Rows that an earlier operation of the batch has staged can name others that are not loaded yet.
        job.reads(reads);
        for _ in 0..MORE_READS {
            job.more_reads(unit, reads);
            load(line, unit, reads.drain().collect()).await?;
        }
        job.apply(unit);
    }
    Ok((units.into_iter().map(|(unit, _)| unit).collect(), batch))
}

/// Locks the rows of these workspaces, in the order of their ids.
pub(super) async fn lock(line: &Line, workspaces: &[i64]) -> Result<(), tokio_postgres::Error> {
    let sql = "SELECT id FROM workspace WHERE id = ANY ($1) ORDER BY id FOR UPDATE";
    let ids = workspaces.to_vec();
    line.client.query_typed(sql, &[(&ids, Type::INT8_ARRAY)]).await.map(drop)
}

type State = (WorkspaceId, Time, Counters);

/// The time, and what the last batch left, of workspaces that are locked; and an id for this batch.
async fn state(line: &Line, workspaces: &[i64]) -> Result<(Vec<State>, BatchId), StoreError> {
    // now() would be the beginning of the transaction, before it waited for the lock.
    let sql = "SELECT id, last_seq, last_outbox, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint,
            uuid_send(gen_random_uuid())
        FROM workspace WHERE id = ANY ($1) ORDER BY id";
    let ids = workspaces.to_vec();
    let (mut states, mut batch) = (Vec::new(), Vec::new());
    for row in line.client.query_typed(sql, &[(&ids, Type::INT8_ARRAY)]).await? {
        let counters = Counters { seq: row.try_get(1)?, outbox: row.try_get(2)? };
        states.push((WorkspaceId(row.try_get(0)?), Time::from_millis(row.try_get(3)?), counters));
        batch = row.try_get(4)?;
    }
    Ok((states, BatchId(batch)))
}

/// Writes the counters of a unit, and the id of the batch as a row.
async fn set_state(line: &Line, unit: &Unit, batch: &BatchId) -> Result<(), StoreError> {
    let (workspace, at) = (unit.workspace.0, unit.now.as_millis());
    let Counters { seq, outbox } = unit.counters;
    let update = "UPDATE workspace SET last_seq = $2, last_outbox = $3, last_batch = $4 WHERE id = $1";
    let insert = "INSERT INTO batch (workspace, id, at_ms) VALUES ($1, $2, $3)";
    let state: [(&(dyn ToSql + Sync), Type); 4] =
        [(&workspace, Type::INT8), (&seq, Type::INT8), (&outbox, Type::INT8), (&batch.0, Type::BYTEA)];
    let row: [(&(dyn ToSql + Sync), Type); 3] = [(&workspace, Type::INT8), (&batch.0, Type::BYTEA), (&at, Type::INT8)];
    let (updated, inserted) =
        futures_util::future::join(line.client.execute_typed(update, &state), line.client.execute_typed(insert, &row)).await;
    updated?;
    inserted?;
    Ok(())
}
