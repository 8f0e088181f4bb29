//! Sessions of agents that a person runs in their own terminal.

use std::sync::Arc;

use sayso_core::ask::Delivery;
use sayso_core::connection::Connection;
use sayso_core::id::{AskId, SessionId, TokenId};
use sayso_core::session::{Session, SessionStatus};
use sayso_core::session_lifecycle::{status_after_ask, status_after_report};
use sayso_core::texts;

use super::decide::{agent_gone, report_delivery};
use super::session_rows;
use crate::error::StoreError;
use crate::event::WorkspaceId;
use crate::operation::{Operation, Read, Reads};
use crate::unit::Unit;

/// Names a session by the agent's own id. A token names only its own sessions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ExternalKey {
    pub workspace: WorkspaceId,
    /// The token of the hook or client that reports the session.
    pub token: TokenId,
    pub agent: String,
    /// The agent's own id of the session.
    pub native_id: String,
}

/// Finds the session, or creates it. A session that was over continues.
#[derive(Debug)]
pub struct EnsureExternal {
    pub key: ExternalKey,
    /// The session if it is new. A session that was over takes project and branch from here, and one without a title takes
    /// the title.
    pub session: Session,
    pub connection: Connection,
}

impl Operation for EnsureExternal {
    type Output = Box<Session>;

    fn workspace(&self) -> WorkspaceId {
        self.key.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        reads.add(Read::External(self.key.clone()));
    }

    fn more_reads(&self, unit: &Unit, reads: &mut Reads) {
        read_session(unit, &self.key, reads);
        if matches!(find(unit, &self.key), Ok(None)) {
            reads.add(Read::Session(self.session.id));
            reads.add(Read::Connection(self.connection.id));
        }
    }

    fn apply(&self, unit: &mut Unit) -> Result<Self::Output, StoreError> {
        let Some(mut known) = find(unit, &self.key)?.cloned() else {
            unit.externals.put(self.key.clone(), Arc::new(self.session.id));
            unit.connections.insert(self.connection.id, Arc::new(self.connection.clone()))?;
            session_rows::insert(unit, &self.session)?;
            return Ok(Box::new(self.session.clone()));
        };
        if known.title.is_empty() && !self.session.title.is_empty() {
            known.title.clone_from(&self.session.title);
            unit.put_session(known.clone())?;
        }
        if let Some(status) = status_after_ask(&known) {
            known.project.clone_from(&self.session.project);
            known.branch.clone_from(&self.session.branch);
            known.project_policy.clone_from(&self.session.project_policy);
            known.config.clone_from(&self.session.config);
            unit.put_session(known.clone())?;
            session_rows::set_status(unit, known.id, status.clone())?;
            known.status = status;
            known.updated_at = unit.now;
        }
        Ok(Box::new(known))
    }
}

/// What happened in the person's terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExternalNews {
    /// A tool call is over. The oldest pending ask whose request id starts with this prefix was about it.
    ToolDone { native_prefix: String },
    /// The person gave a prompt.
    Prompted,
    /// The turn is over.
    TurnEnded,
    /// The agent has ended.
    Ended,
}

/// Reports what happened in the person's terminal. Asks that were decided there are withdrawn here; returns those.
#[derive(Debug)]
pub struct TellExternal {
    pub key: ExternalKey,
    pub news: ExternalNews,
}

impl Operation for TellExternal {
    type Output = Vec<AskId>;

    fn workspace(&self) -> WorkspaceId {
        self.key.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        reads.add(Read::External(self.key.clone()));
    }

    fn more_reads(&self, unit: &Unit, reads: &mut Reads) {
        let Some(session) = read_session(unit, &self.key, reads) else { return };
        reads.add(Read::PendingOfSession(session));
        reads.add(Read::UndeliveredOfSession(session));
        if let Ok(undelivered) = unit.undelivered_of_session(session) {
            for row in undelivered {
                reads.add(Read::Secret(row.ask.id));
            }
        }
    }

    fn apply(&self, unit: &mut Unit) -> Result<Self::Output, StoreError> {
        let Some(session) = find(unit, &self.key)? else { return Ok(Vec::new()) };
        let session = session.clone();
        let id = session.id;
        let mut pending = unit.pending_of_session(id)?;
        let (reason, status) = match &self.news {
            ExternalNews::ToolDone { native_prefix } => {
                pending.retain(|row| row.ask.origin.native_id.as_ref().is_some_and(|native| native.starts_with(native_prefix)));
                // Which of two equal calls is over cannot be known, so the oldest is taken.
                pending.truncate(1);
                (texts::WITHDRAWN_ELSEWHERE, None)
            }
            ExternalNews::Prompted => (texts::WITHDRAWN_TURN_OVER, Some(SessionStatus::Running)),
            ExternalNews::TurnEnded => (texts::WITHDRAWN_TURN_OVER, Some(SessionStatus::Idle)),
            ExternalNews::Ended => {
                let reason = texts::WITHDRAWN_EXTERNAL_ENDED.to_owned();
                let ended = SessionStatus::Ended { reason, failed: false, resumable: false };
                (texts::WITHDRAWN_EXTERNAL_ENDED, Some(ended))
            }
        };
        self.give_up_outcomes(unit, id)?;
        for row in &pending {
            agent_gone(unit, row, false, reason);
        }
        if let Some(status) = status.and_then(|status| status_after_report(&session, status)) {
            session_rows::set_status(unit, id, status)?;
        }
        Ok(pending.iter().map(|row| row.ask.id).collect())
    }
}

impl TellExternal {
    /// An outcome that nobody collected while the terminal continued has not reached the agent.
    fn give_up_outcomes(&self, unit: &mut Unit, session: SessionId) -> Result<(), StoreError> {
        let prefix = match &self.news {
            ExternalNews::ToolDone { native_prefix } => native_prefix.as_str(),
            ExternalNews::Prompted | ExternalNews::TurnEnded | ExternalNews::Ended => "",
        };
        for row in unit.undelivered_of_session(session)? {
            if row.ask.origin.native_id.as_deref().unwrap_or_default().starts_with(prefix) {
                let report = Delivery::Undeliverable { reason: texts::TERMINAL_WAS_FIRST.to_owned() };
                report_delivery(unit, row.ask.id, report)?;
            }
        }
        Ok(())
    }
}

fn find<'a>(unit: &'a Unit, key: &ExternalKey) -> Result<Option<&'a Session>, StoreError> {
    match unit.externals.get(key)? {
        Some(session) => unit.session(**session),
        None => Ok(None),
    }
}

fn read_session(unit: &Unit, key: &ExternalKey, reads: &mut Reads) -> Option<SessionId> {
    let session = **unit.externals.get(key).ok().flatten()?;
    reads.add(Read::Session(session));
    Some(session)
}
