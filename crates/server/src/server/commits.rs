//! Routes every commit to the parts of the runtime that react to it.

use std::sync::Arc;

use sayso_store::{Commit, EventPayload};

use crate::runtime::ask_log;
use crate::runtime::connection::Registry;
use crate::runtime::deadlines::Deadlines;
use crate::runtime::feed::Feed;
use crate::runtime::groups::Groups;
use crate::runtime::keeper::Keeper;
use crate::runtime::metrics::Metrics;
use crate::runtime::notify::Notifier;
use crate::runtime::runs::Runs;
use crate::runtime::waiters::OutcomeWaiters;

/// The consumers of commits. The store holds one copy, the runtime another.
#[derive(Debug, Clone)]
pub(super) struct CommitListeners {
    pub(super) feed: Arc<Feed>,
    pub(super) waiters: Arc<OutcomeWaiters>,
    pub(super) keeper: Arc<Keeper>,
    pub(super) connections: Arc<Registry>,
    pub(super) deadlines: Arc<Deadlines>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) runs: Arc<Runs>,
    pub(super) notifier: Arc<Notifier>,
    pub(super) groups: Arc<Groups>,
}

impl CommitListeners {
    pub(super) fn new(notifier: Notifier, groups: Groups) -> Self {
        Self {
            feed: Feed::new(),
            waiters: Arc::default(),
            keeper: Arc::default(),
            connections: Arc::default(),
            deadlines: Arc::default(),
            metrics: Arc::default(),
            runs: Arc::default(),
            notifier: Arc::new(notifier),
            groups: Arc::new(groups),
        }
    }

    /// Called on the writer's thread before the callers of the committed operations get their results. Must not block.
    pub(super) fn committed(&self, commit: Commit) {
        ask_log::log_commit(&commit.events);
        self.metrics.count(&commit.events);
        self.groups.changed(commit.groups);
        for event in &commit.events {
            if let EventPayload::AskRequested(ask) = &event.payload {
                self.keeper.requested(ask, event.at);
            } else if let EventPayload::AskResolved(ask) = &event.payload {
                self.waiters.resolved(ask.id);
                self.keeper.resolved(ask.id);
                self.groups.ask_resolved(ask.id);
            }
        }
        self.runs.wake_runs(&commit.events);
        self.notifier.observe_events(&commit.events);
        self.feed.publish(commit.events);
        self.connections.route(commit.outbox);
        self.deadlines.add(commit.deadlines);
    }
}
