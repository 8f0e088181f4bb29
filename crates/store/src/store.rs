//! The handle to the database, whichever backend it has.

use sayso_core::time::Time;

use crate::error::{OpenError, StoreError};
use crate::event::Sink;
use crate::operation::Operation;
use crate::postgres::{PostgresOptions, PostgresStore};
use crate::read::Query;
use crate::sqlite::{SqliteStore, StoreOptions};

/// What to delete.
#[derive(Debug, Clone, Copy)]
pub struct Retain {
    /// Events before this time.
    pub events_before: Time,
    /// Idempotency keys before this time.
    pub keys_before: Time,
    /// How many rows of each table at most.
    pub at_most: usize,
}

/// The database. Cheap to clone.
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
    /// Opens or creates a SQLite database, upgrades its schema, and starts the writer. `clock` gives the time of each commit;
    /// the writer's thread calls it once per batch.
    ///
    /// # Errors
    /// When the file is damaged, newer, read-only or cannot be used. The file is left as it is.
    pub fn open(options: &StoreOptions, clock: impl Fn() -> Time + Send + 'static, sink: impl Sink) -> Result<Self, OpenError> {
        SqliteStore::open(options, clock, sink).map(|store| Self { backend: Backend::Sqlite(store) })
    }

    /// Connects to a PostgreSQL database, creates or upgrades its tables, and starts the writer. The time of each commit is
    /// the database's. The sink hears of every commit from now on in the order of `seq`, also of those of other nodes on the same
    /// database, but of outbox entries of this node alone.
    ///
    /// # Errors
    /// When the database cannot be reached, or its server or its tables are of an unsupported version.
    pub async fn connect(options: PostgresOptions, sink: impl Sink) -> Result<Self, OpenError> {
        PostgresStore::connect(options, sink).await.map(|store| Self { backend: Backend::Postgres(store) })
    }

    /// Runs an operation. When this returns, its effect is durable.
    ///
    /// # Errors
    /// When the disk is full, the database is unavailable or it fails; then nothing changed.
    pub async fn write<O: Operation>(&self, operation: O) -> Result<O::Output, StoreError> {
        match &self.backend {
            Backend::Sqlite(store) => store.write(operation).await,
            Backend::Postgres(store) => store.write(operation).await,
        }
    }

    /// Runs a query on a snapshot that has everything committed before this call.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn read<Q: Query>(&self, query: Q) -> Result<Q::Found, StoreError> {
        match &self.backend {
            Backend::Sqlite(store) => store.read(query).await,
            Backend::Postgres(store) => store.read(query).await,
        }
    }

    /// Deletes what is old. Returns whether more is left to delete.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn retain(&self, retain: Retain) -> Result<bool, StoreError> {
        match &self.backend {
            Backend::Sqlite(store) => store.retain(retain).await,
            Backend::Postgres(store) => store.retain(retain).await,
        }
    }

    /// Stops the writer after everything that waits has been written.
    pub async fn close(&self) {
        match &self.backend {
            Backend::Sqlite(store) => store.close().await,
            Backend::Postgres(store) => store.close().await,
        }
    }
}
