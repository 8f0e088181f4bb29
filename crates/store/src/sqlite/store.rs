//! Opens a SQLite database. Contains the handle of the backend.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rusqlite::{Connection, OpenFlags};
use sayso_core::time::Time;
use tokio::sync::Semaphore;

use super::checkpoint;
use super::database::Database;
use super::migrate;
use super::writer::Writer;
use crate::error::{OpenError, StoreError};
use crate::event::Sink;
use crate::operation::Operation;
use crate::read::Query;
use crate::store::RetentionLimits;

/// The options of [`Store::open`](crate::Store::open).
#[derive(Debug, Clone)]
pub struct StoreOptions {
    pub path: PathBuf,
    /// The largest number of concurrent queries.
    pub readers: usize,
}

impl StoreOptions {
    /// Returns the default options for this file.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), readers: 4 }
    }
}

/// An open SQLite database.
#[derive(Debug, Clone)]
pub(crate) struct SqliteStore {
    inner: Arc<StoreInner>,
}

#[derive(Debug)]
struct StoreInner {
    writer: Writer,
    path: PathBuf,
    /// Idle read connections. If all are in use, new ones are opened, up to the number of permits.
    idle: Mutex<Vec<Connection>>,
    permits: Semaphore,
}

impl SqliteStore {
    pub(crate) fn open(
        options: &StoreOptions,
        clock: impl Fn() -> Time + Send + 'static,
        sink: impl Sink,
    ) -> Result<Self, OpenError> {
        let path = &options.path;
        let connection = migrate::open(path)?;
        let opened = |error| store_error(path, error);
        let database = Database::new(connection).map_err(opened)?;
        let writer =
            checkpoint::open(path).and_then(|checkpoints| Writer::start(database, checkpoints, clock, sink)).map_err(opened)?;
        Ok(Self {
            inner: Arc::new(StoreInner {
                writer,
                path: path.clone(),
                idle: Mutex::new(Vec::new()),
                permits: Semaphore::new(options.readers.max(1)),
            }),
        })
    }

    pub(crate) async fn write<O: Operation>(&self, operation: O) -> Result<O::Output, StoreError> {
        self.inner.writer.run(operation).await
    }

    /// Runs a query after a flush. If the disk is full, runs it on the writing connection instead.
    pub(crate) async fn read<Q: Query>(&self, query: Q) -> Result<Q::Found, StoreError> {
        match self.inner.writer.flush().await {
            Ok(()) => {}
            Err(StoreError::Full) => return self.inner.writer.query(query).await,
            Err(error) => return Err(error),
        }
        let inner = Arc::clone(&self.inner);
        let _permit = self.inner.permits.acquire().await.map_err(|_| StoreError::Closed)?;
        tokio::task::spawn_blocking(move || inner.read(query)).await.map_err(|_| StoreError::Closed)?
    }

    pub(crate) async fn retain(&self, retain: RetentionLimits) -> Result<bool, StoreError> {
        self.inner.writer.retain(retain).await
    }

    /// Stops the writer and copies the write-ahead log into the database.
    pub(crate) async fn close(&self) {
        // The last connection that closes copies the log into the database, and only a writable connection can do so.
        self.inner.permits.close();
        if let Ok(mut idle) = self.inner.idle.lock() {
            idle.clear();
        }
        self.inner.writer.close().await;
    }
}

impl StoreInner {
    fn read<Q: Query>(&self, query: Q) -> Result<Q::Found, StoreError> {
        let idle = self.idle.lock().ok().and_then(|mut idle| idle.pop());
        let connection = match idle {
            Some(connection) => connection,
            None => open_for_reading(&self.path)?,
        };
        connection.execute_batch("BEGIN")?;
        let found = query.run(&connection);
        let ended = connection.execute_batch("COMMIT");
        if ended.is_ok()
            && let Ok(mut idle) = self.idle.lock()
        {
            idle.push(connection);
        }
        found
    }
}

pub(super) fn open_for_reading(path: &Path) -> Result<Connection, StoreError> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.execute_batch(
        "PRAGMA busy_timeout = 5000; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -1000; PRAGMA query_only = ON;",
    )?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// Converts an error while opening to one with a message for the person who starts the server.
pub(super) fn open_error(path: &Path, error: rusqlite::Error) -> OpenError {
    use rusqlite::ErrorCode::{CannotOpen, DatabaseCorrupt, DiskFull, NotADatabase, PermissionDenied, ReadOnly};
    let path = path.to_owned();
    match error.sqlite_error_code() {
        Some(DatabaseCorrupt | NotADatabase) => OpenError::Corrupt { path, detail: error.to_string() },
        Some(ReadOnly | PermissionDenied | CannotOpen) => OpenError::ReadOnly { path },
        Some(DiskFull) => OpenError::Full { path },
        _ => OpenError::Database { path, source: error.into() },
    }
}

/// Like [`open_error`], for an error of the store.
pub(super) fn store_error(path: &Path, error: StoreError) -> OpenError {
    let path = path.to_owned();
    match error {
        StoreError::Full => OpenError::Full { path },
        StoreError::Unreadable { .. } => OpenError::Corrupt { path, detail: error.to_string() },
        StoreError::Database(source) => match source.downcast::<rusqlite::Error>() {
            Ok(error) => open_error(&path, *error),
            Err(source) => OpenError::Database { path, source },
        },
        other => OpenError::Database { path, source: other.into() },
    }
}
