//! Changing the permission mode or the model of a session.

use sayso_core::session::SessionStatus;

use super::sessions;
use super::tx::Tx;
use crate::error::StoreError;
use crate::write::{Commanded, ConfigureSession, Operation};

impl Operation for ConfigureSession {
    type Output = Commanded;

    fn apply(self, tx: &mut Tx<'_>) -> Result<Commanded, StoreError> {
        let found = sessions::get(tx.db(), self.workspace, self.session)?;
        let Some(session) = found.filter(|session| sessions::visible(session, &self.scope)) else {
            return Ok(Commanded::NotFound);
        };
        if session.external.is_some() {
            return Ok(Commanded::External);
        }
        match session.status {
            SessionStatus::Ended { resumable: false, .. } => return Ok(Commanded::Ended),
            // There is no agent to tell: the next start says what the session has.
            SessionStatus::Ended { resumable: true, .. } => {
                sessions::set_settings(tx, self.workspace, self.session, self.permission_mode, self.model, self.now)?;
            }
            SessionStatus::Running | SessionStatus::Idle | SessionStatus::Stalled => {
                tx.send_command(session.connection, self.session, self.command)?;
            }
        }
        let now = sessions::get(tx.db(), self.workspace, self.session)?;
        Ok(now.map_or(Commanded::NotFound, |session| Commanded::Queued(Box::new(session))))
    }
}
