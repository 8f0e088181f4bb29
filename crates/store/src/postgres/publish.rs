//! Tells the sink of every commit to the database, in the order of `seq`: of those of this store, and of those of other nodes.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::pool::Pool;
use crate::error::StoreError;
use crate::event::{Commit, Sink, StoredEvent, WorkspaceId};
use crate::payload::EventPayload;
use crate::read::{EventsAfter, FeedHead};
use crate::unit::Unit;

/// How many events are read at once.
const EVENTS: usize = 500;

pub(super) struct Publisher {
    pool: Arc<Pool>,
    sink: Box<dyn Sink>,
    /// The last `seq` that the sink knows.
    published: HashMap<WorkspaceId, i64>,
    /// Commits of this store that wait for events of other nodes before them, which could not be read yet.
    waiting: VecDeque<OwnCommit>,
}

struct OwnCommit {
    workspace: WorkspaceId,
    /// The last `seq` before this commit, and its own last one.
    after: i64,
    last: i64,
    commit: Commit,
}

impl Publisher {
    /// The sink knows everything that is in the database now.
    pub(super) async fn start(pool: Arc<Pool>, sink: impl Sink) -> Result<Self, StoreError> {
        let workspace = WorkspaceId::MAIN;
        let head = pool.read(FeedHead { workspace }).await?;
        let published = HashMap::from([(workspace, head)]);
        Ok(Self { pool, sink: Box::new(sink), published, waiting: VecDeque::new() })
    }

    /// Publishes the units of a batch that was committed.
    pub(super) async fn publish(&mut self, units: Vec<Unit>) {
        for unit in units {
            self.published.entry(unit.workspace).or_insert(unit.started().seq);
            let (workspace, after, last) = (unit.workspace, unit.started().seq, unit.counters.seq);
            self.waiting.push_back(OwnCommit { workspace, after, last, commit: unit.into_commit() });
        }
        self.publish_waiting().await;
    }

    /// Publishes what other nodes have committed.
    pub(super) async fn follow(&mut self) {
        self.publish_waiting().await;
        for workspace in self.published.keys().copied().collect::<Vec<_>>() {
            if let Err(error) = self.catch_up(workspace, i64::MAX).await {
                tracing::debug!(%error, "commits of other nodes not read");
            }
        }
    }

    async fn publish_waiting(&mut self) {
        while let Some(own) = self.waiting.pop_front() {
            if let Err(error) = self.catch_up(own.workspace, own.after).await {
                tracing::warn!(%error, "events of other nodes not read; trying again");
                self.waiting.push_front(own);
                return;
            }
            self.sink.committed(own.commit);
            self.published.insert(own.workspace, own.last);
        }
    }

    /// Reads and publishes events of other nodes up to this `seq`.
    async fn catch_up(&mut self, workspace: WorkspaceId, up_to: i64) -> Result<(), StoreError> {
        loop {
            let published = self.published.get(&workspace).copied().unwrap_or(0);
            if published >= up_to {
                return Ok(());
            }
            let missing = usize::try_from(up_to - published).unwrap_or(usize::MAX);
            let query = EventsAfter { workspace, after: published, session: None, limit: missing.min(EVENTS) };
            let past = self.pool.read(query).await?;
            let looked_to = past.looked_to.min(up_to);
            if looked_to <= published {
                return Ok(());
            }
            let events: Vec<_> = past.events.into_iter().filter(|event| event.seq <= up_to).collect();
            let deadlines = events.iter().filter_map(deadline).collect();
            self.sink.committed(Commit { events, outbox: Vec::new(), groups: Vec::new(), deadlines });
            self.published.insert(workspace, looked_to);
        }
    }
}

/// The deadline of an ask that was opened on another node.
fn deadline(event: &StoredEvent) -> Option<(sayso_core::id::AskId, sayso_core::time::Time)> {
    let EventPayload::AskRequested(ask) = &event.payload else { return None };
    ask.policy.deadline.as_ref().map(|deadline| (ask.id, deadline.at))
}
