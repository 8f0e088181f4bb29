//! Writes the changes of a batch, with one statement for all rows of a table that change in the same way.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use tokio_postgres::types::{ToSql, Type};

use super::connection::PgConnection;
use crate::columns::row_bytes::{Action, RowChanges};
use crate::columns::search_text::with_search_text;
use crate::columns::table::{ASK_STATE, Table};
use crate::columns::value::Value;
use crate::error::StoreError;

/// The values of one column, one per row.
enum Column<'a> {
    Integers(Vec<Option<i64>>),
    Texts(Vec<Option<Cow<'a, str>>>),
    Blobs(Vec<Option<&'a [u8]>>),
}

/// The types of columns in the database, by table and column name.
#[derive(Debug)]
pub(super) struct ColumnTypes(HashMap<(String, String), ColumnType>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ColumnType {
    Integer,
    Text,
    Blob,
}

impl ColumnType {
    const fn array(self) -> &'static str {
        match self {
            Self::Integer => "bigint[]",
            Self::Text => "text[]",
            Self::Blob => "bytea[]",
        }
    }

    const fn empty<'a>(self) -> Column<'a> {
        match self {
            Self::Integer => Column::Integers(Vec::new()),
            Self::Text => Column::Texts(Vec::new()),
            Self::Blob => Column::Blobs(Vec::new()),
        }
    }
}

impl ColumnTypes {
    pub(super) async fn read(connection: &PgConnection) -> Result<Self, StoreError> {
        let sql = "SELECT c.relname::text, a.attname::text, format_type(a.atttypid, NULL)
             FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
             WHERE a.attnum > 0 AND NOT a.attisdropped AND c.oid = ANY (SELECT to_regclass(name) FROM unnest($1::text[]) AS name)";
        let names: Vec<_> = Table::ALL.iter().map(|table| table.name()).collect();
        let mut types = HashMap::new();
        for row in connection.client.query_typed(sql, &[(&names, Type::TEXT_ARRAY)]).await? {
            let of: String = row.try_get(2)?;
            let of = match of.as_str() {
                "bigint" => ColumnType::Integer,
                "text" => ColumnType::Text,
                "bytea" => ColumnType::Blob,
                _ => continue,
            };
            types.insert((row.try_get(0)?, row.try_get(1)?), of);
        }
        Ok(Self(types))
    }

    fn of(&self, table: Table, column: &str) -> Result<ColumnType, StoreError> {
        let found = self.0.get(&(table.name().to_owned(), column.to_owned())).copied();
        found.ok_or_else(|| StoreError::Unreadable { what: "schema", detail: format!("no column {}.{column}", table.name()) })
    }
}

impl<'a> Column<'a> {
    fn push(&mut self, value: Value<'a>) -> Result<(), StoreError> {
        match (self, value) {
            (Self::Integers(values), Value::Null) => values.push(None),
            (Self::Texts(values), Value::Null) => values.push(None),
            (Self::Blobs(values), Value::Null) => values.push(None),
            (Self::Integers(values), Value::Integer(number)) => values.push(Some(number)),
            (Self::Texts(values), Value::Text(text)) => values.push(Some(without_nul(text))),
            (Self::Blobs(values), Value::Blob(bytes)) => values.push(Some(bytes)),
            (_, value) => {
                let detail = format!("unexpected value {value:?}");
                return Err(StoreError::Unreadable { what: "change", detail });
            }
        }
        Ok(())
    }

    fn typed(&self) -> (&(dyn ToSql + Sync), Type) {
        match self {
            Self::Integers(values) => (values, Type::INT8_ARRAY),
            Self::Texts(values) => (values, Type::TEXT_ARRAY),
            Self::Blobs(values) => (values, Type::BYTEA_ARRAY),
        }
    }
}

/// Replaces U+0000 in texts that Sayso composes from parts of agents. Operations refuse U+0000 in other texts; here it must not
/// fail the batch.
pub(super) fn without_nul(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.contains('\0') { text.replace('\0', "\u{fffd}").into() } else { text }
}

/// A statement with the rows that it writes.
pub(super) struct Write<'a> {
    sql: String,
    columns: Vec<Column<'a>>,
}

impl Write<'_> {
    pub(super) async fn run(&self, connection: &PgConnection) -> Result<u64, tokio_postgres::Error> {
        let params: Vec<_> = self.columns.iter().map(Column::typed).collect();
        connection.client.execute_typed(&self.sql, &params).await
    }
}

/// Builds the statements for these changes. Each row has at most one change.
pub(super) fn writes<'a>(types: &ColumnTypes, changes: &'a RowChanges) -> Result<Vec<Write<'a>>, StoreError> {
    let mut found: Vec<Write<'a>> = Vec::new();
    let mut places: HashMap<(Table, u8), usize> = HashMap::new();
    for change in changes.iter() {
        let (table, action) = (change.table, change.action);
        let names = columns_of(table, action);
        let place = match places.entry((table, action as u8)) {
            Entry::Occupied(place) => *place.get(),
            Entry::Vacant(place) => {
                let of = names.iter().map(|name| types.of(table, name)).collect::<Result<Vec<_>, _>>()?;
                found.push(Write {
                    sql: sql(table, action, &names, &of),
                    columns: of.into_iter().map(ColumnType::empty).collect(),
                });
                *place.insert(found.len() - 1)
            }
        };
        let values = with_search_text(names.into_iter(), change.values(changes.bytes()));
        for (column, value) in found[place].columns.iter_mut().zip(values) {
            column.push(value)?;
        }
    }
    Ok(found)
}

fn columns_of(table: Table, action: Action) -> Vec<&'static str> {
    let key = &table.columns()[..table.key_width()];
    match action {
        Action::Put => table.columns().to_vec(),
        Action::Delete => key.to_vec(),
        Action::SetAskState => key.iter().copied().chain(ASK_STATE).collect(),
    }
}

fn sql(table: Table, action: Action, names: &[&'static str], types: &[ColumnType]) -> String {
    let name = table.name();
    let arrays: Vec<_> = types.iter().enumerate().map(|(at, of)| format!("${}::{}", at + 1, of.array())).collect();
    let (arrays, list) = (arrays.join(", "), names.join(", "));
    let key = &table.columns()[..table.key_width()];
    let same_key: Vec<_> = key.iter().map(|key| format!("t.{key} = v.{key}")).collect();
    let same_key = same_key.join(" AND ");
    let set = |from: &str| names[key.len()..].iter().map(|name| format!("{name} = {from}.{name}")).collect::<Vec<_>>().join(", ");
    match action {
        Action::Put => {
            let conflict = match table {
                // Two events with the same `seq` must fail the batch, not overwrite each other.
                Table::Event => String::new(),
                _ if names.len() == key.len() => " ON CONFLICT DO NOTHING".to_owned(),
                _ => format!(" ON CONFLICT ({}) DO UPDATE SET {}", key.join(", "), set("excluded")),
            };
            format!("INSERT INTO {name} ({list}) SELECT * FROM unnest({arrays}){conflict}")
        }
        Action::Delete => format!("DELETE FROM {name} t USING unnest({arrays}) AS v ({list}) WHERE {same_key}"),
        Action::SetAskState => {
            format!("UPDATE {name} t SET {} FROM unnest({arrays}) AS v ({list}) WHERE {same_key}", set("v"))
        }
    }
}
