//! Loads the rows that operations have named, with one statement for all reads of the same kind, and all statements in one
//! round trip.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::future::try_join_all;
use sayso_core::id::{AskId, BlockId, GrantId, GroupId, SessionId, TokenId};
use sayso_core::run::Run;
use sayso_core::time::Time;
use tokio_postgres::types::{ToSql, Type};

use super::connection::PgConnection;
use super::secret_key::SecretKey;
use crate::columns::decode::{self, ask_columns, json, raw};
use crate::columns::numbers::{is_pending, is_uncollected};
use crate::columns::value::{Columns, column, text};
use crate::error::StoreError;
use crate::operation::{IdempotencyId, PendingOf, Read};
use crate::ops::external_sessions::ExternalSessionKey;
use crate::rows::{AskRow, BlockRow, GrantRow, IdempotencyRow, LoginCodeRow, OwnerId, RunRow, SessionRow};
use crate::unit::Unit;

/// How to find the rows of one kind of read.
struct Source {
    select: &'static str,
    table: &'static str,
    /// The columns of the key without the workspace.
    keys: &'static [&'static str],
    only: &'static str,
    take: Take,
}

/// Adds a row to the unit.
type Take = fn(&dyn Columns, &mut Unit, &SecretKey) -> Result<(), StoreError>;
/// The name of a kind of read, and its source.
type Named = (&'static str, Source);

/// The values of one key column, for all reads of a kind.
enum Keys {
    Bytes(Vec<Vec<u8>>),
    Texts(Vec<String>),
    Integers(Vec<i64>),
}

enum Key {
    Bytes(Vec<u8>),
    Text(String),
    Integer(i64),
}

impl Keys {
    fn push(keys: &mut Vec<Self>, at: usize, key: Key) {
        match (keys.get_mut(at), key) {
            (Some(Self::Bytes(all)), Key::Bytes(key)) => all.push(key),
            (Some(Self::Texts(all)), Key::Text(key)) => all.push(key),
            (Some(Self::Integers(all)), Key::Integer(key)) => all.push(key),
            (_, Key::Bytes(key)) => keys.push(Self::Bytes(vec![key])),
            (_, Key::Text(key)) => keys.push(Self::Texts(vec![key])),
            (_, Key::Integer(key)) => keys.push(Self::Integers(vec![key])),
        }
    }

    fn typed(&self) -> (&(dyn ToSql + Sync), Type) {
        match self {
            Self::Bytes(keys) => (keys, Type::BYTEA_ARRAY),
            Self::Texts(keys) => (keys, Type::TEXT_ARRAY),
            Self::Integers(keys) => (keys, Type::INT8_ARRAY),
        }
    }

    const fn array(&self) -> &'static str {
        match self {
            Self::Bytes(_) => "bytea[]",
            Self::Texts(_) => "text[]",
            Self::Integers(_) => "bigint[]",
        }
    }
}

/// Loads these reads, except those that the unit has already.
pub(super) async fn load(connection: &PgConnection, unit: &mut Unit, reads: Vec<Read>) -> Result<(), StoreError> {
    let mut missing: Vec<Read> = Vec::new();
    let mut sources: HashMap<&'static str, (Source, Vec<Keys>)> = HashMap::new();
    for read in reads {
        if unit.is_loaded(&read) || missing.contains(&read) {
            continue;
        }
        let (name, source, key) = source(&read);
        // PostgreSQL refuses U+0000 in a parameter, and no stored text contains it.
        if key.iter().any(|key| matches!(key, Key::Text(text) if text.contains('\0'))) {
            missing.push(read);
            continue;
        }
        let (_, keys) = sources.entry(name).or_insert_with(|| (source, Vec::new()));
        for (at, key) in key.into_iter().enumerate() {
            Keys::push(keys, at, key);
        }
        missing.push(read);
    }
    let workspace = unit.workspace.0;
    let flights = sources.into_values().map(|(source, keys)| async move {
        let rows = source.rows(connection, workspace, &keys).await?;
        Ok::<_, StoreError>((source, rows))
    });
    for (source, rows) in try_join_all(flights).await? {
        for row in rows {
            (source.take)(&row, unit, &connection.secret_key)?;
        }
    }
    missing.into_iter().for_each(|read| mark_loaded(unit, read));
    Ok(())
}

impl Source {
    async fn rows(
        &self,
        connection: &PgConnection,
        workspace: i64,
        keys: &[Keys],
    ) -> Result<Vec<tokio_postgres::Row>, StoreError> {
        let Self { select, table, only, .. } = self;
        let arrays: Vec<_> = keys.iter().enumerate().map(|(at, keys)| format!("${}::{}", at + 2, keys.array())).collect();
        let sql = match (self.keys, arrays.as_slice()) {
            ([key], [array]) => {
                format!("SELECT {select} FROM {table} t WHERE t.workspace = $1 AND t.{key} = ANY ({array}) AND {only}")
            }
            (keys, arrays) => {
                let on: Vec<_> = keys.iter().map(|key| format!("t.{key} = wanted.{key}")).collect();
                format!(
                    "SELECT {select} FROM unnest({}) AS wanted ({}) JOIN {table} t ON {} WHERE t.workspace = $1 AND {only}",
                    arrays.join(", "),
                    keys.join(", "),
                    on.join(" AND ")
                )
            }
        };
        let mut params: Vec<(&(dyn ToSql + Sync), Type)> = vec![(&workspace, Type::INT8)];
        params.extend(keys.iter().map(Keys::typed));
        Ok(connection.client.query_typed(&sql, &params).await?)
    }
}

fn take_ask(row: &dyn Columns, unit: &mut Unit, _: &SecretKey) -> Result<(), StoreError> {
    let row = decode::ask(row, 0)?;
    unit.asks.load(row.ask.id, Some(Arc::<AskRow>::new(row)));
    Ok(())
}

fn take_session(row: &dyn Columns, unit: &mut Unit, _: &SecretKey) -> Result<(), StoreError> {
    let id = SessionId::from_bytes(column(row, 0)?);
    let session = SessionRow { session: json("session", &text(row, 1)?)?, seq: column(row, 2)? };
    unit.sessions.load(id, Some(Arc::new(session)));
    Ok(())
}

fn take_outbox(row: &dyn Columns, unit: &mut Unit, _: &SecretKey) -> Result<(), StoreError> {
    let (id, entry) = decode::outbox(row)?;
    unit.outbox.load(id, Some(Arc::new(entry)));
    Ok(())
}

fn take_token(row: &dyn Columns, unit: &mut Unit, _: &SecretKey) -> Result<(), StoreError> {
    let token = decode::token(row)?;
    unit.tokens.load(token.id, Some(Arc::new(token)));
    Ok(())
}

fn take_block(row: &dyn Columns, unit: &mut Unit, _: &SecretKey) -> Result<(), StoreError> {
    let id = BlockId::from_bytes(column(row, 0)?);
    let session = SessionId::from_bytes(column(row, 1)?);
    let block = BlockRow { session, seq: column(row, 2)?, block: json("block", &text(row, 3)?)? };
    unit.blocks.load(id, Some(Arc::new(block)));
    Ok(())
}

fn take_connection(row: &dyn Columns, unit: &mut Unit, _: &SecretKey) -> Result<(), StoreError> {
    let connection = decode::connection(row)?;
    unit.connections.load(connection.id, Some(Arc::new(connection)));
    Ok(())
}

fn take_external(row: &dyn Columns, unit: &mut Unit, _: &SecretKey) -> Result<(), StoreError> {
    let token = TokenId::from_bytes(column(row, 0)?);
    let key = ExternalSessionKey { workspace: unit.workspace, token, agent: column(row, 1)?, native_id: column(row, 2)? };
    unit.externals.load(key, Some(Arc::new(SessionId::from_bytes(column(row, 3)?))));
    Ok(())
}

fn take_grant(row: &dyn Columns, unit: &mut Unit, _: &SecretKey) -> Result<(), StoreError> {
    let until = column::<Option<i64>>(row, 1)?.map(Time::from_millis);
    let grant = GrantRow { until, data: raw("grant", column(row, 2)?)? };
    unit.grants.load(GrantId::from_bytes(column(row, 0)?), Some(Arc::new(grant)));
    Ok(())
}

fn take_group(row: &dyn Columns, unit: &mut Unit, _: &SecretKey) -> Result<(), StoreError> {
    let group = json("group", &text(row, 1)?)?;
    unit.groups.load(GroupId::from_bytes(column(row, 0)?), Some(Arc::new(group)));
    Ok(())
}

fn take_group_state(row: &dyn Columns, unit: &mut Unit, _: &SecretKey) -> Result<(), StoreError> {
    let state: Vec<u8> = column(row, 1)?;
    unit.group_states.load(GroupId::from_bytes(column(row, 0)?), Some(Arc::new(state)));
    Ok(())
}

fn take_key(row: &dyn Columns, unit: &mut Unit, _: &SecretKey) -> Result<(), StoreError> {
    let id = IdempotencyId { token: TokenId::from_bytes(column(row, 0)?), route: column(row, 1)?, key: column(row, 2)? };
    let at = Time::from_millis(column(row, 5)?);
    let made = IdempotencyRow { fingerprint: column(row, 3)?, target: column(row, 4)?, at };
    unit.idempotency.load(id, Some(Arc::new(made)));
    Ok(())
}

fn take_login_code(row: &dyn Columns, unit: &mut Unit, _: &SecretKey) -> Result<(), StoreError> {
    let expires_at = Time::from_millis(column(row, 3)?);
    let code = LoginCodeRow { role: column(row, 1)?, actor: column(row, 2)?, expires_at };
    unit.login_codes.load(column(row, 0)?, Some(Arc::new(code)));
    Ok(())
}

fn take_run(row: &dyn Columns, unit: &mut Unit, _: &SecretKey) -> Result<(), StoreError> {
    let mut run: Run = json("run", &text(row, 0)?)?;
    run.steps = json("steps of a run", &text(row, 3)?)?;
    let (id, version, seq) = (run.id, column(row, 1)?, column(row, 2)?);
    unit.runs.load(id, Some(Arc::new(RunRow { run, version, seq, changed_steps: Vec::new() })));
    Ok(())
}

fn take_secret(row: &dyn Columns, unit: &mut Unit, key: &SecretKey) -> Result<(), StoreError> {
    let ask = AskId::from_bytes(column(row, 0)?);
    let secret = raw("secret", key.open(unit.workspace, ask, &column::<Vec<u8>>(row, 1)?)?)?;
    unit.secrets.load(ask, Some(Arc::new(secret)));
    Ok(())
}

fn take_pending_of_session(row: &dyn Columns, unit: &mut Unit, _: &SecretKey) -> Result<(), StoreError> {
    let of = PendingOf::Session(SessionId::from_bytes(column(row, 0)?));
    unit.add_pending_id(of, AskId::from_bytes(column(row, 1)?));
    Ok(())
}

fn take_pending_of_owner(row: &dyn Columns, unit: &mut Unit, _: &SecretKey) -> Result<(), StoreError> {
    let of = PendingOf::Owner(OwnerId(column(row, 0)?));
    unit.add_pending_id(of, AskId::from_bytes(column(row, 1)?));
    Ok(())
}

/// Returns the name of the kind of a read, its source and its key.
fn source(read: &Read) -> (&'static str, Source, Vec<Key>) {
    const ASK: &str = ask_columns!("t.");
    const SESSION: &str = "t.id, t.data, t.seq";
    const STEPS: &str =
        "t.data, t.version, t.seq, (SELECT '[' || coalesce(string_agg(s.data, ',' ORDER BY s.position), '') || ']'
        FROM run_step s WHERE s.workspace = t.workspace AND s.run = t.id)";
    type KeyColumns = &'static [&'static str];
    const fn from(name: &'static str, table: &'static str, select: &'static str, keys: KeyColumns, take: Take) -> Named {
        (name, Source { select, table, keys, only: "true", take })
    }
    const fn asks(name: &'static str, keys: KeyColumns, only: &'static str) -> Named {
        (name, Source { select: ASK, table: "ask", keys, only, take: take_ask })
    }
    const fn pending_ids(name: &'static str, select: &'static str, keys: KeyColumns, take: Take) -> Named {
        (name, Source { select, table: "ask", keys, only: is_pending!("t."), take })
    }
    let bytes = |bytes: &[u8]| Key::Bytes(bytes.to_vec());
    let text = |text: &str| Key::Text(text.to_owned());
    let ((name, source), key) = match read {
        Read::Ask(id) => (asks("ask", &["id"], "true"), vec![bytes(id.as_bytes())]),
        Read::Block(id) => {
            (from("block", "block", "t.id, t.session, t.seq, t.data", &["id"], take_block), vec![bytes(id.as_bytes())])
        }
        Read::Connection(id) => {
            (from("connection", "connection", decode::CONNECTION, &["id"], take_connection), vec![bytes(id.as_bytes())])
        }
        Read::External(key) => (
            from(
                "external",
                "external",
                "t.token, t.agent, t.native_id, t.session",
                &["token", "agent", "native_id"],
                take_external,
            ),
            vec![bytes(key.token.as_bytes()), text(&key.agent), text(&key.native_id)],
        ),
        Read::Grant(id) => {
            (from("grant", "grant_rule", "t.id, t.until_ms, t.data", &["id"], take_grant), vec![bytes(id.as_bytes())])
        }
        Read::Group(id) => (from("group", "ask_group", "t.id, t.data", &["id"], take_group), vec![bytes(id.as_bytes())]),
        Read::GroupState(id) => {
            (from("group state", "group_state", "t.grp, t.state", &["grp"], take_group_state), vec![bytes(id.as_bytes())])
        }
        Read::Idempotency(id) => (
            from(
                "idempotency",
                "idempotency",
                "t.token, t.route, t.key, t.fingerprint, t.target, t.at_ms",
                &["token", "route", "key"],
                take_key,
            ),
            vec![bytes(id.token.as_bytes()), text(&id.route), text(&id.key)],
        ),
        Read::LoginCode(hash) => (
            from("login code", "login_code", "t.hash, t.role, t.actor, t.expires_ms", &["hash"], take_login_code),
            vec![bytes(hash)],
        ),
        Read::Outbox(id) => (from("outbox", "outbox", decode::OUTBOX, &["id"], take_outbox), vec![Key::Integer(id.0)]),
        Read::Run(id) => (from("run", "run", STEPS, &["id"], take_run), vec![bytes(id.as_bytes())]),
        Read::Secret(ask) => (from("secret", "secret", "t.ask, t.answers", &["ask"], take_secret), vec![bytes(ask.as_bytes())]),
        Read::Session(id) => (from("session", "session", SESSION, &["id"], take_session), vec![bytes(id.as_bytes())]),
        Read::Token(id) => (from("token", "token", decode::TOKEN, &["id"], take_token), vec![bytes(id.as_bytes())]),
        Read::TokenByHash(hash) => (from("token by hash", "token", decode::TOKEN, &["hash"], take_token), vec![bytes(hash)]),
        Read::PendingIds(PendingOf::Session(id)) => (
            pending_ids("pending ids of a session", "t.session, t.id", &["session"], take_pending_of_session),
            vec![bytes(id.as_bytes())],
        ),
        Read::PendingIds(PendingOf::Owner(owner)) => {
            (pending_ids("pending ids of an owner", "t.owner, t.id", &["owner"], take_pending_of_owner), vec![bytes(&owner.0)])
        }
        Read::PendingOfSession(id) => (asks("pending of a session", &["session"], is_pending!("t.")), vec![bytes(id.as_bytes())]),
        Read::PendingByNative(owner, native) => {
            (asks("pending by request", &["owner", "native_id"], is_pending!("t.")), vec![bytes(&owner.0), text(native)])
        }
        Read::UncollectedByNative(owner, native) => {
            (asks("uncollected by request", &["owner", "native_id"], is_uncollected!("t.")), vec![bytes(&owner.0), text(native)])
        }
        Read::UndeliveredOfSession(id) => {
            (asks("undelivered of a session", &["session"], "t.status >= 2 AND t.delivery = 0"), vec![bytes(id.as_bytes())])
        }
        Read::OutboxOfConnection(id) => {
            (from("outbox of a connection", "outbox", decode::OUTBOX, &["connection"], take_outbox), vec![bytes(id.as_bytes())])
        }
        Read::OutboxOfSession(id) => {
            (from("outbox of a session", "outbox", decode::OUTBOX, &["session"], take_outbox), vec![bytes(id.as_bytes())])
        }
        Read::SessionsOfConnection(id) => {
            (from("sessions of a connection", "session", SESSION, &["connection"], take_session), vec![bytes(id.as_bytes())])
        }
    };
    (name, source, key)
}

/// Marks a row that was not found as absent, or a set as complete.
fn mark_loaded(unit: &mut Unit, read: Read) {
    match &read {
        Read::Ask(id) => unit.asks.load(*id, None),
        Read::Block(id) => unit.blocks.load(*id, None),
        Read::Connection(id) => unit.connections.load(*id, None),
        Read::External(key) => unit.externals.load(key.clone(), None),
        Read::Grant(id) => unit.grants.load(*id, None),
        Read::Group(id) => unit.groups.load(*id, None),
        Read::GroupState(id) => unit.group_states.load(*id, None),
        Read::Idempotency(id) => unit.idempotency.load(id.clone(), None),
        Read::LoginCode(hash) => unit.login_codes.load(*hash, None),
        Read::Outbox(id) => unit.outbox.load(*id, None),
        Read::Run(id) => unit.runs.load(*id, None),
        Read::Secret(ask) => unit.secrets.load(*ask, None),
        Read::Session(id) => unit.sessions.load(*id, None),
        Read::Token(id) => unit.tokens.load(*id, None),
        Read::PendingIds(of) => unit.complete_pending_ids(*of),
        Read::TokenByHash(_)
        | Read::PendingOfSession(_)
        | Read::PendingByNative(..)
        | Read::UncollectedByNative(..)
        | Read::UndeliveredOfSession(_)
        | Read::OutboxOfConnection(_)
        | Read::OutboxOfSession(_)
        | Read::SessionsOfConnection(_) => unit.mark_set_loaded(read),
    }
}
