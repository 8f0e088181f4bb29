//! The database of Sayso: asks, sessions, events, the outbox, tokens.
//!
//! The crate has three parts. [`ops`] are the operations: pure functions over rows that were loaded for them, one file each.
//! [`read`] are the queries. A backend loads rows, commits what operations staged, and runs queries; SQL is written only
//! there and in `queries`. The crate deliberately knows no HTTP and no agents: what is sent to an agent is an opaque value.

mod batch;
mod columns;
mod error;
mod event;
mod lock;
mod operation;
pub mod ops;
mod payload;
mod postgres;
mod queries;
pub mod read;
mod rows;
mod snapshot;
mod sqlite;
mod store;
mod unit;

pub use error::{DatabaseError, OpenError, StoreError};
pub use event::{About, Commit, EventKind, OutboxId, OutboxPayload, OutboxRow, Sink, StoredEvent, WorkspaceId};
pub use lock::DirLock;
pub use operation::{IdempotencyKey, KeyReused, Once, Operation};
pub use payload::{EventPayload, ToolProgress};
pub use postgres::PostgresOptions;
pub use read::Query;
pub use sqlite::{StoreOptions, backup, probe};
pub use store::{Retain, Store};
