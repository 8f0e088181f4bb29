//! Copies the write-ahead log into the database, on a separate thread and connection, so that commits do not wait.
//!
//! Passive checkpoints copy what they can while the writer continues. The thread then asks the writer for the last step
//! ([`LogReset`]), which runs between two commits: it copies the few remaining pages and restarts the log at its beginning. No
//! two connections compete for the write lock, so no commit fails or sleeps because of a checkpoint. The log stays below
//! [`RESTART_BYTES`] plus what is committed during [`PASSES`] passive checkpoints.
//!
//! A reader of an old snapshot prevents the restart. The thread does not wait for readers and repeats the step later.
//!
//! After a secret was deleted, the log is truncated within a second, so that no file contains the secret.

use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::migrate::FULL_SYNC;
use super::writer;
use crate::error::StoreError;

/// The size of the write-ahead log that starts a checkpoint.
const RESTART_BYTES: u32 = 4 * 1024 * 1024;
/// The largest number of passive checkpoints before the last step, and the number of pages that they try to leave to it.
const PASSES: usize = 4;
const LITTLE: i64 = 64;
/// The smallest interval between truncations. Secrets that are deleted within it share one.
const TRUNCATE_EVERY: Duration = Duration::from_secs(1);
/// The delay before the last step is retried if a reader prevented it or the disk is full. It doubles, up to
/// [`TRUNCATE_EVERY`].
const RETRY: Duration = Duration::from_millis(50);

/// The last step of a checkpoint. It runs on the writing connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LogReset {
    /// The next commit writes to the beginning of the log.
    Restart,
    /// Like `Restart`, and the file is truncated to zero bytes.
    Truncate,
}

#[derive(Debug, Default)]
struct Due {
    restart: bool,
    truncate: bool,
    stop: bool,
}

/// The handle of the thread.
#[derive(Debug)]
pub(super) struct Checkpointer {
    due: Arc<(Mutex<Due>, Condvar)>,
    thread: Option<JoinHandle<()>>,
    restart_pages: u32,
}

impl Checkpointer {
    /// Starts the thread. `reset` passes the last step to the writer and returns whether it was complete. With `truncate`, the
    /// thread first truncates the log.
    pub(super) fn start(
        connection: Connection,
        truncate: bool,
        reset: impl Fn(LogReset) -> bool + Send + 'static,
    ) -> Result<Self, StoreError> {
        let page: u32 = connection.query_row("PRAGMA page_size", [], |row| row.get(0))?;
        let due = Arc::new((Mutex::new(Due { truncate, ..Due::default() }), Condvar::new()));
        let shared = Arc::clone(&due);
        let thread = std::thread::Builder::new()
            .name("sayso-checkpoint".to_owned())
            .spawn(move || run(connection, &shared, reset))
            .map_err(|error| StoreError::Database(error.into()))?;
        Ok(Self { due, thread: Some(thread), restart_pages: RESTART_BYTES / page.max(512) })
    }

    /// The writer calls this after each batch.
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

    /// Stops the thread and closes its connection.
    pub(super) fn stop(&mut self) {
        let (lock, changed) = &*self.due;
        lock.lock().unwrap_or_else(PoisonError::into_inner).stop = true;
        changed.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run(connection: Connection, shared: &(Mutex<Due>, Condvar), reset: impl Fn(LogReset) -> bool) {
    let (mut not_before, mut retry) = (NotBefore::default(), RETRY);
    while let Some(step) = wait(shared, &not_before) {
        run_passive_checkpoints(&connection);
        let complete = reset(step);
        let now = Instant::now();
        retry = if complete { RETRY } else { (retry * 2).min(TRUNCATE_EVERY) };
        if step == LogReset::Truncate {
            not_before.truncate = Some(now + if complete { TRUNCATE_EVERY } else { retry });
        }
        if !complete {
            not_before.restart = Some(now + retry);
            let (lock, _) = shared;
            let mut due = lock.lock().unwrap_or_else(PoisonError::into_inner);
            due.truncate |= step == LogReset::Truncate;
            due.restart |= step == LogReset::Restart;
        }
    }
    writer::close(connection);
}

/// The earliest time at which each step runs again.
#[derive(Debug, Default)]
struct NotBefore {
    restart: Option<Instant>,
    truncate: Option<Instant>,
}

/// Waits for the next step. Returns `None` if the thread has to stop.
fn wait((lock, changed): &(Mutex<Due>, Condvar), not_before: &NotBefore) -> Option<LogReset> {
    let left = |at: Option<Instant>| at.map_or(Duration::ZERO, |at| at.saturating_duration_since(Instant::now()));
    let mut due = lock.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        if due.stop {
            return None;
        }
        let (truncate, restart) = (left(not_before.truncate), left(not_before.restart));
        if due.truncate && truncate.is_zero() {
            due.truncate = false;
            due.restart = false;
            return Some(LogReset::Truncate);
        }
        if due.restart && restart.is_zero() {
            due.restart = false;
            return Some(LogReset::Restart);
        }
        let waits = [due.truncate.then_some(truncate), due.restart.then_some(restart)];
        due = match waits.into_iter().flatten().min() {
            Some(soon) => changed.wait_timeout(due, soon).unwrap_or_else(PoisonError::into_inner).0,
            None => changed.wait(due).unwrap_or_else(PoisonError::into_inner),
        };
    }
}

/// Runs the last step on the writing connection, between two transactions. Returns whether it was complete.
pub(super) fn reset_log(connection: &Connection, step: LogReset) -> bool {
    // Readers must not delay commits, so the step fails at once and is repeated later.
    let _ = connection.execute_batch("PRAGMA busy_timeout = 0");
    let mode = match step {
        LogReset::Restart => "RESTART",
        LogReset::Truncate => "TRUNCATE",
    };
    let done = checkpoint(connection, mode);
    let _ = connection.execute_batch(writer::BUSY_TIMEOUT);
    done.is_some_and(|done| done.complete)
}

/// Runs passive checkpoints until few pages are left for the last step, during which the writer commits nothing.
fn run_passive_checkpoints(connection: &Connection) {
    let mut before = 0;
    for _ in 0..PASSES {
        match checkpoint(connection, "PASSIVE") {
            Some(Checkpointed { copied, .. }) if copied > before + LITTLE => before = copied,
            Some(_) | None => return,
        }
    }
}

/// The result of a checkpoint.
struct Checkpointed {
    /// Whether the whole log was copied.
    complete: bool,
    /// The number of pages that were copied.
    copied: i64,
}

/// Runs a checkpoint. Returns `None` if it failed.
fn checkpoint(connection: &Connection, mode: &str) -> Option<Checkpointed> {
    let done = connection.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |row| {
        Ok(Checkpointed { complete: row.get::<_, i64>(0)? == 0, copied: row.get(2)? })
    });
    done.inspect_err(|error| tracing::warn!(%error, mode, "checkpoint failed")).ok()
}

/// Opens the connection for checkpoints, which must be writable.
pub(super) fn open(path: &Path) -> Result<Connection, StoreError> {
    let connection = Connection::open(path)?;
    connection.execute_batch("PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -256;")?;
    connection.execute_batch(FULL_SYNC)?;
    Ok(connection)
}
