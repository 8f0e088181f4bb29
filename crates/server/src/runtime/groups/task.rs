//! The task that completes groups, expires claims and calls callback targets.

use std::sync::Arc;
use std::time::Duration;

use sayso_core::group::{Group, GroupEnd, GroupPhase};
use sayso_core::time::Time;
use sayso_store::ops::{RecordCallback, RefreshGroup};
use sayso_store::read::GetGroup;
use serde::Serialize;
use tokio::task::JoinSet;

use super::Groups;
use crate::runtime::notify::Next;
use crate::service::Services;
use crate::service::groups::{lease_expired, question_about};

/// How long to wait before a failed commit is retried.
const RETRY: Duration = Duration::from_secs(5);
/// Maximum number of concurrent callbacks.
const CALLS: usize = 16;

/// Runs until it is dropped. No lease expires within `grace` after the start.
pub(crate) async fn run(services: Arc<Services>, groups: Arc<Groups>, grace: Duration) {
    groups.lock().hold_until(services.clock.now().plus(grace));
    let mut calls: JoinSet<()> = JoinSet::new();
    loop {
        let changed = groups.changed.notified();
        let now = services.clock.now();
        let due = groups.lock().take_due(now);
        for group in due {
            tend(&services, &groups, &group).await;
        }
        let due = groups.lock().take_callbacks(services.clock.now(), CALLS.saturating_sub(calls.len()));
        for group in due {
            let (services, groups) = (Arc::clone(&services), Arc::clone(&groups));
            calls.spawn(async move { call_back(&services, &groups, &group).await });
        }
        let next = groups.lock().next_due().filter(|_| calls.len() < CALLS);
        let sleep = async {
            match next {
                Some(at) => services.clock.sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = changed => {}
            () = sleep => {}
            Some(_) = calls.join_next() => {}
        }
    }
}

async fn tend(services: &Services, groups: &Groups, group: &Group) {
    let question = Box::new(question_about(services, group, &lease_expired(group)));
    let tended = services.store.write(RefreshGroup { workspace: services.workspace, group: group.id, question }).await;
    let again = match tended {
        // The clock of the store is behind the clock of the server.
        Ok(Some(group)) => group.due().filter(|_| !group.is_over()),
        Ok(None) => None,
        Err(error) => {
            tracing::warn!(%error, group = %group.id, "could not store a group; trying again");
            Some(services.clock.now().plus(RETRY))
        }
    };
    if let Some(at) = again {
        groups.lock().again_at(group.id, at);
    }
}

#[derive(Serialize)]
struct CallbackEvent {
    #[serde(rename = "type")]
    kind: &'static str,
    timestamp: Time,
    data: CallbackData,
}

/// The body of a callback. Contains only ids and statuses; the receiver reads the rest with its token.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CallbackData {
    group_id: String,
    name: String,
    asks: Vec<CallbackAsk>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CallbackAsk {
    id: String,
    status: &'static str,
    timed_out: bool,
}

async fn call_back(services: &Services, groups: &Groups, group: &Group) {
    let Some(callback) = &group.callback else { return };
    let (workspace, id) = (services.workspace, group.id);
    let (sent, retry) = match groups.targets.get(&callback.target) {
        // The target was removed from the configuration, and may be added again.
        None => (false, true),
        Some(target) => {
            let query = GetGroup { workspace, group: id, token: group.opened_by };
            let found = services.store.read(query).await.ok().flatten();
            let asks = found.map(|found| found.asks).unwrap_or_default();
            let asks = asks.iter().map(|ask| CallbackAsk {
                id: ask.id.to_string(),
                status: ask.outcome().map_or("pending", |outcome| outcome.decision.status().as_str()),
                timed_out: ask.outcome().is_some_and(|outcome| matches!(outcome.by, sayso_core::actor::Actor::Timeout { .. })),
            });
            let kind = match &group.phase {
                GroupPhase::Ended { end: GroupEnd::Withdrawn, .. } => "group.withdrawn",
                GroupPhase::Pending
                | GroupPhase::Ready { .. }
                | GroupPhase::Claimed { .. }
                | GroupPhase::Uncertain { .. }
                | GroupPhase::Ended { .. } => "group.completed",
            };
            let now = services.clock.now();
            let data = CallbackData { group_id: id.to_string(), name: group.name.clone(), asks: asks.collect() };
            match target.send_event(&id.to_string(), CallbackEvent { kind, timestamp: now, data }, now).await {
                Ok(()) => (true, false),
                Err(failure) => {
                    tracing::warn!(group = %id, target = %callback.target, reason = %failure.reason, "callback failed");
                    (false, matches!(failure.next, Next::Later(_)))
                }
            }
        }
    };
    // If this is not stored, the next server process calls the target again, with the same webhook id.
    if let Err(error) = services.store.write(RecordCallback { workspace, group: id, sent, retry }).await {
        tracing::warn!(%error, group = %id, "could not store the result of a callback");
    }
}
