//! Interrupts, closes or resumes a session.

use sayso_core::id::SessionId;
use sayso_core::raw::Raw;
use sayso_core::scope::Scope;
use sayso_core::session::{Session, SessionStatus};
use sayso_core::session_lifecycle::{CommandEffect, CommandRefused, SessionCommand, command_effect};
use sayso_core::texts;

use super::announce::PostNotice;
use super::decide::park_or_withdraw;
use super::session_rows;
use crate::error::StoreError;
use crate::event::WorkspaceId;
use crate::operation::{Operation, Read, Reads};
use crate::unit::Unit;

#[derive(Debug)]
pub struct CommandSession {
    pub workspace: WorkspaceId,
    pub session: SessionId,
    /// Sessions outside this scope are not found.
    pub scope: Scope,
    /// The command for the agent's translator.
    pub command: Raw,
    pub kind: SessionCommand,
    /// The notice for the transcript if the command stops a turn.
    pub said: Option<PostNotice>,
}

/// The result of [`CommandSession`] and [`ConfigureSession`](super::ConfigureSession).
#[derive(Debug, Clone, PartialEq)]
pub enum SessionCommandResult {
    Queued(Box<Session>),
    /// The session has ended.
    Ended,
    /// The session has not ended, or cannot be resumed.
    NotResumable,
    /// A person runs the agent, so Sayso cannot send it commands.
    External,
    NotFound,
}

impl Operation for CommandSession {
    type Output = SessionCommandResult;

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

    fn apply(&self, unit: &mut Unit) -> Result<SessionCommandResult, StoreError> {
        let found = unit.session(self.session)?.filter(|session| session_rows::is_visible(session, &self.scope));
        let Some(mut session) = found.cloned() else { return Ok(SessionCommandResult::NotFound) };
        match command_effect(&session, self.kind) {
            Err(CommandRefused::External) => return Ok(SessionCommandResult::External),
            Err(CommandRefused::Ended) => return Ok(SessionCommandResult::Ended),
            Err(CommandRefused::NotResumable) => return Ok(SessionCommandResult::NotResumable),
            Ok(CommandEffect::CloseHere) => {
                session.status = self.close_here(unit)?;
                return Ok(SessionCommandResult::Queued(Box::new(session)));
            }
            // The connection actor handles outcomes that it has not sent. Only the actor knows which ones it sent.
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
        Ok(SessionCommandResult::Queued(Box::new(session)))
    }
}

impl CommandSession {
    fn close_here(&self, unit: &mut Unit) -> Result<SessionStatus, StoreError> {
        for row in unit.pending_of_session(self.session)? {
            park_or_withdraw(unit, &row, false, texts::WITHDRAWN_CLOSED);
        }
        let closed = SessionStatus::Ended { reason: texts::WITHDRAWN_CLOSED.to_owned(), failed: false, resumable: false };
        session_rows::set_status(unit, self.session, closed.clone())?;
        Ok(closed)
    }
}
