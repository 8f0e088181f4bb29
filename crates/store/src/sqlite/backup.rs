//! A copy of the database while it is in use.

use std::path::Path;

use super::store::open_for_reading;
use crate::error::StoreError;

/// Writes a consistent, compact copy. The target must not exist.
///
/// # Errors
/// When the source cannot be read or the target cannot be written.
pub fn backup(source: &Path, target: &Path) -> Result<(), StoreError> {
    let connection = open_for_reading(source)?;
    // It writes, although not to this database.
    connection.execute_batch("PRAGMA query_only = OFF")?;
    connection.execute("VACUUM INTO ?1", [target.to_string_lossy()])?;
    Ok(())
}
