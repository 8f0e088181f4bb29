//! The handle of the database, for either backend.

use sayso_core::time::Time;

use crate::error::{OpenError, StoreError};
use crate::event::Sink;
use crate::operation::Operation;
use crate::postgres::{PostgresOptions, PostgresStore};
use crate::read::Query;
use crate::sqlite::{SqliteStore, StoreOptions};

/// The limits of retention: what to delete.
#[derive(Debug, Clone, Copy)]
pub struct RetentionLimits {
    /// Deletes events before this time.
    pub events_before: Time,
    /// Deletes idempotency keys before this time.
    pub keys_before: Time,
    /// The largest number of rows to delete from each table in one call.
    pub at_most: usize,
}

/// The handle of the database. Clones share the same store.
#[derive(Debug, Clone)]
pub struct Store {
    backend: Backend,
}

#[derive(Debug, Clone)]
enum Backend {
    Sqlite(SqliteStore),
    Postgres(PostgresStore),
}

impl Store {
    /// Opens or creates a SQLite database, upgrades its schema, and starts the writer. `clock` returns the time of each commit;
    /// the writer thread calls it once per batch.
    ///
    /// # Errors
    /// When the file is damaged, read-only, written by a newer version or cannot be used. The file is not changed.
    pub fn open(options: &StoreOptions, clock: impl Fn() -> Time + Send + 'static, sink: impl Sink) -> Result<Self, OpenError> {
        SqliteStore::open(options, clock, sink).map(|store| Self { backend: Backend::Sqlite(store) })
    }

    /// Connects to a PostgreSQL database, creates or upgrades its tables, and starts the writer. The time of each commit comes
    /// from the database. The sink receives every later commit in the order of `seq`, including commits of other nodes on the
    /// same database. Outbox rows are included only for commits of this node.
    ///
    /// # Errors
    /// When the database cannot be reached, or the version of its server or tables is not supported.
    pub async fn connect(options: PostgresOptions, sink: impl Sink) -> Result<Self, OpenError> {
        PostgresStore::connect(options, sink).await.map(|store| Self { backend: Backend::Postgres(store) })
    }

    /// Runs an operation. Its effect is durable when this returns.
    ///
    /// # Errors
    /// When the disk is full, or the database is unavailable or fails. Nothing changed in these cases.
    pub async fn write<O: Operation>(&self, operation: O) -> Result<O::Output, StoreError> {
        match &self.backend {
            Backend::Sqlite(store) => store.write(operation).await,
            Backend::Postgres(store) => store.write(operation).await,
        }
    }

    /// Runs a query on a snapshot that contains everything that was committed before this call.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn read<Q: Query>(&self, query: Q) -> Result<Q::Found, StoreError> {
        match &self.backend {
            Backend::Sqlite(store) => store.read(query).await,
            Backend::Postgres(store) => store.read(query).await,
        }
    }

    /// Deletes old rows. Returns whether more rows are left to delete.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn retain(&self, retain: RetentionLimits) -> Result<bool, StoreError> {
        match &self.backend {
            Backend::Sqlite(store) => store.retain(retain).await,
            Backend::Postgres(store) => store.retain(retain).await,
        }
    }

    /// Stops the writer after all waiting operations are committed.
    pub async fn close(&self) {
        match &self.backend {
            Backend::Sqlite(store) => store.close().await,
            Backend::Postgres(store) => store.close().await,
        }
    }
}
