//! The database of Sayso: asks, sessions, events, the outbox, tokens.
//!
//! The crate has three parts. [`ops`] contains the operations, which change rows: pure functions over rows that a backend
//! loaded for them, one file each. [`read`] contains the queries. The backends, SQLite and PostgreSQL, load rows, commit what
//! operations staged, and run queries; only they and `queries` contain SQL. The crate deliberately knows no HTTP and no agents:
//! the messages in the outbox are opaque values.

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
pub use event::{Commit, EventAudience, EventKind, OutboxId, OutboxPayload, OutboxRow, Sink, StoredEvent, WorkspaceId};
pub use lock::DirLock;
pub use operation::{IdempotencyKey, IdempotentResult, KeyReused, Operation};
pub use payload::{EventPayload, ToolProgress};
pub use postgres::{PostgresOptions, SecretKey};
pub use read::Query;
pub use sqlite::{StoreOptions, backup, probe};
pub use store::{RetentionLimits, Store};
