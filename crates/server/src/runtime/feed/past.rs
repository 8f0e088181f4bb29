//! The past: where a cursor reads what the ring no longer has.

use futures_core::future::BoxFuture;
use sayso_store::read::{EventsAfter, PastEvents};
use sayso_store::{Store, StoreError};

/// Reads short pages of stored events. One page is one snapshot.
pub(crate) trait Past: Send + Sync + 'static {
    /// The next events after a place.
    fn read(&self, page: EventsAfter) -> BoxFuture<'static, Result<PastEvents, StoreError>>;
}

/// The database as the past.
#[derive(Debug, Clone)]
pub(crate) struct StoredPast(pub(crate) Store);

impl Past for StoredPast {
    fn read(&self, page: EventsAfter) -> BoxFuture<'static, Result<PastEvents, StoreError>> {
        let store = self.0.clone();
        Box::pin(async move { store.read(page).await })
    }
}
