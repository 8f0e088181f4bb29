//! The in-memory index of groups that have not ended.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use sayso_core::group::{Group, GroupPhase};
use sayso_core::id::{AskId, GroupId, TokenId};
use sayso_core::time::Time;
use tokio::sync::Notify;

/// The token and name whose groups share a queue.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct QueueKey {
    pub(super) token: TokenId,
    pub(super) name: String,
}

/// The complete groups of one name, oldest first, and the workers that wait for them.
#[derive(Debug, Default)]
struct ReadyQueue {
    groups: VecDeque<GroupId>,
    notify: Arc<Notify>,
}

#[derive(Debug)]
struct Tracked {
    group: Arc<Group>,
    due: Option<Time>,
    callback: Option<Time>,
}

/// Bounded by the number of groups that have not ended, and the number of waiting workers.
#[derive(Debug, Default)]
pub(super) struct GroupIndex {
    groups: HashMap<GroupId, Tracked>,
    /// The groups that wait for each pending ask.
    asks: HashMap<AskId, Vec<GroupId>>,
    ready: HashMap<QueueKey, ReadyQueue>,
    /// The group that each idempotent call claimed, so that a repeated call finds its claim.
    calls: HashMap<(TokenId, String), GroupId>,
    due: BTreeSet<(Time, GroupId)>,
    callbacks: BTreeSet<(Time, GroupId)>,
    look_at: BTreeSet<GroupId>,
}

fn queue_key(group: &Group) -> QueueKey {
    QueueKey { token: group.opened_by, name: group.name.clone() }
}

/// Returns the asks whose outcomes the group waits for.
fn awaited(group: &Group) -> Vec<AskId> {
    match &group.phase {
        GroupPhase::Pending => group.asks.clone(),
        GroupPhase::Uncertain { ask, .. } => vec![*ask],
        GroupPhase::Ready { .. } | GroupPhase::Claimed { .. } | GroupPhase::Ended { .. } => Vec::new(),
    }
}

fn call_of(group: &Group) -> Option<(TokenId, String)> {
    match &group.phase {
        GroupPhase::Claimed { claim } => claim.call.clone().map(|call| (group.opened_by, call)),
        GroupPhase::Pending | GroupPhase::Ready { .. } | GroupPhase::Uncertain { .. } | GroupPhase::Ended { .. } => None,
    }
}

impl GroupIndex {
    /// Replaces the entry of a group.
    pub(super) fn put(&mut self, group: Arc<Group>) {
        self.forget(group.id);
        if group.is_over() {
            return;
        }
        for ask in awaited(&group) {
            self.asks.entry(ask).or_default().push(group.id);
        }
        if let GroupPhase::Ready { .. } = group.phase {
            let queue = self.ready.entry(queue_key(&group)).or_default();
            queue.groups.push_back(group.id);
            queue.notify.notify_one();
        }
        if let Some(call) = call_of(&group) {
            self.calls.insert(call, group.id);
        }
        let (due, callback) = (group.due(), group.callback_due());
        self.due.extend(due.map(|at| (at, group.id)));
        self.callbacks.extend(callback.map(|at| (at, group.id)));
        self.groups.insert(group.id, Tracked { group, due, callback });
    }

    fn forget(&mut self, id: GroupId) {
        let Some(Tracked { group, due, callback }) = self.groups.remove(&id) else { return };
        for ask in awaited(&group) {
            if let Some(waiting) = self.asks.get_mut(&ask) {
                waiting.retain(|waiting| *waiting != id);
                if waiting.is_empty() {
                    self.asks.remove(&ask);
                }
            }
        }
        if let GroupPhase::Ready { .. } = group.phase {
            let key = queue_key(&group);
            if let Some(queue) = self.ready.get_mut(&key) {
                // A claim has taken it from the front already.
                queue.groups.retain(|waiting| *waiting != id);
            }
            self.drop_idle_queue(&key, 1);
        }
        if let Some(call) = call_of(&group) {
            self.calls.remove(&call);
        }
        due.map(|at| self.due.remove(&(at, id)));
        callback.map(|at| self.callbacks.remove(&(at, id)));
    }

    /// Returns whether a group waits for this ask.
    pub(super) fn ask_resolved(&mut self, ask: AskId) -> bool {
        let Some(waiting) = self.asks.get(&ask) else { return false };
        self.look_at.extend(waiting.iter().copied());
        true
    }

    pub(super) fn look_at(&mut self, group: GroupId) {
        self.look_at.insert(group);
    }

    /// Removes the next group from its queue and returns it, so that two workers do not try the same one.
    pub(super) fn take_ready(&mut self, key: &QueueKey) -> Option<GroupId> {
        self.ready.get_mut(key)?.groups.pop_front()
    }

    /// Puts back a group that could not be claimed.
    pub(super) fn put_back(&mut self, key: &QueueKey, id: GroupId) {
        let is_ready = |tracked: &Tracked| matches!(tracked.group.phase, GroupPhase::Ready { .. });
        if self.groups.get(&id).is_some_and(is_ready) {
            let queue = self.ready.entry(key.clone()).or_default();
            if !queue.groups.contains(&id) {
                queue.groups.push_front(id);
                queue.notify.notify_one();
            }
        }
    }

    pub(super) fn count_ready(&self, key: &QueueKey) -> usize {
        self.ready.get(key).map_or(0, |queue| queue.groups.len())
    }

    pub(super) fn waiters(&mut self, key: &QueueKey) -> Arc<Notify> {
        Arc::clone(&self.ready.entry(key.clone()).or_default().notify)
    }

    /// Removes a queue if it is empty and has only this many references.
    pub(super) fn drop_idle_queue(&mut self, key: &QueueKey, references: usize) {
        if self.ready.get(key).is_some_and(|queue| queue.groups.is_empty() && Arc::strong_count(&queue.notify) <= references) {
            self.ready.remove(key);
        }
    }

    /// Returns the group that this call claimed.
    pub(super) fn claimed_by(&self, token: TokenId, call: &str) -> Option<GroupId> {
        self.calls.get(&(token, call.to_owned())).copied()
    }

    /// Returns when the task has work again; `None` if only a commit can cause work.
    pub(super) fn next_due(&self) -> Option<Time> {
        [&self.due, &self.callbacks].into_iter().filter_map(|due| due.first().map(|(at, _)| *at)).min()
    }

    /// Extends leases that would expire before this time, because workers could not renew them while the server was down.
    pub(super) fn hold_until(&mut self, then: Time) {
        while self.due.first().is_some_and(|(at, _)| *at < then)
            && let Some((_, id)) = self.due.pop_first()
        {
            self.due.insert((then, id));
            if let Some(tracked) = self.groups.get_mut(&id) {
                tracked.due = Some(then);
            }
        }
    }

    /// Removes and returns the groups that are due now.
    pub(super) fn take_due(&mut self, now: Time) -> Vec<Arc<Group>> {
        let mut ids = std::mem::take(&mut self.look_at);
        while self.due.first().is_some_and(|(at, _)| *at <= now)
            && let Some((_, id)) = self.due.pop_first()
        {
            ids.insert(id);
        }
        ids.into_iter().filter_map(|id| self.groups.get(&id).map(|tracked| Arc::clone(&tracked.group))).collect()
    }

    /// Removes and returns up to this many groups whose callback is due now.
    pub(super) fn take_callbacks(&mut self, now: Time, limit: usize) -> Vec<Arc<Group>> {
        let mut found = Vec::new();
        while found.len() < limit
            && self.callbacks.first().is_some_and(|(at, _)| *at <= now)
            && let Some((_, id)) = self.callbacks.pop_first()
        {
            found.extend(self.groups.get(&id).map(|tracked| Arc::clone(&tracked.group)));
        }
        found
    }

    /// Schedules the next check of a group.
    pub(super) fn again_at(&mut self, id: GroupId, at: Time) {
        if let Some(tracked) = self.groups.get_mut(&id) {
            tracked.due = Some(at);
            self.due.insert((at, id));
        }
    }
}
