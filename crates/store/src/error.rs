//! Everything that can go wrong with the database.

use std::path::PathBuf;

/// Why a database was not opened. Each says what to do.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another server uses the directory.
    #[error("another Sayso server (pid {pid}) uses {}; stop it with `sayso stop`, or choose another --data-dir", .dir.display())]
    Locked {
        /// The directory.
        dir: PathBuf,
        /// The process that holds it.
        pid: String,
    },
    /// Written by a newer version.
    #[error("{} was written by a newer Sayso (schema {found}, this one knows {known}); install that version again", .path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// Ours.
        known: i64,
    },
    /// Not a healthy database.
    #[error("{} is damaged ({detail}); it was left as it is. Restore a backup, or move it away to begin anew", .path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        detail: String,
    },
    /// May not be written.
    #[error("{} cannot be written; check the owner and the permissions", .path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// No room left.
    #[error("the disk that holds {} is full", .path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// Something with files.
    #[error("cannot use {}", .path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Something else of SQLite's.
    #[error("cannot open {}", .path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// Why.
        source: rusqlite::Error,
    },
}

/// Why a write or a read did not happen.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The disk is full. Nothing changed; the same call works again when there is space.
    #[error("the disk is full")]
    Full,
    /// The store is closed.
    #[error("the store is closed")]
    Closed,
    /// A row does not read as what we wrote.
    #[error("a stored {what} cannot be read: {detail}")]
    Unreadable {
        /// What.
        what: &'static str,
        /// Why.
        detail: String,
    },
    /// SQLite failed.
    #[error("the database failed: {0}")]
    Sqlite(#[source] rusqlite::Error),
    /// Another operation of the same transaction took the database down with it.
    #[error("the transaction failed: {0}")]
    Batch(String),
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => Self::Full,
            _ if is_no_space(&error) => Self::Full,
            _ => Self::Sqlite(error),
        }
    }
}

/// A write that the file system refused for want of space may surface as an I/O error.
fn is_no_space(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(rusqlite::ErrorCode::SystemIoFailure))
        && std::io::Error::last_os_error().kind() == std::io::ErrorKind::StorageFull
}
