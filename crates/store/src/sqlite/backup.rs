//! A copy of the database while it is in use.

use std::fs;
use std::path::Path;

use super::migrate::create_private;
use super::store::open_for_reading;
use crate::error::StoreError;

/// Writes a consistent, compact copy that only its owner can read. The target must not exist, not even as a link.
///
/// # Errors
/// When the source cannot be read or the target cannot be written. Then no target is left.
pub fn backup(source: &Path, target: &Path) -> Result<(), StoreError> {
    let connection = open_for_reading(source)?;
    // It writes, although not to this database.
    connection.execute_batch("PRAGMA query_only = OFF")?;
    // SQLite writes into a file that is empty.
    create_private(target).map_err(|error| StoreError::Database(error.into()))?;
    let written = connection.execute("VACUUM INTO ?1", [target.to_string_lossy()]);
    if written.is_err() {
        // Half a copy is worse than none.
        let _ = fs::remove_file(target);
    }
    written?;
    Ok(())
}
