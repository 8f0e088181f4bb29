//! The task that owns the writing connection. It collects all waiting operations into a batch, commits the batch, and then
//! replies.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

use super::batch::{self, BatchId, Outcome};
use super::changes::ColumnTypes;
use super::connection::PgConnection;
use super::error::{Cause, cause_of};
use super::listen::CHANNEL;
use super::options::PostgresOptions;
use super::pool::Pool;
use super::publish::Publisher;
use super::retention;
use super::settle::settle;
use crate::batch::{Job, QueuedOperation};
use crate::error::StoreError;
use crate::event::WorkspaceId;
use crate::operation::Operation;
use crate::store::RetentionLimits;

/// The capacity of the request channel. Callers wait while it is full.
const WAITING: usize = 1024;
/// The largest number of operations in a batch.
const BATCH: usize = 256;
/// The delays between attempts to commit a batch, while the database may be restarting.
const PAUSES: [Duration; 5] = [
    Duration::ZERO,
    Duration::from_millis(50),
    Duration::from_millis(200),
    Duration::from_millis(500),
    Duration::from_millis(1000),
];
/// The interval of reading commits of other nodes, for notifications that were lost.
const POLL: Duration = Duration::from_secs(1);
/// The delay between attempts to settle a batch.
const SETTLE: Duration = Duration::from_millis(200);

enum Request {
    Operation(Box<dyn Job>),
    RetentionLimits(RetentionLimits, oneshot::Sender<Result<bool, StoreError>>),
}

impl Request {
    fn fail(self, error: &StoreError) {
        match self {
            Self::Operation(job) => job.finish(Err(error)),
            Self::RetentionLimits(_, reply) => {
                let _ = reply.send(Err(error.for_another_caller()));
            }
        }
    }
}

/// How this store and others notify each other about commits.
pub(super) struct Node {
    /// The unique name of this store.
    pub(super) name: String,
    /// Notified when another node has committed.
    pub(super) woken: Arc<Notify>,
}

/// The handle of the task.
#[derive(Debug)]
pub(super) struct Writer {
    requests: Mutex<Option<mpsc::Sender<Request>>>,
    task: Mutex<Option<JoinHandle<()>>>,
}

impl Writer {
    pub(super) fn start(
        options: PostgresOptions,
        connection: PgConnection,
        types: ColumnTypes,
        pool: Arc<Pool>,
        publisher: Publisher,
        node: Node,
    ) -> Self {
        let (sender, receiver) = mpsc::channel(WAITING);
        let task = WriterTask {
            options,
            connection: Some(connection),
            types,
            pool,
            publisher,
            node,
            is_away: false,
            requests: receiver,
        };
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

    pub(super) async fn retain(&self, retain: RetentionLimits) -> Result<bool, StoreError> {
        let (reply, done) = oneshot::channel();
        self.send(Request::RetentionLimits(retain, reply)).await?;
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
    options: PostgresOptions,
    /// The writing connection. `None` if the next batch has to open one.
    connection: Option<PgConnection>,
    types: ColumnTypes,
    pool: Arc<Pool>,
    publisher: Publisher,
    node: Node,
    /// Whether the last attempt to reach the database failed. Then a batch fails after one attempt, so that its callers do not
    /// wait.
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
                    Request::RetentionLimits(retain, reply) => {
                        let _ = reply.send(self.retain(&retain).await);
                    }
                }
            }
            if !jobs.is_empty() {
                self.commit(jobs).await;
            }
        }
    }

    /// Takes the writing connection, or opens a new one if it was lost.
    async fn take_connection(&mut self) -> Result<PgConnection, StoreError> {
        match self.connection.take().filter(|connection| !connection.client.is_closed()) {
            Some(connection) => Ok(connection),
            None => Ok(PgConnection::open(&self.options).await?),
        }
    }

    /// Drops all connections. Those of the pool lead to the same server.
    fn drop_connections(&mut self, error: &StoreError) {
        self.connection = None;
        self.pool.discard();
        tracing::warn!(%error, "PostgreSQL is unavailable");
    }

    async fn retain(&mut self, what: &RetentionLimits) -> Result<bool, StoreError> {
        let connection = self.take_connection().await?;
        // After an error the connection is inside a transaction, so it is dropped.
        let done = connection.in_time(retention::retain(&connection, what)).await?;
        self.connection = Some(connection);
        Ok(done)
    }

    /// Commits a batch and replies to its callers. Retries while the database is restarting.
    async fn commit(&mut self, mut jobs: Vec<Box<dyn Job>>) {
        let mut pauses = PAUSES.into_iter();
        let outcome = loop {
            jobs.iter_mut().for_each(|job| job.reset());
            let error = match self.attempt(&mut jobs).await {
                Ok(Outcome::Done(units)) => break Ok(units),
                Ok(Outcome::Unknown { units, workspace, batch }) => {
                    tracing::warn!("COMMIT had no clear reply; looking for the batch");
                    self.drop_connections(&StoreError::Unavailable("no clear reply to COMMIT".to_owned()));
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
                self.drop_connections(&error);
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

    /// Notifies other nodes about a commit. Runs in a separate transaction, because NOTIFY locks the whole database, and does
    /// not wait for the disk. A lost notification delays the others by a second.
    async fn notify_others(&mut self) {
        let Some(connection) = &self.connection else { return };
        let name = &self.node.name;
        let notify = format!("BEGIN; SET LOCAL synchronous_commit = off; SELECT pg_notify('{CHANNEL}', '{name}'); COMMIT");
        if let Err(error) = connection.in_time(connection.client.batch_execute(&notify)).await {
            tracing::debug!(%error, "cannot notify other nodes");
            self.connection = None;
        }
    }

    async fn attempt(&mut self, jobs: &mut [Box<dyn Job>]) -> Result<Outcome, StoreError> {
        let connection = self.take_connection().await?;
        let outcome = batch::run(&connection, &self.types, jobs).await;
        // Otherwise the connection may be inside a transaction, so it is dropped.
        if matches!(outcome, Ok(Outcome::Done(_))) {
            self.connection = Some(connection);
        }
        outcome
    }

    /// Finds out whether the batch was committed. Retries until the database replies. New callers are refused until then,
    /// because nothing can be committed before.
    ///
    /// # Errors
    /// When the store is closed before.
    async fn settle(&mut self, workspace: WorkspaceId, batch: &BatchId) -> Result<bool, StoreError> {
        loop {
            match settle(&self.options, workspace, batch).await {
                Ok((is_committed, connection)) => {
                    tracing::info!(is_committed, "batch settled");
                    self.connection = Some(connection);
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
