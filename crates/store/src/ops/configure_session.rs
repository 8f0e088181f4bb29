//! Changes the permission mode or the model of a session.
//!
//! If the session has not ended, its agent gets the command, and the session gets the new settings when the agent confirms them
//! ([`ConnectionChange::Settings`](super::ConnectionChange::Settings)). If it has ended and can be resumed, it gets the
//! settings at once.

use sayso_core::id::SessionId;
use sayso_core::raw::Raw;
use sayso_core::scope::Scope;
use sayso_core::session::SessionStatus;

use super::SessionCommandResult;
use super::session_rows::{self, NewSettings};
use crate::error::StoreError;
use crate::event::WorkspaceId;
use crate::operation::{Operation, Read, Reads};
use crate::unit::Unit;

#[derive(Debug)]
pub struct ConfigureSession {
    pub workspace: WorkspaceId,
    pub session: SessionId,
    /// Sessions outside this scope are not found.
    pub scope: Scope,
    pub permission_mode: Option<String>,
    pub model: Option<String>,
    /// The command for the agent's translator.
    pub command: Raw,
}

impl Operation for ConfigureSession {
    type Output = SessionCommandResult;

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        reads.add(Read::Session(self.session));
    }

    fn apply(&self, unit: &mut Unit) -> Result<SessionCommandResult, StoreError> {
        let found = unit.session(self.session)?.filter(|session| session_rows::is_visible(session, &self.scope));
        let Some(session) = found else { return Ok(SessionCommandResult::NotFound) };
        if session.external.is_some() {
            return Ok(SessionCommandResult::External);
        }
        match session.status {
            SessionStatus::Ended { resumable: false, .. } => return Ok(SessionCommandResult::Ended),
            // No agent runs. The next start passes the settings of the session.
            SessionStatus::Ended { resumable: true, .. } => {
                let new = NewSettings { permission_mode: self.permission_mode.as_ref(), model: self.model.as_ref() };
                session_rows::set_settings(unit, self.session, &new)?;
            }
            SessionStatus::Running | SessionStatus::Idle | SessionStatus::Stalled => {
                unit.queue_command(session.connection, self.session, &self.command);
            }
        }
        let now = unit.session(self.session)?.cloned();
        Ok(now.map_or(SessionCommandResult::NotFound, |session| SessionCommandResult::Queued(Box::new(session))))
    }
}
