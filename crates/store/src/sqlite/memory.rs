//! The rows of one workspace that the writer keeps in memory: rows that are newer than their tables, recently used rows, and
//! two small sets as a whole, the pending asks and the outbox.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use rusqlite::Connection as Sqlite;
use sayso_core::connection::Connection;
use sayso_core::group::Group;
use sayso_core::id::{AskId, BlockId, ConnectionId, GrantId, GroupId, RunId, SessionId, TokenId};

use super::cache::Cache;
use crate::columns::decode;
use crate::columns::numbers::FIRST_OUTCOME;
use crate::columns::value::{column, params};
use crate::error::StoreError;
use crate::event::{OutboxId, WorkspaceId};
use crate::operation::{IdempotencyId, PendingOf};
use crate::ops::external_sessions::ExternalSessionKey;
use crate::ops::tokens::TokenRow;
use crate::rows::{AskRow, BlockRow, GrantRow, IdempotencyRow, LoginCodeRow, OutboxEntry, OwnerId, RunRow, SessionRow};
use crate::snapshot::{all, one};
use crate::unit::{Counters, Rows, Unit};

/// The number of flushed asks, sessions and connections that stay in memory.
const CACHED_ASKS: usize = 256;
const KEPT_SESSIONS: usize = 256;
const KEPT_CONNECTIONS: usize = 256;
/// Larger asks are not kept after a flush, in bytes.
const LARGE_ASK: usize = 16 * 1024;

#[derive(Debug)]
pub(super) struct Memory {
    pub(super) counters: Counters,
    pub(super) asks: Cache<AskId, AskRow>,
    pub(super) blocks: Cache<BlockId, BlockRow>,
    pub(super) connections: Cache<ConnectionId, Connection>,
    pub(super) externals: Cache<ExternalSessionKey, SessionId>,
    pub(super) grants: Cache<GrantId, GrantRow>,
    pub(super) groups: Cache<GroupId, Group>,
    pub(super) idempotency: Cache<IdempotencyId, IdempotencyRow>,
    pub(super) login_codes: Cache<[u8; 32], LoginCodeRow>,
    pub(super) runs: Cache<RunId, RunRow>,
    pub(super) sessions: Cache<SessionId, SessionRow>,
    pub(super) tokens: Cache<TokenId, TokenRow>,
    pub(super) pending: PendingIndex,
    pub(super) outbox: BTreeMap<OutboxId, Arc<OutboxEntry>>,
}

impl Memory {
    /// Loads the counters and the two sets. The change log must be flushed.
    pub(super) fn load(db: &Sqlite, workspace: WorkspaceId) -> Result<Self, StoreError> {
        let counters = one(db, "SELECT last_seq, last_outbox FROM workspace WHERE id = ?1", params![workspace.0], |row| {
            Ok(Counters { seq: column(row, 0)?, outbox: column(row, 1)? })
        })?;
        let mut pending = PendingIndex::default();
        let asks = all(
            db,
            "SELECT id, session, owner, native_id FROM ask WHERE workspace = ?1 AND status < ?2",
            params![workspace.0, FIRST_OUTCOME],
            |row| {
                Ok((
                    AskId::from_bytes(column(row, 0)?),
                    PendingAsk {
                        session: column::<Option<[u8; 16]>>(row, 1)?.map(SessionId::from_bytes),
                        owner: column::<Option<[u8; 16]>>(row, 2)?.map(OwnerId),
                        native_id: column(row, 3)?,
                    },
                ))
            },
        )?;
        for (id, ask) in asks {
            pending.insert(id, ask);
        }
        let sql = format!("SELECT {} FROM outbox WHERE workspace = ?1", decode::OUTBOX);
        let outbox = all(db, &sql, params![workspace.0], |row| decode::outbox(row).map(|(id, entry)| (id, Arc::new(entry))))?;
        Ok(Self {
            counters: counters.unwrap_or(Counters { seq: 0, outbox: 0 }),
            asks: Cache::new(CACHED_ASKS),
            blocks: Cache::new(0),
            connections: Cache::new(KEPT_CONNECTIONS),
            externals: Cache::new(0),
            grants: Cache::new(0),
            groups: Cache::new(0),
            idempotency: Cache::new(0),
            login_codes: Cache::new(0),
            runs: Cache::new(0),
            sessions: Cache::new(KEPT_SESSIONS),
            tokens: Cache::new(0),
            pending,
            outbox: outbox.into_iter().collect(),
        })
    }

    /// Applies the changes of a committed unit.
    pub(super) fn committed(&mut self, unit: &Unit) {
        fn apply_changes<K: Clone + Eq + std::hash::Hash, R>(cache: &mut Cache<K, R>, rows: &Rows<K, R>) {
            for (key, row) in rows.changes() {
                cache.set(key, row.cloned());
            }
        }
        self.counters = unit.counters;
        apply_changes(&mut self.asks, &unit.asks);
        apply_changes(&mut self.blocks, &unit.blocks);
        apply_changes(&mut self.connections, &unit.connections);
        apply_changes(&mut self.externals, &unit.externals);
        apply_changes(&mut self.grants, &unit.grants);
        apply_changes(&mut self.groups, &unit.groups);
        apply_changes(&mut self.idempotency, &unit.idempotency);
        apply_changes(&mut self.login_codes, &unit.login_codes);
        apply_changes(&mut self.sessions, &unit.sessions);
        apply_changes(&mut self.tokens, &unit.tokens);
        for (key, row) in unit.runs.changes() {
            // The changed steps were written, so the next transition starts with none.
            self.runs.set(key, row.map(|row| Arc::new(RunRow { changed_steps: Vec::new(), ..RunRow::clone(row) })));
        }
        for (id, row) in unit.asks.changes() {
            match row.filter(|row| row.is_pending()) {
                Some(row) => self.pending.insert(*id, PendingAsk::of(row)),
                None => self.pending.remove(*id),
            }
        }
        for (id, entry) in unit.outbox.changes() {
            match entry {
                Some(entry) => self.outbox.insert(*id, Arc::clone(entry)),
                None => self.outbox.remove(id),
            };
        }
    }

    /// Marks all rows as flushed.
    pub(super) fn flushed(&mut self) {
        self.asks.flushed(|row| row.ask.memory_size() <= LARGE_ASK);
        self.blocks.flushed(|_| false);
        self.connections.flushed(|row| row.state.as_ref().is_none_or(|state| state.as_str().len() <= LARGE_ASK));
        self.externals.flushed(|_| false);
        self.grants.flushed(|_| false);
        self.groups.flushed(|_| false);
        self.idempotency.flushed(|_| false);
        self.login_codes.flushed(|_| false);
        self.runs.flushed(|_| false);
        self.sessions.flushed(|row| row.session.project_policy.as_ref().is_none_or(|text| text.len() <= LARGE_ASK));
        self.tokens.flushed(|_| false);
    }
}

/// Indexes of the pending asks, one for each kind of read.
#[derive(Debug, Default)]
pub(super) struct PendingIndex {
    asks: HashMap<AskId, PendingAsk>,
    by_session: HashMap<SessionId, HashSet<AskId>>,
    by_owner: HashMap<OwnerId, HashSet<AskId>>,
    by_native: HashMap<(OwnerId, String), AskId>,
}

#[derive(Debug)]
pub(super) struct PendingAsk {
    session: Option<SessionId>,
    owner: Option<OwnerId>,
    native_id: Option<String>,
}

impl PendingAsk {
    fn of(row: &AskRow) -> Self {
        let origin = &row.ask.origin;
        Self { session: origin.session, owner: row.owner(), native_id: origin.native_id.clone() }
    }

    fn native(&self) -> Option<(OwnerId, String)> {
        Some((self.owner?, self.native_id.clone()?))
    }
}

impl PendingIndex {
    fn insert(&mut self, id: AskId, ask: PendingAsk) {
        if let Some(session) = ask.session {
            self.by_session.entry(session).or_default().insert(id);
        }
        if let Some(owner) = ask.owner {
            self.by_owner.entry(owner).or_default().insert(id);
        }
        if let Some(native) = ask.native() {
            self.by_native.insert(native, id);
        }
        self.asks.insert(id, ask);
    }

    fn remove(&mut self, id: AskId) {
        fn drop_member<K: Eq + std::hash::Hash>(sets: &mut HashMap<K, HashSet<AskId>>, key: &K, id: AskId) {
            if let Some(set) = sets.get_mut(key) {
                set.remove(&id);
                if set.is_empty() {
                    sets.remove(key);
                }
            }
        }
        let Some(ask) = self.asks.remove(&id) else { return };
        if let Some(session) = ask.session {
            drop_member(&mut self.by_session, &session, id);
        }
        if let Some(owner) = ask.owner {
            drop_member(&mut self.by_owner, &owner, id);
        }
        if let Some(native) = ask.native()
            && self.by_native.get(&native) == Some(&id)
        {
            self.by_native.remove(&native);
        }
    }

    pub(super) fn of(&self, of: PendingOf) -> HashSet<AskId> {
        match of {
            PendingOf::Session(session) => self.by_session.get(&session),
            PendingOf::Owner(owner) => self.by_owner.get(&owner),
        }
        .cloned()
        .unwrap_or_default()
    }

    pub(super) fn by_native(&self, owner: OwnerId, native_id: String) -> Option<AskId> {
        self.by_native.get(&(owner, native_id)).copied()
    }
}
