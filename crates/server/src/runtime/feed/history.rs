//! Reads stored events for cursors whose position is no longer in the ring.

use futures_core::future::BoxFuture;
use sayso_store::read::{EventPage, ReadEvents};
use sayso_store::{Store, StoreError};

/// Reads short pages of stored events. Each page is one snapshot of the database.
pub(crate) trait EventHistory: Send + Sync + 'static {
    /// Reads the next events after a position.
    fn read(&self, page: ReadEvents) -> BoxFuture<'static, Result<EventPage, StoreError>>;
}

/// Reads stored events from the database.
#[derive(Debug, Clone)]
pub(crate) struct StoredHistory(pub(crate) Store);

impl EventHistory for StoredHistory {
    fn read(&self, page: ReadEvents) -> BoxFuture<'static, Result<EventPage, StoreError>> {
        let store = self.0.clone();
        Box::pin(async move { store.read(page).await })
    }
}
