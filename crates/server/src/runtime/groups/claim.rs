//! Workers: waiting for complete groups, and claiming the oldest one.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use sayso_api::group::ClaimRequest;
use tokio::sync::Notify;

use super::Groups;
use super::index::QueueKey;
use crate::auth::{Caller, Permission};
use crate::runtime::Runtime;
use crate::service::groups::{self, ClaimWish, ClaimedRun};
use crate::service::{ServiceError, authorize};

/// A waiting worker. Keeps the queue of its name alive.
struct Waiting<'a> {
    groups: &'a Groups,
    key: QueueKey,
    notify: Arc<Notify>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        // The two references are the index and this worker, so no other worker waits.
        self.groups.lock().drop_idle_queue(&self.key, 2);
    }
}

/// Returns how many groups with this name can be claimed. If there is none, waits for one, at most this long and no longer than
/// the caller's token is valid.
///
/// Waiting claims nothing, because a worker that disconnects during the wait must not hold a claim.
pub(crate) async fn wait_until_ready(
    runtime: &Runtime,
    caller: &Caller,
    name: String,
    wait: Duration,
) -> Result<usize, ServiceError> {
    authorize(caller, Permission::Open)?;
    let clock = &runtime.services.clock;
    let until = tokio::time::Instant::now() + wait.min(caller.valid_for(clock.now()).unwrap_or(wait));
    let key = QueueKey { token: caller.token, name };
    let notify = runtime.groups.lock().waiters(&key);
    let waiting = Waiting { groups: &runtime.groups, key, notify };
    let mut revoked = pin!(caller.revoked());
    loop {
        let notified = waiting.notify.notified();
        let ready = runtime.groups.lock().count_ready(&waiting.key);
        if ready > 0 {
            return Ok(ready);
        }
        let woken = tokio::select! {
            biased;
            () = &mut revoked => false,
            woken = tokio::time::timeout_at(until, notified) => woken.is_ok(),
        };
        if !caller.is_valid(clock.now()) {
            return Err(ServiceError::TokenEnded);
        }
        if !woken {
            return Ok(0);
        }
    }
}

/// Claims the group with this id, or the oldest complete group with this name. `None` if there is none.
pub(crate) async fn claim(
    runtime: &Runtime,
    caller: &Caller,
    request: ClaimRequest,
    call: Option<String>,
) -> Result<Option<ClaimedRun>, ServiceError> {
    let services = &runtime.services;
    let wish = ClaimWish::new(caller, &request, call)?;
    let name = match (request.name, request.group) {
        (None, Some(group)) => return groups::claim(services, caller, groups::group_id(&group)?, &wish).await.map(Some),
        (Some(name), None) => name,
        (Some(_), Some(_)) | (None, None) => return Err(ServiceError::invalid("send either name or group")),
    };
    let before = wish.call.as_deref().and_then(|call| runtime.groups.lock().claimed_by(caller.token, call));
    if let Some(group) = before {
        return groups::claim(services, caller, group, &wish).await.map(Some);
    }
    let key = QueueKey { token: caller.token, name };
    loop {
        let Some(group) = runtime.groups.lock().take_ready(&key) else { return Ok(None) };
        match groups::claim(services, caller, group, &wish).await {
            Ok(claimed) => return Ok(Some(claimed)),
            // Claimed by its id, withdrawn or expired in the meantime.
            Err(ServiceError::GroupNotReady | ServiceError::GroupEnded | ServiceError::GroupNotFound) => {}
            Err(error) => {
                runtime.groups.lock().put_back(&key, group);
                return Err(error);
            }
        }
    }
}
