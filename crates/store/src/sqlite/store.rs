//! Opening the database, and the handle to it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rusqlite::{Connection, OpenFlags};
use tokio::sync::Semaphore;

use super::migrate;
use super::writer::Writer;
use crate::error::{OpenError, StoreError};
use crate::event::Sink;
use crate::read::Query;
use crate::write::Operation;

/// How to open.
#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// The database file.
    pub path: PathBuf,
    /// How many reads may run at once.
    pub readers: usize,
}

impl StoreOptions {
    /// The usual way to open this file.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), readers: 4 }
    }
}

/// The database. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Store {
    inner: Arc<StoreInner>,
}

#[derive(Debug)]
struct StoreInner {
    writer: Writer,
    path: PathBuf,
    /// Read connections that rest. One is opened when all are in use, up to the number of permits.
    resting: Mutex<Vec<Connection>>,
    permits: Semaphore,
}

impl Store {
    /// Opens or creates the database, brings its schema up to date, and starts the writer.
    ///
    /// # Errors
    /// When the file is damaged, newer, read-only or cannot be used; it is left as it is.
    pub fn open(options: &StoreOptions, sink: impl Sink) -> Result<Self, OpenError> {
        let path = &options.path;
        let connection = open_for_writing(path)?;
        migrate::run(&connection, path)?;
        let writer = Writer::start(connection, sink).map_err(|source| OpenError::Io { path: path.clone(), source })?;
        Ok(Self {
            inner: Arc::new(StoreInner {
                writer,
                path: path.clone(),
                resting: Mutex::new(Vec::new()),
                permits: Semaphore::new(options.readers.max(1)),
            }),
        })
    }

    /// Does one write. When it returns, the effect is on disk.
    ///
    /// # Errors
    /// When the disk is full or the database fails; then nothing changed.
    pub async fn write<O: Operation>(&self, operation: O) -> Result<O::Output, StoreError> {
        self.inner.writer.run(operation).await
    }

    /// Does one read on a snapshot.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn read<Q: Query>(&self, query: Q) -> Result<Q::Output, StoreError> {
        let inner = Arc::clone(&self.inner);
        let _permit = self.inner.permits.acquire().await.map_err(|_| StoreError::Closed)?;
        tokio::task::spawn_blocking(move || inner.read(query)).await.map_err(|_| StoreError::Closed)?
    }

    /// Ends the writer after what waits has been written, and folds the log into the database.
    pub async fn close(&self) {
        // The last connection to close folds the log into the database, and only a writing one can.
        self.inner.permits.close();
        if let Ok(mut resting) = self.inner.resting.lock() {
            resting.clear();
        }
        self.inner.writer.close().await;
    }
}

impl StoreInner {
    fn read<Q: Query>(&self, query: Q) -> Result<Q::Output, StoreError> {
        let rested = self.resting.lock().ok().and_then(|mut resting| resting.pop());
        let connection = match rested {
            Some(connection) => connection,
            None => open_for_reading(&self.path)?,
        };
        connection.execute_batch("BEGIN")?;
        let found = query.run(&connection);
        let ended = connection.execute_batch("COMMIT");
        if ended.is_ok()
            && let Ok(mut resting) = self.resting.lock()
        {
            resting.push(connection);
        }
        found
    }
}

fn open_for_writing(path: &Path) -> Result<Connection, OpenError> {
    let fresh = !path.exists();
    let connection = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )
    .map_err(|error| failed(path, error))?;
    if fresh {
        restrict(path)?;
    }
    let settings = "PRAGMA journal_mode = WAL;
         PRAGMA synchronous = FULL;
         PRAGMA busy_timeout = 5000;
         PRAGMA foreign_keys = ON;
         PRAGMA temp_store = MEMORY;
         PRAGMA secure_delete = ON;
         PRAGMA cache_size = -2000;
         PRAGMA wal_autocheckpoint = 2000;
         PRAGMA journal_size_limit = 16777216;";
    connection.execute_batch(settings).map_err(|error| failed(path, error))?;
    if connection.is_readonly("main").map_err(|error| failed(path, error))? {
        return Err(OpenError::ReadOnly { path: path.to_owned() });
    }
    connection.set_prepared_statement_cache_capacity(128);
    Ok(connection)
}

/// The database holds what people and agents said: nobody else may read it.
fn restrict(path: &Path) -> Result<(), OpenError> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))
        .map_err(|source| OpenError::Io { path: path.to_owned(), source })
}

pub(super) fn open_for_reading(path: &Path) -> Result<Connection, StoreError> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.execute_batch(
        "PRAGMA busy_timeout = 5000; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -1000; PRAGMA query_only = ON;",
    )?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// Says in our words what SQLite said when the file was opened.
pub(super) fn failed(path: &Path, error: rusqlite::Error) -> OpenError {
    use rusqlite::ErrorCode::{CannotOpen, DatabaseCorrupt, DiskFull, NotADatabase, PermissionDenied, ReadOnly};
    let path = path.to_owned();
    match error.sqlite_error_code() {
        Some(DatabaseCorrupt | NotADatabase) => OpenError::Corrupt { path, detail: error.to_string() },
        Some(ReadOnly | PermissionDenied | CannotOpen) => OpenError::ReadOnly { path },
        Some(DiskFull) => OpenError::Full { path },
        _ => OpenError::Sqlite { path, source: error },
    }
}
