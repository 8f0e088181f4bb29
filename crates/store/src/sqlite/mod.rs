//! The SQLite backend.
//!
//! One thread owns the writing connection ([`writer`]). A commit appends a record to the change log ([`log`]). Rows are written
//! to their tables later, each once per flush. The thread keeps rows that are newer than their tables in memory ([`memory`]).
//! Queries run on read-only connections, after a flush.

mod backup;
mod cache;
mod checkpoint;
mod database;
mod load;
mod log;
mod memory;
mod migrate;
pub mod probe;
mod retention;
mod snapshot;
mod statements;
mod store;
mod unflushed;
mod upgrade;
mod writer;

pub use backup::backup;
pub(crate) use store::SqliteStore;
pub use store::StoreOptions;

use crate::error::StoreError;

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => Self::Full,
            _ if is_no_space(&error) => Self::Full,
            _ => Self::Database(error.into()),
        }
    }
}

/// Some file systems report a lack of space as an I/O error.
fn is_no_space(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(rusqlite::ErrorCode::SystemIoFailure))
        && std::io::Error::last_os_error().kind() == std::io::ErrorKind::StorageFull
}
