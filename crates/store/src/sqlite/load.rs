//! Loads the rows that operations named into a unit.

use std::sync::Arc;

use rusqlite::Connection as Sqlite;
use sayso_core::id::{AskId, SessionId};
use sayso_core::time::Time;

use super::cache::Cache;
use super::memory::Memory;
use crate::columns::decode::{self, json, raw};
use crate::columns::numbers::{DELIVERY_QUEUED, FIRST_OUTCOME, is_uncollected};
use crate::columns::value::{Value, column, params};
use crate::error::StoreError;
use crate::operation::{IdempotencyId, PendingOf, Read};
use crate::queries::asks::read_ask;
use crate::queries::runs::read_run;
use crate::queries::sessions::read_session;
use crate::rows::{AskRow, BlockRow, GrantRow, IdempotencyRow, LoginCodeRow, RunRow};
use crate::snapshot::{all, one};
use crate::unit::{Unit, belongs};

/// Finds a row in memory, otherwise in its table.
fn row<K: Clone + Eq + std::hash::Hash, R>(
    cache: &mut Cache<K, R>,
    key: &K,
    read: impl FnOnce() -> Result<Option<R>, StoreError>,
) -> Result<Option<Arc<R>>, StoreError> {
    if let Some(known) = cache.get(key) {
        return Ok(known);
    }
    let found = read()?.map(Arc::new);
    if let Some(found) = &found {
        cache.add(key.clone(), Arc::clone(found));
    }
    Ok(found)
}

/// Loads the rows of one read. Rows that the unit has already are not replaced.
pub(super) fn load(db: &Sqlite, memory: &mut Memory, unit: &mut Unit, read: Read) -> Result<(), StoreError> {
    if unit.is_loaded(&read) {
        return Ok(());
    }
    let space = unit.workspace;
    match &read {
        Read::Ask(id) => load_ask(db, memory, unit, *id)?,
        Read::Session(id) => load_session(db, memory, unit, *id)?,
        Read::Block(id) => {
            let sql = "SELECT session, seq, data FROM block WHERE workspace = ?1 AND id = ?2";
            let found = row(&mut memory.blocks, id, || {
                one(db, sql, params![space.0, id.as_bytes()], |row| {
                    let session = SessionId::from_bytes(column(row, 0)?);
                    Ok(BlockRow { session, seq: column(row, 1)?, block: json("block", &column::<String>(row, 2)?)? })
                })
            })?;
            unit.blocks.load(*id, found);
        }
        Read::Connection(id) => {
            let sql = format!("SELECT {} FROM connection WHERE workspace = ?1 AND id = ?2", decode::CONNECTION);
            let read = || one(db, &sql, params![space.0, id.as_bytes()], decode::connection);
            let found = row(&mut memory.connections, id, read)?;
            unit.connections.load(*id, found);
        }
        Read::External(key) => {
            let sql = "SELECT session FROM external WHERE workspace = ?1 AND token = ?2 AND agent = ?3 AND native_id = ?4";
            let found = row(&mut memory.externals, key, || {
                one(db, sql, params![space.0, key.token.as_bytes(), key.agent, key.native_id], |row| {
                    Ok(SessionId::from_bytes(column(row, 0)?))
                })
            })?;
            unit.externals.load(key.clone(), found);
        }
        Read::Grant(id) => {
            let sql = "SELECT until_ms, data FROM grant_rule WHERE workspace = ?1 AND id = ?2";
            let found = row(&mut memory.grants, id, || {
                one(db, sql, params![space.0, id.as_bytes()], |row| {
                    let until = column::<Option<i64>>(row, 0)?.map(Time::from_millis);
                    Ok(GrantRow { until, data: raw("grant", column(row, 1)?)? })
                })
            })?;
            unit.grants.load(*id, found);
        }
        Read::Group(id) => {
            let sql = "SELECT data FROM ask_group WHERE workspace = ?1 AND id = ?2";
            let found = row(&mut memory.groups, id, || {
                one(db, sql, params![space.0, id.as_bytes()], |row| json("group", &column::<String>(row, 0)?))
            })?;
            unit.groups.load(*id, found);
        }
        // States are never in the change log, so their table is current.
        Read::GroupState(id) => {
            let sql = "SELECT state FROM group_state WHERE workspace = ?1 AND grp = ?2";
            let found = one(db, sql, params![space.0, id.as_bytes()], |row| column::<Vec<u8>>(row, 0))?;
            unit.group_states.load(*id, found.map(Arc::new));
        }
        Read::Idempotency(id) => load_key(db, memory, unit, id)?,
        Read::LoginCode(hash) => {
            let sql = "SELECT role, actor, expires_ms FROM login_code WHERE workspace = ?1 AND hash = ?2";
            let found = row(&mut memory.login_codes, hash, || {
                one(db, sql, params![space.0, hash], |row| {
                    let expires_at = Time::from_millis(column(row, 2)?);
                    Ok(LoginCodeRow { role: column(row, 0)?, actor: column(row, 1)?, expires_at })
                })
            })?;
            unit.login_codes.load(*hash, found);
        }
        Read::Outbox(id) => unit.outbox.load(*id, memory.outbox.get(id).cloned()),
        Read::Run(id) => {
            let found = row(&mut memory.runs, id, || {
                Ok(read_run(db, space, *id)?.map(|(run, version, seq)| RunRow { run, version, seq, changed_steps: Vec::new() }))
            })?;
            unit.runs.load(*id, found);
        }
        Read::Secret(ask) => {
            let sql = "SELECT answers FROM secret WHERE workspace = ?1 AND ask = ?2";
            let found = one(db, sql, params![space.0, ask.as_bytes()], |row| raw("secret", column(row, 0)?))?;
            unit.secrets.load(*ask, found.map(Arc::new));
        }
        Read::Token(id) => {
            let sql = format!("SELECT {} FROM token WHERE workspace = ?1 AND id = ?2", decode::TOKEN);
            let found = row(&mut memory.tokens, id, || one(db, &sql, params![space.0, id.as_bytes()], decode::token))?;
            unit.tokens.load(*id, found);
        }
        Read::TokenByHash(hash) => {
            let sql = format!("SELECT {} FROM token WHERE workspace = ?1 AND hash = ?2", decode::TOKEN);
            for (id, token) in memory.tokens.unflushed().filter(|(_, token)| token.hash == *hash) {
                unit.tokens.load(*id, Some(Arc::clone(token)));
            }
            for token in all(db, &sql, params![space.0, hash], decode::token)? {
                // The token may have changed since the table was written, for example revoked.
                let newest = memory.tokens.get(&token.id).unwrap_or_else(|| Some(Arc::new(token.clone())));
                unit.tokens.load(token.id, newest);
            }
        }
        Read::PendingIds(of) => unit.load_pending_ids(*of, memory.pending.of(*of)),
        Read::PendingOfSession(session) => {
            for id in memory.pending.of(PendingOf::Session(*session)) {
                load_ask(db, memory, unit, id)?;
            }
        }
        Read::PendingByNative(owner, native) => {
            if let Some(id) = memory.pending.by_native(*owner, native.clone()) {
                load_ask(db, memory, unit, id)?;
            }
        }
        Read::UncollectedByNative(owner, native) => {
            let sql =
                concat!("SELECT id FROM ask WHERE owner = ?1 AND native_id = ?2 AND +workspace = ?3 AND ", is_uncollected!());
            let stored = ask_ids(db, sql, params![owner.0, native, space.0])?;
            load_matching_asks(db, memory, unit, stored, |row| row.is_uncollected() && belongs(row, *owner, native))?;
        }
        Read::UndeliveredOfSession(session) => {
            let sql = "SELECT id FROM ask WHERE session = ?1 AND workspace = ?2 AND status >= ?3 AND delivery = ?4";
            let stored = ask_ids(db, sql, params![session.as_bytes(), space.0, FIRST_OUTCOME, DELIVERY_QUEUED])?;
            load_matching_asks(db, memory, unit, stored, |row| row.is_undelivered() && row.ask.origin.session == Some(*session))?;
        }
        Read::OutboxOfConnection(connection) => {
            for (id, entry) in memory.outbox.iter().filter(|(_, entry)| entry.connection == *connection) {
                unit.outbox.load(*id, Some(Arc::clone(entry)));
            }
        }
        Read::OutboxOfSession(session) => {
            for (id, entry) in memory.outbox.iter().filter(|(_, entry)| entry.session == *session) {
                unit.outbox.load(*id, Some(Arc::clone(entry)));
            }
        }
        Read::SessionsOfConnection(connection) => {
            let sql = "SELECT id FROM session WHERE connection = ?1 AND workspace = ?2";
            let mut ids =
                all(db, sql, params![connection.as_bytes(), space.0], |row| Ok(SessionId::from_bytes(column(row, 0)?)))?;
            let unflushed = memory.sessions.unflushed().filter(|(_, row)| row.session.connection == *connection);
            ids.extend(unflushed.map(|(id, _)| *id));
            for id in ids {
                load_session(db, memory, unit, id)?;
            }
        }
    }
    unit.mark_set_loaded(read);
    Ok(())
}

fn load_ask(db: &Sqlite, memory: &mut Memory, unit: &mut Unit, id: AskId) -> Result<(), StoreError> {
    if !unit.asks.is_loaded(&id) {
        let found = row(&mut memory.asks, &id, || read_ask(db, unit.workspace, id))?;
        unit.asks.load(id, found);
    }
    Ok(())
}

fn ask_ids(db: &Sqlite, sql: &'static str, key: &[Value<'_>]) -> Result<Vec<AskId>, StoreError> {
    all(db, sql, key, |row| Ok(AskId::from_bytes(column(row, 0)?)))
}

/// Loads the asks of a set: those that match in the table, and those that are newer than the table. Some of the former may not
/// match any more; the unit checks each row.
fn load_matching_asks(
    db: &Sqlite,
    memory: &mut Memory,
    unit: &mut Unit,
    mut ids: Vec<AskId>,
    matches: impl Fn(&AskRow) -> bool,
) -> Result<(), StoreError> {
    ids.extend(memory.asks.unflushed().filter(|(_, row)| matches(row)).map(|(id, _)| *id));
    ids.into_iter().try_for_each(|id| load_ask(db, memory, unit, id))
}

fn load_session(db: &Sqlite, memory: &mut Memory, unit: &mut Unit, id: SessionId) -> Result<(), StoreError> {
    if !unit.sessions.is_loaded(&id) {
        let found = row(&mut memory.sessions, &id, || read_session(db, unit.workspace, id))?;
        unit.sessions.load(id, found);
    }
    Ok(())
}

fn load_key(db: &Sqlite, memory: &mut Memory, unit: &mut Unit, id: &IdempotencyId) -> Result<(), StoreError> {
    let sql =
        "SELECT fingerprint, target, at_ms FROM idempotency WHERE workspace = ?1 AND token = ?2 AND route = ?3 AND key = ?4";
    let workspace = unit.workspace;
    let found = row(&mut memory.idempotency, id, || {
        one(db, sql, params![workspace.0, id.token.as_bytes(), id.route, id.key], |row| {
            let at = Time::from_millis(column(row, 2)?);
            Ok(IdempotencyRow { fingerprint: column(row, 0)?, target: column(row, 1)?, at })
        })
    })?;
    unit.idempotency.load(id.clone(), found);
    Ok(())
}
