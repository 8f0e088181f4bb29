//! Reads the state of the active steps of a run. An operation for the same reason as [`super::LoadConnection`].

use sayso_core::ask::Ask;
use sayso_core::id::{AskId, SessionId};
use sayso_core::session::SessionStatus;

use crate::error::StoreError;
use crate::event::WorkspaceId;
use crate::operation::{Operation, PendingOf, Read, Reads};
use crate::unit::Unit;

#[derive(Debug)]
pub struct ReadSteps {
    pub workspace: WorkspaceId,
    /// The sessions of the steps.
    pub sessions: Vec<SessionId>,
    /// The open checkpoints.
    pub asks: Vec<AskId>,
}

/// The states, in the order of the request.
#[derive(Debug, Clone)]
pub struct StepStates {
    pub sessions: Vec<StepSessionState>,
    /// `None` for a checkpoint that was deleted.
    pub asks: Vec<Option<Ask>>,
}

#[derive(Debug, Clone)]
pub struct StepSessionState {
    /// `None` if the session was deleted.
    pub status: Option<SessionStatus>,
    /// Whether the session has a pending ask, or an outcome that is being sent.
    pub busy: bool,
}

impl Operation for ReadSteps {
    type Output = StepStates;

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

    fn apply(&self, unit: &mut Unit) -> Result<StepStates, StoreError> {
        let session = |id: &SessionId| {
            let status = unit.sessions.get(id)?.map(|row| row.session.status.clone());
            let sending = unit.outbox_of_session(*id)?.iter().any(|(_, entry)| entry.ask().is_some());
            Ok(StepSessionState { status, busy: sending || unit.count_pending(PendingOf::Session(*id))? > 0 })
        };
        let ask = |id: &AskId| Ok(unit.asks.get(id)?.map(|row| Ask::clone(&row.ask)));
        Ok(StepStates {
            sessions: self.sessions.iter().map(session).collect::<Result<_, StoreError>>()?,
            asks: self.asks.iter().map(ask).collect::<Result<_, StoreError>>()?,
        })
    }
}
