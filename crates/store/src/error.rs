//! The errors of opening and using the database.

use std::path::PathBuf;

use sayso_core::plain_text::ContainsNul;

/// Why a database could not be opened. The messages are for the person who starts the server and end with the next step.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another server uses the data directory.
    #[error("another Sayso server (pid {pid}) uses {}; stop it with `sayso stop`, or choose another --data-dir", .dir.display())]
    Locked {
        dir: PathBuf,
        /// The process id that the lock file names.
        pid: String,
    },
    /// A newer version of Sayso wrote the file.
    #[error("{} was written by a newer Sayso (schema {found}, this one knows {known}); install that version again", .path.display())]
    Newer {
        path: PathBuf,
        /// The version of its schema.
        found: i64,
        /// The newest version that this program supports.
        known: i64,
    },
    /// The file is damaged or not a database.
    #[error("{} is damaged ({detail}); it was not changed. Restore a backup, or move the file away to start with an empty database", .path.display())]
    Corrupt {
        path: PathBuf,
        /// The message of SQLite.
        detail: String,
    },
    /// The file or its directory is read-only.
    #[error("{} cannot be written; check the owner and the permissions", .path.display())]
    ReadOnly { path: PathBuf },
    /// The disk is full.
    #[error("the disk that holds {} is full", .path.display())]
    Full { path: PathBuf },
    /// A file or directory cannot be used.
    #[error("cannot use {}", .path.display())]
    Io { path: PathBuf, source: std::io::Error },
    /// The address of the PostgreSQL database cannot be parsed.
    #[error("the address of the database cannot be read: {detail}")]
    PostgresAddress { detail: String },
    /// The PostgreSQL database cannot be reached or used.
    #[error("cannot use the PostgreSQL database: {0}")]
    Postgres(#[source] DatabaseError),
    /// The PostgreSQL server is too old.
    #[error("PostgreSQL {found} is too old; Sayso needs version 14 or newer")]
    OldPostgres {
        /// The major version of the server.
        found: i64,
    },
    /// A newer version of Sayso created the tables.
    #[error(
        "the PostgreSQL database was written by a newer Sayso (schema {found}, this one knows {known}); install that version again"
    )]
    NewerPostgres {
        /// The version of its schema.
        found: i64,
        /// The newest version that this program supports.
        known: i64,
    },
    /// The user of the database may not create its tables.
    #[error("the user of the PostgreSQL database lacks a privilege ({detail}); make it the owner of a database of its own")]
    PostgresPrivilege {
        /// The message of the server.
        detail: String,
    },
    /// The key for secrets is not in the expected form.
    #[error("the key for secrets is not 64 hexadecimal digits; `openssl rand -hex 32` prints a new one")]
    SecretKey,
    /// Another key encrypts the secrets of this database.
    #[error("the secrets of this database are encrypted with another key; use the key file of its other nodes")]
    OtherSecretKey,
    #[error("cannot open {}", .path.display())]
    Database { path: PathBuf, source: DatabaseError },
}

/// An error of the library that a backend uses.
pub type DatabaseError = Box<dyn std::error::Error + Send + Sync>;

/// Why an operation or a query failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The disk is full. Nothing changed; retry when there is space.
    #[error("the disk is full")]
    Full,
    /// The database cannot be reached or accepts no writes. Nothing changed; retry later.
    #[error("the database is unavailable: {0}")]
    Unavailable(String),
    #[error("the store is closed")]
    Closed,
    /// A stored row cannot be parsed. Only a defect or damage of the file causes this.
    #[error("a stored {what} cannot be read: {detail}")]
    Unreadable {
        /// The kind of row.
        what: &'static str,
        detail: String,
    },
    #[error("the database failed: {0}")]
    Database(#[source] DatabaseError),
    /// The commit failed, and with it every operation of the batch.
    #[error("the commit failed: {0}")]
    Batch(String),
    /// An operation looked at a row that its `reads` did not name. This is a defect of the operation.
    #[error("an operation looked at a {table} that was not loaded")]
    NotLoaded { table: &'static str },
    /// A row with this key exists.
    #[error("the {what} exists already")]
    Duplicate { what: &'static str },
    /// A text that is stored outside JSON contains U+0000, which PostgreSQL cannot store.
    #[error(transparent)]
    ContainsNul(#[from] ContainsNul),
}

impl StoreError {
    /// Copies the error for another caller of the same batch. Only the message of the source is kept.
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
