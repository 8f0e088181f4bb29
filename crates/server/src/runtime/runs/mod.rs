//! Runs of workflows: one task owns each that is under way.
//!
//! A commit that changes something about a step only wakes the task; what happened it reads from the
//! database, so nothing is missed and nothing is done twice. `transition` turns what happened into the
//! one transaction that follows from it.

mod owner;
mod transition;

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use sayso_core::id::RunId;
use sayso_core::run::Run;
use sayso_store::{EventKind, StoredEvent};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinSet;

use crate::app::App;

pub(crate) use transition::begin;

/// How many may want to cancel a run at once; one more waits.
const CANCELS: usize = 4;

/// A person wants to end a run.
#[derive(Debug)]
pub(crate) struct Cancel {
    reason: String,
    /// The run as it stands then; nothing if it could not be stored.
    done: oneshot::Sender<Box<Run>>,
}

/// The way to the task of a run.
#[derive(Debug, Clone)]
struct Handle {
    look: Arc<Notify>,
    cancel: mpsc::Sender<Cancel>,
}

/// What the task of a run has of the registry.
#[derive(Debug)]
struct Mailbox {
    look: Arc<Notify>,
    cancels: mpsc::Receiver<Cancel>,
}

/// The runs that are under way. Rows are the truth; this only wakes whoever moves them.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    tasks: Mutex<HashMap<RunId, Handle>>,
    /// Runs whose task is to be started. Bounded by the number of runs.
    wanted: Mutex<Vec<(RunId, Mailbox)>>,
    wake: Notify,
    /// Variables of the callers for their agents: in memory only.
    variables: Mutex<HashMap<RunId, BTreeMap<String, String>>>,
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Runs {
    /// Wakes the runs that a commit is about. Called by the writer, so it must not block.
    pub(crate) fn heard(&self, events: &[StoredEvent]) {
        let mut begun = Vec::new();
        for event in events {
            let run = match event.kind {
                EventKind::RunStarted => {
                    begun.extend(event.run);
                    None
                }
                EventKind::SessionStatus | EventKind::SessionEnded => {
                    event.about.as_ref().and_then(|about| about.step.as_ref()).map(|of| of.run)
                }
                EventKind::AskResolved | EventKind::AskDelivery | EventKind::AskParked => {
                    event.ask.as_ref().and_then(|ask| ask.context.run)
                }
                _ => None,
            };
            if let Some(handle) = run.and_then(|run| locked(&self.tasks).get(&run).cloned()) {
                handle.look.notify_one();
            }
        }
        self.want(begun);
    }

    /// Asks for tasks for these runs.
    pub(crate) fn want(&self, runs: Vec<RunId>) {
        for run in runs {
            let mut tasks = locked(&self.tasks);
            if let Entry::Vacant(place) = tasks.entry(run) {
                let (cancel, cancels) = mpsc::channel(CANCELS);
                let look = Arc::new(Notify::new());
                place.insert(Handle { look: Arc::clone(&look), cancel });
                locked(&self.wanted).push((run, Mailbox { look, cancels }));
            }
        }
        self.wake.notify_one();
    }

    /// Ends a run; the run as it stands then. Nothing if it is over.
    pub(crate) async fn cancel(&self, run: RunId, reason: String) -> Option<Box<Run>> {
        let handle = locked(&self.tasks).get(&run).cloned()?;
        let (done, ended) = oneshot::channel();
        handle.cancel.send(Cancel { reason, done }).await.ok()?;
        ended.await.ok()
    }

    /// Keeps the caller's variables for the agents of a run.
    pub(crate) fn keep_variables(&self, run: RunId, variables: BTreeMap<String, String>) {
        if !variables.is_empty() {
            locked(&self.variables).insert(run, variables);
        }
    }

    fn variables(&self, run: RunId) -> BTreeMap<String, String> {
        locked(&self.variables).get(&run).cloned().unwrap_or_default()
    }

    /// Forgets a run that is over, or never began.
    pub(crate) fn forget(&self, run: RunId) {
        locked(&self.tasks).remove(&run);
        locked(&self.variables).remove(&run);
    }

    /// Starts tasks as they are wanted, for ever; owns them all, and ends them when it is dropped.
    pub(crate) async fn run(self: Arc<Self>, app: Arc<App>) {
        let mut tasks: JoinSet<()> = JoinSet::new();
        loop {
            let wanted = std::mem::take(&mut *locked(&self.wanted));
            for (run, mailbox) in wanted {
                let (app, runs) = (Arc::clone(&app), Arc::clone(&self));
                tasks.spawn(async move {
                    owner::run(&app, run, mailbox).await;
                    runs.forget(run);
                });
            }
            tokio::select! {
                () = self.wake.notified() => {}
                Some(ended) = tasks.join_next() => {
                    if let Err(error) = ended && error.is_panic() {
                        tracing::error!(%error, "a run's task broke");
                    }
                }
            }
        }
    }
}
