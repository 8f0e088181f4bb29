//! Sessions of agents that a person runs in their own terminal, reported by hooks.

use std::sync::Arc;

use sayso_core::ask::Delivery;
use sayso_core::connection::Connection;
use sayso_core::id::{AskId, SessionId, TokenId};
use sayso_core::session::{Session, SessionStatus};
use sayso_core::session_lifecycle::{status_after_ask, status_after_report};
use sayso_core::texts;

use super::decide::{park_or_withdraw, report_delivery};
use super::session_rows;
use crate::error::StoreError;
use crate::event::WorkspaceId;
use crate::operation::{Operation, Read, Reads};
use crate::unit::Unit;

/// Identifies a session by the agent's own id. Each token has ids of its own.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ExternalSessionKey {
    pub workspace: WorkspaceId,
    /// The token of the hook or client that reports the session.
    pub token: TokenId,
    pub agent: String,
    pub native_id: String,
}

/// Finds the session, or creates it. A session that has ended is reopened.
#[derive(Debug)]
pub struct EnsureExternalSession {
    pub key: ExternalSessionKey,
    /// The values of a new session. A reopened session takes project and branch from it, and its title if it has none.
    pub session: Session,
    pub connection: Connection,
}

impl Operation for EnsureExternalSession {
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
            session_rows::insert_session(unit, &self.session)?;
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExternalActivity {
    /// A tool call ended. The oldest pending ask whose request id has this prefix was about it.
    ToolDone {
        native_prefix: String,
    },
    /// The person entered a prompt.
    Prompted,
    TurnEnded,
    Ended,
}

/// Applies a report from the person's terminal. Asks that were decided in the terminal are withdrawn; returns their ids.
#[derive(Debug)]
pub struct ReportExternalActivity {
    pub key: ExternalSessionKey,
    pub news: ExternalActivity,
}

impl Operation for ReportExternalActivity {
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
            ExternalActivity::ToolDone { native_prefix } => {
                pending.retain(|row| row.ask.origin.native_id.as_ref().is_some_and(|native| native.starts_with(native_prefix)));
                // Two equal calls cannot be told apart, so the oldest one counts.
                pending.truncate(1);
                (texts::WITHDRAWN_ELSEWHERE, None)
            }
            ExternalActivity::Prompted => (texts::WITHDRAWN_TURN_OVER, Some(SessionStatus::Running)),
            ExternalActivity::TurnEnded => (texts::WITHDRAWN_TURN_OVER, Some(SessionStatus::Idle)),
            ExternalActivity::Ended => {
                let reason = texts::WITHDRAWN_EXTERNAL_ENDED.to_owned();
                let ended = SessionStatus::Ended { reason, failed: false, resumable: false };
                (texts::WITHDRAWN_EXTERNAL_ENDED, Some(ended))
            }
        };
        self.mark_outcomes_undeliverable(unit, id)?;
        for row in &pending {
            park_or_withdraw(unit, row, false, reason);
        }
        if let Some(status) = status.and_then(|status| status_after_report(&session, status)) {
            session_rows::set_status(unit, id, status)?;
        }
        Ok(pending.iter().map(|row| row.ask.id).collect())
    }
}

impl ReportExternalActivity {
    /// Marks outcomes as undeliverable that were not collected before the terminal continued.
    fn mark_outcomes_undeliverable(&self, unit: &mut Unit, session: SessionId) -> Result<(), StoreError> {
        let prefix = match &self.news {
            ExternalActivity::ToolDone { native_prefix } => native_prefix.as_str(),
            ExternalActivity::Prompted | ExternalActivity::TurnEnded | ExternalActivity::Ended => "",
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

fn find<'a>(unit: &'a Unit, key: &ExternalSessionKey) -> Result<Option<&'a Session>, StoreError> {
    match unit.externals.get(key)? {
        Some(session) => unit.session(**session),
        None => Ok(None),
    }
}

fn read_session(unit: &Unit, key: &ExternalSessionKey, reads: &mut Reads) -> Option<SessionId> {
    let session = **unit.externals.get(key).ok().flatten()?;
    reads.add(Read::Session(session));
    Some(session)
}
