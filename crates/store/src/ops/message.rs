//! Messages that a person types into a session. A message answers the only open question, or is a prompt.

use std::sync::Arc;

use sayso_core::actor::Actor;
use sayso_core::ask::{Ask, AskState, Decision, MessageTarget, PendingAsk, Reach, TypedAnswers, find_message_target};
use sayso_core::id::{AskId, BlockId, SessionId};
use sayso_core::raw::Raw;
use sayso_core::scope::Scope;
use sayso_core::transcript::Block;

use super::decide::decide;
use super::session_rows;
use crate::error::StoreError;
use crate::event::{EventKind, WorkspaceId};
use crate::operation::{IdempotencyKey, Operation, Read, Reads};
use crate::unit::{EarlierCall, Unit};

#[derive(Debug)]
pub struct SendMessage {
    pub workspace: WorkspaceId,
    pub session: SessionId,
    /// Sessions outside this scope are not found.
    pub scope: Scope,
    /// The message as a block of the transcript.
    pub block: Block,
    pub text: String,
    /// The command for the agent's translator if the message is a prompt.
    pub command: Raw,
    /// Who answers, if the message answers an ask.
    pub by: Actor,
    /// Whether the message is queued if an ask is pending that it does not answer.
    pub queue: bool,
    /// Which questions of this agent a message can answer.
    pub typed: TypedAnswers,
    pub key: Option<IdempotencyKey>,
}

/// The result of [`SendMessage`].
#[derive(Debug, Clone, PartialEq)]
pub enum SendMessageResult {
    /// The agent gets the message as a prompt.
    Prompt(BlockId),
    /// The message answered this ask.
    Answered(BlockId, Box<Ask>),
    /// These asks are pending, the message does not answer them, and `queue` is not set.
    Pending(Vec<AskId>),
    /// The session has ended.
    Ended,
    /// A person runs the agent, so Sayso cannot send it messages.
    External,
    NotFound,
    /// The idempotency key belongs to another call.
    KeyReused,
}

/// The target of an idempotency key: the block, and the ask that it answered.
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
    type Output = SendMessageResult;

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
        if let Some(ask) = unit.earlier_call_target::<String>(self.key.as_ref()).and_then(|text| Target::parse(&text).answered) {
            reads.add(Read::Ask(ask));
        }
    }

    fn apply(&self, unit: &mut Unit) -> Result<SendMessageResult, StoreError> {
        let found = unit.session(self.session)?.filter(|session| session_rows::is_visible(session, &self.scope));
        let Some(session) = found else { return Ok(SendMessageResult::NotFound) };
        let (connection, external, ended) = (session.connection, session.external.is_some(), session.status.is_ended());
        match unit.find_earlier_call(self.key.as_ref())? {
            EarlierCall::Fresh => {}
            EarlierCall::Other => return Ok(SendMessageResult::KeyReused),
            EarlierCall::Same(target) => return self.repeated(unit, &Target::parse(&target)),
        }
        if external {
            return Ok(SendMessageResult::External);
        }
        if ended {
            return Ok(SendMessageResult::Ended);
        }
        // Messages do not answer parked asks, because no agent waits for them.
        let mut pending = unit.pending_of_session(self.session)?;
        pending.retain(|row| row.ask.state == AskState::Pending(Reach::Live));
        let shapes: Vec<PendingAsk> = pending.iter().map(|row| PendingAsk::of(&row.ask, self.typed)).collect();
        match find_message_target(&shapes) {
            MessageTarget::Prompt => {}
            MessageTarget::Answers(id, shape) => {
                let Some(row) = pending.iter().find(|row| row.ask.id == id) else { return Ok(SendMessageResult::NotFound) };
                let answers = shape.answers(&self.text, row.ask.body.questions().len());
                let decision = Decision::Answered { answers, note: None };
                if let Ok(ask) = decide(unit, row, decision, self.by.clone()) {
                    session_rows::add_block(unit, self.session, &self.block, EventKind::MessageCompleted)?;
                    unit.remember_call(self.key.as_ref(), format!("{} {}", self.block.id, ask.id));
                    return Ok(SendMessageResult::Answered(self.block.id, Box::new(Arc::unwrap_or_clone(ask))));
                }
                // The text does not fit these questions, so it does not answer them.
                if !self.queue {
                    return Ok(SendMessageResult::Pending(vec![id]));
                }
            }
            MessageTarget::Pending(ids) if !self.queue => return Ok(SendMessageResult::Pending(ids)),
            MessageTarget::Pending(_) => {}
        }
        session_rows::add_block(unit, self.session, &self.block, EventKind::MessageCompleted)?;
        unit.queue_command(connection, self.session, &self.command);
        unit.remember_call(self.key.as_ref(), self.block.id.to_string());
        Ok(SendMessageResult::Prompt(self.block.id))
    }
}

impl SendMessage {
    /// Returns the result of the first call with the same key.
    fn repeated(&self, unit: &Unit, target: &Target) -> Result<SendMessageResult, StoreError> {
        let block = target.block.unwrap_or(self.block.id);
        let ask = target.answered.map(|id| unit.ask(id)).transpose()?.flatten();
        Ok(ask.map_or(SendMessageResult::Prompt(block), |row| SendMessageResult::Answered(block, Box::new(Ask::clone(&row.ask)))))
    }
}
