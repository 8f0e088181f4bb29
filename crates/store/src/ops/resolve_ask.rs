//! Ends an ask: by a decision, by its deadline, or because its caller withdraws it. And snoozes it.

use std::sync::Arc;

use sayso_core::actor::Actor;
use sayso_core::ask::{Ask, Decision, Refused};
use sayso_core::digest::ShaDigest;
use sayso_core::id::{AskId, SessionId, TokenId};
use sayso_core::policy;
use sayso_core::scope::Scope;
use sayso_core::time::Time;

use super::decide::{decide, decide_about, is_visible};
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
    pub key: Option<IdempotencyKey>,
    /// The digest of the files that the command executes, if the caller has just compared them with what the person saw.
    pub content: Option<ShaDigest>,
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
    /// The command executes files that the caller has to compare first.
    #[error("the files that the command executes were not compared")]
    ContentUnchecked,
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
        let approves = row.is_pending() && matches!(self.decision, Decision::Approved { .. });
        if approves && self.content.is_none() && row.ask.context.executes.as_ref().is_some_and(|executes| executes.readable) {
            return Ok(Err(ResolveError::ContentUnchecked));
        }
        let decided = decide_about(unit, &row, self.decision.clone(), self.by.clone(), self.content);
        if let Ok(ask) = &decided {
            unit.remember(self.key.as_ref(), ask.id.to_string());
        }
        Ok(decided.map_err(ResolveError::from))
    }
}

/// Lets the deadline of an ask decide, if it has passed and the ask is still pending.
#[derive(Debug)]
pub struct ExpireAsk {
    pub workspace: WorkspaceId,
    pub ask: AskId,
}

/// The result of [`ExpireAsk`].
#[derive(Debug, Clone, PartialEq)]
pub enum Expired {
    /// The deadline decided this ask.
    Ask(Arc<Ask>),
    /// The deadline is later by the clock of the backend, at this time.
    NotYet(Time),
    /// The ask is not pending, is unknown or has no deadline.
    Over,
}

impl Operation for ExpireAsk {
    type Output = Expired;

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        reads.add(Read::Ask(self.ask));
    }

    fn apply(&self, unit: &mut Unit) -> Result<Self::Output, StoreError> {
        let Some(row) = unit.ask(self.ask)?.cloned() else { return Ok(Expired::Over) };
        let Some(deadline) = row.ask.policy.deadline.filter(|_| row.is_pending()) else { return Ok(Expired::Over) };
        if unit.now < deadline.at {
            return Ok(Expired::NotYet(deadline.at));
        }
        let decision = policy::timed_out(&row.ask.body, &deadline);
        let decided = decide(unit, &row, decision, Actor::Timeout { after: deadline.after });
        Ok(decided.map_or(Expired::Over, Expired::Ask))
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
        Ok(decide(unit, &row, decision, Actor::Agent).map_err(ResolveError::from))
    }
}

/// Withdraws the pending ask that a caller opened under this request id.
#[derive(Debug)]
pub struct WithdrawByRequest {
    pub workspace: WorkspaceId,
    /// The token that opened it.
    pub opened_by: TokenId,
    /// The `dedupeKey`.
    pub request: String,
    pub reason: String,
}

impl Operation for WithdrawByRequest {
    type Output = Result<Arc<Ask>, ResolveError>;

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        reads.add(Read::PendingByNative(self.opened_by.into(), self.request.clone()));
    }

    fn apply(&self, unit: &mut Unit) -> Result<Self::Output, StoreError> {
        let found = unit.pending_by_native(self.opened_by.into(), &self.request)?;
        let Some(row) = found else { return Ok(Err(ResolveError::NotFound)) };
        let decision = Decision::Withdrawn { reason: self.reason.clone() };
        Ok(decide(unit, &row, decision, Actor::Agent).map_err(ResolveError::from))
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
        unit.announce_ask(ask.origin.session, payload);
        Ok(Ok(ask))
    }
}
