//! Stages the announcements of a commit: events of the feed and entries of the outbox.

use std::sync::Arc;

use sayso_core::ask::{Ask, Decision, Reach};
use sayso_core::id::{AskId, ConnectionId, SessionId};
use sayso_core::raw::Raw;
use sayso_core::run::Run;
use sayso_core::time::Time;

use super::Unit;
use crate::error::StoreError;
use crate::event::{EventAudience, OutboxId, OutboxPayload, OutboxRow, StoredEvent};
use crate::payload::EventPayload;
use crate::rows::{OutboxBody, OutboxEntry};

impl Unit {
    /// Returns the `seq` of the next event.
    pub(crate) const fn next_seq(&self) -> i64 {
        self.counters.seq + 1
    }

    fn push_event(&mut self, session: Option<SessionId>, payload: EventPayload) -> &mut StoredEvent {
        let seq = self.next_seq();
        self.counters.seq = seq;
        let (workspace, at) = (self.workspace, self.now);
        self.events.push(StoredEvent { workspace, seq, at, session, run: None, audience: None, payload });
        let last = self.events.len() - 1;
        &mut self.events[last]
    }

    /// Adds an event about an ask. The payload names the ask.
    pub(crate) fn announce_ask(&mut self, session: Option<SessionId>, payload: EventPayload) {
        self.push_event(session, payload);
    }

    /// Adds an event about a session, which must be loaded.
    pub(crate) fn announce_session(&mut self, session: SessionId, payload: EventPayload) -> Result<(), StoreError> {
        let audience = self.session(session)?.cloned().map(|session| Arc::new(EventAudience::from(session)));
        self.push_event(Some(session), payload).audience = audience;
        Ok(())
    }

    /// Adds an event about a run.
    pub(crate) fn announce_run(&mut self, run: &Run, session: Option<SessionId>, payload: EventPayload) {
        let audience = Arc::new(EventAudience { labels: run.labels.clone(), opened_by: Some(run.opened_by), step: None });
        let event = self.push_event(session, payload);
        event.run = Some(run.id);
        event.audience = Some(audience);
    }

    /// Adds an event that is not about an ask, a session or a run.
    pub(crate) fn announce(&mut self, payload: EventPayload) {
        self.push_event(None, payload);
    }

    /// Announces the deadline of an ask, so that the server applies it in time.
    pub(crate) fn schedule_deadline(&mut self, ask: AskId, at: Time) {
        self.deadlines.push((ask, at));
    }

    /// Queues the outcome of an ask for its agent. `decision` contains secrets in clear. Asks of callers are not queued,
    /// because callers collect their outcomes.
    pub(crate) fn queue_outcome(&mut self, ask: &Arc<Ask>, decision: Decision, reach: Reach) {
        let (Some(connection), Some(session)) = (ask.origin.connection, ask.origin.session) else { return };
        let follow_up = reach == Reach::Parked;
        let body = OutboxBody::Outcome { ask: ask.id, follow_up };
        self.queue(connection, session, body, OutboxPayload::Outcome { ask: Arc::clone(ask), decision, follow_up });
    }

    /// Queues a command for an agent.
    pub(crate) fn queue_command(&mut self, connection: ConnectionId, session: SessionId, command: &Raw) {
        self.queue(connection, session, OutboxBody::Command(command.clone()), OutboxPayload::Command(command.clone()));
    }

    /// Queues a message for the process of an agent. A secret message replaces the answers in the row of the secret and is
    /// deleted at the same time as they would be.
    pub(crate) fn queue_message(
        &mut self,
        connection: ConnectionId,
        session: SessionId,
        ask: Option<AskId>,
        message: &Raw,
        secret: bool,
    ) {
        let stored = match ask.filter(|_| secret) {
            Some(ask) => {
                self.secrets.put(ask, Arc::new(message.clone()));
                None
            }
            None => Some(message.clone()),
        };
        let body = OutboxBody::Send { ask, message: stored, tried: false };
        self.queue(connection, session, body, OutboxPayload::Send { ask, message: message.clone(), tried: false });
    }

    fn queue(&mut self, connection: ConnectionId, session: SessionId, body: OutboxBody, payload: OutboxPayload) {
        self.counters.outbox += 1;
        let id = OutboxId(self.counters.outbox);
        self.outbox.put(id, Arc::new(OutboxEntry { connection, session, body }));
        self.queued.push(OutboxRow { id, connection, session, payload });
    }
}
