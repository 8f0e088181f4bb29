//! The feed as the rest of the server sees it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use sayso_store::{StoredEvent, WorkspaceId};

use super::cursor::{Cursor, Selection};
use super::frame::{Frame, LiveEvent};
use super::past::Past;
use super::render::Render;
use super::ring::{Bounds, Ring};

/// How often silent streams are looked for; see [`super::waiters::QUIET_BEATS`].
const BEAT: Duration = Duration::from_secs(5);

const BOUNDS: Bounds = Bounds { frames: 4096, bytes: 3 * 1024 * 1024 };

/// The feed of every workspace. Empty rings take no memory; they grow as events come.
#[derive(Debug)]
pub(crate) struct Feed {
    rings: RwLock<HashMap<WorkspaceId, Arc<Ring>>>,
    bounds: Bounds,
    closed: AtomicBool,
}

impl Feed {
    /// A feed without a past. Each workspace has to be seeded before its first stream.
    pub(crate) fn new() -> Arc<Self> {
        Self::with_bounds(BOUNDS)
    }

    pub(super) fn with_bounds(bounds: Bounds) -> Arc<Self> {
        Arc::new(Self { rings: RwLock::default(), bounds, closed: AtomicBool::new(false) })
    }

    /// Says where the feed of a workspace stands, once, before anything is written to it: whatever
    /// is older is read from the database.
    pub(crate) fn seed(&self, workspace: WorkspaceId, head: i64) {
        self.ring_at(workspace, head);
    }

    /// The last `seq` that was published.
    pub(crate) fn head(&self, workspace: WorkspaceId) -> i64 {
        self.ring(workspace).head()
    }

    /// How many streams there are.
    pub(crate) fn streams(&self) -> usize {
        self.all().iter().map(|ring| ring.streams()).sum()
    }

    /// Appends what a transaction committed. Called by the writer, in the order of commits; it does
    /// not block, and leaves the making of bytes to the streams.
    pub(crate) fn publish(&self, events: Vec<StoredEvent>) {
        let mut events = events.into_iter().peekable();
        while let Some(workspace) = events.peek().map(|event| event.workspace) {
            let run = std::iter::from_fn(|| events.next_if(|event| event.workspace == workspace));
            self.ring(workspace).publish(run.map(Frame::stored));
        }
    }

    /// Hands an event to those who stream right now. It is stored nowhere.
    pub(crate) fn publish_live(&self, event: LiveEvent) {
        self.ring(event.workspace).publish_live(event.session, || Frame::live(event));
    }

    /// A new stream. It holds no bytes, only its position.
    pub(crate) fn cursor<R: Render>(&self, selection: Selection, past: Arc<dyn Past>, render: R) -> Cursor<R> {
        Cursor::new(self.ring(selection.workspace), selection, past, render)
    }

    /// Keeps silent streams alive, for ever. One task does it for all of them; its owner aborts it.
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

    /// Lets every stream look whether its token still holds.
    pub(crate) fn wake(&self) {
        self.all().iter().for_each(|ring| ring.wake());
    }

    /// Ends every stream, also those still to come. Clients come back and resume.
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
        // Under the lock: either `close` finds this ring, or this sees that it was called.
        if self.closed.load(Ordering::SeqCst) {
            ring.close();
        }
        ring
    }
}
