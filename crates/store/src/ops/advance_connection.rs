//! Commits the consequences of one input of a connection: the new position, the saved state of the translator, and all changes.

use std::sync::Arc;

use sayso_core::actor::Actor;
use sayso_core::ask::{Ask, Decision, Delivery};
use sayso_core::connection::{Connection, Epoch, Position, WirePosition};
use sayso_core::id::{AskId, ConnectionId, SessionId};
use sayso_core::raw::Raw;
use sayso_core::session::{Session, SessionStatus};
use sayso_core::session_lifecycle::{status_after_ask, status_after_report};
use sayso_core::texts;
use sayso_core::time::Time;
use sayso_core::transcript::Block;

use super::decide::{decide, park_or_withdraw, report_delivery};
use super::session_rows::NewSettings;
use super::{open_ask, session_rows};
use crate::error::StoreError;
use crate::event::{EventKind, OutboxId, WorkspaceId};
use crate::operation::{Operation, Read, Reads};
use crate::rows::{OutboxBody, OutboxEntry, OwnerId};
use crate::unit::Unit;

/// Commits the consequences of one input of a connection. The operation is a compare-and-set on `epoch` and `from`, so an input
/// takes effect once.
#[derive(Debug, PartialEq)]
pub struct AdvanceConnection {
    pub workspace: WorkspaceId,
    pub connection: ConnectionId,
    /// The epoch in which the input was read. It grows when the agent's process is started again.
    pub epoch: Epoch,
    /// The position before the input. The operation is refused if the stored position differs.
    pub from: Position,
    pub to: Position,
    pub process: ProcessChange,
    /// The saved state of the translator after the input.
    pub state: Raw,
    /// The deadline of the translator.
    pub wake_at: Option<Time>,
    /// Outbox rows that the agent has received. They are deleted.
    pub delivered: Vec<OutboxId>,
    /// Outcomes and commands that `state` has consumed, and that were sent to the process before this commit. Each row is
    /// replaced by its lines under the same id, so that a restarted server sends the lines instead of translating again.
    pub sent: Vec<SentInput>,
    /// Messages that are sent right after this commit. After a crash it is uncertain whether they arrived.
    pub trying: Vec<OutboxId>,
    /// The changes, in order.
    pub changes: Vec<ConnectionChange>,
}

/// The lines of an outcome or a command that were sent to the process.
#[derive(Debug, PartialEq)]
pub struct SentInput {
    pub row: OutboxId,
    /// The ask whose outcome the lines carry.
    pub ask: Option<AskId>,
    pub message: Raw,
}

/// One consequence of an input.
#[derive(Debug, PartialEq)]
pub enum ConnectionChange {
    /// Creates a session for a conversation that was found on an attached server.
    NewSession { session: Box<Session> },
    /// Opens an ask. If the policy decided it, the ask has its outcome, and the outcome is queued for the agent.
    OpenAsk(Box<Ask>),
    /// Withdraws an ask for the agent.
    Withdraw {
        /// The agent's own id of the request.
        native_id: String,
        reason: String,
    },
    /// Records the progress of a delivery.
    Delivery { ask: AskId, delivery: Delivery },
    /// Queues a message for the agent's process. The outcome of `ask`, if there is one, is delivered when the process confirms
    /// the message.
    Send {
        session: SessionId,
        ask: Option<AskId>,
        message: Raw,
        /// Whether the message contains a secret answer.
        secret: bool,
    },
    /// Adds a block to the transcript, or replaces the one with the same id.
    Block { session: SessionId, block: Block, event: EventKind },
    /// Sets the status of a session. If it ends, its pending asks are parked or withdrawn.
    Status { session: SessionId, status: SessionStatus },
    /// Records the settings that the agent reports.
    Settings { session: SessionId, permission_mode: Option<String>, model: Option<String> },
}

/// How the input changes what is known about the agent's process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessChange {
    /// Not at all: there is no process, or the input is not from it.
    Same,
    /// The output was read up to this position.
    Read(WirePosition),
    /// A process is about to start. The next epoch begins.
    Launched,
    /// The process has ended. Messages that were queued for it are not sent.
    Gone,
}

/// The result of [`AdvanceConnection`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdvanceResult {
    Yes,
    /// The stored epoch or position differs: the input was handled before, or by a later epoch. Nothing changed.
    Stale,
}

impl Operation for AdvanceConnection {
    type Output = AdvanceResult;

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        reads.add(Read::Connection(self.connection));
        for id in self.delivered.iter().chain(&self.trying).chain(self.sent.iter().map(|sent| &sent.row)) {
            reads.add(Read::Outbox(*id));
        }
        if matches!(self.process, ProcessChange::Launched | ProcessChange::Gone) {
            reads.add(Read::OutboxOfConnection(self.connection));
        }
        for change in &self.changes {
            self.reads_of(change, reads);
        }
    }

    fn more_reads(&self, unit: &Unit, reads: &mut Reads) {
        for entry in unit.outbox.present().filter(|entry| entry.connection == self.connection) {
            if let Some(ask) = entry.ask() {
                reads.add(Read::Ask(ask));
                reads.add(Read::Secret(ask));
            }
        }
    }

    fn apply(&self, unit: &mut Unit) -> Result<AdvanceResult, StoreError> {
        let Some(connection) = unit.connections.get(&self.connection)? else { return Ok(AdvanceResult::Stale) };
        if connection.epoch != self.epoch || connection.position != self.from {
            return Ok(AdvanceResult::Stale);
        }
        let connection = self.moved(connection);
        unit.connections.put(self.connection, Arc::new(connection));
        for id in &self.trying {
            mark_tried(unit, *id)?;
        }
        for id in &self.delivered {
            let Some(entry) = unit.outbox.get(id)?.cloned() else { continue };
            unit.outbox.remove(*id);
            if let Some(ask) = entry.ask().filter(|ask| !self.continues(*ask) && !self.withholds(*ask)) {
                report_delivery(unit, ask, Delivery::Delivered)?;
            }
        }
        for sent in &self.sent {
            replace_by_lines(unit, sent)?;
        }
        if matches!(self.process, ProcessChange::Launched | ProcessChange::Gone) {
            self.void_messages(unit)?;
        }
        for change in &self.changes {
            self.apply_change(unit, change)?;
        }
        Ok(AdvanceResult::Yes)
    }
}

impl AdvanceConnection {
    fn reads_of(&self, change: &ConnectionChange, reads: &mut Reads) {
        match change {
            ConnectionChange::Send { .. } => {}
            ConnectionChange::NewSession { session } => reads.add(Read::Session(session.id)),
            ConnectionChange::OpenAsk(ask) => {
                reads.add(Read::Ask(ask.id));
                if let Some(session) = ask.origin.session {
                    reads.add(Read::Session(session));
                }
                if let Some(native) = &ask.origin.native_id {
                    reads.add(Read::PendingByNative(self.connection.into(), native.clone()));
                }
            }
            ConnectionChange::Withdraw { native_id, .. } => {
                reads.add(Read::PendingByNative(self.connection.into(), native_id.clone()))
            }
            ConnectionChange::Delivery { ask, .. } => {
                reads.add(Read::Ask(*ask));
                reads.add(Read::Secret(*ask));
            }
            ConnectionChange::Block { session, block, .. } => {
                reads.add(Read::Session(*session));
                reads.add(Read::Block(block.id));
            }
            ConnectionChange::Settings { session, .. } => reads.add(Read::Session(*session)),
            ConnectionChange::Status { session, status } => {
                reads.add(Read::Session(*session));
                if status.is_ended() {
                    reads.add(Read::PendingOfSession(*session));
                }
            }
        }
    }

    fn moved(&self, connection: &Connection) -> Connection {
        let (epoch, process) = match self.process {
            ProcessChange::Same => (self.epoch, connection.process),
            ProcessChange::Read(position) => (self.epoch, Some(position)),
            ProcessChange::Launched => (Epoch(self.epoch.0 + 1), Some(WirePosition(0))),
            ProcessChange::Gone => (self.epoch, None),
        };
        Connection {
            epoch,
            process,
            position: self.to,
            state: Some(self.state.clone()),
            wake_at: self.wake_at,
            ..connection.clone()
        }
    }

    /// Whether the outcome is not delivered by this commit, because it becomes a message to the process or cannot be delivered.
    fn continues(&self, id: AskId) -> bool {
        self.changes.iter().any(|change| match change {
            ConnectionChange::Delivery { ask, delivery: Delivery::Undeliverable { .. } }
            | ConnectionChange::Send { ask: Some(ask), .. } => *ask == id,
            ConnectionChange::NewSession { .. }
            | ConnectionChange::OpenAsk(_)
            | ConnectionChange::Withdraw { .. }
            | ConnectionChange::Delivery { .. }
            | ConnectionChange::Send { .. }
            | ConnectionChange::Block { .. }
            | ConnectionChange::Status { .. }
            | ConnectionChange::Settings { .. } => false,
        })
    }

    /// Deletes the messages for a process that has ended. It is uncertain whether a message that was being sent arrived.
    fn void_messages(&self, unit: &mut Unit) -> Result<(), StoreError> {
        for (id, entry) in unit.outbox_of_connection(self.connection)? {
            if !entry.is_send() {
                continue;
            }
            unit.outbox.remove(id);
            if let Some(ask) = entry.ask() {
                let reason = texts::AGENT_GONE_NOT_CERTAIN.to_owned();
                report_delivery(unit, ask, Delivery::Undeliverable { reason })?;
            }
        }
        Ok(())
    }

    /// Whether the outcome of this ask is withheld from the agent.
    fn withholds(&self, ask: AskId) -> bool {
        let withheld = |change: &ConnectionChange| matches!(change, ConnectionChange::Delivery { ask: of, delivery: Delivery::Withheld } if *of == ask);
        self.changes.iter().any(withheld)
    }

    fn apply_change(&self, unit: &mut Unit, change: &ConnectionChange) -> Result<(), StoreError> {
        match change {
            ConnectionChange::NewSession { session } => session_rows::insert_session(unit, session),
            ConnectionChange::OpenAsk(ask) => self.open(unit, ask),
            ConnectionChange::Withdraw { native_id, reason } => {
                if let Some(row) = unit.pending_by_native(self.connection.into(), native_id)? {
                    let decision = Decision::Withdrawn { reason: reason.clone() };
                    let _ = decide(unit, &row, decision, Actor::Agent);
                }
                Ok(())
            }
            ConnectionChange::Delivery { ask, delivery } => report_delivery(unit, *ask, delivery.clone()),
            ConnectionChange::Send { session, ask, message, secret } => {
                unit.queue_message(self.connection, *session, *ask, message, *secret);
                Ok(())
            }
            ConnectionChange::Block { session, block, event } => session_rows::put_block(unit, *session, block, *event),
            ConnectionChange::Status { session, status } => self.set_status(unit, *session, status),
            ConnectionChange::Settings { session, permission_mode, model } => {
                let new = NewSettings { permission_mode: permission_mode.as_ref(), model: model.as_ref() };
                session_rows::set_settings(unit, *session, &new)
            }
        }
    }

    fn open(&self, unit: &mut Unit, ask: &Ask) -> Result<(), StoreError> {
        let owner = OwnerId::from(self.connection);
        if let Some(native) = &ask.origin.native_id
            && unit.pending_by_native(owner, native)?.is_some()
        {
            return Err(StoreError::Duplicate { what: "pending request" });
        }
        if let Some(id) = ask.origin.session
            && let Some(status) = unit.session(id)?.and_then(status_after_ask)
        {
            session_rows::set_status(unit, id, status)?;
        }
        open_ask::insert_ask(unit, ask.clone())?;
        Ok(())
    }

    fn set_status(&self, unit: &mut Unit, id: SessionId, status: &SessionStatus) -> Result<(), StoreError> {
        let reported = unit.session(id)?.and_then(|session| status_after_report(session, status.clone()));
        let Some(status) = reported else { return Ok(()) };
        if let SessionStatus::Ended { reason, resumable, .. } = &status {
            for row in unit.pending_of_session(id)? {
                park_or_withdraw(unit, &row, *resumable, reason);
            }
        }
        session_rows::set_status(unit, id, status)
    }
}

fn replace_by_lines(unit: &mut Unit, sent: &SentInput) -> Result<(), StoreError> {
    let Some(entry) = unit.outbox.get(&sent.row)?.cloned() else { return Ok(()) };
    let body = OutboxBody::Send { ask: sent.ask, message: Some(sent.message.clone()), tried: false };
    unit.outbox.put(sent.row, Arc::new(OutboxEntry { body, ..OutboxEntry::clone(&entry) }));
    Ok(())
}

fn mark_tried(unit: &mut Unit, id: OutboxId) -> Result<(), StoreError> {
    let Some(entry) = unit.outbox.get(&id)?.cloned() else { return Ok(()) };
    if let OutboxBody::Send { ask, message, tried: false } = &entry.body {
        let body = OutboxBody::Send { ask: *ask, message: message.clone(), tried: true };
        unit.outbox.put(id, Arc::new(OutboxEntry { body, ..OutboxEntry::clone(&entry) }));
    }
    Ok(())
}
