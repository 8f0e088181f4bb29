//! Runs queries on SQLite and converts values.

use std::borrow::Cow;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Row, ToSql, params_from_iter};

use crate::columns::value::{Columns, Value};
use crate::error::StoreError;
use crate::snapshot::{Next, Snapshot};

impl Snapshot for Connection {
    fn each_row(
        &self,
        sql: &str,
        params: &[Value<'_>],
        each: &mut dyn FnMut(&dyn Columns) -> Result<Next, StoreError>,
    ) -> Result<(), StoreError> {
        let mut statement = self.prepare_cached(sql)?;
        let mut rows = statement.query(params_from_iter(params))?;
        while let Some(row) = rows.next()? {
            if each(row)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn every_row(
        &self,
        sql: &str,
        params: &[Value<'_>],
        each: &mut dyn FnMut(&dyn Columns) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.each_row(sql, params, &mut |row| each(row).map(Next::Continue))
    }

    fn id_ends_with(&self, column: &str, parameter: &str) -> String {
        format!("substr(lower(hex({column})), -length({parameter})) = {parameter}")
    }

    fn like_operator(&self) -> &'static str {
        "LIKE"
    }
}

impl Columns for Row<'_> {
    fn value(&self, index: usize) -> Result<Value<'_>, StoreError> {
        let unreadable = |detail: String| StoreError::Unreadable { what: "row", detail };
        Ok(match self.get_ref(index)? {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(number) => Value::Integer(number),
            ValueRef::Text(text) => {
                Value::Text(Cow::Borrowed(std::str::from_utf8(text).map_err(|error| unreadable(error.to_string()))?))
            }
            ValueRef::Blob(blob) => Value::Blob(blob),
            ValueRef::Real(number) => return Err(unreadable(format!("unexpected number {number}"))),
        })
    }
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Value::Null => ValueRef::Null,
            Value::Integer(number) => ValueRef::Integer(*number),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
            Value::Blob(blob) => ValueRef::Blob(blob),
        }))
    }
}
