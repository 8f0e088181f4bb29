//! Ends an ask by a decision, its deadline or its caller, and snoozes asks.

use std::sync::Arc;

use sayso_core::actor::Actor;
use sayso_core::ask::{Ask, Decision, Refused};
use sayso_core::digest::ShaDigest;
use sayso_core::id::{AskId, SessionId, TokenId};
use sayso_core::policy;
use sayso_core::scope::Scope;
use sayso_core::time::Time;

use super::decide::{decide, decide_with_content, is_visible};
use crate::error::StoreError;
use crate::event::WorkspaceId;
use crate::operation::{IdempotencyKey, KeyReused, Operation, Read, Reads};
use crate::payload::EventPayload;
use crate::rows::AskRow;
use crate::unit::{EarlierCall, Unit};

/// Decides an ask. The first decision wins; later ones are refused with the outcome.
#[derive(Debug)]
pub struct ResolveAsk {
    pub workspace: WorkspaceId,
    pub ask: AskId,
    /// Asks outside this scope are not found.
    pub scope: Scope,
    pub session: Option<SessionId>,
    pub decision: Decision,
    pub by: Actor,
    pub key: Option<IdempotencyKey>,
    /// The digest of the files that the command executes, if the caller compared them with what the person saw.
    pub content: Option<ShaDigest>,
    /// Whether the caller validated the values of the decision against the schemas of the ask. An ask never changes its schemas.
    pub fits_schemas: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// The ask is unknown, outside the scope, or belongs to another session.
    #[error("no such ask")]
    NotFound,
    /// The state machine refused the decision.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The command executes files, and the caller did not compare them.
    #[error("the files that the command executes were not compared")]
    ContentUnchecked,
    /// The ask has a schema for a value of the decision, and the caller did not validate it.
    #[error("the values were not validated against the schemas of the ask")]
    SchemaUnchecked,
    /// The idempotency key belongs to another call.
    #[error(transparent)]
    KeyReused(#[from] KeyReused),
}

/// Finds an ask in the scope.
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
        match unit.find_earlier_call(self.key.as_ref())? {
            EarlierCall::Fresh => {}
            EarlierCall::Same(_) => return Ok(Ok(Arc::clone(&row.ask))),
            EarlierCall::Other => return Ok(Err(KeyReused.into())),
        }
        let approves = row.is_pending() && matches!(self.decision, Decision::Approved { .. });
        if approves && self.content.is_none() && row.ask.context.executes.as_ref().is_some_and(|executes| executes.readable) {
            return Ok(Err(ResolveError::ContentUnchecked));
        }
        if row.is_pending() && !self.fits_schemas && row.ask.body.has_schema_for(&self.decision) {
            return Ok(Err(ResolveError::SchemaUnchecked));
        }
        let decided = decide_with_content(unit, &row, self.decision.clone(), self.by.clone(), self.content);
        if let Ok(ask) = &decided {
            unit.remember_call(self.key.as_ref(), ask.id.to_string());
        }
        Ok(decided.map_err(ResolveError::from))
    }
}

/// Applies the deadline of an ask, if it has passed and the ask is pending.
#[derive(Debug)]
pub struct ExpireAsk {
    pub workspace: WorkspaceId,
    pub ask: AskId,
}

/// The result of [`ExpireAsk`].
#[derive(Debug, Clone, PartialEq)]
pub enum ExpireAskResult {
    /// The deadline decided this ask.
    Ask(Arc<Ask>),
    /// The deadline has not passed by the clock of the backend. It is at this time.
    NotYet(Time),
    /// The ask is unknown, resolved or has no deadline.
    Over,
}

impl Operation for ExpireAsk {
    type Output = ExpireAskResult;

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        reads.add(Read::Ask(self.ask));
    }

    fn apply(&self, unit: &mut Unit) -> Result<Self::Output, StoreError> {
        let Some(row) = unit.ask(self.ask)?.cloned() else { return Ok(ExpireAskResult::Over) };
        let Some(deadline) = row.ask.policy.deadline.filter(|_| row.is_pending()) else { return Ok(ExpireAskResult::Over) };
        if unit.now < deadline.at {
            return Ok(ExpireAskResult::NotYet(deadline.at));
        }
        let decision = policy::timed_out(&row.ask.body, &deadline);
        let decided = decide(unit, &row, decision, Actor::Timeout { after: deadline.after });
        Ok(decided.map_or(ExpireAskResult::Over, ExpireAskResult::Ask))
    }
}

/// Withdraws an ask that a caller opened.
#[derive(Debug)]
pub struct WithdrawAsk {
    pub workspace: WorkspaceId,
    pub ask: AskId,
    /// Asks outside this scope are not found.
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
        // Callers withdraw only asks of callers. Agents withdraw theirs through their connection.
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
    /// Asks outside this scope are not found.
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
