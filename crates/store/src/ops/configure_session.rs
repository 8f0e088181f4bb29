//! Changes the permission mode or the model of a session.
//!
//! The agent of a session that has not ended gets the command, and the session has the new settings when the agent confirms
//! them ([`Change::Settings`](super::Change::Settings)). A session that has ended and can be resumed gets them at once.

use sayso_core::id::SessionId;
use sayso_core::raw::Raw;
use sayso_core::scope::Scope;
use sayso_core::session::SessionStatus;

use super::Commanded;
use super::session_rows::{self, NewSettings};
use crate::error::StoreError;
use crate::event::WorkspaceId;
use crate::operation::{Operation, Read, Reads};
use crate::unit::Unit;

/// See the module.
#[derive(Debug)]
pub struct ConfigureSession {
    pub workspace: WorkspaceId,
    pub session: SessionId,
    /// What the caller may see.
    pub scope: Scope,
    /// The permission mode, if it changes.
    pub permission_mode: Option<String>,
    /// The model, if it changes.
    pub model: Option<String>,
    /// What the agent gets.
    pub command: Raw,
}

impl Operation for ConfigureSession {
    type Output = Commanded;

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        reads.add(Read::Session(self.session));
    }

    fn apply(&self, unit: &mut Unit) -> Result<Commanded, StoreError> {
        let found = unit.session(self.session)?.filter(|session| session_rows::is_visible(session, &self.scope));
        let Some(session) = found else { return Ok(Commanded::NotFound) };
        if session.external.is_some() {
            return Ok(Commanded::External);
        }
        match session.status {
            SessionStatus::Ended { resumable: false, .. } => return Ok(Commanded::Ended),
            // No agent runs. The next start sends the settings of the session.
            SessionStatus::Ended { resumable: true, .. } => {
                let new = NewSettings { permission_mode: self.permission_mode.as_ref(), model: self.model.as_ref() };
                session_rows::set_settings(unit, self.session, &new)?;
            }
            SessionStatus::Running | SessionStatus::Idle | SessionStatus::Stalled => {
                unit.queue_command(session.connection, self.session, &self.command);
            }
        }
        let now = unit.session(self.session)?.cloned();
        Ok(now.map_or(Commanded::NotFound, |session| Commanded::Queued(Box::new(session))))
    }
}
