//! Copies a database that is in use.

use std::fs;
use std::path::Path;

use super::migrate::create_private;
use super::store::open_for_reading;
use crate::error::StoreError;

/// Writes a consistent, compact copy that only its owner can read. The target must not exist, not even as a symbolic link.
///
/// # Errors
/// When the source cannot be read or the target cannot be written. The target is then removed.
pub fn backup(source: &Path, target: &Path) -> Result<(), StoreError> {
    let connection = open_for_reading(source)?;
    // VACUUM INTO counts as a write, although it does not change this database.
    connection.execute_batch("PRAGMA query_only = OFF")?;
    // SQLite accepts an existing file if it is empty.
    create_private(target).map_err(|error| StoreError::Database(error.into()))?;
    let written = connection.execute("VACUUM INTO ?1", [target.to_string_lossy()]);
    if written.is_err() {
        // An incomplete copy must not look like a backup.
        let _ = fs::remove_file(target);
    }
    written?;
    Ok(())
}
