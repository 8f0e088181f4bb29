//! Where Sayso keeps what must not be lost: asks, sessions, events, the outbox, tokens.
//!
//! The crate is a closed set of writes ([`write`]) and reads ([`read`]) and their SQLite
//! implementation. One thread owns the connection that writes; it takes everything that waits into
//! one transaction, so that a commit costs one `fsync` however many callers share it, and so that
//! `seq` is in the order of commits for free. This crate deliberately knows no HTTP and no agents:
//! what is sent to an agent is an opaque row here.

mod error;
mod event;
mod lock;
mod payload;
pub mod read;
mod sqlite;
pub mod write;

pub use error::{OpenError, StoreError};
pub use event::{About, Commit, EventKind, OutboxId, OutboxPayload, OutboxRow, Sink, StoredEvent, WorkspaceId};
pub use lock::DirLock;
pub use payload::{EventPayload, ToolProgress};
pub use read::Query;
#[doc(hidden)]
pub use sqlite::Tx;
pub use sqlite::{Store, StoreOptions, backup};
pub use write::Operation;
