//! The thread that owns the writing connection. It collects all waiting operations into a batch, commits the batch, and then
//! replies.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rusqlite::Connection;
use sayso_core::time::Time;
use tokio::sync::{mpsc, oneshot};

use super::checkpoint::{Checkpointer, LogReset};
use super::database::Database;
use super::retention;
use crate::batch::{Job, QueuedOperation};
use crate::error::StoreError;
use crate::event::{Sink, WorkspaceId};
use crate::operation::{MORE_READS, Operation, Reads};
use crate::read::Query;
use crate::store::RetentionLimits;
use crate::unit::Unit;

/// The capacity of the request channel. Callers wait while it is full.
const WAITING: usize = 1024;
/// The largest number of operations in a batch.
const BATCH: usize = 256;

/// Other programs may read the database and lock it for a moment.
pub(super) const BUSY_TIMEOUT: &str = "PRAGMA busy_timeout = 5000";

type QueryOnWriter = Box<dyn FnOnce(Result<&Connection, StoreError>) + Send>;

enum Request {
    Operation(Box<dyn Job>),
    /// Flushes the change log, and then replies.
    Flush(oneshot::Sender<Result<(), StoreError>>),
    RetentionLimits(RetentionLimits, oneshot::Sender<Result<bool, StoreError>>),
    /// Runs the last step of a checkpoint. Replies whether it was complete.
    ResetLog(LogReset, oneshot::Sender<bool>),
    /// Runs a query on the writing connection, which sees changes that cannot be flushed.
    Query(QueryOnWriter),
}

/// The handle of the thread.
#[derive(Debug)]
pub(super) struct Writer {
    requests: Mutex<Option<mpsc::Sender<Request>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// Whether there are unflushed changes.
    unflushed: Arc<AtomicBool>,
}

impl Writer {
    /// Starts the writer thread and the checkpoint thread.
    pub(super) fn start(
        mut database: Database,
        checkpoints: Connection,
        clock: impl Fn() -> Time + Send + 'static,
        sink: impl Sink,
    ) -> Result<Self, StoreError> {
        let (sender, receiver) = mpsc::channel(WAITING);
        // A server that was killed may have left a deleted secret in the write-ahead log.
        let truncated = database.reset_log(LogReset::Truncate);
        // A weak sender, so that the checkpoint thread does not keep the writer alive.
        let requests = sender.downgrade();
        let checkpointer = Checkpointer::start(checkpoints, !truncated, move |step| {
            let Some(requests) = requests.upgrade() else { return false };
            let (reply, complete) = oneshot::channel();
            requests.blocking_send(Request::ResetLog(step, reply)).is_ok() && complete.blocking_recv().unwrap_or(false)
        })?;
        let unflushed = Arc::new(AtomicBool::new(false));
        let task = WriterThread { database, checkpointer, clock, sink, unflushed: Arc::clone(&unflushed) };
        let thread = std::thread::Builder::new()
            .name("sayso-writer".to_owned())
            .spawn(move || task.run(receiver))
            .map_err(|error| StoreError::Database(error.into()))?;
        Ok(Self { requests: Mutex::new(Some(sender)), thread: Mutex::new(Some(thread)), unflushed })
    }

    async fn send(&self, request: Request) -> Result<(), StoreError> {
        let requests = self.requests.lock().ok().and_then(|requests| requests.clone()).ok_or(StoreError::Closed)?;
        requests.send(request).await.map_err(|_| StoreError::Closed)
    }

    pub(super) async fn run<O: Operation>(&self, operation: O) -> Result<O::Output, StoreError> {
        let (job, result) = QueuedOperation::new(operation);
        self.send(Request::Operation(job)).await?;
        result.await.map_err(|_| StoreError::Closed)?
    }

    /// Waits until queries see every change that was committed before this call.
    pub(super) async fn flush(&self) -> Result<(), StoreError> {
        if !self.unflushed.load(Ordering::Acquire) {
            return Ok(());
        }
        let (reply, done) = oneshot::channel();
        self.send(Request::Flush(reply)).await?;
        done.await.map_err(|_| StoreError::Closed)?
    }

    /// Runs a query on the writing connection, for a full disk that prevents a flush.
    pub(super) async fn query<Q: Query>(&self, query: Q) -> Result<Q::Found, StoreError> {
        let (reply, found) = oneshot::channel();
        let run = move |db: Result<&Connection, StoreError>| {
            let _ = reply.send(db.and_then(|db| query.run(db)));
        };
        self.send(Request::Query(Box::new(run))).await?;
        found.await.map_err(|_| StoreError::Closed)?
    }

    pub(super) async fn retain(&self, retain: RetentionLimits) -> Result<bool, StoreError> {
        let (reply, done) = oneshot::channel();
        self.send(Request::RetentionLimits(retain, reply)).await?;
        done.await.map_err(|_| StoreError::Closed)?
    }

    pub(super) async fn close(&self) {
        if let Ok(mut requests) = self.requests.lock() {
            requests.take();
        }
        let thread = self.thread.lock().ok().and_then(|mut thread| thread.take());
        if let Some(thread) = thread {
            let _ = tokio::task::spawn_blocking(move || thread.join()).await;
        }
    }
}

struct WriterThread<C, S> {
    database: Database,
    checkpointer: Checkpointer,
    clock: C,
    sink: S,
    unflushed: Arc<AtomicBool>,
}

impl<C: Fn() -> Time, S: Sink> WriterThread<C, S> {
    fn run(mut self, mut requests: mpsc::Receiver<Request>) {
        let mut waiting = Vec::with_capacity(BATCH);
        while requests.blocking_recv_many(&mut waiting, BATCH) > 0 {
            self.handle(waiting.drain(..));
        }
        if let Err(error) = self.database.flush() {
            tracing::warn!(%error, "change log not flushed at shutdown; the next start replays it");
        }
        self.checkpointer.stop();
        self.database.close();
    }

    fn handle(&mut self, requests: impl Iterator<Item = Request>) {
        let (mut jobs, mut flushes, mut resets) = (Vec::new(), Vec::new(), Vec::new());
        for request in requests {
            match request {
                Request::Operation(job) => jobs.push(job),
                Request::Flush(reply) => flushes.push(reply),
                Request::RetentionLimits(retain, reply) => {
                    let done = self
                        .database
                        .flush()
                        .and_then(|()| retention::retain(self.database.connection(), &retain, (self.clock)()));
                    let _ = reply.send(done);
                }
                Request::ResetLog(step, reply) => resets.push((step, reply)),
                Request::Query(query) => self.database.query_unflushed(query),
            }
        }
        if !jobs.is_empty() {
            self.commit(jobs, !flushes.is_empty());
        }
        let flushed = if flushes.is_empty() { Ok(()) } else { self.database.flush() };
        self.unflushed.store(self.database.has_unflushed(), Ordering::Release);
        for reply in flushes {
            let _ = reply.send(flushed.as_ref().map_err(StoreError::for_another_caller).copied());
        }
        // The replies are sent already, so only the next batch waits for this.
        for (step, reply) in resets {
            let _ = reply.send(self.database.reset_log(step));
        }
        self.checkpointer.wake(self.database.wal_pages(), self.database.take_secret_deleted());
    }

    fn commit(&mut self, mut jobs: Vec<Box<dyn Job>>, flush: bool) {
        let mut units = self.apply(&mut jobs);
        let outcome = self.database.commit(&units, flush);
        self.unflushed.store(self.database.has_unflushed(), Ordering::Release);
        match &outcome {
            Ok(()) => {
                for (_, unit) in units.drain() {
                    self.sink.committed(unit.into_commit());
                }
            }
            Err(StoreError::Full) => tracing::warn!("commit refused: the disk is full"),
            Err(error) => tracing::error!(%error, "commit failed"),
        }
        for job in jobs {
            job.finish(outcome.as_ref().copied());
        }
    }

    /// Loads the rows of all jobs and applies the jobs in order.
    fn apply(&mut self, jobs: &mut [Box<dyn Job>]) -> HashMap<WorkspaceId, Unit> {
        let mut units: HashMap<WorkspaceId, Unit> = HashMap::new();
        let mut reads = Reads::default();
        let now = (self.clock)();
        for job in jobs.iter_mut() {
            let workspace = job.workspace();
            let loaded = self.database.unit(workspace, now, &mut units).and_then(|unit| {
                job.reads(&mut reads);
                self.database.load(unit, &mut reads)?;
                for _ in 0..MORE_READS {
                    job.more_reads(unit, &mut reads);
                    self.database.load(unit, &mut reads)?;
                }
                Ok(())
            });
            match (loaded, units.get_mut(&workspace)) {
                (Ok(()), Some(unit)) => job.apply(unit),
                (Ok(()), None) => job.fail(StoreError::Closed),
                (Err(error), _) => job.fail(error),
            }
        }
        units
    }
}

/// Closes a connection, and logs an error.
pub(super) fn close(connection: Connection) {
    if let Err((_, error)) = connection.close() {
        tracing::warn!(%error, "database connection not closed cleanly");
    }
}
