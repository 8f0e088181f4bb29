//! A message that a person types into a session: the answer to the one open question, or a prompt.

use std::sync::Arc;

use sayso_core::actor::Actor;
use sayso_core::ask::{Ask, AskState, Decision, MessageTarget, PendingAsk, Reach, TypedAnswers, target_of};
use sayso_core::id::{AskId, BlockId, SessionId};
use sayso_core::raw::Raw;
use sayso_core::scope::Scope;
use sayso_core::transcript::Block;

use super::decide::decide;
use super::session_rows;
use crate::error::StoreError;
use crate::event::{EventKind, WorkspaceId};
use crate::operation::{IdempotencyKey, Operation, Read, Reads};
use crate::unit::{Earlier, Unit};

/// See the module.
#[derive(Debug)]
pub struct SendMessage {
    pub workspace: WorkspaceId,
    pub session: SessionId,
    /// What the caller may see.
    pub scope: Scope,
    /// The message as a block of the transcript.
    pub block: Block,
    pub text: String,
    /// What the agent gets if the message is a prompt.
    pub command: Raw,
    /// The person, if the message answers an ask.
    pub by: Actor,
    /// Whether the message may wait behind a pending ask.
    pub queue: bool,
    /// Which questions of this agent a typed message answers.
    pub typed: TypedAnswers,
    pub key: Option<IdempotencyKey>,
}

/// The result of [`SendMessage`].
#[derive(Debug, Clone, PartialEq)]
pub enum MessageSent {
    /// The agent gets the message as a prompt.
    Prompt(BlockId),
    /// The message answered this ask.
    Answered(BlockId, Box<Ask>),
    /// These asks are pending, and the message does not answer them.
    Pending(Vec<AskId>),
    /// The session is over.
    Ended,
    /// A person runs the agent themselves: it takes no messages from here.
    External,
    NotFound,
    /// The idempotency key belongs to another call.
    KeyReused,
}

/// What an idempotency key remembers: the block, and the ask that it answered.
struct Target {
    block: Option<BlockId>,
    answered: Option<AskId>,
}

impl Target {
    fn parse(text: &str) -> Self {
        let mut ids = text.split(' ');
        Self { block: ids.next().and_then(|id| id.parse().ok()), answered: ids.next().and_then(|id| id.parse().ok()) }
    }
}

impl Operation for SendMessage {
    type Output = MessageSent;

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        reads.add(Read::Session(self.session));
        reads.add(Read::PendingOfSession(self.session));
        reads.add(Read::Block(self.block.id));
        reads.key(self.key.as_ref());
    }

    fn more_reads(&self, unit: &Unit, reads: &mut Reads) {
        if let Some(ask) = unit.earlier_target::<String>(self.key.as_ref()).and_then(|text| Target::parse(&text).answered) {
            reads.add(Read::Ask(ask));
        }
    }

    fn apply(&self, unit: &mut Unit) -> Result<MessageSent, StoreError> {
        let found = unit.session(self.session)?.filter(|session| session_rows::is_visible(session, &self.scope));
        let Some(session) = found else { return Ok(MessageSent::NotFound) };
        let (connection, external, ended) = (session.connection, session.external.is_some(), session.status.is_ended());
        match unit.earlier(self.key.as_ref())? {
            Earlier::Fresh => {}
            Earlier::Other => return Ok(MessageSent::KeyReused),
            Earlier::Same(target) => return self.repeated(unit, &Target::parse(&target)),
        }
        if external {
            return Ok(MessageSent::External);
        }
        if ended {
            return Ok(MessageSent::Ended);
        }
        // No agent waits for a parked ask, so a message does not answer it.
        let mut pending = unit.pending_of_session(self.session)?;
        pending.retain(|row| row.ask.state == AskState::Pending(Reach::Live));
        let shapes: Vec<PendingAsk> = pending.iter().map(|row| PendingAsk::of(&row.ask, self.typed)).collect();
        match target_of(&shapes) {
            MessageTarget::Prompt => {}
            MessageTarget::Answers(id, shape) => {
                let Some(row) = pending.iter().find(|row| row.ask.id == id) else { return Ok(MessageSent::NotFound) };
                let answers = shape.answers(&self.text, row.ask.body.questions().len());
                let decision = Decision::Answered { answers, note: None };
                if let Ok(ask) = decide(unit, row, decision, self.by.clone()) {
                    session_rows::add_block(unit, self.session, &self.block, EventKind::MessageCompleted)?;
                    unit.remember(self.key.as_ref(), format!("{} {}", self.block.id, ask.id));
                    return Ok(MessageSent::Answered(self.block.id, Box::new(Arc::unwrap_or_clone(ask))));
                }
                // The text does not fit these questions, so it does not answer them.
                if !self.queue {
                    return Ok(MessageSent::Pending(vec![id]));
                }
            }
            MessageTarget::Pending(ids) if !self.queue => return Ok(MessageSent::Pending(ids)),
            MessageTarget::Pending(_) => {}
        }
        session_rows::add_block(unit, self.session, &self.block, EventKind::MessageCompleted)?;
        unit.queue_command(connection, self.session, &self.command);
        unit.remember(self.key.as_ref(), self.block.id.to_string());
        Ok(MessageSent::Prompt(self.block.id))
    }
}

impl SendMessage {
    /// The result of the first call with the same key.
    fn repeated(&self, unit: &Unit, target: &Target) -> Result<MessageSent, StoreError> {
        let block = target.block.unwrap_or(self.block.id);
        let ask = target.answered.map(|id| unit.ask(id)).transpose()?.flatten();
        Ok(ask.map_or(MessageSent::Prompt(block), |row| MessageSent::Answered(block, Box::new(Ask::clone(&row.ask)))))
    }
}
