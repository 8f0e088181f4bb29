//! Fires the deadlines of asks. Deadlines are absolute times stored with the ask; this module only knows when to check them. An
//! expired ask is decided with the same compare-and-set as any other outcome.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sayso_core::id::AskId;
use sayso_core::time::Time;
use sayso_store::ops::{ExpireAsk, ExpireAskResult};
use tokio::sync::Notify;

use crate::service::Services;

/// How long to wait before a failed deadline is tried again.
const RETRY: Duration = Duration::from_secs(5);

/// The times at which asks have to be checked. Bounded by the number of pending asks.
#[derive(Debug, Default)]
pub(crate) struct Deadlines {
    due: Mutex<BTreeSet<(Time, AskId)>>,
    changed: Notify,
}

impl Deadlines {
    /// Records deadlines. Called on the writer's thread, so it must not block.
    pub(crate) fn add(&self, deadlines: impl IntoIterator<Item = (AskId, Time)>) {
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        let before = due.len();
        due.extend(deadlines.into_iter().map(|(ask, at)| (at, ask)));
        if due.len() != before {
            self.changed.notify_one();
        }
    }

    /// Delays all deadlines that would fire before `then`.
    fn hold_until(&self, then: Time) {
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        while due.first().is_some_and(|(at, _)| *at < then)
            && let Some((_, ask)) = due.pop_first()
        {
            due.insert((then, ask));
        }
    }

    fn first(&self) -> Option<Time> {
        self.due.lock().unwrap_or_else(PoisonError::into_inner).first().map(|(at, _)| *at)
    }

    fn take_due(&self, now: Time) -> Vec<AskId> {
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        let mut taken = Vec::new();
        while due.first().is_some_and(|(at, _)| *at <= now)
            && let Some((_, ask)) = due.pop_first()
        {
            taken.push(ask);
        }
        taken
    }
}

/// Fires deadlines until it is aborted. After the start and after the machine wakes up, no deadline fires within `grace`, so
/// that people can still answer asks whose deadline passed during sleep.
pub(crate) async fn run(services: Arc<Services>, deadlines: Arc<Deadlines>, grace: Duration) {
    deadlines.hold_until(services.clock.now().plus(grace));
    loop {
        let changed = deadlines.changed.notified();
        let before = services.clock.read();
        match deadlines.first() {
            None => changed.await,
            Some(at) => {
                tokio::select! {
                    () = changed => {}
                    () = services.clock.sleep_until(at) => {}
                }
            }
        }
        let after = services.clock.read();
        if before.slept_until(after) > Duration::from_secs(5) {
            deadlines.hold_until(after.wall.plus(grace));
        }
        for ask in deadlines.take_due(after.wall) {
            match services.store.write(ExpireAsk { workspace: services.workspace, ask }).await {
                Ok(ExpireAskResult::Ask(_) | ExpireAskResult::Over) => {}
                // The clock of the store is behind the server's clock, or the server's clock was set back.
                Ok(ExpireAskResult::NotYet(at)) => deadlines.add([(ask, at.max(services.clock.now().plus(RETRY)))]),
                Err(error) => {
                    // Most likely the disk is full. The ask stays pending and is tried again.
                    tracing::warn!(%error, %ask, "cannot store an expired deadline; trying again");
                    deadlines.add([(ask, after.wall.plus(RETRY))]);
                }
            }
        }
    }
}
