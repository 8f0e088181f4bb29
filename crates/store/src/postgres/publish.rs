//! Passes every commit to the sink in the order of `seq`: commits of this store and of other nodes.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::pool::Pool;
use crate::error::StoreError;
use crate::event::{Commit, Sink, StoredEvent, WorkspaceId};
use crate::payload::EventPayload;
use crate::read::{ReadEvents, ReadFeedHead};
use crate::unit::Unit;

/// The number of events per page.
const EVENTS: usize = 500;

pub(super) struct Publisher {
    pool: Arc<Pool>,
    sink: Box<dyn Sink>,
    /// The last `seq` that the sink received.
    published: HashMap<WorkspaceId, i64>,
    /// Commits of this store that wait because earlier events of other nodes could not be read.
    waiting: VecDeque<OwnCommit>,
}

struct OwnCommit {
    workspace: WorkspaceId,
    /// The last `seq` before this commit.
    after: i64,
    last: i64,
    commit: Commit,
}

impl Publisher {
    /// Starts with the current end of the feed. The sink receives only later commits.
    pub(super) async fn start(pool: Arc<Pool>, sink: impl Sink) -> Result<Self, StoreError> {
        let workspace = WorkspaceId::MAIN;
        let head = pool.read(ReadFeedHead { workspace }).await?;
        let published = HashMap::from([(workspace, head)]);
        Ok(Self { pool, sink: Box::new(sink), published, waiting: VecDeque::new() })
    }

    /// Publishes the units of a committed batch.
    pub(super) async fn publish(&mut self, units: Vec<Unit>) {
        for unit in units {
            self.published.entry(unit.workspace).or_insert(unit.started().seq);
            let (workspace, after, last) = (unit.workspace, unit.started().seq, unit.counters.seq);
            self.waiting.push_back(OwnCommit { workspace, after, last, commit: unit.into_commit() });
        }
        self.publish_waiting().await;
    }

    /// Publishes the commits of other nodes.
    pub(super) async fn follow(&mut self) {
        self.publish_waiting().await;
        for workspace in self.published.keys().copied().collect::<Vec<_>>() {
            if let Err(error) = self.catch_up(workspace, i64::MAX).await {
                tracing::debug!(%error, "cannot read commits of other nodes");
            }
        }
    }

    async fn publish_waiting(&mut self) {
        while let Some(own) = self.waiting.pop_front() {
            if let Err(error) = self.catch_up(own.workspace, own.after).await {
                tracing::warn!(%error, "cannot read events of other nodes; retrying");
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
            let query = ReadEvents { workspace, after: published, session: None, limit: missing.min(EVENTS) };
            let past = self.pool.read(query).await?;
            let scanned_to = past.scanned_to.min(up_to);
            if scanned_to <= published {
                return Ok(());
            }
            let events: Vec<_> = past.events.into_iter().filter(|event| event.seq <= up_to).collect();
            let deadlines = events.iter().filter_map(deadline).collect();
            self.sink.committed(Commit { events, outbox: Vec::new(), groups: Vec::new(), deadlines });
            self.published.insert(workspace, scanned_to);
        }
    }
}

/// Returns the deadline of an ask that another node opened.
fn deadline(event: &StoredEvent) -> Option<(sayso_core::id::AskId, sayso_core::time::Time)> {
    let EventPayload::AskRequested(ask) = &event.payload else { return None };
    ask.policy.deadline.as_ref().map(|deadline| (ask.id, deadline.at))
}
