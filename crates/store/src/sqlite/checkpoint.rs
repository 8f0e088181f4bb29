//! Copies the write-ahead log into the database, on a thread and a connection of its own, so that commits do not wait.
//!
//! Passive checkpoints copy what they can while the writer continues. The thread then asks the writer for the last step
//! ([`LogReset`]), which the writer takes between two commits: it copies the few pages that were added in the meantime and
//! starts the log again from its beginning. No two connections ever compete for the write lock, so no commit fails or sleeps
//! because of a checkpoint. The log stays below [`RESTART_BYTES`] plus what is committed during [`PASSES`] passive checkpoints.
//!
//! A reader of an old snapshot keeps the log from starting again. Nobody waits for such a reader; the step is repeated.
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
/// How often the thread copies before the last step, and how many pages it leaves to that step if it can.
const PASSES: usize = 4;
const LITTLE: i64 = 64;
/// Deleted secrets of one second share a truncation.
const TRUNCATE_EVERY: Duration = Duration::from_secs(1);
/// How soon the last step is repeated if a reader was in the way or the disk is full. The pause doubles, up to
/// [`TRUNCATE_EVERY`].
const RETRY: Duration = Duration::from_millis(50);

/// The last step of a checkpoint, on the writing connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LogReset {
    /// The next commit writes at the beginning of the log.
    Restart,
    /// The same, and the file is empty.
    Truncate,
}

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
    /// `reset` passes the last step to the writer and returns whether it was complete. `truncate` if the log has to be
    /// truncated first of all.
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

fn run(connection: Connection, shared: &(Mutex<Due>, Condvar), reset: impl Fn(LogReset) -> bool) {
    let (mut not_before, mut retry) = (NotBefore::default(), RETRY);
    while let Some(step) = wait(shared, &not_before) {
        copy_most(&connection);
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

/// When each step may run again.
#[derive(Debug, Default)]
struct NotBefore {
    restart: Option<Instant>,
    truncate: Option<Instant>,
}

/// Waits for work. `None`: stop.
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

/// Takes the last step on the writing connection, between two transactions. Returns whether it was complete.
pub(super) fn reset_log(connection: &Connection, step: LogReset) -> bool {
    // A reader in the way must not delay commits: the step is repeated later.
    let _ = connection.execute_batch("PRAGMA busy_timeout = 0");
    let mode = match step {
        LogReset::Restart => "RESTART",
        LogReset::Truncate => "TRUNCATE",
    };
    let done = checkpoint(connection, mode);
    let _ = connection.execute_batch(writer::BUSY_TIMEOUT);
    done.is_some_and(|done| done.complete)
}

/// Copies what is in the log, then what was committed while it copied, until little is left for the last step: the writer
/// commits nothing while it copies that.
fn copy_most(connection: &Connection) {
    let mut before = 0;
    for _ in 0..PASSES {
        match checkpoint(connection, "PASSIVE") {
            Some(Checkpointed { copied, .. }) if copied > before + LITTLE => before = copied,
            Some(_) | None => return,
        }
    }
}

/// What a checkpoint did.
struct Checkpointed {
    /// Whether all of the log is in the database.
    complete: bool,
    /// How many pages of the log are in the database.
    copied: i64,
}

/// `None` if it failed.
fn checkpoint(connection: &Connection, mode: &str) -> Option<Checkpointed> {
    let done = connection.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |row| {
        Ok(Checkpointed { complete: row.get::<_, i64>(0)? == 0, copied: row.get(2)? })
    });
    done.inspect_err(|error| tracing::warn!(%error, mode, "checkpoint failed")).ok()
}

/// The connection for checkpoints. It must be able to write.
pub(super) fn open(path: &Path) -> Result<Connection, StoreError> {
    let connection = Connection::open(path)?;
    connection.execute_batch("PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -256;")?;
    Ok(connection)
}
