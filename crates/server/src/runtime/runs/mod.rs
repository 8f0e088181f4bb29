//! Runs of workflows: one task owns each unfinished run.
//!
//! A commit about a step only wakes the task, which then reads the database. So a lost wake-up loses nothing and a repeated one
//! changes nothing. The service layer turns each event into one commit.

mod owner;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};

use sayso_core::id::RunId;
use sayso_store::{EventKind, StoredEvent};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use crate::service::Services;

/// A handle to the task of a run.
#[derive(Debug, Clone)]
struct RunHandle {
    look: Arc<Notify>,
    cancelled: CancellationToken,
}

/// The receiving side of a run's handle.
#[derive(Debug)]
struct RunMailbox {
    look: Arc<Notify>,
    /// Cancelled after a caller cancelled the run and the cancellation was committed.
    cancelled: CancellationToken,
}

/// The unfinished runs. The rows in the database are the source of truth; the registry only wakes the tasks.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    tasks: Mutex<HashMap<RunId, RunHandle>>,
    /// Runs whose task has to be started. Bounded by the number of runs.
    wanted: Mutex<Vec<(RunId, RunMailbox)>>,
    wake: Notify,
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Runs {
    /// Wakes the runs that a commit is about. Called on the writer's thread, so it must not block.
    pub(crate) fn wake_runs(&self, events: &[StoredEvent]) {
        let mut begun = Vec::new();
        for event in events {
            let run = match event.payload.kind() {
                EventKind::RunStarted => {
                    begun.extend(event.run);
                    None
                }
                EventKind::RunCancelled => {
                    if let Some(handle) = event.run.and_then(|run| locked(&self.tasks).get(&run).cloned()) {
                        handle.cancelled.cancel();
                    }
                    None
                }
                EventKind::SessionStatus | EventKind::SessionEnded => {
                    event.audience.as_ref().and_then(|audience| audience.step.as_ref()).map(|of| of.run)
                }
                EventKind::AskResolved | EventKind::AskDelivery | EventKind::AskParked => {
                    event.payload.ask().and_then(|ask| ask.context.run)
                }
                _ => None,
            };
            if let Some(handle) = run.and_then(|run| locked(&self.tasks).get(&run).cloned()) {
                handle.look.notify_one();
            }
        }
        self.request_tasks(begun);
    }

    /// Requests tasks for these runs.
    pub(crate) fn request_tasks(&self, runs: Vec<RunId>) {
        for run in runs {
            let mut tasks = locked(&self.tasks);
            if let Entry::Vacant(place) = tasks.entry(run) {
                let (look, cancelled) = (Arc::new(Notify::new()), CancellationToken::new());
                place.insert(RunHandle { look: Arc::clone(&look), cancelled: cancelled.clone() });
                locked(&self.wanted).push((run, RunMailbox { look, cancelled }));
            }
        }
        self.wake.notify_one();
    }

    fn forget(&self, run: RunId) {
        locked(&self.tasks).remove(&run);
    }

    /// Starts requested tasks. Owns all tasks and ends them when it is dropped.
    pub(crate) async fn run(self: Arc<Self>, services: Arc<Services>) {
        let mut tasks: JoinSet<()> = JoinSet::new();
        loop {
            let wanted = std::mem::take(&mut *locked(&self.wanted));
            for (run, mailbox) in wanted {
                let (services, runs) = (Arc::clone(&services), Arc::clone(&self));
                let span = tracing::debug_span!("run", id = %run);
                let owner = async move {
                    owner::run(&services, run, mailbox).await;
                    services.environment.forget_run(run);
                    runs.forget(run);
                };
                tasks.spawn(owner.instrument(span));
            }
            tokio::select! {
                () = self.wake.notified() => {}
                Some(ended) = tasks.join_next() => {
                    if let Err(error) = ended && error.is_panic() {
                        tracing::error!(%error, "run task panicked");
                    }
                }
            }
        }
    }
}
