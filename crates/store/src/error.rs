//! Everything that can go wrong with the database.

use std::path::PathBuf;

use sayso_core::plain_text::ContainsNul;

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
    /// Not an address of a PostgreSQL database.
    #[error("the address of the database cannot be read: {detail}")]
    PostgresAddress {
        /// Why.
        detail: String,
    },
    /// A PostgreSQL database that cannot be used.
    #[error("cannot use the PostgreSQL database: {0}")]
    Postgres(#[source] DatabaseError),
    /// A server that is too old.
    #[error("PostgreSQL {found} is too old; Sayso needs version 14 or newer")]
    OldPostgres {
        /// Its major version.
        found: i64,
    },
    /// A PostgreSQL database whose tables were created by a newer version.
    #[error(
        "the PostgreSQL database was written by a newer Sayso (schema {found}, this one knows {known}); install that version again"
    )]
    NewerPostgres {
        /// Its schema.
        found: i64,
        /// Ours.
        known: i64,
    },
    /// Any other failure of the database.
    #[error("cannot open {}", .path.display())]
    Database {
        /// The file.
        path: PathBuf,
        source: DatabaseError,
    },
}

/// An error of a backend's own library.
pub type DatabaseError = Box<dyn std::error::Error + Send + Sync>;

/// Why a write or a read did not happen.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The disk is full. Nothing changed; the same call works again when there is space.
    #[error("the disk is full")]
    Full,
    /// The database cannot be reached, or takes no writes now. Nothing changed; the same call works again when it is back.
    #[error("the database is unavailable: {0}")]
    Unavailable(String),
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
    /// The database failed.
    #[error("the database failed: {0}")]
    Database(#[source] DatabaseError),
    /// The commit failed for every operation of the batch.
    #[error("the commit failed: {0}")]
    Batch(String),
    /// An operation looked at a row that it had not named. A defect of the operation.
    #[error("an operation looked at a {table} that was not loaded")]
    NotLoaded { table: &'static str },
    /// A row with this identity exists already.
    #[error("the {what} exists already")]
    Duplicate { what: &'static str },
    /// A text for a column of its own contains U+0000.
    #[error(transparent)]
    ContainsNul(#[from] ContainsNul),
}

impl StoreError {
    /// The same failure for one more caller.
    pub(crate) fn for_another_caller(&self) -> Self {
        match self {
            Self::Full => Self::Full,
            Self::Closed => Self::Closed,
            Self::Unavailable(detail) => Self::Unavailable(detail.clone()),
            Self::NotLoaded { table } => Self::NotLoaded { table },
            Self::Duplicate { what } => Self::Duplicate { what },
            Self::ContainsNul(error) => Self::ContainsNul(error.clone()),
            Self::Unreadable { .. } | Self::Database(_) | Self::Batch(_) => Self::Batch(self.to_string()),
        }
    }
}
