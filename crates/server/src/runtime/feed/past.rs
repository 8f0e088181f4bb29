//! The past: where a cursor reads what the ring no longer has.

use futures_core::future::BoxFuture;
use sayso_store::StoreError;
use sayso_store::read::{EventsAfter, PastEvents};

/// Reads short pages of stored events. One page is one snapshot.
pub(crate) trait Past: Send + Sync + 'static {
    /// The next events after a place.
    fn read(&self, page: EventsAfter) -> BoxFuture<'static, Result<PastEvents, StoreError>>;
}
