//! Bringing an older database up to date. Migrations are only ever added.

use std::path::Path;

use rusqlite::Connection;

use super::store::failed;
use crate::error::OpenError;

const MIGRATIONS: &[&str] = &[
    include_str!("../../migrations/0001_house.sql"),
    include_str!("../../migrations/0002_external.sql"),
    include_str!("../../migrations/0003_kept.sql"),
    include_str!("../../migrations/0004_device.sql"),
    include_str!("../../migrations/0005_runs.sql"),
    include_str!("../../migrations/0006_notes.sql"),
    include_str!("../../migrations/0007_attached.sql"),
    include_str!("../../migrations/0008_rule_hits.sql"),
];

/// A database of up to this many pages is checked whole at every start: a few milliseconds.
const CHECKED_WHOLE: i64 = 512;

/// Applies what is missing, after a copy of the file was put beside it.
pub(super) fn run(connection: &Connection, path: &Path) -> Result<(), OpenError> {
    let sqlite = |error| failed(path, error);
    let found: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(sqlite)?;
    let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    if found > known {
        return Err(OpenError::Newer { path: path.to_owned(), found, known });
    }
    // A damaged file is refused, never written over. A large one would take long to check whole, so
    // there it is the small tables that every start needs; `sayso doctor` looks at all of it.
    let pages: i64 = connection.query_row("PRAGMA page_count", [], |row| row.get(0)).map_err(sqlite)?;
    let check = if pages <= CHECKED_WHOLE || found == 0 { "PRAGMA quick_check(1)" } else { "PRAGMA quick_check(workspace)" };
    let health: String = connection.query_row(check, [], |row| row.get(0)).map_err(sqlite)?;
    if health != "ok" {
        return Err(OpenError::Corrupt { path: path.to_owned(), detail: health });
    }
    if found == known {
        return Ok(());
    }
    if found > 0 {
        super::backup(path, &path.with_extension(format!("before-{known}.db"))).map_err(|error| match error {
            crate::StoreError::Full => OpenError::Full { path: path.to_owned() },
            other => OpenError::Corrupt { path: path.to_owned(), detail: other.to_string() },
        })?;
    }
    let missing = usize::try_from(found).unwrap_or(0);
    connection.execute_batch("BEGIN IMMEDIATE").map_err(sqlite)?;
    for migration in &MIGRATIONS[missing..] {
        connection.execute_batch(migration).map_err(sqlite)?;
    }
    connection.pragma_update(None, "user_version", known).map_err(sqlite)?;
    connection.execute_batch("COMMIT").map_err(sqlite)
}
