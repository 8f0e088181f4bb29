//! The task that owns the writing connection. It takes all waiting operations into one batch, commits the batch, and then
//! replies.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};
use tokio_postgres::Config;

use super::batch::{self, BatchId, Outcome};
use super::changes::ColumnTypes;
use super::error::{Cause, cause_of};
use super::line::Line;
use super::listen::CHANNEL;
use super::pool::Pool;
use super::publish::Publisher;
use super::retention;
use super::settle::settle;
use crate::batch::{Job, QueuedOperation};
use crate::error::StoreError;
use crate::event::WorkspaceId;
use crate::operation::Operation;
use crate::store::Retain;

/// How many requests may wait. When the queue is full, callers wait for a place.
const WAITING: usize = 1024;
/// How many operations share one commit.
const BATCH: usize = 256;
/// The pauses before a batch is tried again, while the database may be restarting.
const PAUSES: [Duration; 5] = [
    Duration::ZERO,
    Duration::from_millis(50),
    Duration::from_millis(200),
    Duration::from_millis(500),
    Duration::from_millis(1000),
];
/// Commits of other nodes are found after this time if no notification came.
const POLL: Duration = Duration::from_secs(1);
/// The pause between attempts to settle a batch.
const SETTLE: Duration = Duration::from_millis(200);

enum Request {
    Operation(Box<dyn Job>),
    Retain(Retain, oneshot::Sender<Result<bool, StoreError>>),
}

impl Request {
    fn fail(self, error: &StoreError) {
        match self {
            Self::Operation(job) => job.finish(Err(error)),
            Self::Retain(_, reply) => {
                let _ = reply.send(Err(error.for_another_caller()));
            }
        }
    }
}

/// How this store and others tell each other of commits.
pub(super) struct Node {
    /// A name that no other store has.
    pub(super) name: String,
    /// Another node has committed.
    pub(super) woken: Arc<Notify>,
}

/// The handle to the task.
#[derive(Debug)]
pub(super) struct Writer {
    requests: Mutex<Option<mpsc::Sender<Request>>>,
    task: Mutex<Option<JoinHandle<()>>>,
}

impl Writer {
    pub(super) fn start(
        config: Config,
        line: Line,
        types: ColumnTypes,
        pool: Arc<Pool>,
        publisher: Publisher,
        node: Node,
    ) -> Self {
        let (sender, receiver) = mpsc::channel(WAITING);
        let task = WriterTask { config, line: Some(line), types, pool, publisher, node, is_away: false, requests: receiver };
        let task = tokio::spawn(task.run());
        Self { requests: Mutex::new(Some(sender)), task: Mutex::new(Some(task)) }
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

    pub(super) async fn retain(&self, retain: Retain) -> Result<bool, StoreError> {
        let (reply, done) = oneshot::channel();
        self.send(Request::Retain(retain, reply)).await?;
        done.await.map_err(|_| StoreError::Closed)?
    }

    pub(super) async fn close(&self) {
        if let Ok(mut requests) = self.requests.lock() {
            requests.take();
        }
        let task = self.task.lock().ok().and_then(|mut task| task.take());
        if let Some(task) = task {
            let _ = task.await;
        }
    }
}

struct WriterTask {
    config: Config,
    /// `None`: the next batch opens one.
    line: Option<Line>,
    types: ColumnTypes,
    pool: Arc<Pool>,
    publisher: Publisher,
    node: Node,
    /// The database could not be reached last time, so callers do not wait for a second attempt.
    is_away: bool,
    requests: mpsc::Receiver<Request>,
}

impl WriterTask {
    async fn run(mut self) {
        let mut waiting = Vec::with_capacity(BATCH);
        let mut poll = interval(POLL);
        poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                count = self.requests.recv_many(&mut waiting, BATCH) => if count == 0 {
                    return;
                },
                () = self.node.woken.notified() => self.publisher.follow().await,
                _ = poll.tick() => self.publisher.follow().await,
            }
            let mut jobs = Vec::with_capacity(waiting.len());
            for request in waiting.drain(..) {
                match request {
                    Request::Operation(job) => jobs.push(job),
                    Request::Retain(retain, reply) => {
                        let _ = reply.send(self.retain(&retain).await);
                    }
                }
            }
            if !jobs.is_empty() {
                self.commit(jobs).await;
            }
        }
    }

    /// The writing connection. Opens another one if it was lost.
    async fn line(&mut self) -> Result<Line, StoreError> {
        match self.line.take().filter(|line| !line.client.is_closed()) {
            Some(line) => Ok(line),
            None => Ok(Line::open(&self.config).await?),
        }
    }

    /// Drops every connection. Those of the pool lead to the same server.
    fn lost(&mut self, error: &StoreError) {
        self.line = None;
        self.pool.discard();
        tracing::warn!(%error, "PostgreSQL is unavailable");
    }

    async fn retain(&mut self, what: &Retain) -> Result<bool, StoreError> {
        let line = self.line().await?;
        // After an error the connection is in the middle of a transaction, and is dropped.
        let done = retention::retain(&line, what).await?;
        self.line = Some(line);
        Ok(done)
    }

    /// Commits a batch and replies to its callers.
    async fn commit(&mut self, mut jobs: Vec<Box<dyn Job>>) {
        let mut pauses = PAUSES.into_iter();
        let outcome = loop {
            jobs.iter_mut().for_each(|job| job.reset());
            let error = match self.attempt(&mut jobs).await {
                Ok(Outcome::Done(units)) => break Ok(units),
                Ok(Outcome::Unknown { units, workspace, batch }) => {
                    tracing::warn!("COMMIT had no clear reply; looking for the batch");
                    self.lost(&StoreError::Unavailable("no clear reply to COMMIT".to_owned()));
                    match self.settle(workspace, &batch).await {
                        Ok(true) => break Ok(units),
                        Ok(false) => continue,
                        Err(error) => break Err(error),
                    }
                }
                Err(error) => error,
            };
            match cause_of(&error) {
                Cause::Refused if jobs.len() > 1 => {
                    tracing::warn!(%error, "batch refused; committing its operations one by one");
                    for job in jobs {
                        Box::pin(self.commit(vec![job])).await;
                    }
                    return;
                }
                Cause::Full | Cause::Refused => break Err(error),
                Cause::Lost | Cause::Conflict => {}
            }
            if cause_of(&error) == Cause::Lost {
                self.lost(&error);
            }
            match pauses.next().filter(|_| !self.is_away) {
                Some(pause) => tokio::time::sleep(pause).await,
                None => {
                    self.is_away = true;
                    break Err(error);
                }
            }
        };
        match outcome {
            Ok(units) => {
                self.is_away = false;
                let is_new = units.iter().any(|unit| !unit.events.is_empty());
                self.publisher.publish(units).await;
                jobs.into_iter().for_each(|job| job.finish(Ok(())));
                if is_new {
                    self.notify_others().await;
                }
            }
            Err(error) => {
                tracing::error!(%error, "commit failed");
                jobs.into_iter().for_each(|job| job.finish(Err(&error)));
            }
        }
    }

    /// Tells other nodes of a commit. In a transaction of its own, because NOTIFY takes a lock of the whole database, and
    /// without waiting for the disk. A notification that is lost costs the others a second.
    async fn notify_others(&mut self) {
        let Some(line) = &self.line else { return };
        let name = &self.node.name;
        let notify = format!("BEGIN; SET LOCAL synchronous_commit = off; SELECT pg_notify('{CHANNEL}', '{name}'); COMMIT");
        if let Err(error) = line.client.batch_execute(&notify).await {
            tracing::debug!(%error, "other nodes not notified");
            self.line = None;
        }
    }

    async fn attempt(&mut self, jobs: &mut [Box<dyn Job>]) -> Result<Outcome, StoreError> {
        let line = self.line().await?;
        let outcome = batch::run(&line, &self.types, jobs).await;
        // In all other cases the connection may be in the middle of a transaction, so it is dropped.
        if matches!(outcome, Ok(Outcome::Done(_))) {
            self.line = Some(line);
        }
        outcome
    }

    /// Whether the batch was committed. Tries until the database says so; new callers are refused meanwhile, because nothing
    /// can be committed before.
    ///
    /// # Errors
    /// When the store is closed first.
    async fn settle(&mut self, workspace: WorkspaceId, batch: &BatchId) -> Result<bool, StoreError> {
        loop {
            match settle(&self.config, workspace, batch).await {
                Ok((is_committed, line)) => {
                    tracing::info!(is_committed, "batch settled");
                    self.line = Some(line);
                    return Ok(is_committed);
                }
                Err(error) => tracing::warn!(%error, "batch not settled yet"),
            }
            let away = StoreError::Unavailable("the last commit is not settled yet".to_owned());
            let pause = tokio::time::sleep(SETTLE);
            tokio::pin!(pause);
            loop {
                tokio::select! {
                    () = &mut pause => break,
                    request = self.requests.recv() => match request {
                        Some(request) => request.fail(&away),
                        None => return Err(StoreError::Closed),
                    }
                }
            }
        }
    }
}
