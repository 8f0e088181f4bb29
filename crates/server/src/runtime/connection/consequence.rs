//! Turns the outputs of a translator into changes to commit, live events and effects.

use sayso_agents::translator::{AgentEvent, Command, DecidedBy, FoundSession, Input, Method, NewAsk, Output};
use sayso_core::ask::{Ask, AskKind, AskState, Decision, Delivery};
use sayso_core::id::{AskId, BlockId, SessionId};
use sayso_core::limits;
use sayso_core::raw::Raw;
use sayso_core::session::SessionStatus;
use sayso_core::time::Time;
use sayso_core::transcript::{Block, BlockBody, Role, ToolStatus};
use sayso_store::EventKind;
use sayso_store::ops::{ConnectionChange, ProcessChange};
use sha2::{Digest, Sha256};

use super::plan::Effect;
use super::process::Message;
use super::state::{CarriedSession, ConnectionState};
use crate::runtime::feed::LiveEvent;
use crate::service::asks::{AskRefused, AskingAgent, open_for_agent};

/// What follows from the inputs of one transition.
#[derive(Debug)]
pub(super) struct Consequences {
    pub(super) changes: Vec<ConnectionChange>,
    pub(super) live: Vec<LiveEvent>,
    pub(super) process: ProcessChange,
    pub(super) effects: Vec<Effect>,
    /// Lines for the process. Set while an input qualifies for the direct path: only lines and visible changes have followed
    /// from it.
    pub(super) direct: Option<Vec<String>>,
}

/// The row and the ask whose outcome an input carries.
#[derive(Debug, Clone, Copy)]
struct Carries {
    session: Option<SessionId>,
    ask: Option<AskId>,
    secret: bool,
}

impl ConnectionState {
    /// Passes one input to the translator and collects the consequences. If an ask is refused, the refusal goes back to the
    /// translator at once.
    pub(super) fn follow(&mut self, input: Input, secret: bool, now: Time, all: &mut Consequences) {
        let carries = match &input {
            Input::Command(Command::Outcome { session, ask, .. }) => Carries { session: Some(*session), ask: Some(*ask), secret },
            Input::Command(command) => Carries { session: Some(command.session()), ask: None, secret: false },
            Input::Line(_)
            | Input::HttpReply(_)
            | Input::StreamOpened
            | Input::StreamEvent(_)
            | Input::StreamClosed
            | Input::Exited(_)
            | Input::Tick => Carries { session: None, ask: None, secret: false },
        };
        let mut refusals = Vec::new();
        for output in self.translator.handle(now, input) {
            self.consequence(output, carries, now, all, &mut refusals);
        }
        for refusal in refusals {
            let about = Carries { session: Some(refusal.session()), ask: None, secret: false };
            for output in self.translator.handle(now, Input::Command(refusal)) {
                self.consequence(output, about, now, all, &mut Vec::new());
            }
        }
    }

    /// Adds the session of a conversation that the translator discovered.
    pub(super) fn adopt(&mut self, found: &FoundSession, carried: Box<CarriedSession>, now: Time, all: &mut Consequences) {
        let session = carried.session.clone();
        let id = session.id;
        all.changes.push(ConnectionChange::NewSession { session: Box::new(session) });
        self.sessions.insert(id, carried);
        let carries = Carries { session: Some(id), ask: None, secret: false };
        for output in self.translator.adopt(now, id, found) {
            self.consequence(output, carries, now, all, &mut Vec::new());
        }
    }

    fn consequence(&mut self, output: Output, carries: Carries, now: Time, all: &mut Consequences, refusals: &mut Vec<Command>) {
        if carries.secret || !is_direct(&output) {
            self.leave_direct_path(carries, all);
        }
        match output {
            Output::Event { session, event } => self.event(session, event, now, all, refusals),
            Output::Undeliverable { ask, reason } => {
                all.changes.push(ConnectionChange::Delivery { ask, delivery: Delivery::Undeliverable { reason } });
            }
            Output::Launch(launch) => {
                all.process = ProcessChange::Launched;
                self.send(carries, &Message::Launch(launch), all);
            }
            Output::Lines(lines) => match &mut all.direct {
                Some(direct) => direct.extend(lines),
                None => self.send(carries, &Message::Lines(lines), all),
            },
            Output::Stop => self.send(carries, &Message::Stop, all),
            Output::Found(found) => {
                let is_same = |effect: &Effect| matches!(effect, Effect::Adopt(other) if other.native_id == found.native_id);
                if !all.effects.iter().any(is_same) {
                    all.effects.push(Effect::Adopt(found));
                }
            }
            Output::HttpCall(call) => match call.method {
                Method::Get => all.effects.push(Effect::Read(call)),
                Method::Post => self.send(carries, &Message::Call(call), all),
            },
        }
    }

    /// Something other than lines follows from the input, so everything is committed before anything is sent.
    fn leave_direct_path(&self, carries: Carries, all: &mut Consequences) {
        if let Some(lines) = all.direct.take().filter(|lines| !lines.is_empty()) {
            self.send(carries, &Message::Lines(lines), all);
        }
    }

    /// Queues a message to the agent as a row of the outbox.
    fn send(&self, carries: Carries, message: &Message, all: &mut Consequences) {
        let Some(session) = carries.session.or_else(|| self.sessions.keys().next().copied()) else { return };
        let Carries { ask, secret, .. } = carries;
        all.changes.push(ConnectionChange::Send { session, ask, message: Raw::of(message), secret });
    }

    fn event(&mut self, session: SessionId, event: AgentEvent, now: Time, all: &mut Consequences, refusals: &mut Vec<Command>) {
        match event {
            AgentEvent::TurnStarted => self.set_status(session, SessionStatus::Running, &mut all.changes),
            AgentEvent::TurnEnded => {
                self.seen_tools.clear();
                self.set_status(session, SessionStatus::Idle, &mut all.changes);
            }
            AgentEvent::Ended { reason, failed, resumable } => {
                self.pending = 0;
                // An agent that cannot be resumed reads its input and exits without output.
                for ask in self.said.drain(..).filter(|_| failed) {
                    let reason = format!("The session could not be resumed: {reason}");
                    all.changes.push(ConnectionChange::Delivery { ask, delivery: Delivery::Undeliverable { reason } });
                }
                let ended = if self.halted {
                    SessionStatus::Ended { reason: "stopped with all agents".to_owned(), failed: false, resumable }
                } else {
                    SessionStatus::Ended { reason, failed, resumable }
                };
                self.set_status(session, ended, &mut all.changes);
            }
            AgentEvent::AskOpened(new) => {
                let (native_id, kind, raw) = (new.native_id.clone(), new.body.kind(), new.raw.clone());
                match self.open(session, *new, now) {
                    Ok(Some(ask)) => {
                        if matches!(ask.state, AskState::Pending(_)) {
                            self.pending += 1;
                        }
                        all.changes.push(ConnectionChange::OpenAsk(Box::new(ask)));
                    }
                    Ok(None) => tracing::error!(%session, "agent opened an ask for a session of another connection"),
                    Err(refused) => refusals.push(Command::Outcome {
                        session,
                        ask: AskId::new(now, self.ids.next_id()),
                        native_id,
                        decision: refusal(kind, &refused),
                        raw,
                        by: DecidedBy::Automatic,
                    }),
                }
            }
            // A request with such an id was refused, so no ask can be withdrawn.
            AgentEvent::AskWithdrawn { native_id, .. } if native_id.contains('\0') => {}
            AgentEvent::AskWithdrawn { native_id, reason } => {
                self.pending = self.pending.saturating_sub(1);
                all.changes.push(ConnectionChange::Withdraw { native_id, reason });
            }
            AgentEvent::AskDelivery { ask, delivery } => all.changes.push(ConnectionChange::Delivery { ask, delivery }),
            AgentEvent::MessageDelta { message, text } => {
                let message = self.streamed(session, message, now);
                let text = self.secrets.mask(text);
                all.live.push(LiveEvent { workspace: self.workspace, session, at: now, message, text });
            }
            AgentEvent::Message { message, role, text, subagent } => {
                let text = self.secrets.mask(text);
                if let (Role::Assistant, Some(carried)) = (role, self.sessions.get_mut(&session)) {
                    self.said.clear();
                    limits::tail(&text, limits::CONTEXT).clone_into(&mut carried.last_said);
                }
                let id = self.streamed(session, message, now);
                self.streaming.remove(&session);
                let body = BlockBody::Message { role, text };
                all.add_block(session, Block { id, at: now, subagent, body }, EventKind::MessageCompleted);
            }
            AgentEvent::Tool { tool_call_id, name, input, output, status, subagent } => {
                let id = tool_block(session, &tool_call_id);
                let first = self.seen_tools.insert(id);
                let event = match status {
                    ToolStatus::Complete | ToolStatus::Error => EventKind::ToolCompleted,
                    ToolStatus::Running if first => EventKind::ToolStarted,
                    ToolStatus::Running => EventKind::ToolUpdated,
                };
                let output = output.map(|output| self.secrets.mask(output));
                let body = BlockBody::Tool { tool_call_id, name, input, output, status };
                all.add_block(session, Block { id, at: now, subagent, body }, event);
            }
            AgentEvent::Configured { permission_mode, model } => {
                all.changes.push(ConnectionChange::Settings { session, permission_mode, model });
            }
            AgentEvent::Granted { run } => all.effects.push(Effect::Grant { session, run }),
            AgentEvent::Notice(text) => {
                let block = self.new_block(now, BlockBody::Notice { text: self.secrets.mask(text) });
                all.add_block(session, block, EventKind::Notice);
            }
            AgentEvent::Error(text) => {
                let block = self.new_block(now, BlockBody::Error { text: self.secrets.mask(text) });
                all.add_block(session, block, EventKind::Error);
            }
        }
    }

    /// Returns the block id of a message, which is the same while the message streams and when it is complete.
    fn streamed(&mut self, session: SessionId, message: String, now: Time) -> BlockId {
        match self.streaming.get(&session) {
            Some((name, id)) if *name == message => *id,
            Some(_) | None => {
                let id = BlockId::new(now, self.ids.next_id());
                self.streaming.insert(session, (message, id));
                id
            }
        }
    }

    pub(super) fn set_status(&mut self, session: SessionId, status: SessionStatus, changes: &mut Vec<ConnectionChange>) {
        if let Some(carried) = self.sessions.get_mut(&session) {
            carried.session.status = status.clone();
        }
        changes.push(ConnectionChange::Status { session, status });
    }

    fn open(&mut self, session: SessionId, mut new: NewAsk, now: Time) -> Result<Option<Ask>, AskRefused> {
        limits::check("the number of pending asks", self.pending + 1, limits::PENDING)?;
        let Some(carried) = self.sessions.get(&session) else { return Ok(None) };
        if new.context.is_none() && !carried.last_said.is_empty() {
            new.context = Some(carried.last_said.clone());
        }
        let agent = AskingAgent {
            connection: self.connection.id,
            session: &carried.session,
            policy: &carried.policy,
            home: self.home.as_deref(),
            link_schemes: &self.link_schemes,
        };
        let ask = open_for_agent(&agent, AskId::new(now, self.ids.next_id()), new, now)?;
        if self.quota.try_spend(session, ask.memory_size(), now) { Ok(Some(ask)) } else { Err(AskRefused::ByteQuota) }
    }
}

impl Consequences {
    pub(super) const fn new(changes: Vec<ConnectionChange>, process: ProcessChange) -> Self {
        Self { changes, live: Vec::new(), process, effects: Vec::new(), direct: None }
    }

    /// Counts the changes and live events that people can see.
    pub(super) fn visible_changes(&self) -> usize {
        self.changes.len() + self.live.len()
    }

    fn add_block(&mut self, session: SessionId, block: Block, event: EventKind) {
        self.changes.push(ConnectionChange::Block { session, block, event });
    }
}

/// Returns whether this output may follow from an input that is sent before it is committed.
fn is_direct(output: &Output) -> bool {
    match output {
        Output::Lines(_) => true,
        Output::Event { event, .. } => match event {
            AgentEvent::TurnStarted
            | AgentEvent::TurnEnded
            | AgentEvent::MessageDelta { .. }
            | AgentEvent::Message { .. }
            | AgentEvent::Tool { .. }
            | AgentEvent::Configured { .. }
            | AgentEvent::Notice(_)
            | AgentEvent::Error(_) => true,
            AgentEvent::Ended { .. }
            | AgentEvent::AskOpened(_)
            | AgentEvent::AskWithdrawn { .. }
            | AgentEvent::AskDelivery { .. }
            | AgentEvent::Granted { .. } => false,
        },
        Output::Undeliverable { .. } | Output::Launch(_) | Output::Stop | Output::Found(_) | Output::HttpCall(_) => false,
    }
}

/// Builds the decision for a request that exceeds a limit or has an id that cannot be stored.
fn refusal(kind: AskKind, refused: &AskRefused) -> Decision {
    let message = format!("Sayso refused this request: {refused}.");
    match kind {
        AskKind::Question => Decision::Rejected { message, stop: false },
        AskKind::Approval | AskKind::Link => Decision::Denied { message, stop: false },
    }
}

/// Derives the block id of a tool call. It is the same for every mention of the call, also after a restart.
fn tool_block(session: SessionId, call: &str) -> BlockId {
    let digest = Sha256::new().chain_update(session.as_bytes()).chain_update(call.as_bytes()).finalize();
    let mut id = [0; 16];
    id.copy_from_slice(&digest[..16]);
    BlockId::from_bytes(id)
}
