//! What every write uses: the sequence, events, the outbox, idempotency.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, params};
use sayso_core::ask::{Ask, Decision, Reach};
use sayso_core::id::{AskId, ConnectionId, RunId, SessionId};
use sayso_core::raw::Raw;
use sayso_core::run::Run;
use sayso_core::time::Time;

use super::recent::Recent;
use super::{ask_row, event_row, sessions};
use crate::error::StoreError;
use crate::event::{About, Commit, OutboxId, OutboxKind, OutboxPayload, OutboxRow, StoredEvent, WorkspaceId};
use crate::payload::EventPayload;
use crate::write::{IdempotencyKey, RunEvent};

/// What a transaction has gathered so far.
#[derive(Debug, Default)]
pub(super) struct Batch {
    events: Vec<StoredEvent>,
    outbox: Vec<OutboxRow>,
    deadlines: Vec<(AskId, Time)>,
    pub(super) empty_log: bool,
}

impl Batch {
    pub(super) fn into_commit(self) -> Commit {
        Commit { events: self.events, outbox: self.outbox, deadlines: self.deadlines }
    }
}

/// How much had been gathered, to go back to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    events: usize,
    outbox: usize,
    deadlines: usize,
    counters: Counters,
    empty_log: bool,
}

/// The writer's transaction.
#[derive(Debug)]
pub struct Tx<'a> {
    db: &'a Connection,
    batch: &'a mut Batch,
    recent: &'a mut Recent,
    workspace: WorkspaceId,
    stored: Counters,
    counters: Counters,
}

/// The last place of the feed and the last id of the outbox. Both only grow, also across restarts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Counters {
    seq: i64,
    outbox: i64,
}

/// What is known about an idempotency key.
pub(super) enum Earlier {
    /// Nothing: go on.
    Fresh,
    /// It was used for the same call, which made this.
    Same(String),
    /// It was used for another call.
    Other,
}

impl<'a> Tx<'a> {
    pub(super) fn new(db: &'a Connection, batch: &'a mut Batch, recent: &'a mut Recent) -> Result<Self, StoreError> {
        // One workspace so far; a second one gets its counter here.
        let workspace = WorkspaceId::MAIN;
        let counters = db
            .prepare_cached("SELECT last_seq, last_outbox FROM workspace WHERE id = ?1")?
            .query_row([workspace.0], |row| Ok(Counters { seq: row.get(0)?, outbox: row.get(1)? }))?;
        Ok(Self { db, batch, recent, workspace, stored: counters, counters })
    }

    pub(super) const fn db(&self) -> &'a Connection {
        self.db
    }

    pub(super) const fn mark(&self) -> Mark {
        Mark {
            events: self.batch.events.len(),
            outbox: self.batch.outbox.len(),
            deadlines: self.batch.deadlines.len(),
            counters: self.counters,
            empty_log: self.batch.empty_log,
        }
    }

    pub(super) fn back_to(&mut self, mark: Mark) {
        self.batch.events.truncate(mark.events);
        self.batch.outbox.truncate(mark.outbox);
        self.batch.deadlines.truncate(mark.deadlines);
        self.batch.empty_log = mark.empty_log;
        self.counters = mark.counters;
        self.recent.forget();
    }

    pub(super) fn finish(self) -> Result<(), StoreError> {
        if self.counters != self.stored {
            self.db.prepare_cached("UPDATE workspace SET last_seq = ?2, last_outbox = ?3 WHERE id = ?1")?.execute(params![
                self.workspace.0,
                self.counters.seq,
                self.counters.outbox
            ])?;
        }
        Ok(())
    }

    /// The place that the next event gets.
    pub(super) const fn next_seq(&self) -> i64 {
        self.counters.seq + 1
    }

    /// The id that the next row of the outbox gets.
    const fn next_outbox(&mut self) -> OutboxId {
        self.counters.outbox += 1;
        OutboxId(self.counters.outbox)
    }

    /// An ask as it stands: from what was written last, else from its row.
    pub(super) fn ask(&self, workspace: WorkspaceId, id: AskId) -> Result<Option<Arc<Ask>>, StoreError> {
        match self.recent.get(workspace, id) {
            Some(ask) => Ok(Some(ask)),
            None => Ok(ask_row::get(self.db, workspace, id)?.map(Arc::new)),
        }
    }

    /// Who may see what happens in a session.
    fn about(&mut self, session: SessionId) -> Result<Option<Arc<About>>, StoreError> {
        if let Some(about) = self.recent.about(session) {
            return Ok(Some(about));
        }
        let found = sessions::get(self.db, self.workspace, session)?;
        let about = found.map(|found| Arc::new(About::from(found)));
        if let Some(about) = &about {
            self.recent.put_about(session, about);
        }
        Ok(about)
    }

    /// Writes one event of the feed.
    pub(super) fn event(&mut self, at: Time, session: Option<SessionId>, payload: EventPayload) -> Result<(), StoreError> {
        let data = event_row::encode(&payload)?;
        self.event_with_data(at, session, payload, data.as_deref())
    }

    /// Writes the event of a new block that never changes. The block's row is at the same place, so the event keeps no copy.
    pub(super) fn event_of_block(&mut self, session: SessionId, payload: EventPayload, at: Time) -> Result<(), StoreError> {
        self.event_with_data(at, Some(session), payload, None)
    }

    fn event_with_data(
        &mut self,
        at: Time,
        session: Option<SessionId>,
        payload: EventPayload,
        data: Option<&str>,
    ) -> Result<(), StoreError> {
        let about = match (payload.ask(), session) {
            (Some(ask), _) => {
                self.recent.put(self.workspace, ask);
                None
            }
            (None, Some(session)) => self.about(session)?,
            (None, None) => None,
        };
        self.insert_event(
            StoredEvent { workspace: self.workspace, seq: self.next_seq(), at, session, run: None, about, payload },
            data,
        )
    }

    /// Writes one event about a run.
    pub(super) fn run_event(&mut self, at: Time, run: &Run, event: RunEvent) -> Result<(), StoreError> {
        let (session, payload) = match event {
            RunEvent::Run(run) => (None, EventPayload::Run(run)),
            RunEvent::Step(step) => (step.session_id, EventPayload::Step(Box::new(step))),
        };
        let about = Arc::new(About { labels: run.labels.clone(), opened_by: Some(run.opened_by), step: None });
        let data = event_row::encode(&payload)?;
        let (workspace, seq) = (self.workspace, self.next_seq());
        let event = StoredEvent { workspace, seq, at, session, run: Some(run.id), about: Some(about), payload };
        self.insert_event(event, data.as_deref())
    }

    fn insert_event(&mut self, event: StoredEvent, data: Option<&str>) -> Result<(), StoreError> {
        self.db
            .prepare_cached(
                "INSERT INTO event (workspace, seq, at_ms, kind, session, ask, run, data) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?
            .execute(params![
                event.workspace.0,
                event.seq,
                event.at.as_millis(),
                event.payload.kind() as i64,
                event.session.as_ref().map(SessionId::as_bytes),
                event.payload.ask().map(|ask| *ask.id.as_bytes()),
                event.run.as_ref().map(RunId::as_bytes),
                data,
            ])?;
        self.counters.seq = event.seq;
        self.batch.events.push(event);
        Ok(())
    }

    /// Queues the outcome of an ask for its agent.
    pub(super) fn send_outcome(&mut self, ask: &Arc<Ask>, decision: Decision, reach: Reach) -> Result<(), StoreError> {
        let (Some(connection), Some(session)) = (ask.origin.connection, ask.origin.session) else { return Ok(()) };
        let kind = match reach {
            Reach::Live => OutboxKind::Outcome,
            Reach::Parked => OutboxKind::FollowUp,
        };
        let id = self.queue(connection, session, kind, Some(ask.id), None)?;
        let payload = OutboxPayload::Outcome { ask: Arc::clone(ask), decision, follow_up: reach == Reach::Parked };
        self.batch.outbox.push(OutboxRow { id, connection, session, payload });
        Ok(())
    }

    /// Queues a command for an agent.
    pub(super) fn send_command(&mut self, connection: ConnectionId, session: SessionId, command: Raw) -> Result<(), StoreError> {
        let id = self.queue(connection, session, OutboxKind::Command, None, Some(command.as_str()))?;
        self.batch.outbox.push(OutboxRow { id, connection, session, payload: OutboxPayload::Command(command) });
        Ok(())
    }

    /// Queues a message for the process of an agent. One with a secret in it takes the place of the
    /// answers among the secrets, and goes when they would.
    pub(super) fn send_message(
        &mut self,
        connection: ConnectionId,
        session: SessionId,
        ask: Option<AskId>,
        message: Raw,
        secret: bool,
    ) -> Result<(), StoreError> {
        let id = match ask.filter(|_| secret) {
            Some(ask) => {
                self.db
                    .prepare_cached("INSERT OR REPLACE INTO secret (ask, workspace, answers) VALUES (?1, ?2, ?3)")?
                    .execute(params![ask.as_bytes(), self.workspace.0, message.as_str()])?;
                self.queue(connection, session, OutboxKind::SendSecret, Some(ask), None)?
            }
            None => self.queue(connection, session, OutboxKind::Send, ask, Some(message.as_str()))?,
        };
        self.batch.outbox.push(OutboxRow {
            id,
            connection,
            session,
            payload: OutboxPayload::Send { ask, message, tried: false },
        });
        Ok(())
    }

    fn queue(
        &mut self,
        connection: ConnectionId,
        session: SessionId,
        kind: OutboxKind,
        ask: Option<AskId>,
        body: Option<&str>,
    ) -> Result<OutboxId, StoreError> {
        let id = self.next_outbox();
        self.db
            .prepare_cached(
                "INSERT INTO outbox (id, workspace, connection, session, kind, ask, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?
            .execute(params![
                id.0,
                self.workspace.0,
                connection.as_bytes(),
                session.as_bytes(),
                kind as i64,
                ask.as_ref().map(AskId::as_bytes),
                body
            ])?;
        Ok(id)
    }

    /// An ask that ends by itself.
    pub(super) fn deadline(&mut self, ask: AskId, at: Time) {
        self.batch.deadlines.push((ask, at));
    }

    /// A secret was deleted: the log must be emptied after the commit.
    pub(super) const fn secret_deleted(&mut self) {
        self.batch.empty_log = true;
    }

    /// What is known about a key.
    pub(super) fn earlier(&self, key: Option<&IdempotencyKey>) -> Result<Earlier, StoreError> {
        let Some(key) = key else { return Ok(Earlier::Fresh) };
        let found: Option<(Vec<u8>, String)> = self
            .db
            .prepare_cached("SELECT fingerprint, target FROM idempotency WHERE token = ?1 AND route = ?2 AND key = ?3")?
            .query_row(params![key.token.as_bytes(), key.route, key.key], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        Ok(match found {
            None => Earlier::Fresh,
            Some((fingerprint, target)) if fingerprint == key.fingerprint => Earlier::Same(target),
            Some(_) => Earlier::Other,
        })
    }

    /// Remembers what a call made.
    pub(super) fn remember(&self, key: Option<&IdempotencyKey>, target: &str, now: Time) -> Result<(), StoreError> {
        let Some(key) = key else { return Ok(()) };
        self.db
            .prepare_cached(
                "INSERT INTO idempotency (token, route, key, workspace, fingerprint, target, at_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?
            .execute(params![key.token.as_bytes(), key.route, key.key, self.workspace.0, key.fingerprint, target, now.as_millis()])?;
        Ok(())
    }
}
