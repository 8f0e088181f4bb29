//! A pool of connections for queries. If one of them is broken, all are dropped, because after a fail-over all of them lead to
//! the old server.

use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::runtime::Handle;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::connection::PgConnection;
use super::options::PostgresOptions;
use super::snapshot::PostgresSnapshot;
use crate::error::StoreError;
use crate::read::Query;

/// Begins a transaction that reads. An old snapshot keeps the server from removing old rows, so the server ends a transaction that
/// a node has left open.
const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY;
    SET LOCAL idle_in_transaction_session_timeout = '60s'";

#[derive(Debug)]
pub(super) struct Pool {
    options: PostgresOptions,
    idle: Mutex<Vec<PgConnection>>,
    permits: Semaphore,
    /// Grows each time all connections are dropped. Connections of earlier generations are not returned to the pool.
    generation: AtomicU64,
}

/// Permission to use one connection, and to return it to the pool.
#[derive(Debug)]
struct Ticket<'a> {
    generation: u64,
    pool: &'a Pool,
    _permit: SemaphorePermit<'a>,
}

impl Pool {
    pub(super) fn new(options: PostgresOptions) -> Self {
        let (idle, generation) = (Mutex::new(Vec::new()), AtomicU64::new(0));
        let permits = Semaphore::new(options.readers.max(1));
        Self { options, idle, permits, generation }
    }

    /// Begins a read-only transaction, whose statements all see the same snapshot.
    async fn begin(&self) -> Result<(PgConnection, Ticket<'_>), StoreError> {
        let permit = self.permits.acquire().await.map_err(|_| StoreError::Closed)?;
        let ticket = |generation| Ticket { generation, pool: self, _permit: permit };
        let generation = self.generation.load(Ordering::Acquire);
        if let Some(connection) = self.take_idle_connection() {
            if connection.in_time(connection.client.batch_execute(BEGIN)).await.is_ok() {
                return Ok((connection, ticket(generation)));
            }
            self.discard();
        }
        let generation = self.generation.load(Ordering::Acquire);
        let connection = PgConnection::open(&self.options).await?;
        connection.in_time(connection.client.batch_execute(BEGIN)).await?;
        Ok((connection, ticket(generation)))
    }

    /// Runs a query in a new snapshot.
    pub(super) async fn read<Q: Query>(&self, query: Q) -> Result<Q::Found, StoreError> {
        let (connection, ticket) = self.begin().await?;
        let runtime = Handle::current();
        let run = move || {
            let found = query.run(&PostgresSnapshot { connection: &connection, runtime, cursors: Cell::new(0) });
            (connection, found)
        };
        let (connection, found) = tokio::task::spawn_blocking(run).await.map_err(|_| StoreError::Closed)?;
        match &found {
            Ok(_) => ticket.end(connection).await,
            Err(StoreError::Unavailable(_)) => self.discard(),
            // The transaction may be aborted, so the connection is dropped.
            Err(_) => {}
        }
        found
    }

    fn take_idle_connection(&self) -> Option<PgConnection> {
        let mut idle = self.idle.lock().ok()?;
        while let Some(connection) = idle.pop() {
            if !connection.client.is_closed() {
                return Some(connection);
            }
        }
        None
    }

    /// Drops all connections: idle ones now, those in use when they are returned.
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
    /// Ends the transaction of a connection and returns it to the pool. Nothing was written.
    pub(super) async fn end(self, connection: PgConnection) {
        let ended = connection.in_time(connection.client.batch_execute("ROLLBACK")).await;
        if ended.is_ok()
            && let Ok(mut idle) = self.pool.idle.lock()
            && self.generation == self.pool.generation.load(Ordering::Acquire)
        {
            idle.push(connection);
        }
    }
}
