//! The prepared statements that write rows to their tables.

use rusqlite::{CachedStatement, Connection};

use crate::columns::row_bytes::{Action, RowChange};
use crate::columns::search_text::with_search_text;
use crate::columns::table::{ASK_STATE, TABLES, Table};
use crate::columns::value::Value;
use crate::error::StoreError;

fn key_condition(table: Table) -> String {
    let keys = table.columns().iter().take(table.key_width()).enumerate();
    keys.map(|(at, column)| format!("{column} = ?{}", at + 1)).collect::<Vec<_>>().join(" AND ")
}

fn upsert(table: Table) -> String {
    let (columns, width) = (table.columns(), table.key_width());
    let places: Vec<_> = (1..=columns.len()).map(|at| format!("?{at}")).collect();
    let updates: Vec<_> = columns[width..].iter().map(|column| format!("{column} = excluded.{column}")).collect();
    let update = if updates.is_empty() { "NOTHING".to_owned() } else { format!("UPDATE SET {}", updates.join(", ")) };
    format!(
        "INSERT INTO {} ({}) VALUES ({}) ON CONFLICT ({}) DO {update}",
        table.name(),
        columns.join(", "),
        places.join(", "),
        columns[..width].join(", ")
    )
}

/// The SQL of the statements of all tables, by table number.
#[derive(Debug)]
pub(super) struct Statements {
    upserts: Vec<String>,
    deletes: Vec<String>,
    ask_state: String,
}

impl Statements {
    pub(super) fn new() -> Self {
        let mut upserts = vec![String::new(); TABLES];
        let mut deletes = upserts.clone();
        for table in Table::ALL {
            upserts[table as usize] = upsert(table);
            deletes[table as usize] = format!("DELETE FROM {} WHERE {}", table.name(), key_condition(table));
        }
        let width = Table::Ask.key_width();
        let sets: Vec<_> = ASK_STATE.iter().enumerate().map(|(at, column)| format!("{column} = ?{}", width + at + 1)).collect();
        let ask_state = format!("UPDATE ask SET {} WHERE {}", sets.join(", "), key_condition(Table::Ask));
        Self { upserts, deletes, ask_state }
    }
}

/// Writes changes to their tables. Caches the prepared statements of one transaction.
pub(super) struct TableWriter<'a> {
    db: &'a Connection,
    sql: &'a Statements,
    upserts: [Option<CachedStatement<'a>>; TABLES],
    deletes: [Option<CachedStatement<'a>>; TABLES],
    ask_state: Option<CachedStatement<'a>>,
}

impl<'a> TableWriter<'a> {
    pub(super) fn new(db: &'a Connection, sql: &'a Statements) -> Self {
        Self { db, sql, upserts: [const { None }; TABLES], deletes: [const { None }; TABLES], ask_state: None }
    }

    /// Writes a change. `state` is a later change of the same ask's state.
    pub(super) fn write(&mut self, bytes: &[u8], change: RowChange, state: Option<RowChange>) -> Result<(), StoreError> {
        let table = change.table as usize;
        let (place, sql) = match change.action {
            Action::Put => (&mut self.upserts[table], &self.sql.upserts[table]),
            Action::Delete => (&mut self.deletes[table], &self.sql.deletes[table]),
            Action::SetAskState => (&mut self.ask_state, &self.sql.ask_state),
        };
        let statement = match place {
            Some(statement) => statement,
            None => place.insert(self.db.prepare_cached(sql)?),
        };
        let (columns, width) = (change.table.columns(), change.table.key_width());
        match (change.action, state) {
            (Action::Put, Some(state)) => {
                let opened = columns.len() - ASK_STATE.len();
                let values = change.values(bytes).take(opened).chain(state.values(bytes).skip(width));
                bind(statement, columns, values)?;
            }
            (Action::Put | Action::Delete, _) => bind(statement, columns, change.values(bytes))?,
            (Action::SetAskState, _) => {
                let columns: Vec<_> = columns[..width].iter().chain(&ASK_STATE).copied().collect();
                bind(statement, &columns, change.values(bytes))?;
            }
        }
        statement.raw_execute()?;
        Ok(())
    }
}

fn bind<'v>(
    statement: &mut CachedStatement<'_>,
    columns: &[&'static str],
    values: impl Iterator<Item = Value<'v>>,
) -> Result<(), StoreError> {
    for (at, value) in with_search_text(columns.iter().copied(), values).enumerate() {
        statement.raw_bind_parameter(at + 1, value)?;
    }
    Ok(())
}
