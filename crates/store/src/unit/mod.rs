//! The unit of work of one batch in one workspace: rows that were loaded, changes that were staged, and what the commit
//! announces.

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
use crate::ops::external::ExternalKey;
use crate::ops::notes::NoteRow;
use crate::ops::pushes::PushRow;
use crate::ops::tokens::TokenRow;
use crate::rows::{AskRow, BlockRow, GrantRow, IdempotencyRow, LoginCodeRow, OutboxEntry, RunRow, SessionRow, TrustRow};

/// The last `seq` of the feed and the last id of the outbox. Both only grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counters {
    pub(crate) seq: i64,
    pub(crate) outbox: i64,
}

/// See the module.
#[derive(Debug)]
pub struct Unit {
    pub(crate) workspace: WorkspaceId,
    /// When the batch is committed, by the clock of the backend. Every event of the batch has this time.
    pub(crate) now: Time,
    pub(crate) counters: Counters,
    pub(crate) asks: Rows<AskId, AskRow>,
    pub(crate) blocks: Rows<BlockId, BlockRow>,
    pub(crate) connections: Rows<ConnectionId, Connection>,
    pub(crate) externals: Rows<ExternalKey, SessionId>,
    pub(crate) grants: Rows<GrantId, GrantRow>,
    pub(crate) groups: Rows<GroupId, Group>,
    /// Encrypted states of suspended runs.
    pub(crate) group_states: Rows<GroupId, Vec<u8>>,
    pub(crate) idempotency: Rows<IdempotencyId, IdempotencyRow>,
    pub(crate) login_codes: Rows<[u8; 32], LoginCodeRow>,
    pub(crate) notes: Rows<(AskId, String), NoteRow>,
    pub(crate) outbox: Rows<OutboxId, OutboxEntry>,
    pub(crate) pushes: Rows<TokenId, PushRow>,
    pub(crate) runs: Rows<RunId, RunRow>,
    /// JSON: the answers, then the message to the process that has them in it.
    pub(crate) secrets: Rows<AskId, Raw>,
    pub(crate) sessions: Rows<SessionId, SessionRow>,
    pub(crate) settings: Rows<String, Raw>,
    pub(crate) tokens: Rows<TokenId, TokenRow>,
    pub(crate) trusted: Rows<String, TrustRow>,
    /// The closed sets that are loaded.
    sets: HashSet<Read>,
    pending_ids: HashMap<PendingOf, HashSet<AskId>>,
    pub(crate) events: Vec<StoredEvent>,
    pub(crate) queued: Vec<OutboxRow>,
    pub(crate) deadlines: Vec<(AskId, Time)>,
    started: Counters,
    mark: Mark,
}

/// How far a unit had come before the current operation.
#[derive(Debug, Clone, Copy)]
struct Mark {
    counters: Counters,
    events: usize,
    queued: usize,
    deadlines: usize,
}

/// What is known about an idempotency key.
pub(crate) enum Earlier {
    Fresh,
    /// The same call created this.
    Same(String),
    /// A call with another body used the key.
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
            mark: Mark { counters, events: 0, queued: 0, deadlines: 0 },
        }
    }

    /// Sets the time of the commit and the counters before it. For a backend that learns them together with rows.
    pub(crate) const fn begin(&mut self, now: Time, counters: Counters) {
        self.now = now;
        self.counters = counters;
        self.started = counters;
        self.mark.counters = counters;
    }

    /// The counters before this batch.
    pub(crate) const fn started(&self) -> Counters {
        self.started
    }

    /// Whether the event with this `seq` belongs to this batch.
    pub(crate) const fn is_new(&self, seq: i64) -> bool {
        seq > self.started.seq
    }

    /// Keeps what the current operation staged.
    pub(crate) fn keep(&mut self) {
        self.each_table(|table| table.keep());
        self.mark = Mark {
            counters: self.counters,
            events: self.events.len(),
            queued: self.queued.len(),
            deadlines: self.deadlines.len(),
        };
    }

    /// Takes back what the current operation staged.
    pub(crate) fn roll_back(&mut self) {
        self.each_table(|table| table.roll_back());
        self.counters = self.mark.counters;
        self.events.truncate(self.mark.events);
        self.queued.truncate(self.mark.queued);
        self.deadlines.truncate(self.mark.deadlines);
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

    /// Replaces an ask that exists.
    pub(crate) fn put_ask(&mut self, ask: Arc<Ask>, seq: i64) {
        self.asks.put(ask.id, Arc::new(AskRow { ask, seq }));
    }

    /// Replaces a session that exists.
    pub(crate) fn put_session(&mut self, session: Session) -> Result<(), StoreError> {
        let Some(row) = self.sessions.get(&session.id)? else { return Err(StoreError::NotLoaded { table: "session" }) };
        let seq = row.seq;
        self.sessions.put(session.id, Arc::new(SessionRow { session, seq }));
        Ok(())
    }

    /// The answers of a secret ask, in clear.
    pub(crate) fn secret_answers(&self, ask: AskId) -> Result<Option<Answers>, StoreError> {
        let Some(raw) = self.secrets.get(&ask)? else { return Ok(None) };
        serde_json::from_str(raw.as_str())
            .map(Some)
            .map_err(|error| StoreError::Unreadable { what: "secret", detail: error.to_string() })
    }

    pub(crate) fn earlier(&self, key: Option<&IdempotencyKey>) -> Result<Earlier, StoreError> {
        let Some(key) = key else { return Ok(Earlier::Fresh) };
        Ok(match self.idempotency.get(&key.id())? {
            None => Earlier::Fresh,
            Some(row) if row.fingerprint == key.fingerprint => Earlier::Same(row.target.clone()),
            Some(_) => Earlier::Other,
        })
    }

    /// The target of an earlier call with this key, parsed. For `more_reads`.
    pub(crate) fn earlier_target<T: std::str::FromStr>(&self, key: Option<&IdempotencyKey>) -> Option<T> {
        match self.earlier(key) {
            Ok(Earlier::Same(target)) => target.parse().ok(),
            Ok(Earlier::Fresh | Earlier::Other) | Err(_) => None,
        }
    }

    /// Remembers what a call created.
    pub(crate) fn remember(&mut self, key: Option<&IdempotencyKey>, target: String) {
        if let Some(key) = key {
            let row = IdempotencyRow { fingerprint: key.fingerprint, target, at: self.now };
            self.idempotency.put(key.id(), Arc::new(row));
        }
    }
}

/// The part of [`Rows`] that does not depend on its types.
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
