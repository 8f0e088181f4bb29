//! The one thread that writes. It takes everything that waits into one transaction, with a savepoint
//! per operation, and answers after the commit.

use std::sync::Mutex;
use std::thread::JoinHandle;

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::recent::Recent;
use super::tx::{Batch, Tx};
use crate::error::StoreError;
use crate::event::Sink;
use crate::write::Operation;

/// How many operations may wait. When it is full, callers wait for a place: back-pressure, no loss.
const WAITING: usize = 1024;
/// How many operations share one transaction.
const TOGETHER: usize = 256;

/// An operation with the way back to its caller.
trait WriteJob: Send {
    /// Runs it; the reply is kept until the transaction is on disk.
    fn run(&mut self, tx: &mut Tx<'_>) -> Result<(), StoreError>;
    /// The transaction is on disk, or failed as a whole with this.
    fn finish(self: Box<Self>, batch: Result<(), &StoreError>);
}

struct QueuedWrite<O: Operation> {
    operation: Option<O>,
    result: Option<Result<O::Output, StoreError>>,
    reply: oneshot::Sender<Result<O::Output, StoreError>>,
}

impl<O: Operation> WriteJob for QueuedWrite<O> {
    fn run(&mut self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let Some(operation) = self.operation.take() else { return Ok(()) };
        match operation.apply(tx) {
            Ok(output) => {
                self.result = Some(Ok(output));
                Ok(())
            }
            Err(error) => {
                let again = same(&error);
                self.result = Some(Err(error));
                Err(again)
            }
        }
    }

    fn finish(self: Box<Self>, batch: Result<(), &StoreError>) {
        let result = match (batch, self.result) {
            (Ok(()), Some(result)) => result,
            (Ok(()), None) => Err(StoreError::Closed),
            (Err(error), _) => Err(same(error)),
        };
        // The caller may have gone; then nobody needs the reply.
        let _ = self.reply.send(result);
    }
}

/// The same failure, for one more caller.
fn same(error: &StoreError) -> StoreError {
    match error {
        StoreError::Full => StoreError::Full,
        StoreError::Closed => StoreError::Closed,
        StoreError::Unreadable { .. } | StoreError::Sqlite(_) | StoreError::Batch(_) => StoreError::Batch(error.to_string()),
    }
}

/// The handle to the thread.
#[derive(Debug)]
pub(super) struct Writer {
    jobs: Mutex<Option<mpsc::Sender<Box<dyn WriteJob>>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Writer {
    pub(super) fn start(connection: Connection, sink: impl Sink) -> std::io::Result<Self> {
        let (sender, receiver) = mpsc::channel(WAITING);
        let thread =
            std::thread::Builder::new().name("sayso-writer".to_owned()).spawn(move || work(connection, receiver, sink))?;
        Ok(Self { jobs: Mutex::new(Some(sender)), thread: Mutex::new(Some(thread)) })
    }

    pub(super) async fn run<O: Operation>(&self, operation: O) -> Result<O::Output, StoreError> {
        let jobs = self.jobs.lock().ok().and_then(|jobs| jobs.clone()).ok_or(StoreError::Closed)?;
        let (reply, result) = oneshot::channel();
        let job = QueuedWrite { operation: Some(operation), result: None, reply };
        jobs.send(Box::new(job)).await.map_err(|_| StoreError::Closed)?;
        drop(jobs);
        result.await.map_err(|_| StoreError::Closed)?
    }

    pub(super) async fn close(&self) {
        if let Ok(mut jobs) = self.jobs.lock() {
            jobs.take();
        }
        let thread = self.thread.lock().ok().and_then(|mut thread| thread.take());
        if let Some(thread) = thread {
            let _ = tokio::task::spawn_blocking(move || thread.join()).await;
        }
    }
}

fn work(mut connection: Connection, mut jobs: mpsc::Receiver<Box<dyn WriteJob>>, mut sink: impl Sink) {
    let mut waiting: Vec<Box<dyn WriteJob>> = Vec::with_capacity(TOGETHER);
    // A secret was deleted, but a reader kept the log from being emptied: try again after the next commit.
    let mut empty_log = false;
    // A server that died may have left a secret in the log.
    let _ = emptied(&connection);
    let mut recent = Recent::default();
    while jobs.blocking_recv_many(&mut waiting, TOGETHER) > 0 {
        let mut batch = Batch::default();
        let outcome = together(&mut connection, &mut waiting, &mut batch, &mut recent);
        if outcome.is_err() {
            recent.forget();
        } else {
            empty_log |= batch.empty_log;
            sink.committed(batch.into_commit());
        }
        for job in waiting.drain(..) {
            job.finish(outcome.as_ref().copied());
        }
        if empty_log {
            empty_log = !emptied(&connection);
        }
    }
    let _ = emptied(&connection);
}

/// Runs all jobs in one transaction. An operation that fails alone is rolled back alone.
fn together(
    connection: &mut Connection,
    jobs: &mut [Box<dyn WriteJob>],
    batch: &mut Batch,
    recent: &mut Recent,
) -> Result<(), StoreError> {
    connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
    let done = each(connection, jobs, batch, recent).and_then(|()| {
        connection.prepare_cached("COMMIT")?.execute([])?;
        Ok(())
    });
    if let Err(error) = &done {
        if !connection.is_autocommit() {
            let _ = connection.execute_batch("ROLLBACK");
        }
        match error {
            StoreError::Full => tracing::warn!("a transaction was refused: the disk is full"),
            error => tracing::error!(%error, "a transaction failed"),
        }
    }
    done
}

fn each(
    connection: &Connection,
    jobs: &mut [Box<dyn WriteJob>],
    batch: &mut Batch,
    recent: &mut Recent,
) -> Result<(), StoreError> {
    let mut tx = Tx::new(connection, batch, recent)?;
    for job in jobs {
        connection.prepare_cached("SAVEPOINT operation")?.execute([])?;
        let mark = tx.mark();
        if let Err(error) = job.run(&mut tx) {
            // SQLite may have ended the whole transaction itself; then all fail together.
            if matches!(error, StoreError::Full) || connection.is_autocommit() {
                return Err(error);
            }
            connection.prepare_cached("ROLLBACK TO operation")?.execute([])?;
            tx.back_to(mark);
        }
        connection.prepare_cached("RELEASE operation")?.execute([])?;
    }
    tx.finish()
}

/// Empties the write-ahead log, so that a deleted secret is in no file. False while a reader is in the way.
fn emptied(connection: &Connection) -> bool {
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0)).is_ok_and(|busy| busy == 0)
}
