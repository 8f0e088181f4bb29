//! Announcements that wait for nothing: notices of agents, and changes of the policy.

use sayso_core::id::SessionId;
use sayso_core::raw::Raw;
use sayso_core::time::Time;
use sayso_core::transcript::Block;

use super::session_rows;
use crate::error::StoreError;
use crate::event::{EventKind, WorkspaceId};
use crate::operation::{Operation, Read, Reads};
use crate::unit::Unit;

/// Announces something that is not about an ask or a session. Returns the `seq`.
#[derive(Debug)]
pub struct Announce {
    pub workspace: WorkspaceId,
    pub kind: EventKind,
    pub data: Raw,
    pub now: Time,
}

impl Operation for Announce {
    type Output = i64;

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, _reads: &mut Reads) {}

    fn apply(&self, unit: &mut Unit) -> Result<i64, StoreError> {
        Ok(unit.announce(self.kind, self.now, self.data.clone()))
    }
}

/// An agent tells people something and waits for nothing.
#[derive(Debug)]
pub struct SayNotice {
    pub workspace: WorkspaceId,
    /// The session that the notice belongs to.
    pub session: Option<SessionId>,
    /// The text as a block of the transcript.
    pub block: Block,
    /// The event where there is no session.
    pub data: Raw,
}

impl Operation for SayNotice {
    type Output = ();

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        if let Some(session) = self.session {
            reads.add(Read::Session(session));
            reads.add(Read::Block(self.block.id));
        }
    }

    fn apply(&self, unit: &mut Unit) -> Result<(), StoreError> {
        match self.session {
            Some(session) => session_rows::put_block(unit, session, &self.block, EventKind::Notice),
            None => {
                unit.announce(EventKind::Notice, self.block.at, self.data.clone());
                Ok(())
            }
        }
    }
}
