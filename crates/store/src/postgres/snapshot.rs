//! Runs queries on PostgreSQL. A query is synchronous code that asks for rows one after the other, so it runs on a thread for
//! blocking work, which waits for the connection.

use std::cell::Cell;

use tokio::runtime::Handle;
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

use super::changes::without_nul;
use super::connection::PgConnection;
use crate::columns::value::{Columns, Value};
use crate::error::StoreError;
use crate::snapshot::{Next, Snapshot};

/// The number of rows that a cursor fetches at once.
const ROWS: usize = 100;

pub(super) struct PostgresSnapshot<'a> {
    pub(super) connection: &'a PgConnection,
    pub(super) runtime: Handle,
    /// The number of cursors opened so far, for their names.
    pub(super) cursors: Cell<u32>,
}

impl PostgresSnapshot<'_> {
    fn rows(&self, sql: &str, params: &[Value<'_>]) -> Result<Vec<Row>, StoreError> {
        let params: Vec<_> = params.iter().cloned().map(storable).collect();
        let typed: Vec<_> = params.iter().map(typed).collect();
        self.runtime.block_on(self.connection.in_time(self.connection.client.query_typed(sql, &typed)))
    }
}

impl Snapshot for PostgresSnapshot<'_> {
    fn each_row(
        &self,
        sql: &str,
        params: &[Value<'_>],
        each: &mut dyn FnMut(&dyn Columns) -> Result<Next, StoreError>,
    ) -> Result<(), StoreError> {
        let number = self.cursors.replace(self.cursors.get() + 1);
        self.rows(&format!("DECLARE page_{number} NO SCROLL CURSOR FOR {}", postgres_sql(sql)), params)?;
        let fetch = format!("FETCH {ROWS} FROM page_{number}");
        let mut found = Ok(Next::Continue(()));
        while let Ok(Next::Continue(())) = found {
            let rows = self.rows(&fetch, &[])?;
            let is_last = rows.len() < ROWS;
            for row in &rows {
                found = each(row);
                if !matches!(found, Ok(Next::Continue(()))) {
                    break;
                }
            }
            if is_last {
                break;
            }
        }
        self.rows(&format!("CLOSE page_{number}"), &[])?;
        found.map(|_| ())
    }

    fn every_row(
        &self,
        sql: &str,
        params: &[Value<'_>],
        each: &mut dyn FnMut(&dyn Columns) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.rows(&postgres_sql(sql), params)?.iter().try_for_each(|row| each(row))
    }

    fn id_ends_with(&self, column: &str, parameter: &str) -> String {
        format!("right(encode({column}, 'hex'), length({parameter})) = {parameter}")
    }

    fn like_operator(&self) -> &'static str {
        "ILIKE"
    }
}

/// Replaces U+0000, which PostgreSQL refuses in a parameter and no stored text contains.
fn storable(value: Value<'_>) -> Value<'_> {
    match value {
        Value::Text(text) => Value::Text(without_nul(text)),
        value @ (Value::Null | Value::Integer(_) | Value::Blob(_)) => value,
    }
}

/// Adds the type of a value, which saves a round trip to the server.
fn typed<'a>(value: &'a Value<'_>) -> (&'a (dyn ToSql + Sync), Type) {
    match value {
        // Only text parameters can be null.
        Value::Null => (&None::<&str>, Type::TEXT),
        Value::Integer(number) => (number, Type::INT8),
        Value::Text(text) => (text, Type::TEXT),
        Value::Blob(bytes) => (bytes, Type::BYTEA),
    }
}

/// Numbers parameters with `$`, and removes the plus that is a hint to SQLite.
fn postgres_sql(sql: &str) -> String {
    let mut out = String::with_capacity(sql.len());
    let mut letters = sql.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '?' => out.push('$'),
            '+' if letters.peek().is_some_and(char::is_ascii_alphabetic) => {}
            other => out.push(other),
        }
    }
    out
}

impl Columns for Row {
    fn value(&self, index: usize) -> Result<Value<'_>, StoreError> {
        let unreadable = |detail: String| StoreError::Unreadable { what: "row", detail };
        let failed = |error: tokio_postgres::Error| unreadable(error.to_string());
        let column = self.columns().get(index).ok_or_else(|| unreadable(format!("no column {index}")))?;
        let value = match *column.type_() {
            Type::INT8 => self.try_get::<_, Option<i64>>(index).map_err(failed)?.map(Value::Integer),
            Type::BOOL => self.try_get::<_, Option<bool>>(index).map_err(failed)?.map(|flag| Value::Integer(flag.into())),
            Type::TEXT => self.try_get::<_, Option<&str>>(index).map_err(failed)?.map(|text| Value::Text(text.into())),
            Type::BYTEA => self.try_get::<_, Option<&[u8]>>(index).map_err(failed)?.map(Value::Blob),
            ref other => return Err(unreadable(format!("unexpected type {other}"))),
        };
        Ok(value.unwrap_or(Value::Null))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_numbered_and_hints_for_sqlite_are_dropped() {
        let sql = "SELECT a + (SELECT b) FROM t WHERE s = ?1 AND +workspace = ?2 AND +b.workspace = e.workspace";
        let expected = "SELECT a + (SELECT b) FROM t WHERE s = $1 AND workspace = $2 AND b.workspace = e.workspace";
        assert_eq!(postgres_sql(sql), expected);
    }
}
