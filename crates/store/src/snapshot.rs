//! The interface on which queries run: a consistent snapshot of the database, and the few points in which the SQL of the
//! backends differs.
//!
//! Queries are written once, in the SQL that SQLite and PostgreSQL share, with numbered parameters (`?1`). A plus in front of a
//! column (`+workspace`) keeps SQLite from choosing an index of the whole workspace. It has no effect on PostgreSQL, whose
//! indexes all begin with the workspace.

use std::ops::ControlFlow;

use crate::columns::value::{Columns, Value};
use crate::error::StoreError;

/// Whether a query continues with the next row.
pub(crate) type Next = ControlFlow<()>;

pub trait Snapshot {
    /// Calls `each` for every row until it breaks. Rows after that may not be read at all.
    #[doc(hidden)]
    fn each_row(
        &self,
        sql: &str,
        params: &[Value<'_>],
        each: &mut dyn FnMut(&dyn Columns) -> Result<Next, StoreError>,
    ) -> Result<(), StoreError>;

    /// Calls `each` for every row. For small results.
    #[doc(hidden)]
    fn every_row(
        &self,
        sql: &str,
        params: &[Value<'_>],
        each: &mut dyn FnMut(&dyn Columns) -> Result<(), StoreError>,
    ) -> Result<(), StoreError>;

    /// Returns the condition that the hexadecimal form of an id ends with a parameter.
    #[doc(hidden)]
    fn id_ends_with(&self, column: &str, parameter: &str) -> String;

    /// Returns the operator that matches patterns and ignores case.
    #[doc(hidden)]
    fn like_operator(&self) -> &'static str;
}

/// Returns the first row, if there is one.
pub(crate) fn one<T>(
    db: &dyn Snapshot,
    sql: &str,
    params: &[Value<'_>],
    read: impl FnOnce(&dyn Columns) -> Result<T, StoreError>,
) -> Result<Option<T>, StoreError> {
    let (mut read, mut found) = (Some(read), None);
    db.every_row(sql, params, &mut |row| {
        if let Some(read) = read.take() {
            found = Some(read(row)?);
        }
        Ok(())
    })?;
    Ok(found)
}

/// Returns all rows.
pub(crate) fn all<T>(
    db: &dyn Snapshot,
    sql: &str,
    params: &[Value<'_>],
    mut read: impl FnMut(&dyn Columns) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let mut found = Vec::new();
    db.every_row(sql, params, &mut |row| {
        found.push(read(row)?);
        Ok(())
    })?;
    Ok(found)
}
