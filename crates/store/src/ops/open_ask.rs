//! Opens the ask of a caller of the API.

use std::sync::Arc;

use sayso_core::ask::{Ask, AskState, Delivery, Reach};
use sayso_core::id::AskId;
use sayso_core::limits;
use sayso_core::scope::Scope;

use super::{decide, session_rows};
use crate::error::StoreError;
use crate::event::WorkspaceId;
use crate::operation::{IdempotencyKey, Operation, PendingOf, Read, Reads};
use crate::payload::EventPayload;
use crate::rows::{AskRow, OwnerId};
use crate::unit::{EarlierCall, Unit};

#[derive(Debug)]
pub struct OpenAsk {
    pub workspace: WorkspaceId,
    /// A session outside this scope is not found.
    pub scope: Scope,
    /// The ask. If the policy decided it, it has its outcome.
    pub ask: Box<Ask>,
    pub key: Option<IdempotencyKey>,
    /// The limit of pending asks of the caller.
    pub max_pending: usize,
}

/// The result of [`OpenAsk`].
#[derive(Debug, Clone, PartialEq)]
pub enum OpenAskResult {
    /// A new ask, or the earlier one with the same key or request id.
    Ask(Box<Ask>),
    /// The caller or the session has too many pending asks.
    TooMany,
    /// The idempotency key belongs to another call.
    KeyReused,
    /// The earlier ask with this key was approved, and the caller has collected the approval.
    ApprovalDelivered,
    /// The request id belongs to an ask with a different request.
    DedupeKeyReused,
    /// The session is unknown, outside the scope, or has ended.
    NoSession,
}

impl OpenAsk {
    fn owner(&self) -> Option<OwnerId> {
        self.ask.origin.opened_by.map(OwnerId::from)
    }

    /// Returns the owner and the request id, if the caller gave one.
    fn native(&self) -> Option<(OwnerId, &str)> {
        Some((self.owner()?, self.ask.origin.native_id.as_deref()?))
    }
}

impl Operation for OpenAsk {
    type Output = OpenAskResult;

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        reads.key(self.key.as_ref());
        reads.add(Read::Ask(self.ask.id));
        if let Some(session) = self.ask.origin.session {
            reads.add(Read::Session(session));
            reads.add(Read::PendingIds(PendingOf::Session(session)));
        }
        if let Some(owner) = self.owner() {
            reads.add(Read::PendingIds(PendingOf::Owner(owner)));
        }
        if let Some((owner, native)) = self.native() {
            reads.add(Read::PendingByNative(owner, native.to_owned()));
            if self.ask.context.keep.is_some() {
                reads.add(Read::UncollectedByNative(owner, native.to_owned()));
            }
        }
    }

    fn more_reads(&self, unit: &Unit, reads: &mut Reads) {
        if let Some(ask) = unit.earlier_call_target::<AskId>(self.key.as_ref()) {
            reads.add(Read::Ask(ask));
        }
    }

    fn apply(&self, unit: &mut Unit) -> Result<OpenAskResult, StoreError> {
        match unit.find_earlier_call(self.key.as_ref())? {
            EarlierCall::Fresh => {}
            EarlierCall::Same(id) => {
                let earlier = id.parse().ok().map(|id| unit.ask(id)).transpose()?.flatten();
                return Ok(match earlier {
                    None => OpenAskResult::KeyReused,
                    Some(row) if row.ask.is_delivered_approval() => OpenAskResult::ApprovalDelivered,
                    Some(row) => OpenAskResult::Ask(Box::new(Ask::clone(&row.ask))),
                });
            }
            EarlierCall::Other => return Ok(OpenAskResult::KeyReused),
        }
        if let Some(session) = self.ask.origin.session {
            let found = unit.session(session)?;
            if found.is_none_or(|session| session.status.is_ended() || !session_rows::is_visible(session, &self.scope)) {
                return Ok(OpenAskResult::NoSession);
            }
            if unit.count_pending(PendingOf::Session(session))? >= limits::PENDING {
                return Ok(OpenAskResult::TooMany);
            }
        }
        if let Some(earlier) = self.earlier_request(unit)? {
            if !earlier.requests_the_same(&self.ask) {
                return Ok(OpenAskResult::DedupeKeyReused);
            }
            unit.remember_call(self.key.as_ref(), earlier.id.to_string());
            return Ok(OpenAskResult::Ask(Box::new(Ask::clone(&earlier))));
        }
        if let Some(owner) = self.owner()
            && unit.count_pending(PendingOf::Owner(owner))? >= self.max_pending
        {
            return Ok(OpenAskResult::TooMany);
        }
        unit.remember_call(self.key.as_ref(), self.ask.id.to_string());
        let ask = insert_ask(unit, Ask::clone(&self.ask))?;
        Ok(OpenAskResult::Ask(Box::new(Ask::clone(&ask))))
    }
}

impl OpenAsk {
    /// Finds the ask that the caller opened under the same request id, if it is pending or its outcome was not collected and is
    /// not too old.
    fn earlier_request(&self, unit: &Unit) -> Result<Option<Arc<Ask>>, StoreError> {
        let Some((owner, native)) = self.native() else { return Ok(None) };
        if let Some(pending) = unit.pending_by_native(owner, native)? {
            return Ok(Some(Arc::clone(&pending.ask)));
        }
        let Some(keep) = self.ask.context.keep else { return Ok(None) };
        let fresh = |ask: &Ask| ask.outcome().is_some_and(|outcome| unit.now.since(outcome.at) <= keep.0);
        Ok(unit.uncollected_by_native(owner, native)?.map(|row| Arc::clone(&row.ask)).filter(|ask| fresh(ask)))
    }
}

/// Adds an ask under a new id and announces it. An ask that the policy decided has one event and never appears as pending.
pub(super) fn insert_ask(unit: &mut Unit, ask: Ask) -> Result<Arc<Ask>, StoreError> {
    let ask = Arc::new(ask);
    let row = AskRow { ask: Arc::clone(&ask), seq: unit.next_seq() };
    unit.asks.insert(ask.id, Arc::new(row))?;
    let payload = match &ask.state {
        AskState::Pending(_) => EventPayload::AskRequested(Arc::clone(&ask)),
        AskState::Resolved { .. } => EventPayload::AskResolved(Arc::clone(&ask)),
    };
    unit.announce_ask(ask.origin.session, payload);
    decide::announce_step_question(unit, &ask);
    match &ask.state {
        AskState::Pending(_) => {
            if let Some(deadline) = ask.policy.deadline {
                unit.schedule_deadline(ask.id, deadline.at);
            }
        }
        AskState::Resolved { outcome, delivery: Delivery::Queued } => {
            unit.queue_outcome(&ask, outcome.decision.clone(), Reach::Live);
        }
        AskState::Resolved { .. } => {}
    }
    Ok(ask)
}
