//! The interface of the feed to the rest of the server.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use sayso_store::{StoredEvent, WorkspaceId};

use super::cursor::{Cursor, Selection};
use super::frame::{Frame, LiveEvent};
use super::history::EventHistory;
use super::render::Render;
use super::ring::{Bounds, Ring};

/// The interval between checks for quiet streams; see [`super::waiters::QUIET_BEATS`].
const BEAT: Duration = Duration::from_secs(5);

const BOUNDS: Bounds = Bounds { frames: 4096, bytes: 3 * 1024 * 1024 };

/// The feeds of all workspaces. Empty rings use no memory; they grow as events arrive.
#[derive(Debug)]
pub(crate) struct Feed {
    rings: RwLock<HashMap<WorkspaceId, Arc<Ring>>>,
    bounds: Bounds,
    closed: AtomicBool,
}

impl Feed {
    /// Creates a feed. Each workspace has to be seeded before its first stream.
    pub(crate) fn new() -> Arc<Self> {
        Self::with_bounds(BOUNDS)
    }

    pub(super) fn with_bounds(bounds: Bounds) -> Arc<Self> {
        Arc::new(Self { rings: RwLock::default(), bounds, closed: AtomicBool::new(false) })
    }

    /// Sets the current position of a workspace's feed, once, before anything is published to it. Earlier events are read from
    /// the database.
    pub(crate) fn seed(&self, workspace: WorkspaceId, head: i64) {
        self.ring_at(workspace, head);
    }

    /// Returns the last published `seq`.
    pub(crate) fn head(&self, workspace: WorkspaceId) -> i64 {
        self.ring(workspace).head()
    }

    /// Returns the number of open streams.
    pub(crate) fn streams(&self) -> usize {
        self.all().iter().map(|ring| ring.streams()).sum()
    }

    /// Appends the events of a commit. Called on the writer's thread, in commit order. It does not block, and leaves rendering
    /// to the streams.
    pub(crate) fn publish(&self, events: Vec<StoredEvent>) {
        let mut events = events.into_iter().peekable();
        while let Some(workspace) = events.peek().map(|event| event.workspace) {
            let run = std::iter::from_fn(|| events.next_if(|event| event.workspace == workspace));
            self.ring(workspace).publish(run.map(Frame::stored));
        }
    }

    /// Publishes an event to the streams that are open now. It is not stored.
    pub(crate) fn publish_live(&self, event: LiveEvent) {
        self.ring(event.workspace).publish_live(event.session, || Frame::live(event));
    }

    /// Opens a stream. A stream holds no bytes, only its position.
    pub(crate) fn cursor<R: Render>(&self, selection: Selection, past: Arc<dyn EventHistory>, render: R) -> Cursor<R> {
        Cursor::new(self.ring(selection.workspace), selection, past, render)
    }

    /// Sends heartbeats to quiet streams until it is aborted. One task serves all streams.
    pub(crate) async fn keep_alive(&self) {
        let mut ticks = tokio::time::interval(BEAT);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            self.beat();
        }
    }

    pub(crate) fn beat(&self) {
        self.all().iter().for_each(|ring| ring.beat());
    }

    /// Wakes every stream, so that each checks whether its token is still valid.
    pub(crate) fn wake(&self) {
        self.all().iter().for_each(|ring| ring.wake());
    }

    /// Closes all current and future streams. Clients reconnect to the next server and resume.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        self.all().iter().for_each(|ring| ring.close());
    }

    fn all(&self) -> Vec<Arc<Ring>> {
        self.rings.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    fn ring(&self, workspace: WorkspaceId) -> Arc<Ring> {
        let known = self.rings.read().unwrap_or_else(PoisonError::into_inner).get(&workspace).cloned();
        known.unwrap_or_else(|| self.ring_at(workspace, 0))
    }

    fn ring_at(&self, workspace: WorkspaceId, head: i64) -> Arc<Ring> {
        let mut rings = self.rings.write().unwrap_or_else(PoisonError::into_inner);
        let ring = Arc::clone(rings.entry(workspace).or_insert_with(|| Arc::new(Ring::new(head, self.bounds))));
        // Checked under the lock, so that either `close` finds this ring or this call sees that `close` ran.
        if self.closed.load(Ordering::SeqCst) {
            ring.close();
        }
        ring
    }
}
