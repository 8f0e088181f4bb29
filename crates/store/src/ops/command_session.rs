//! Interrupts, closes or resumes a session.

use sayso_core::id::SessionId;
use sayso_core::raw::Raw;
use sayso_core::scope::Scope;
use sayso_core::session::{Session, SessionStatus};
use sayso_core::session_lifecycle::{CommandEffect, CommandRefused, SessionCommand, command_effect};
use sayso_core::texts;

use super::announce::SayNotice;
use super::decide::agent_gone;
use super::session_rows;
use crate::error::StoreError;
use crate::event::WorkspaceId;
use crate::operation::{Operation, Read, Reads};
use crate::unit::Unit;

/// See the module.
#[derive(Debug)]
pub struct CommandSession {
    pub workspace: WorkspaceId,
    pub session: SessionId,
    /// What the caller may see.
    pub scope: Scope,
    /// What the agent gets.
    pub command: Raw,
    pub kind: SessionCommand,
    /// What the transcript says when the command stops a turn.
    pub said: Option<SayNotice>,
}

/// The result of [`CommandSession`] and [`ConfigureSession`](super::ConfigureSession).
#[derive(Debug, Clone, PartialEq)]
pub enum Commanded {
    Queued(Box<Session>),
    /// The session is over.
    Ended,
    /// The session is not over, or cannot be resumed.
    NotResumable,
    /// A person runs the agent themselves: it takes no commands from here.
    External,
    NotFound,
}

impl Operation for CommandSession {
    type Output = Commanded;

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        reads.add(Read::Session(self.session));
        reads.add(Read::PendingOfSession(self.session));
        if let Some(said) = &self.said {
            said.reads(reads);
        }
    }

    fn apply(&self, unit: &mut Unit) -> Result<Commanded, StoreError> {
        let found = unit.session(self.session)?.filter(|session| session_rows::is_visible(session, &self.scope));
        let Some(mut session) = found.cloned() else { return Ok(Commanded::NotFound) };
        match command_effect(&session, self.kind) {
            Err(CommandRefused::External) => return Ok(Commanded::External),
            Err(CommandRefused::Ended) => return Ok(Commanded::Ended),
            Err(CommandRefused::NotResumable) => return Ok(Commanded::NotResumable),
            Ok(CommandEffect::CloseHere) => {
                session.status = self.close_here(unit)?;
                return Ok(Commanded::Queued(Box::new(session)));
            }
            // The actor decides what becomes of outcomes that it has not sent. Here nobody knows which it has.
            Ok(CommandEffect::StopAgent) => {}
            Ok(CommandEffect::ResumeAgent) => {
                session_rows::set_status(unit, self.session, SessionStatus::Running)?;
                session.status = SessionStatus::Running;
            }
        }
        if let (SessionStatus::Running | SessionStatus::Stalled, Some(said)) = (&session.status, &self.said) {
            said.apply(unit)?;
        }
        unit.queue_command(session.connection, self.session, &self.command);
        Ok(Commanded::Queued(Box::new(session)))
    }
}

impl CommandSession {
    fn close_here(&self, unit: &mut Unit) -> Result<SessionStatus, StoreError> {
        for row in unit.pending_of_session(self.session)? {
            agent_gone(unit, &row, false, texts::WITHDRAWN_CLOSED);
        }
        let closed = SessionStatus::Ended { reason: texts::WITHDRAWN_CLOSED.to_owned(), failed: false, resumable: false };
        session_rows::set_status(unit, self.session, closed.clone())?;
        Ok(closed)
    }
}
