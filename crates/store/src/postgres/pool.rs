//! Connections for queries. Idle ones are kept; when one is found to be unusable, all of them are dropped, because after a
//! fail-over each would lead to the old server.

use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::runtime::Handle;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_postgres::Config;

use super::line::Line;
use super::snapshot::PostgresSnapshot;
use crate::error::StoreError;
use crate::read::Query;

#[derive(Debug)]
pub(super) struct Pool {
    config: Config,
    idle: Mutex<Vec<Line>>,
    permits: Semaphore,
    /// Counts how often all connections were dropped. Those of an earlier generation do not come back.
    generation: AtomicU64,
}

/// The right to give a connection back.
#[derive(Debug)]
struct Ticket<'a> {
    generation: u64,
    pool: &'a Pool,
    _permit: SemaphorePermit<'a>,
}

impl Pool {
    pub(super) fn new(config: Config, size: usize) -> Self {
        let (idle, generation) = (Mutex::new(Vec::new()), AtomicU64::new(0));
        Self { config, idle, permits: Semaphore::new(size.max(1)), generation }
    }

    /// A connection in a read-only transaction, whose statements all see the same snapshot.
    async fn begin(&self) -> Result<(Line, Ticket<'_>), StoreError> {
        let permit = self.permits.acquire().await.map_err(|_| StoreError::Closed)?;
        let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY";
        let ticket = |generation| Ticket { generation, pool: self, _permit: permit };
        let generation = self.generation.load(Ordering::Acquire);
        if let Some(line) = self.idle_line() {
            if line.client.batch_execute(begin).await.is_ok() {
                return Ok((line, ticket(generation)));
            }
            self.discard();
        }
        let generation = self.generation.load(Ordering::Acquire);
        let line = Line::open(&self.config).await?;
        line.client.batch_execute(begin).await?;
        Ok((line, ticket(generation)))
    }

    /// Runs a query in a snapshot of its own.
    pub(super) async fn read<Q: Query>(&self, query: Q) -> Result<Q::Found, StoreError> {
        let (line, ticket) = self.begin().await?;
        let runtime = Handle::current();
        let run = move || {
            let found = query.run(&PostgresSnapshot { line: &line, runtime, cursors: Cell::new(0) });
            (line, found)
        };
        let (line, found) = tokio::task::spawn_blocking(run).await.map_err(|_| StoreError::Closed)?;
        match &found {
            Ok(_) => ticket.end(line).await,
            Err(StoreError::Unavailable(_)) => self.discard(),
            // The transaction may be aborted: the connection is dropped.
            Err(_) => {}
        }
        found
    }

    fn idle_line(&self) -> Option<Line> {
        let mut idle = self.idle.lock().ok()?;
        while let Some(line) = idle.pop() {
            if !line.client.is_closed() {
                return Some(line);
            }
        }
        None
    }

    /// Drops every idle connection, and those on loan when they come back.
    pub(super) fn discard(&self) {
        self.generation.fetch_add(1, Ordering::AcqRel);
        if let Ok(mut idle) = self.idle.lock() {
            idle.clear();
        }
    }

    pub(super) fn close(&self) {
        self.permits.close();
        self.discard();
    }
}

impl Ticket<'_> {
    /// Ends the transaction of a connection and gives it back. Nothing was written.
    pub(super) async fn end(self, line: Line) {
        let ended = line.client.batch_execute("ROLLBACK").await;
        if ended.is_ok()
            && let Ok(mut idle) = self.pool.idle.lock()
            && self.generation == self.pool.generation.load(Ordering::Acquire)
        {
            idle.push(line);
        }
    }
}
