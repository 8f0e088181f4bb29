//! Callers that wait for the outcome of one ask.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sayso_core::ask::{Ask, AskState, Reach};
use sayso_core::id::AskId;
use sayso_store::ops::SetReach;
use tokio::sync::Notify;

use super::Runtime;
use crate::auth::Caller;
use crate::service::{ServiceError, asks};

/// Reads an ask. While it is pending, waits for its outcome for at most this long, and no longer than the caller's token is
/// valid. During the wait, the keeper counts the caller that opened the ask as present.
pub(crate) async fn wait_for_outcome(runtime: &Runtime, caller: &Caller, id: AskId, wait: Duration) -> Result<Ask, ServiceError> {
    let services = &runtime.services;
    let valid_for = caller.valid_for(services.clock.now()).unwrap_or(wait);
    let until = tokio::time::Instant::now() + wait.min(valid_for);
    let mut revoked = pin!(caller.revoked());
    let waiter = runtime.waiters.wait_for(id);
    let mut attending = None;
    loop {
        let notified = waiter.notified();
        let ask = asks::find(services, caller, id).await?;
        let pending = matches!(ask.state, AskState::Pending(_));
        if let (true, Some(keep), None) = (pending && !wait.is_zero(), ask.context.keep, &attending)
            && ask.origin.opened_by == Some(caller.token)
        {
            attending = Some(runtime.keeper.attend(id, caller.token, keep.0, &services.clock));
            if matches!(ask.state, AskState::Pending(Reach::Parked)) {
                let back = SetReach { workspace: caller.workspace, ask: id, reach: Reach::Live };
                services.store.write(back).await?;
            }
        }
        let has_outcome = async { if pending { tokio::time::timeout_at(until, notified).await.is_ok() } else { false } };
        let look_again = tokio::select! {
            biased;
            () = &mut revoked => false,
            has_outcome = has_outcome => has_outcome,
        };
        if !caller.is_valid(services.clock.now()) {
            return Err(ServiceError::TokenEnded);
        }
        if !look_again {
            return Ok(ask);
        }
    }
}

/// The waiting callers by ask. An entry lives as long as a caller waits.
#[derive(Debug, Default)]
pub(crate) struct OutcomeWaiters {
    waiting: Mutex<HashMap<AskId, Arc<Notify>>>,
}

/// One waiting caller.
#[derive(Debug)]
pub(crate) struct Waiter {
    all: Arc<OutcomeWaiters>,
    ask: AskId,
    notify: Arc<Notify>,
}

impl OutcomeWaiters {
    /// Registers a waiter. Read the ask after registering, then wait; this order misses no outcome.
    pub(crate) fn wait_for(self: &Arc<Self>, ask: AskId) -> Waiter {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let notify = Arc::clone(waiting.entry(ask).or_default());
        Waiter { all: Arc::clone(self), ask, notify }
    }

    /// Wakes the waiters of an ask that has its outcome.
    pub(crate) fn resolved(&self, ask: AskId) {
        let notify = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).get(&ask).cloned();
        if let Some(notify) = notify {
            notify.notify_waiters();
        }
    }
}

impl Waiter {
    /// Registers for the next outcome. Read the ask first, then await the result.
    pub(crate) fn notified(&self) -> tokio::sync::futures::Notified<'_> {
        self.notify.notified()
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut waiting = self.all.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        // One reference is in the map and one is this waiter, so there are no others.
        if Arc::strong_count(&self.notify) <= 2 {
            waiting.remove(&self.ask);
        }
    }
}
