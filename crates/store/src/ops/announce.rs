//! Announces notices and changes of the policy.

use sayso_core::id::{BlockId, SessionId};
use sayso_core::transcript::{Block, BlockBody};

use super::session_rows;
use crate::error::StoreError;
use crate::event::{EventKind, WorkspaceId};
use crate::operation::{Operation, Read, Reads};
use crate::payload::EventPayload;
use crate::unit::Unit;

/// Announces that the policy changed.
#[derive(Debug)]
pub struct AnnouncePolicy {
    pub workspace: WorkspaceId,
    /// The fingerprint of the rules in force.
    pub fingerprint: String,
    /// Whether the policy file is valid.
    pub valid: bool,
}

impl Operation for AnnouncePolicy {
    type Output = ();

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, _reads: &mut Reads) {}

    fn apply(&self, unit: &mut Unit) -> Result<(), StoreError> {
        let payload = EventPayload::PolicyChanged { fingerprint: self.fingerprint.clone(), valid: self.valid };
        unit.announce(payload);
        Ok(())
    }
}

/// Stores and announces a notice: a message to people that needs no answer.
#[derive(Debug)]
pub struct PostNotice {
    pub workspace: WorkspaceId,
    pub from: NoticeSource,
    pub text: String,
}

/// The source of a notice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoticeSource {
    /// A session. The notice becomes a block of its transcript.
    Session { session: SessionId, block: BlockId },
    /// A caller or agent without a session.
    Name(String),
}

impl Operation for PostNotice {
    type Output = ();

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        if let NoticeSource::Session { session, block } = &self.from {
            reads.add(Read::Session(*session));
            reads.add(Read::Block(*block));
        }
    }

    fn apply(&self, unit: &mut Unit) -> Result<(), StoreError> {
        let text = self.text.clone();
        match &self.from {
            NoticeSource::Session { session, block } => {
                let block = Block { id: *block, at: unit.now, subagent: None, body: BlockBody::Notice { text } };
                session_rows::add_block(unit, *session, &block, EventKind::Notice)
            }
            NoticeSource::Name(agent) => {
                unit.announce(EventPayload::Notice { agent: agent.clone(), text });
                Ok(())
            }
        }
    }
}
