//! Ends an ask: by a decision, by its deadline, or because its caller withdraws it. And snoozes it.

use std::sync::Arc;

use sayso_core::actor::Actor;
use sayso_core::ask::{Ask, Decision, Refused};
use sayso_core::id::{AskId, SessionId};
use sayso_core::policy;
use sayso_core::scope::Scope;
use sayso_core::time::Time;

use super::decide::{decide, is_visible};
use crate::error::StoreError;
use crate::event::WorkspaceId;
use crate::operation::{IdempotencyKey, KeyReused, Operation, Read, Reads};
use crate::payload::EventPayload;
use crate::rows::AskRow;
use crate::unit::{Earlier, Unit};

/// Decides an ask.
#[derive(Debug)]
pub struct ResolveAsk {
    pub workspace: WorkspaceId,
    pub ask: AskId,
    /// What the caller may see.
    pub scope: Scope,
    /// If set, the ask must belong to this session.
    pub session: Option<SessionId>,
    pub decision: Decision,
    pub by: Actor,
    pub now: Time,
    pub key: Option<IdempotencyKey>,
}

/// Why an ask was not decided.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// Unknown, invisible, or of another session.
    #[error("no such ask")]
    NotFound,
    /// The state machine refused the decision.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The idempotency key belongs to another call.
    #[error(transparent)]
    KeyReused(#[from] KeyReused),
}

/// The ask if the caller may see it.
fn visible_ask(unit: &Unit, id: AskId, scope: &Scope) -> Result<Option<Arc<AskRow>>, StoreError> {
    Ok(unit.ask(id)?.filter(|row| is_visible(&row.ask, scope)).cloned())
}

impl Operation for ResolveAsk {
    type Output = Result<Arc<Ask>, ResolveError>;

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        reads.add(Read::Ask(self.ask));
        reads.key(self.key.as_ref());
    }

    fn apply(&self, unit: &mut Unit) -> Result<Self::Output, StoreError> {
        let Some(row) = visible_ask(unit, self.ask, &self.scope)? else { return Ok(Err(ResolveError::NotFound)) };
        if self.session.is_some_and(|session| row.ask.origin.session != Some(session)) {
            return Ok(Err(ResolveError::NotFound));
        }
        match unit.earlier(self.key.as_ref())? {
            Earlier::Fresh => {}
            Earlier::Same(_) => return Ok(Ok(Arc::clone(&row.ask))),
            Earlier::Other => return Ok(Err(KeyReused.into())),
        }
        let decided = decide(unit, &row, self.decision.clone(), self.by.clone(), self.now);
        if let Ok(ask) = &decided {
            unit.remember(self.key.as_ref(), ask.id.to_string(), self.now);
        }
        Ok(decided.map_err(ResolveError::from))
    }
}

/// Lets the deadline of an ask decide, if it has passed and the ask is still pending.
#[derive(Debug)]
pub struct ExpireAsk {
    pub workspace: WorkspaceId,
    pub ask: AskId,
    pub now: Time,
}

impl Operation for ExpireAsk {
    type Output = Option<Arc<Ask>>;

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        reads.add(Read::Ask(self.ask));
    }

    fn apply(&self, unit: &mut Unit) -> Result<Self::Output, StoreError> {
        let Some(row) = unit.ask(self.ask)?.cloned() else { return Ok(None) };
        let Some(deadline) = row.ask.policy.deadline.filter(|deadline| deadline.at <= self.now) else { return Ok(None) };
        let decision = policy::timed_out(&row.ask.body, &deadline);
        Ok(decide(unit, &row, decision, Actor::Timeout { after: deadline.after }, self.now).ok())
    }
}

/// Withdraws an ask that a caller opened.
#[derive(Debug)]
pub struct WithdrawAsk {
    pub workspace: WorkspaceId,
    pub ask: AskId,
    /// What the caller may see.
    pub scope: Scope,
    pub reason: String,
    pub now: Time,
}

impl Operation for WithdrawAsk {
    type Output = Result<Arc<Ask>, ResolveError>;

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        reads.add(Read::Ask(self.ask));
    }

    fn apply(&self, unit: &mut Unit) -> Result<Self::Output, StoreError> {
        // Callers withdraw only asks of callers; an agent withdraws its own through its connection.
        let found = visible_ask(unit, self.ask, &self.scope)?.filter(|row| row.ask.origin.connection.is_none());
        let Some(row) = found else { return Ok(Err(ResolveError::NotFound)) };
        let decision = Decision::Withdrawn { reason: self.reason.clone() };
        Ok(decide(unit, &row, decision, Actor::Agent, self.now).map_err(ResolveError::from))
    }
}

/// Hides a pending ask until a time, or shows it again.
#[derive(Debug)]
pub struct SnoozeAsk {
    pub workspace: WorkspaceId,
    pub ask: AskId,
    /// What the caller may see.
    pub scope: Scope,
    pub until: Option<Time>,
    pub now: Time,
}

impl Operation for SnoozeAsk {
    type Output = Result<Arc<Ask>, ResolveError>;

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        reads.add(Read::Ask(self.ask));
    }

    fn apply(&self, unit: &mut Unit) -> Result<Self::Output, StoreError> {
        let Some(row) = visible_ask(unit, self.ask, &self.scope)? else { return Ok(Err(ResolveError::NotFound)) };
        if let Some(outcome) = row.ask.outcome() {
            return Ok(Err(Refused::AlreadyResolved(Box::new(outcome.clone())).into()));
        }
        let ask = Arc::new(Ask { snoozed_until: self.until, ..Ask::clone(&row.ask) });
        unit.put_ask(Arc::clone(&ask), row.seq);
        let payload = EventPayload::AskSnoozed { ask: Arc::clone(&ask), until: self.until };
        unit.announce_ask(self.now, ask.origin.session, payload);
        Ok(Ok(ask))
    }
}
