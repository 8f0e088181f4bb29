//! Reads how the active steps of a run are doing. An operation for the reason that [`super::LoadConnection`] is one.

use sayso_core::ask::Ask;
use sayso_core::id::{AskId, SessionId};
use sayso_core::session::SessionStatus;

use crate::error::StoreError;
use crate::event::WorkspaceId;
use crate::operation::{Operation, PendingOf, Read, Reads};
use crate::unit::Unit;

/// See the module.
#[derive(Debug)]
pub struct LookAtSteps {
    pub workspace: WorkspaceId,
    /// The sessions that carry steps out.
    pub sessions: Vec<SessionId>,
    /// The checkpoints that are open.
    pub asks: Vec<AskId>,
}

/// The steps in the order in which they were named.
#[derive(Debug, Clone)]
pub struct StepsLook {
    pub sessions: Vec<SessionLook>,
    /// Nothing for a checkpoint that does not exist any more.
    pub asks: Vec<Option<Ask>>,
}

/// The session of a step.
#[derive(Debug, Clone)]
pub struct SessionLook {
    /// Nothing if the session does not exist any more.
    pub status: Option<SessionStatus>,
    /// Whether something is pending in it, or on its way to its agent.
    pub busy: bool,
}

impl Operation for LookAtSteps {
    type Output = StepsLook;

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        for session in &self.sessions {
            reads.add(Read::Session(*session));
            reads.add(Read::PendingIds(PendingOf::Session(*session)));
            reads.add(Read::OutboxOfSession(*session));
        }
        for ask in &self.asks {
            reads.add(Read::Ask(*ask));
        }
    }

    fn apply(&self, unit: &mut Unit) -> Result<StepsLook, StoreError> {
        let session = |id: &SessionId| {
            let status = unit.sessions.get(id)?.map(|row| row.session.status.clone());
            let sending = unit.outbox_of_session(*id)?.iter().any(|(_, entry)| entry.ask().is_some());
            Ok(SessionLook { status, busy: sending || unit.count_pending(PendingOf::Session(*id))? > 0 })
        };
        let ask = |id: &AskId| Ok(unit.asks.get(id)?.map(|row| Ask::clone(&row.ask)));
        Ok(StepsLook {
            sessions: self.sessions.iter().map(session).collect::<Result<_, StoreError>>()?,
            asks: self.asks.iter().map(ask).collect::<Result<_, StoreError>>()?,
        })
    }
}
