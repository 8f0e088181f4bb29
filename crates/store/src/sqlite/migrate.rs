//! Opens, creates, upgrades and checks database files.

use std::io;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::store::open_error;
use super::writer::BUSY_TIMEOUT;
use super::{log, upgrade};
use crate::error::OpenError;

const CURRENT: i64 = 8;
/// Databases of up to this many pages are checked completely at every start, which takes a few milliseconds.
const FULLY_CHECKED_PAGES: i64 = 1024;
/// Smaller than SQLite's default, because a commit writes whole pages but changes few bytes of most.
const PAGE_SIZE: i64 = 2048;

/// On macOS, `fsync` leaves data in the cache of the disk, where a power loss destroys it; `F_FULLFSYNC` does not. Other systems
/// ignore these settings.
pub(super) const FULL_SYNC: &str = "PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;";

/// Opens the writing connection. Creates or upgrades the file if necessary.
pub(super) fn open(path: &Path) -> Result<Connection, OpenError> {
    let connection = connect(path)?;
    match version(&connection, path)? {
        0 => create(&connection).map_err(|error| open_error(path, error))?,
        CURRENT => {}
        found if found > CURRENT => return Err(OpenError::Newer { path: path.to_owned(), found, known: CURRENT }),
        found => {
            check(&connection, path)?;
            upgrade::upgrade(connection, path, found)?;
            return open(path);
        }
    }
    check(&connection, path)?;
    // The check filled the page cache with pages that are not needed soon.
    let settings = "PRAGMA journal_mode = WAL;
         PRAGMA synchronous = FULL;
         PRAGMA temp_store = MEMORY;
         PRAGMA cache_size = -2000;
         PRAGMA wal_autocheckpoint = 0;
         PRAGMA journal_size_limit = 16777216;
         PRAGMA shrink_memory;";
    connection.execute_batch(settings).map_err(|error| open_error(path, error))?;
    connection.set_prepared_statement_cache_capacity(128);
    Ok(connection)
}

fn version(connection: &Connection, path: &Path) -> Result<i64, OpenError> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(|error| open_error(path, error))
}

pub(super) fn connect(path: &Path) -> Result<Connection, OpenError> {
    if !path.exists() {
        create_private(path).map_err(|source| not_created(path, source))?;
    }
    let connection = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )
    .map_err(|error| open_error(path, error))?;
    connection
        .execute_batch(BUSY_TIMEOUT)
        .and_then(|()| connection.execute_batch("PRAGMA secure_delete = OFF"))
        .and_then(|()| connection.execute_batch(FULL_SYNC))
        .map_err(|error| open_error(path, error))?;
    if connection.is_readonly("main").map_err(|error| open_error(path, error))? {
        return Err(OpenError::ReadOnly { path: path.to_owned() });
    }
    Ok(connection)
}

/// Creates the tables in an empty file.
pub(super) fn create(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "page_size", PAGE_SIZE)?;
    connection.execute_batch("BEGIN IMMEDIATE")?;
    connection.execute_batch(include_str!("schema.sql"))?;
    log::create(connection)?;
    connection.pragma_update(None, "user_version", CURRENT)?;
    connection.execute_batch("COMMIT")
}

/// Creates an empty database file under an unused name. Databases contain what people and agents said, so the file is created
/// with permissions for its owner only.
pub(super) fn create_private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt as _;
    std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map(drop)
}

fn not_created(path: &Path, source: io::Error) -> OpenError {
    let path = path.to_owned();
    match source.kind() {
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => OpenError::ReadOnly { path },
        io::ErrorKind::StorageFull => OpenError::Full { path },
        _ => OpenError::Io { path, source },
    }
}

/// Refuses a damaged file. For a large file only the tables that every start needs are checked, because a complete check takes
/// long. `sayso doctor` checks everything.
fn check(connection: &Connection, path: &Path) -> Result<(), OpenError> {
    let failed = |error| open_error(path, error);
    let pages: i64 = connection.query_row("PRAGMA page_count", [], |row| row.get(0)).map_err(failed)?;
    let check = if pages <= FULLY_CHECKED_PAGES { "PRAGMA quick_check(1)" } else { "PRAGMA quick_check(workspace)" };
    let health: String = connection.query_row(check, [], |row| row.get(0)).map_err(failed)?;
    if health == "ok" { Ok(()) } else { Err(OpenError::Corrupt { path: path.to_owned(), detail: health }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::checkpoint;

    #[test]
    fn commits_and_checkpoints_survive_power_loss_on_macos() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sayso.db");
        for connection in [open(&path).unwrap(), checkpoint::open(&path).unwrap()] {
            for setting in ["fullfsync", "checkpoint_fullfsync"] {
                let value: i64 = connection.query_row(&format!("PRAGMA {setting}"), [], |row| row.get(0)).unwrap();
                assert_eq!(value, 1, "{setting}");
            }
        }
    }
}
