//! Copies the write-ahead log into the database, on a thread and a connection of its own, so that commits do not wait.
//!
//! A passive checkpoint copies what it can while the writer continues. A restart then waits for the writer to pause between
//! two commits, copies the few pages that were added, and lets the writer start the log again from its beginning. The log
//! therefore stays below [`RESTART_BYTES`] plus what is committed during one passive checkpoint.
//!
//! After a secret was deleted, the log is truncated within a second: no file may hold the secret any longer.

use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::writer;
use crate::error::StoreError;

/// The size of the write-ahead log at which it is copied.
const RESTART_BYTES: u32 = 4 * 1024 * 1024;
/// Deleted secrets of one second share a truncation. A reader that holds the log is tried again after as long.
const TRUNCATE_EVERY: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
struct Due {
    restart: bool,
    truncate: bool,
    stop: bool,
}

/// The handle to the thread.
#[derive(Debug)]
pub(super) struct Checkpointer {
    due: Arc<(Mutex<Due>, Condvar)>,
    thread: Option<JoinHandle<()>>,
    restart_pages: u32,
}

impl Checkpointer {
    pub(super) fn start(connection: Connection) -> Result<Self, StoreError> {
        let page: u32 = connection.query_row("PRAGMA page_size", [], |row| row.get(0))?;
        // A server that was killed may have left a deleted secret in the log.
        let first = Due { truncate: true, ..Due::default() };
        let due = Arc::new((Mutex::new(first), Condvar::new()));
        let shared = Arc::clone(&due);
        let thread = std::thread::Builder::new()
            .name("sayso-checkpoint".to_owned())
            .spawn(move || run(connection, &shared))
            .map_err(|error| StoreError::Database(error.into()))?;
        Ok(Self { due, thread: Some(thread), restart_pages: RESTART_BYTES / page.max(512) })
    }

    /// Called by the writer after each batch.
    pub(super) fn wake(&self, wal_pages: u32, secret_deleted: bool) {
        let large = wal_pages >= self.restart_pages;
        if !large && !secret_deleted {
            return;
        }
        let (lock, changed) = &*self.due;
        let mut due = lock.lock().unwrap_or_else(PoisonError::into_inner);
        due.restart |= large;
        due.truncate |= secret_deleted;
        changed.notify_one();
    }

    /// Ends the thread and closes its connection.
    pub(super) fn stop(&mut self) {
        let (lock, changed) = &*self.due;
        lock.lock().unwrap_or_else(PoisonError::into_inner).stop = true;
        changed.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run(connection: Connection, shared: &(Mutex<Due>, Condvar)) {
    let mut truncated: Option<Instant> = None;
    while let Some(due) = wait(shared, truncated) {
        if !due.truncate {
            let _ = checkpoint(&connection, "PASSIVE");
            let _ = checkpoint(&connection, "RESTART");
            continue;
        }
        let _ = checkpoint(&connection, "PASSIVE");
        truncated = Some(Instant::now());
        if !checkpoint(&connection, "TRUNCATE") {
            let (lock, _) = shared;
            lock.lock().unwrap_or_else(PoisonError::into_inner).truncate = true;
        }
    }
    writer::close(connection);
}

/// Waits for work. `None`: stop.
fn wait((lock, changed): &(Mutex<Due>, Condvar), truncated: Option<Instant>) -> Option<Due> {
    let mut due = lock.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        if due.stop {
            return None;
        }
        let early = truncated.map_or(Duration::ZERO, |at| TRUNCATE_EVERY.saturating_sub(at.elapsed()));
        if due.truncate && early.is_zero() {
            return Some(std::mem::take(&mut *due));
        }
        if due.restart {
            due.restart = false;
            return Some(Due { restart: true, ..Due::default() });
        }
        due = if due.truncate {
            changed.wait_timeout(due, early).unwrap_or_else(PoisonError::into_inner).0
        } else {
            changed.wait(due).unwrap_or_else(PoisonError::into_inner)
        };
    }
}

/// Returns whether the checkpoint was complete.
fn checkpoint(connection: &Connection, mode: &str) -> bool {
    let done = connection.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |row| row.get::<_, i64>(0));
    match done {
        Ok(busy) => busy == 0,
        Err(error) => {
            tracing::warn!(%error, mode, "checkpoint failed");
            false
        }
    }
}

/// The connection for checkpoints. It must be able to write.
pub(super) fn open(path: &Path) -> Result<Connection, StoreError> {
    let connection = Connection::open(path)?;
    connection.execute_batch("PRAGMA busy_timeout = 1000; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -256;")?;
    Ok(connection)
}
