//! Callers that wait for one ask's outcome.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use sayso_core::id::AskId;
use tokio::sync::Notify;

/// Who waits for which ask. An entry lives as long as somebody waits.
#[derive(Debug, Default)]
pub(crate) struct Waiters {
    waiting: Mutex<HashMap<AskId, Arc<Notify>>>,
}

/// Somebody who waits.
#[derive(Debug)]
pub(crate) struct Waiter {
    all: Arc<Waiters>,
    ask: AskId,
    notify: Arc<Notify>,
}

impl Waiters {
    /// Begins to wait. Look at the ask after this, then wait: nothing is missed.
    pub(crate) fn wait_for(self: &Arc<Self>, ask: AskId) -> Waiter {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let notify = Arc::clone(waiting.entry(ask).or_default());
        Waiter { all: Arc::clone(self), ask, notify }
    }

    /// An ask has its outcome.
    pub(crate) fn resolved(&self, ask: AskId) {
        let notify = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).get(&ask).cloned();
        if let Some(notify) = notify {
            notify.notify_waiters();
        }
    }
}

impl Waiter {
    /// Registers for the next outcome; await what it returns after looking at the ask.
    pub(crate) fn notified(&self) -> tokio::sync::futures::Notified<'_> {
        self.notify.notified()
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut waiting = self.all.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        // The map and this waiter: nobody else waits.
        if Arc::strong_count(&self.notify) <= 2 {
            waiting.remove(&self.ask);
        }
    }
}
