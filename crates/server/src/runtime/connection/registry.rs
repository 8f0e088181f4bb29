//! The registry of connection actors. It starts actors and routes committed outbox rows to them.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use sayso_core::id::ConnectionId;
use sayso_store::OutboxRow;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;
use tracing::Instrument as _;

use super::actor;
use crate::runtime::Runtime;

/// The capacity of an actor's mailbox. If it is full, the actor reads the remaining rows from the database, where every row
/// stays until the agent has it.
const MAILBOX: usize = 32;

/// A handle to one actor.
#[derive(Debug, Clone)]
struct Handle {
    /// Rows are boxed because a channel allocates room for its whole capacity at once.
    mailbox: mpsc::Sender<Box<OutboxRow>>,
    behind: Arc<AtomicBool>,
}

/// All actors. The rows in the database are the source of truth; the registry only wakes the actors that have to send them.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    actors: Mutex<HashMap<ConnectionId, Handle>>,
    /// Connections that need an actor. Bounded by the number of connections.
    wanted: Mutex<HashSet<ConnectionId>>,
    wake: Notify,
}

/// The receiving side of an actor's handle.
#[derive(Debug)]
pub(super) struct Mailbox {
    pub(super) rows: mpsc::Receiver<Box<OutboxRow>>,
    behind: Arc<AtomicBool>,
}

impl Mailbox {
    /// Returns whether rows were left in the database because the mailbox was full.
    pub(super) fn is_behind(&self) -> bool {
        self.behind.load(Ordering::SeqCst)
    }

    /// Like [`Self::is_behind`], and resets the flag, because the caller reads the rows now.
    pub(super) fn reset_behind(&self) -> bool {
        self.behind.swap(false, Ordering::SeqCst)
    }
}

impl Registry {
    /// Routes the outbox rows of a commit to actors. Called on the writer's thread, so it must not block.
    pub(crate) fn route(&self, rows: Vec<OutboxRow>) {
        if rows.is_empty() {
            return;
        }
        let actors = self.actors.lock().unwrap_or_else(PoisonError::into_inner);
        let mut missing = Vec::new();
        for row in rows {
            let connection = row.connection;
            match actors.get(&connection) {
                None => missing.push(connection),
                Some(handle) => match handle.mailbox.try_send(Box::new(row)) {
                    Ok(()) => {}
                    Err(mpsc::error::TrySendError::Full(_)) => handle.behind.store(true, Ordering::SeqCst),
                    Err(mpsc::error::TrySendError::Closed(_)) => missing.push(connection),
                },
            }
        }
        drop(actors);
        self.request_actors(missing);
    }

    /// Requests actors for these connections.
    pub(crate) fn request_actors(&self, connections: Vec<ConnectionId>) {
        if connections.is_empty() {
            return;
        }
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner).extend(connections);
        self.wake.notify_one();
    }

    /// Returns the number of running actors.
    pub(crate) fn awake(&self) -> usize {
        self.actors.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Ends the actor of a connection, because the connection was removed or its settings have to be loaded again.
    pub(crate) fn end(&self, connection: ConnectionId) {
        self.actors.lock().unwrap_or_else(PoisonError::into_inner).remove(&connection);
    }

    /// Removes an actor that wants to end. Returns false if rows arrived in the meantime; then the actor has to continue.
    pub(super) fn retire(&self, connection: ConnectionId, mailbox: &mut Mailbox) -> bool {
        let mut actors = self.actors.lock().unwrap_or_else(PoisonError::into_inner);
        if !mailbox.rows.is_empty() || mailbox.behind.load(Ordering::SeqCst) {
            return false;
        }
        actors.remove(&connection);
        true
    }

    /// Starts requested actors. Owns all actors and ends them when it is dropped.
    pub(crate) async fn run(self: Arc<Self>, runtime: Arc<Runtime>) {
        let mut tasks: JoinSet<ConnectionId> = JoinSet::new();
        loop {
            let wanted: Vec<ConnectionId> = self.wanted.lock().unwrap_or_else(PoisonError::into_inner).drain().collect();
            for connection in wanted {
                let mut actors = self.actors.lock().unwrap_or_else(PoisonError::into_inner);
                if actors.get(&connection).is_some_and(|handle| !handle.mailbox.is_closed()) {
                    // The actor was started in the meantime, and reads all rows from the database first.
                    continue;
                }
                let (sender, rows) = mpsc::channel(MAILBOX);
                let behind = Arc::new(AtomicBool::new(false));
                actors.insert(connection, Handle { mailbox: sender, behind: Arc::clone(&behind) });
                drop(actors);
                let mailbox = Mailbox { rows, behind };
                let (runtime, registry) = (Arc::clone(&runtime), Arc::clone(&self));
                let span = tracing::debug_span!("connection", id = %connection);
                let actor = async move {
                    actor::run(runtime, registry, connection, mailbox).await;
                    connection
                };
                tasks.spawn(actor.instrument(span));
            }
            tokio::select! {
                () = self.wake.notified() => {}
                Some(ended) = tasks.join_next() => {
                    if let Err(error) = ended && error.is_panic() {
                        tracing::error!(%error, "connection task panicked");
                    }
                }
            }
        }
    }
}
