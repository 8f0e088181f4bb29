//! The tables that rows are written to: names, columns, and the statements that write them.

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection};

use super::row_bytes::{Action, Change};
use super::search_text::SearchText;
use crate::error::StoreError;

/// A table with rows that operations change. The numbers are in the change log: never change one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(super) enum Table {
    Ask = 1,
    Block = 2,
    Connection = 3,
    Event = 4,
    External = 5,
    Grant = 6,
    Idempotency = 7,
    LoginCode = 8,
    Note = 9,
    Outbox = 10,
    Push = 11,
    Run = 12,
    RunStep = 13,
    Secret = 14,
    Session = 15,
    Setting = 16,
    Token = 17,
    Trust = 18,
    RuleHit = 19,
    Group = 20,
    GroupState = 21,
}

/// One more than the largest number of a table.
const TABLES: usize = Table::ALL.len() + 1;

/// The columns of an ask that change after it was opened. They are the last ones of its row.
pub(super) const ASK_STATE: [&str; 6] = ["status", "snoozed_ms", "outcome", "delivery", "delivery_reason", "decided_text"];

impl Table {
    const ALL: [Self; 21] = [
        Self::Ask,
        Self::Block,
        Self::Connection,
        Self::Event,
        Self::External,
        Self::Grant,
        Self::Group,
        Self::GroupState,
        Self::Idempotency,
        Self::LoginCode,
        Self::Note,
        Self::Outbox,
        Self::Push,
        Self::RuleHit,
        Self::Run,
        Self::RunStep,
        Self::Secret,
        Self::Session,
        Self::Setting,
        Self::Token,
        Self::Trust,
    ];

    pub(super) const fn all() -> [Self; 21] {
        Self::ALL
    }

    pub(super) fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|table| *table as u8 == number)
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Block => "block",
            Self::Connection => "connection",
            Self::Event => "event",
            Self::External => "external",
            Self::Grant => "grant_rule",
            Self::Group => "ask_group",
            Self::GroupState => "group_state",
            Self::Idempotency => "idempotency",
            Self::LoginCode => "login_code",
            Self::Note => "note",
            Self::Outbox => "outbox",
            Self::Push => "push",
            Self::RuleHit => "rule_hit",
            Self::Run => "run",
            Self::RunStep => "run_step",
            Self::Secret => "secret",
            Self::Session => "session",
            Self::Setting => "setting",
            Self::Token => "token",
            Self::Trust => "trust",
        }
    }

    /// All columns. The primary key comes first.
    pub(super) const fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Ask => &[
                "workspace",
                "id",
                "seq",
                "session",
                "connection",
                "owner",
                "native_id",
                "opened_by",
                "kind",
                "opened_ms",
                "deadline_ms",
                "keep_ms",
                "agent",
                "project",
                "tool_call_id",
                "body",
                "context",
                "policy",
                "raw",
                "asked_text",
                "status",
                "snoozed_ms",
                "outcome",
                "delivery",
                "delivery_reason",
                "decided_text",
            ],
            Self::Block => &["workspace", "id", "session", "seq", "data"],
            Self::Connection => &["workspace", "id", "kind", "agent", "epoch", "position", "wire", "state", "wake_ms"],
            Self::Event => &["workspace", "seq", "at_ms", "kind", "session", "ask", "run", "data"],
            Self::External => &["workspace", "token", "agent", "native_id", "session"],
            Self::Grant => &["workspace", "id", "until_ms", "data"],
            Self::Group => &["workspace", "id", "name", "over", "expires_ms", "data"],
            Self::GroupState => &["workspace", "grp", "state"],
            Self::Idempotency => &["workspace", "token", "route", "key", "fingerprint", "target", "at_ms"],
            Self::LoginCode => &["workspace", "hash", "role", "actor", "expires_ms"],
            Self::Note => &["workspace", "ask", "channel", "state", "attempts", "due_ms", "message"],
            Self::Outbox => &["workspace", "id", "connection", "session", "kind", "ask", "body", "tried"],
            Self::Push => &["workspace", "token", "endpoint", "public_key", "auth"],
            Self::RuleHit => &["workspace", "rule", "at_ms", "ask"],
            Self::Run => &["workspace", "id", "seq", "over", "version", "updated_ms", "data"],
            Self::RunStep => &["workspace", "run", "position", "session", "ask", "data"],
            Self::Secret => &["workspace", "ask", "answers"],
            Self::Session => &["workspace", "id", "seq", "connection", "ended", "updated_ms", "data"],
            Self::Setting => &["workspace", "key", "value"],
            Self::Token => {
                &["workspace", "id", "hash", "role", "actor", "scope", "created_ms", "expires_ms", "revoked_ms", "device"]
            }
            Self::Trust => &["workspace", "path", "hash", "at_ms"],
        }
    }

    /// How many of the columns are the primary key.
    pub(super) const fn key_width(self) -> usize {
        match self {
            Self::External | Self::Idempotency | Self::RuleHit => 4,
            Self::Note | Self::RunStep => 3,
            Self::Ask
            | Self::Block
            | Self::Connection
            | Self::Event
            | Self::Grant
            | Self::Group
            | Self::GroupState
            | Self::LoginCode
            | Self::Outbox
            | Self::Push
            | Self::Run
            | Self::Secret
            | Self::Session
            | Self::Setting
            | Self::Token
            | Self::Trust => 2,
        }
    }

    fn key_condition(self) -> String {
        let keys = self.columns().iter().take(self.key_width()).enumerate();
        keys.map(|(at, column)| format!("{column} = ?{}", at + 1)).collect::<Vec<_>>().join(" AND ")
    }

    fn upsert(self) -> String {
        let (columns, width) = (self.columns(), self.key_width());
        let places: Vec<_> = (1..=columns.len()).map(|at| format!("?{at}")).collect();
        let updates: Vec<_> = columns[width..].iter().map(|column| format!("{column} = excluded.{column}")).collect();
        let update = if updates.is_empty() { "NOTHING".to_owned() } else { format!("UPDATE SET {}", updates.join(", ")) };
        format!(
            "INSERT INTO {} ({}) VALUES ({}) ON CONFLICT ({}) DO {update}",
            self.name(),
            columns.join(", "),
            places.join(", "),
            columns[..width].join(", ")
        )
    }
}

/// The statements of all tables, by number.
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
            upserts[table as usize] = table.upsert();
            deletes[table as usize] = format!("DELETE FROM {} WHERE {}", table.name(), table.key_condition());
        }
        let width = Table::Ask.key_width();
        let sets: Vec<_> = ASK_STATE.iter().enumerate().map(|(at, column)| format!("{column} = ?{}", width + at + 1)).collect();
        let ask_state = format!("UPDATE ask SET {} WHERE {}", sets.join(", "), Table::Ask.key_condition());
        Self { upserts, deletes, ask_state }
    }
}

/// Writes changes into their tables. Keeps the statements of one transaction.
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

    /// Writes a change. `state` is a later change of the state of the same ask.
    pub(super) fn write(&mut self, bytes: &[u8], change: Change, state: Option<Change>) -> Result<(), StoreError> {
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

/// Binds the values of columns. The columns for searches follow from those before them.
fn bind<'v>(
    statement: &mut CachedStatement<'_>,
    columns: &[&str],
    values: impl Iterator<Item = ValueRef<'v>>,
) -> Result<(), StoreError> {
    let mut search = SearchText::default();
    for (at, (column, value)) in columns.iter().zip(values).enumerate() {
        let value = match (*column, value) {
            ("body" | "context" | "outcome", ValueRef::Text(json)) => {
                search.add(std::str::from_utf8(json).unwrap_or_default());
                ToSqlOutput::Borrowed(value)
            }
            ("asked_text", _) => ToSqlOutput::Owned(std::mem::take(&mut search).into_text().into()),
            // A pending ask has no outcome.
            ("decided_text", _) if !search.is_empty() => ToSqlOutput::Owned(std::mem::take(&mut search).into_text().into()),
            _ => ToSqlOutput::Borrowed(value),
        };
        statement.raw_bind_parameter(at + 1, value)?;
    }
    Ok(())
}
