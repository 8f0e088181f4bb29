//! The unit of work of one batch in one workspace: loaded rows, staged changes, and the announcements of the commit.

mod announce;
mod plain_text;
mod rows;
mod sets;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use sayso_core::ask::{Answers, Ask};
use sayso_core::connection::Connection;
use sayso_core::group::Group;
use sayso_core::id::{AskId, BlockId, ConnectionId, GrantId, GroupId, RunId, SessionId, TokenId};
use sayso_core::raw::Raw;
use sayso_core::session::Session;
use sayso_core::time::Time;

pub(crate) use rows::Rows;
pub(crate) use sets::belongs;

use crate::error::StoreError;
use crate::event::{Commit, OutboxId, OutboxRow, StoredEvent, WorkspaceId};
use crate::operation::{IdempotencyId, IdempotencyKey, PendingOf, Read};
use crate::ops::external_sessions::ExternalSessionKey;
use crate::ops::notifications::NotificationRow;
use crate::ops::push_subscriptions::PushSubscriptionRow;
use crate::ops::tokens::TokenRow;
use crate::rows::{AskRow, BlockRow, GrantRow, IdempotencyRow, LoginCodeRow, OutboxEntry, RunRow, SessionRow, TrustRow};

/// The last `seq` of the feed and the last id of the outbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counters {
    pub(crate) seq: i64,
    pub(crate) outbox: i64,
}

/// The unit of work. Operations read loaded rows from it and stage changes in it.
#[derive(Debug)]
pub struct Unit {
    pub(crate) workspace: WorkspaceId,
    /// The time of the commit by the clock of the backend. All events of the batch have this time.
    pub(crate) now: Time,
    pub(crate) counters: Counters,
    pub(crate) asks: Rows<AskId, AskRow>,
    pub(crate) blocks: Rows<BlockId, BlockRow>,
    pub(crate) connections: Rows<ConnectionId, Connection>,
    pub(crate) externals: Rows<ExternalSessionKey, SessionId>,
    pub(crate) grants: Rows<GrantId, GrantRow>,
    pub(crate) groups: Rows<GroupId, Group>,
    /// Encrypted states of suspended runs.
    pub(crate) group_states: Rows<GroupId, Vec<u8>>,
    pub(crate) idempotency: Rows<IdempotencyId, IdempotencyRow>,
    pub(crate) login_codes: Rows<[u8; 32], LoginCodeRow>,
    pub(crate) notes: Rows<(AskId, String), NotificationRow>,
    pub(crate) outbox: Rows<OutboxId, OutboxEntry>,
    pub(crate) pushes: Rows<TokenId, PushSubscriptionRow>,
    pub(crate) runs: Rows<RunId, RunRow>,
    /// The secret answers as JSON, or later the message to the process that contains them.
    pub(crate) secrets: Rows<AskId, Raw>,
    pub(crate) sessions: Rows<SessionId, SessionRow>,
    pub(crate) settings: Rows<String, Raw>,
    pub(crate) tokens: Rows<TokenId, TokenRow>,
    pub(crate) trusted: Rows<String, TrustRow>,
    /// The closed sets that were loaded.
    sets: HashSet<Read>,
    pending_ids: HashMap<PendingOf, HashSet<AskId>>,
    pub(crate) events: Vec<StoredEvent>,
    pub(crate) queued: Vec<OutboxRow>,
    pub(crate) deadlines: Vec<(AskId, Time)>,
    started: Counters,
    savepoint: Savepoint,
}

/// The state before the current operation, to roll it back.
#[derive(Debug, Clone, Copy)]
struct Savepoint {
    counters: Counters,
    events: usize,
    queued: usize,
    deadlines: usize,
}

/// The result of looking up an idempotency key.
pub(crate) enum EarlierCall {
    Fresh,
    /// The key belongs to the same call, which had this target.
    Same(String),
    /// The key belongs to a call with a different body.
    Other,
}

impl Unit {
    pub(crate) fn new(workspace: WorkspaceId, now: Time, counters: Counters) -> Self {
        Self {
            workspace,
            now,
            counters,
            asks: Rows::new("ask"),
            blocks: Rows::new("block"),
            connections: Rows::new("connection"),
            externals: Rows::new("external"),
            grants: Rows::new("grant"),
            groups: Rows::new("group"),
            group_states: Rows::new("state of a group"),
            idempotency: Rows::new("idempotency"),
            login_codes: Rows::new("login code"),
            notes: Rows::new("note"),
            outbox: Rows::new("outbox"),
            pushes: Rows::new("push"),
            runs: Rows::new("run"),
            secrets: Rows::new("secret"),
            sessions: Rows::new("session"),
            settings: Rows::new("setting"),
            tokens: Rows::new("token"),
            trusted: Rows::new("trust"),
            sets: HashSet::new(),
            pending_ids: HashMap::new(),
            events: Vec::new(),
            queued: Vec::new(),
            deadlines: Vec::new(),
            started: counters,
            savepoint: Savepoint { counters, events: 0, queued: 0, deadlines: 0 },
        }
    }

    /// Sets the time of the commit and the counters before it, for a backend that reads them together with rows.
    pub(crate) const fn begin(&mut self, now: Time, counters: Counters) {
        self.now = now;
        self.counters = counters;
        self.started = counters;
        self.savepoint.counters = counters;
    }

    /// Returns the counters before this batch.
    pub(crate) const fn started(&self) -> Counters {
        self.started
    }

    pub(crate) const fn is_new(&self, seq: i64) -> bool {
        seq > self.started.seq
    }

    /// Keeps the changes of the current operation.
    pub(crate) fn keep(&mut self) {
        self.each_table(|table| table.keep());
        self.savepoint = Savepoint {
            counters: self.counters,
            events: self.events.len(),
            queued: self.queued.len(),
            deadlines: self.deadlines.len(),
        };
    }

    /// Rolls back the changes of the current operation.
    pub(crate) fn roll_back(&mut self) {
        self.each_table(|table| table.roll_back());
        self.counters = self.savepoint.counters;
        self.events.truncate(self.savepoint.events);
        self.queued.truncate(self.savepoint.queued);
        self.deadlines.truncate(self.savepoint.deadlines);
    }

    fn each_table(&mut self, act: fn(&mut dyn Table)) {
        let tables: [&mut dyn Table; 18] = [
            &mut self.asks,
            &mut self.blocks,
            &mut self.connections,
            &mut self.externals,
            &mut self.grants,
            &mut self.groups,
            &mut self.group_states,
            &mut self.idempotency,
            &mut self.login_codes,
            &mut self.notes,
            &mut self.outbox,
            &mut self.pushes,
            &mut self.runs,
            &mut self.secrets,
            &mut self.sessions,
            &mut self.settings,
            &mut self.tokens,
            &mut self.trusted,
        ];
        tables.into_iter().for_each(act);
    }

    pub(crate) fn into_commit(self) -> Commit {
        let groups = self.groups.changes().filter_map(|(_, group)| group.cloned()).collect();
        Commit { events: self.events, outbox: self.queued, deadlines: self.deadlines, groups }
    }

    pub(crate) fn ask(&self, id: AskId) -> Result<Option<&Arc<AskRow>>, StoreError> {
        self.asks.get(&id)
    }

    pub(crate) fn session(&self, id: SessionId) -> Result<Option<&Session>, StoreError> {
        Ok(self.sessions.get(&id)?.map(|row| &row.session))
    }

    /// Replaces an existing ask.
    pub(crate) fn put_ask(&mut self, ask: Arc<Ask>, seq: i64) {
        self.asks.put(ask.id, Arc::new(AskRow { ask, seq }));
    }

    /// Replaces an existing session.
    pub(crate) fn put_session(&mut self, session: Session) -> Result<(), StoreError> {
        let Some(row) = self.sessions.get(&session.id)? else { return Err(StoreError::NotLoaded { table: "session" }) };
        let seq = row.seq;
        self.sessions.put(session.id, Arc::new(SessionRow { session, seq }));
        Ok(())
    }

    /// Returns the answers of a secret ask in clear.
    pub(crate) fn secret_answers(&self, ask: AskId) -> Result<Option<Answers>, StoreError> {
        let Some(raw) = self.secrets.get(&ask)? else { return Ok(None) };
        serde_json::from_str(raw.as_str())
            .map(Some)
            .map_err(|error| StoreError::Unreadable { what: "secret", detail: error.to_string() })
    }

    pub(crate) fn find_earlier_call(&self, key: Option<&IdempotencyKey>) -> Result<EarlierCall, StoreError> {
        let Some(key) = key else { return Ok(EarlierCall::Fresh) };
        Ok(match self.idempotency.get(&key.id())? {
            None => EarlierCall::Fresh,
            Some(row) if row.fingerprint == key.fingerprint => EarlierCall::Same(row.target.clone()),
            Some(_) => EarlierCall::Other,
        })
    }

    /// Returns the target of an earlier call with this key, for `more_reads`.
    pub(crate) fn earlier_call_target<T: std::str::FromStr>(&self, key: Option<&IdempotencyKey>) -> Option<T> {
        match self.find_earlier_call(key) {
            Ok(EarlierCall::Same(target)) => target.parse().ok(),
            Ok(EarlierCall::Fresh | EarlierCall::Other) | Err(_) => None,
        }
    }

    /// Stages the record of a call with an idempotency key.
    pub(crate) fn remember_call(&mut self, key: Option<&IdempotencyKey>, target: String) {
        if let Some(key) = key {
            let row = IdempotencyRow { fingerprint: key.fingerprint, target, at: self.now };
            self.idempotency.put(key.id(), Arc::new(row));
        }
    }
}

/// The part of [`Rows`] that does not depend on its type parameters.
trait Table {
    fn keep(&mut self);
    fn roll_back(&mut self);
}

impl<K: Clone + Eq + std::hash::Hash, R> Table for Rows<K, R> {
    fn keep(&mut self) {
        Self::keep(self);
    }
    fn roll_back(&mut self) {
        Self::roll_back(self);
    }
}
