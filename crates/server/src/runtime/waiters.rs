//! Callers that wait for one ask's outcome.

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

/// Reads an ask; while it is pending, waits for its outcome at most this long, and no longer than the caller's token is
/// valid. During the wait the keeper knows that the caller that opened the ask is still there.
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

/// Who waits for which ask. An entry lives as long as somebody waits.
#[derive(Debug, Default)]
pub(crate) struct OutcomeWaiters {
    waiting: Mutex<HashMap<AskId, Arc<Notify>>>,
}

/// Somebody who waits.
#[derive(Debug)]
pub(crate) struct Waiter {
    all: Arc<OutcomeWaiters>,
    ask: AskId,
    notify: Arc<Notify>,
}

impl OutcomeWaiters {
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
