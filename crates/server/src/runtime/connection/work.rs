//! The kinds of work that reach a connection, and what each means for the translator and the stored rows.

use std::sync::Arc;

use sayso_agents::translator::{Command, DecidedBy, Exit, FoundSession, HttpReply, Input};
use sayso_core::actor::Actor;
use sayso_core::ask::{Ask, Decision, Delivery};
use sayso_core::connection::WirePosition;
use sayso_core::id::{AskId, SessionId};
use sayso_core::session::SessionStatus;
use sayso_core::texts;
use sayso_core::time::Time;
use sayso_core::transcript::{BlockBody, Role};
use sayso_store::ops::ConnectionChange;
use sayso_store::{EventKind, OutboxId, OutboxPayload, OutboxRow};

use super::process::{Heard, Refused};
use super::state::{CarriedSession, ConnectionState};
use crate::service::sessions::resume_command;

/// One item that reached a connection. Each is carried out as one transition.
#[derive(Debug)]
pub(super) enum Work {
    /// An ask of the agent was decided. `follow_up`: the agent no longer waits for the outcome. `withheld`: a file that the
    /// approved command executes has changed since, so the agent is denied.
    Outcome { row: OutboxId, session: SessionId, ask: Arc<Ask>, decision: Decision, follow_up: bool, withheld: bool },
    /// A command for the agent.
    Command { row: OutboxId, command: Command },
    /// A session was stopped before this approval was sent, so the agent does not get it.
    Cancelled { row: OutboxId, ask: AskId },
    /// The process is gone, and it is unknown whether it got these outcomes.
    Uncertain(Vec<(OutboxId, Option<AskId>)>),
    /// The consequences of direct inputs have waited long enough for a commit.
    CommitDirect,
    /// The process wrote output, ended, or accepted or refused messages.
    Process(Heard),
    /// A process should exist but does not. `row` is the message that should have launched it.
    NoProcess { exit: Exit, row: Option<OutboxId> },
    /// The agent's server sent something. `replied` are the rows of calls that got a reply.
    Server { inputs: Vec<Input>, replied: Vec<OutboxId> },
    /// A call to the agent's server is sent right after the commit.
    Calling(OutboxId),
    /// A call got no reply and will not get one.
    CallLost { row: OutboxId, reply: HttpReply },
    /// These rows no longer need to be sent.
    Done(Vec<OutboxId>),
    /// A deadline of the translator passed, or the agent was silent for too long (`stalled`).
    Tick { stalled: bool },
    /// A conversation that the translator discovered now has a session.
    Adopt { found: FoundSession, session: Box<CarriedSession> },
    /// The connection cannot continue. `rows` are the pending messages to its agent; the process may have received those in
    /// `accepted`.
    GiveUp { reason: String, rows: Vec<OutboxRow>, accepted: Vec<OutboxId> },
}

/// The row of an input that may be sent before it is committed.
#[derive(Debug)]
pub(super) struct DirectRow {
    pub(super) row: OutboxId,
    /// The ask whose outcome the row carries.
    pub(super) ask: Option<AskId>,
}

/// The common form of all kinds of work.
#[derive(Default)]
pub(super) struct Step {
    pub(super) inputs: Vec<Input>,
    pub(super) changes: Vec<ConnectionChange>,
    /// Outbox rows that do not have to be sent again.
    pub(super) delivered: Vec<OutboxId>,
    /// Outbox rows that are sent right after the commit.
    pub(super) trying: Vec<OutboxId>,
    /// The position up to which the output of the process was read.
    pub(super) read: Option<WirePosition>,
    /// Whether the inputs arrive again after a crash. Then they need no commit if nothing follows from them.
    pub(super) repeatable: bool,
    /// Whether the inputs contain a secret answer.
    pub(super) secret: bool,
    /// Whether the process is abandoned.
    pub(super) gone: bool,
    pub(super) adopted: Option<(FoundSession, Box<CarriedSession>)>,
    /// The row of the inputs. If only lines follow, they are sent before the commit.
    pub(super) direct: Option<DirectRow>,
}

impl Step {
    fn commands(commands: Vec<Command>) -> Self {
        Self { inputs: commands.into_iter().map(Input::Command).collect(), ..Self::default() }
    }
}

impl Work {
    pub(super) fn into_step(self, state: &mut ConnectionState, now: Time) -> Step {
        match self {
            Self::Outcome { row, session, ask, follow_up, withheld: true, .. } => {
                let denied = Decision::Denied { message: texts::DENIED_CONTENT_CHANGED.to_owned(), stop: false };
                let mut step = state.outcome(session, &ask, denied, follow_up, now);
                step.changes.push(ConnectionChange::Delivery { ask: ask.id, delivery: Delivery::Withheld });
                Step { delivered: vec![row], ..step }
            }
            Self::Outcome { row, session, ask, decision, follow_up, withheld: false } => {
                let step = state.outcome(session, &ask, decision, follow_up, now);
                Step { delivered: vec![row], direct: Some(DirectRow { row, ask: Some(ask.id) }), ..step }
            }
            Self::Command { row, command } => {
                let direct = Some(DirectRow { row, ask: None });
                Step { delivered: vec![row], direct, ..Step::commands(vec![command]) }
            }
            Self::Cancelled { row, ask } => {
                let delivery = Delivery::Undeliverable { reason: texts::INTERRUPTED_BEFORE_APPROVAL.to_owned() };
                Step { delivered: vec![row], changes: vec![ConnectionChange::Delivery { ask, delivery }], ..Step::default() }
            }
            Self::Uncertain(rows) => uncertain(rows),
            Self::CommitDirect => Step::default(),
            Self::Process(heard) => state.process_output(heard, now),
            Self::NoProcess { exit, row } => {
                Step { inputs: vec![Input::Exited(exit)], delivered: row.into_iter().collect(), ..Step::default() }
            }
            Self::Server { inputs, replied } => Step { inputs, delivered: replied, repeatable: true, ..Step::default() },
            Self::Calling(row) => Step { trying: vec![row], ..Step::default() },
            Self::CallLost { row, reply } => {
                Step { inputs: vec![Input::HttpReply(reply)], delivered: vec![row], ..Step::default() }
            }
            Self::Done(delivered) => Step { delivered, ..Step::default() },
            Self::Tick { stalled } => {
                let mut step = Step { inputs: vec![Input::Tick], repeatable: true, ..Step::default() };
                if stalled {
                    state.stall(now, &mut step);
                }
                step
            }
            Self::Adopt { found, session } => Step { adopted: Some((found, session)), ..Step::default() },
            Self::GiveUp { reason, rows, accepted } => state.give_up(&reason, rows, &accepted),
        }
    }
}

impl ConnectionState {
    fn outcome(&mut self, session: SessionId, ask: &Ask, decision: Decision, follow_up: bool, now: Time) -> Step {
        tracing::debug!(to = "translator", "ask sent");
        if ask.outcome().is_some_and(|outcome| !matches!(outcome.by, Actor::Policy { .. })) {
            self.pending = self.pending.saturating_sub(1);
        }
        self.secrets.learn(ask, &decision);
        let secret = ask.body.is_secret();
        // The agent may have ended after the answer was committed.
        let resumable = self
            .sessions
            .get(&session)
            .is_some_and(|carried| matches!(carried.session.status, SessionStatus::Ended { resumable: true, .. }));
        if follow_up || (resumable && !secret && matches!(decision, Decision::Answered { .. })) {
            return self.follow_up(session, ask, decision, now);
        }
        let by = match ask.outcome().map(|outcome| &outcome.by) {
            Some(Actor::Message { .. }) => DecidedBy::Typed,
            Some(Actor::Policy { .. } | Actor::Timeout { .. }) => DecidedBy::Automatic,
            Some(Actor::Person { .. } | Actor::Agent) | None => DecidedBy::Person,
        };
        let native_id = ask.origin.native_id.clone().unwrap_or_default();
        let outcome = Command::Outcome { session, ask: ask.id, native_id, decision, raw: ask.raw.clone(), by };
        Step { secret, ..Step::commands(vec![outcome]) }
    }

    /// Sends the answer to a parked question as a message, and resumes the session first if it has ended.
    fn follow_up(&mut self, session: SessionId, ask: &Ask, decision: Decision, now: Time) -> Step {
        let Decision::Answered { answers, note } = decision else {
            let delivery = Delivery::Undeliverable { reason: texts::AGENT_GONE_NOTHING_SENT.to_owned() };
            return Step { changes: vec![ConnectionChange::Delivery { ask: ask.id, delivery }], ..Step::default() };
        };
        let text = texts::follow_up(ask.body.questions(), &answers, note.as_deref());
        let mut commands = Vec::new();
        if let Some(carried) = self.sessions.get(&session).filter(|carried| carried.session.status.is_ended()) {
            commands.push(resume_command(&carried.session));
        }
        commands.push(Command::Prompt { session, text: text.clone() });
        self.said.push(ask.id);
        let block = self.new_block(now, BlockBody::Message { role: Role::User, text });
        let changes = vec![ConnectionChange::Block { session, block, event: EventKind::MessageCompleted }];
        Step { changes, ..Step::commands(commands) }
    }

    fn process_output(&mut self, heard: Heard, now: Time) -> Step {
        let Heard { inputs, read, mut taken, refused, warnings, .. } = heard;
        let before = taken.len();
        taken.retain(|row| !self.uncommitted.note_received(*row));
        // The delivery of a direct input waits for the next commit.
        let repeatable = read.is_some() || taken.len() < before;
        let mut step = Step { inputs, read, repeatable, delivered: taken, ..Step::default() };
        if read.is_some() {
            self.heard_from_agent(now, &mut step.changes);
        }
        for text in warnings {
            let sessions: Vec<SessionId> = self.sessions.keys().copied().collect();
            for session in sessions {
                let block = self.new_block(now, BlockBody::Notice { text: text.clone() });
                step.changes.push(ConnectionChange::Block { session, block, event: EventKind::Notice });
            }
        }
        for Refused { id, ask, reason } in refused {
            self.uncommitted.forget(id);
            step.delivered.push(id);
            if let Some(ask) = ask {
                step.changes.push(ConnectionChange::Delivery { ask, delivery: Delivery::Undeliverable { reason } });
            }
        }
        step
    }

    /// Ends the process and the sessions, and drops the pending messages.
    fn give_up(&self, reason: &str, rows: Vec<OutboxRow>, accepted: &[OutboxId]) -> Step {
        let mut step = Step { gone: true, ..Step::default() };
        for OutboxRow { id, payload, .. } in rows {
            step.delivered.push(id);
            if let OutboxPayload::Outcome { ask, .. } = payload {
                let reason = if accepted.contains(&id) { texts::AGENT_GONE_NOT_CERTAIN } else { texts::AGENT_GONE_NOTHING_SENT };
                let delivery = Delivery::Undeliverable { reason: reason.to_owned() };
                step.changes.push(ConnectionChange::Delivery { ask: ask.id, delivery });
            }
        }
        for (id, carried) in &self.sessions {
            if !carried.session.status.is_ended() {
                let status = SessionStatus::Ended { reason: reason.to_owned(), failed: true, resumable: false };
                step.changes.push(ConnectionChange::Status { session: *id, status });
            }
        }
        step
    }
}

/// The process is gone and its journal is incomplete, so it may have received these rows.
fn uncertain(rows: Vec<(OutboxId, Option<AskId>)>) -> Step {
    let mut step = Step::default();
    for (row, ask) in rows {
        step.delivered.push(row);
        let delivery = Delivery::Undeliverable { reason: texts::AGENT_GONE_NOT_CERTAIN.to_owned() };
        step.changes.extend(ask.map(|ask| ConnectionChange::Delivery { ask, delivery }));
    }
    step
}
