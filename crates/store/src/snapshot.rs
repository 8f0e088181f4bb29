//! A consistent view of the database that queries run on, and the few points in which the SQL of the backends differs.
//!
//! Queries are written once, in the SQL that SQLite and PostgreSQL share. They number their parameters (`?1`). A plus in
//! front of a column (`+workspace`) keeps SQLite from choosing an index of the whole workspace and means nothing to
//! PostgreSQL, whose indexes all begin with the workspace.

use std::ops::ControlFlow;

use crate::columns::value::{Columns, Value};
use crate::error::StoreError;

/// Whether to go on with the next row.
pub(crate) type Next = ControlFlow<()>;

/// See the module.
pub trait Snapshot {
    /// Gives rows to `each` until it breaks off or there are no more. Rows that are not needed may not be read at all.
    #[doc(hidden)]
    fn each_row(
        &self,
        sql: &str,
        params: &[Value<'_>],
        each: &mut dyn FnMut(&dyn Columns) -> Result<Next, StoreError>,
    ) -> Result<(), StoreError>;

    /// Gives every row to `each`. For results that are small.
    #[doc(hidden)]
    fn every_row(
        &self,
        sql: &str,
        params: &[Value<'_>],
        each: &mut dyn FnMut(&dyn Columns) -> Result<(), StoreError>,
    ) -> Result<(), StoreError>;

    /// The condition that the hexadecimal form of an id ends with the text of a parameter.
    #[doc(hidden)]
    fn id_ends_with(&self, column: &str, parameter: &str) -> String;

    /// The operator that compares texts without regard to case.
    #[doc(hidden)]
    fn like(&self) -> &'static str;
}

/// At most one row.
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

/// Every row.
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
