//! Creates a session and its connection.

use std::sync::Arc;

use sayso_core::connection::Connection;
use sayso_core::raw::Raw;
use sayso_core::session::Session;
use sayso_core::transcript::Block;

use super::session_rows;
use crate::error::StoreError;
use crate::event::{EventKind, WorkspaceId};
use crate::operation::{IdempotencyKey, IdempotentResult, Operation, Read, Reads};
use crate::unit::{EarlierCall, Unit};

#[derive(Debug)]
pub struct CreateSession {
    pub workspace: WorkspaceId,
    pub session: Session,
    pub connection: Connection,
    /// The command that starts the agent.
    pub command: Raw,
    /// The prompt, as the first block of the transcript.
    pub prompt: Option<Block>,
    pub key: Option<IdempotencyKey>,
}

impl CreateSession {
    /// The reads without the idempotency key. Runs create the sessions of their steps with them.
    pub(super) fn reads_of_rows(&self, reads: &mut Reads) {
        reads.add(Read::Session(self.session.id));
        reads.add(Read::Connection(self.connection.id));
        if let Some(prompt) = &self.prompt {
            reads.add(Read::Block(prompt.id));
        }
    }

    pub(super) fn insert(&self, unit: &mut Unit) -> Result<(), StoreError> {
        unit.connections.insert(self.connection.id, Arc::new(self.connection.clone()))?;
        session_rows::insert_session(unit, &self.session)?;
        if let Some(prompt) = &self.prompt {
            session_rows::add_block(unit, self.session.id, prompt, EventKind::MessageCompleted)?;
        }
        unit.queue_command(self.connection.id, self.session.id, &self.command);
        Ok(())
    }
}

impl Operation for CreateSession {
    type Output = IdempotentResult<Box<Session>>;

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        reads.key(self.key.as_ref());
        self.reads_of_rows(reads);
    }

    fn more_reads(&self, unit: &Unit, reads: &mut Reads) {
        if let Some(session) = unit.earlier_call_target(self.key.as_ref()) {
            reads.add(Read::Session(session));
        }
    }

    fn apply(&self, unit: &mut Unit) -> Result<Self::Output, StoreError> {
        match unit.find_earlier_call(self.key.as_ref())? {
            EarlierCall::Fresh => {}
            EarlierCall::Other => return Ok(IdempotentResult::Reused),
            EarlierCall::Same(id) => {
                let session = id.parse().ok().map(|id| unit.session(id)).transpose()?.flatten();
                return Ok(
                    session.map_or(IdempotentResult::Reused, |session| IdempotentResult::Repeated(Box::new(session.clone())))
                );
            }
        }
        self.insert(unit)?;
        unit.remember_call(self.key.as_ref(), self.session.id.to_string());
        Ok(IdempotentResult::Done(Box::new(self.session.clone())))
    }
}
