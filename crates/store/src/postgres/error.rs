//! Classifies errors of PostgreSQL by what they mean for a batch.

use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use crate::error::StoreError;

/// Why a transaction did not commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// The connection is broken, or leads to a server that accepts no writes. The same holds for other connections of the pool.
    Lost,
    /// A retry of the transaction can succeed.
    Conflict,
    /// The disk of the server is full.
    Full,
    /// The server refused a statement.
    Refused,
}

pub(super) fn cause(error: &Error) -> Cause {
    let Some(code) = error.code() else { return Cause::Lost };
    let lost = [
        SqlState::READ_ONLY_SQL_TRANSACTION,
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::TOO_MANY_CONNECTIONS,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
        SqlState::LOCK_NOT_AVAILABLE,
        SqlState::QUERY_CANCELED,
    ];
    if *code == SqlState::T_R_SERIALIZATION_FAILURE || *code == SqlState::T_R_DEADLOCK_DETECTED {
        Cause::Conflict
    } else if *code == SqlState::DISK_FULL {
        Cause::Full
    } else if lost.contains(code) || code.code().starts_with("08") {
        Cause::Lost
    } else {
        Cause::Refused
    }
}

impl From<Error> for StoreError {
    fn from(error: Error) -> Self {
        match cause(&error) {
            Cause::Lost => Self::Unavailable(describe(&error)),
            Cause::Full => Self::Full,
            Cause::Conflict | Cause::Refused => Self::Database(error.into()),
        }
    }
}

/// Returns the message of the server or the socket, which never contains parameters of statements.
pub(super) fn describe(error: &Error) -> String {
    match (error.as_db_error(), std::error::Error::source(error)) {
        (Some(answer), _) => format!("{} ({})", answer.message(), answer.code().code()),
        (None, Some(source)) => format!("{error}: {source}"),
        (None, None) => error.to_string(),
    }
}

/// Returns why a batch failed.
pub(super) fn cause_of(error: &StoreError) -> Cause {
    match error {
        StoreError::Unavailable(_) => Cause::Lost,
        StoreError::Full => Cause::Full,
        StoreError::Database(source) => source.downcast_ref::<Error>().map_or(Cause::Refused, cause),
        StoreError::Closed
        | StoreError::Unreadable { .. }
        | StoreError::Batch(_)
        | StoreError::NotLoaded { .. }
        | StoreError::Duplicate { .. }
        | StoreError::ContainsNul(_) => Cause::Refused,
    }
}
