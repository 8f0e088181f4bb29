//! Everything that follows from one input of a connection, in one commit: the position moves, the translator's state is
//! saved, and every consequence is stored with it.

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

use super::decide::{agent_gone, decide, report_delivery};
use super::session_rows::NewSettings;
use super::{open_ask, session_rows};
use crate::error::StoreError;
use crate::event::{EventKind, OutboxId, WorkspaceId};
use crate::operation::{Operation, Read, Reads};
use crate::rows::{OutboxBody, OutboxEntry, OwnerId};
use crate::unit::Unit;

/// See the module.
#[derive(Debug, PartialEq)]
pub struct Advance {
    pub workspace: WorkspaceId,
    pub connection: ConnectionId,
    /// The process life that the input belongs to.
    pub epoch: Epoch,
    /// The position before the input. The operation is refused if the connection is elsewhere.
    pub from: Position,
    pub to: Position,
    pub process: Process,
    /// The translator's state after the input.
    pub state: Raw,
    /// When the translator wants to be called.
    pub wake_at: Option<Time>,
    /// Outbox entries that the agent has received.
    pub delivered: Vec<OutboxId>,
    /// Outcomes and commands that `state` has consumed, and that were sent to the process before this commit. Each entry is
    /// replaced by its lines under the same id, so that a restarted server sends the lines and does not translate again.
    pub sent: Vec<SentInput>,
    /// Messages that are sent right after this commit. After a crash nobody knows whether they arrived.
    pub trying: Vec<OutboxId>,
    /// What happened, in order.
    pub changes: Vec<Change>,
}

/// The lines of an outcome or a command that are on their way to the process.
#[derive(Debug, PartialEq)]
pub struct SentInput {
    pub row: OutboxId,
    /// The ask whose outcome the lines carry.
    pub ask: Option<AskId>,
    pub message: Raw,
}

/// One consequence of an input.
#[derive(Debug, PartialEq)]
pub enum Change {
    /// A conversation of an attached server was found and gets a session.
    NewSession { session: Box<Session> },
    /// The agent asks. The ask has its outcome already if the policy decided it; then the outcome is queued too.
    OpenAsk(Box<Ask>),
    /// The agent withdraws an ask.
    Withdraw {
        /// The agent's own id of the request.
        native_id: String,
        reason: String,
    },
    /// A report about a delivery.
    Delivery { ask: AskId, delivery: Delivery },
    /// A message for the agent's process. If it carries the outcome of an ask, the outcome is delivered when the process
    /// has the message.
    Send {
        session: SessionId,
        /// The ask whose outcome the message carries.
        ask: Option<AskId>,
        message: Raw,
        /// Whether the message contains a secret answer.
        secret: bool,
    },
    /// A block was added, or replaced by one with the same id.
    Block { session: SessionId, block: Block, event: EventKind },
    /// The session does something else now. When it ends, its pending asks are parked or withdrawn.
    Status { session: SessionId, status: SessionStatus },
    /// The agent has another permission mode or model now.
    Settings {
        session: SessionId,
        /// The permission mode, if it changed.
        permission_mode: Option<String>,
        /// The model, if it changed.
        model: Option<String>,
    },
}

/// What happened to the agent's process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Process {
    /// Nothing: there is none, or nothing was read from it.
    Same,
    /// Its output was read up to here.
    Read(WirePosition),
    /// A process is about to be launched: the next epoch begins.
    Launched,
    /// The process is gone. Messages that were queued for it are not sent.
    Gone,
}

/// Whether an advance took effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advanced {
    Yes,
    /// The connection is elsewhere: the input was handled before, or by a later epoch.
    Stale,
}

impl Operation for Advance {
    type Output = Advanced;

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        reads.add(Read::Connection(self.connection));
        for id in self.delivered.iter().chain(&self.trying).chain(self.sent.iter().map(|sent| &sent.row)) {
            reads.add(Read::Outbox(*id));
        }
        if matches!(self.process, Process::Launched | Process::Gone) {
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

    fn apply(&self, unit: &mut Unit) -> Result<Advanced, StoreError> {
        let Some(connection) = unit.connections.get(&self.connection)? else { return Ok(Advanced::Stale) };
        if connection.epoch != self.epoch || connection.position != self.from {
            return Ok(Advanced::Stale);
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
        if matches!(self.process, Process::Launched | Process::Gone) {
            self.void_messages(unit)?;
        }
        for change in &self.changes {
            self.apply_change(unit, change)?;
        }
        Ok(Advanced::Yes)
    }
}

impl Advance {
    fn reads_of(&self, change: &Change, reads: &mut Reads) {
        match change {
            Change::Send { .. } => {}
            Change::NewSession { session } => reads.add(Read::Session(session.id)),
            Change::OpenAsk(ask) => {
                reads.add(Read::Ask(ask.id));
                if let Some(session) = ask.origin.session {
                    reads.add(Read::Session(session));
                }
                if let Some(native) = &ask.origin.native_id {
                    reads.add(Read::PendingByNative(self.connection.into(), native.clone()));
                }
            }
            Change::Withdraw { native_id, .. } => reads.add(Read::PendingByNative(self.connection.into(), native_id.clone())),
            Change::Delivery { ask, .. } => {
                reads.add(Read::Ask(*ask));
                reads.add(Read::Secret(*ask));
            }
            Change::Block { session, block, .. } => {
                reads.add(Read::Session(*session));
                reads.add(Read::Block(block.id));
            }
            Change::Settings { session, .. } => reads.add(Read::Session(*session)),
            Change::Status { session, status } => {
                reads.add(Read::Session(*session));
                if status.is_ended() {
                    reads.add(Read::PendingOfSession(*session));
                }
            }
        }
    }

    fn moved(&self, connection: &Connection) -> Connection {
        let (epoch, process) = match self.process {
            Process::Same => (self.epoch, connection.process),
            Process::Read(position) => (self.epoch, Some(position)),
            Process::Launched => (Epoch(self.epoch.0 + 1), Some(WirePosition(0))),
            Process::Gone => (self.epoch, None),
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

    /// Whether an outcome continues to a process, or cannot continue: then the agent does not have it yet.
    fn continues(&self, id: AskId) -> bool {
        self.changes.iter().any(|change| match change {
            Change::Delivery { ask, delivery: Delivery::Undeliverable { .. } } | Change::Send { ask: Some(ask), .. } => {
                *ask == id
            }
            Change::NewSession { .. }
            | Change::OpenAsk(_)
            | Change::Withdraw { .. }
            | Change::Delivery { .. }
            | Change::Send { .. }
            | Change::Block { .. }
            | Change::Status { .. }
            | Change::Settings { .. } => false,
        })
    }

    /// Messages for a process that is gone are not sent. Nobody knows whether one that was tried arrived.
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

    /// Whether the agent gets something else than the outcome of this ask.
    fn withholds(&self, ask: AskId) -> bool {
        let withheld =
            |change: &Change| matches!(change, Change::Delivery { ask: of, delivery: Delivery::Withheld } if *of == ask);
        self.changes.iter().any(withheld)
    }

    fn apply_change(&self, unit: &mut Unit, change: &Change) -> Result<(), StoreError> {
        match change {
            Change::NewSession { session } => session_rows::insert(unit, session),
            Change::OpenAsk(ask) => self.open(unit, ask),
            Change::Withdraw { native_id, reason } => {
                if let Some(row) = unit.pending_by_native(self.connection.into(), native_id)? {
                    let decision = Decision::Withdrawn { reason: reason.clone() };
                    let _ = decide(unit, &row, decision, Actor::Agent);
                }
                Ok(())
            }
            Change::Delivery { ask, delivery } => report_delivery(unit, *ask, delivery.clone()),
            Change::Send { session, ask, message, secret } => {
                unit.queue_message(self.connection, *session, *ask, message, *secret);
                Ok(())
            }
            Change::Block { session, block, event } => session_rows::put_block(unit, *session, block, *event),
            Change::Status { session, status } => self.set_status(unit, *session, status),
            Change::Settings { session, permission_mode, model } => {
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
        open_ask::insert(unit, ask.clone())?;
        Ok(())
    }

    fn set_status(&self, unit: &mut Unit, id: SessionId, status: &SessionStatus) -> Result<(), StoreError> {
        let reported = unit.session(id)?.and_then(|session| status_after_report(session, status.clone()));
        let Some(status) = reported else { return Ok(()) };
        if let SessionStatus::Ended { reason, resumable, .. } = &status {
            for row in unit.pending_of_session(id)? {
                agent_gone(unit, &row, *resumable, reason);
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
