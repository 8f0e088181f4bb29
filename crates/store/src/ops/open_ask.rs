//! Opens an ask for a caller that waits for it over HTTP.

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
use crate::unit::{Earlier, Unit};

/// See the module.
#[derive(Debug)]
pub struct OpenAsk {
    pub workspace: WorkspaceId,
    /// What the caller may see.
    pub scope: Scope,
    /// The ask; it has its outcome already if the policy decided it.
    pub ask: Box<Ask>,
    pub key: Option<IdempotencyKey>,
    /// How many asks the caller may have pending.
    pub max_pending: usize,
}

/// The result of [`OpenAsk`].
#[derive(Debug, Clone, PartialEq)]
pub enum Opened {
    /// This ask: new, or the earlier one with the same key.
    Ask(Box<Ask>),
    /// The caller or the session has too many pending asks.
    TooMany,
    /// The idempotency key belongs to another call.
    KeyReused,
    /// The call with this idempotency key was approved, and the caller has that approval already.
    ApprovalDelivered,
    /// The caller's request id belongs to an ask for something else.
    DedupeKeyReused,
    /// The session is unknown, invisible or over.
    NoSession,
}

impl OpenAsk {
    fn owner(&self) -> Option<OwnerId> {
        self.ask.origin.opened_by.map(OwnerId::from)
    }

    /// The request id of a caller that gives its asks ids.
    fn native(&self) -> Option<(OwnerId, &str)> {
        Some((self.owner()?, self.ask.origin.native_id.as_deref()?))
    }
}

impl Operation for OpenAsk {
    type Output = Opened;

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
        if let Some(ask) = unit.earlier_target::<AskId>(self.key.as_ref()) {
            reads.add(Read::Ask(ask));
        }
    }

    fn apply(&self, unit: &mut Unit) -> Result<Opened, StoreError> {
        match unit.earlier(self.key.as_ref())? {
            Earlier::Fresh => {}
            Earlier::Same(id) => {
                let earlier = id.parse().ok().map(|id| unit.ask(id)).transpose()?.flatten();
                return Ok(match earlier {
                    None => Opened::KeyReused,
                    Some(row) if row.ask.is_delivered_approval() => Opened::ApprovalDelivered,
                    Some(row) => Opened::Ask(Box::new(Ask::clone(&row.ask))),
                });
            }
            Earlier::Other => return Ok(Opened::KeyReused),
        }
        if let Some(session) = self.ask.origin.session {
            let found = unit.session(session)?;
            if found.is_none_or(|session| session.status.is_ended() || !session_rows::is_visible(session, &self.scope)) {
                return Ok(Opened::NoSession);
            }
            if unit.count_pending(PendingOf::Session(session))? >= limits::PENDING {
                return Ok(Opened::TooMany);
            }
        }
        if let Some(earlier) = self.earlier_request(unit)? {
            if !earlier.asks_the_same(&self.ask) {
                return Ok(Opened::DedupeKeyReused);
            }
            unit.remember(self.key.as_ref(), earlier.id.to_string());
            return Ok(Opened::Ask(Box::new(Ask::clone(&earlier))));
        }
        if let Some(owner) = self.owner()
            && unit.count_pending(PendingOf::Owner(owner))? >= self.max_pending
        {
            return Ok(Opened::TooMany);
        }
        unit.remember(self.key.as_ref(), self.ask.id.to_string());
        let ask = insert(unit, Ask::clone(&self.ask))?;
        Ok(Opened::Ask(Box::new(Ask::clone(&ask))))
    }
}

impl OpenAsk {
    /// The ask that the caller opened before under the same request id: pending, or with an outcome that it has not
    /// collected and that is not too old.
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

/// Adds an ask under a new id and announces it. An ask that the policy decided is one event: it never appears as pending.
/// Needs the ask's id.
pub(super) fn insert(unit: &mut Unit, ask: Ask) -> Result<Arc<Ask>, StoreError> {
    let ask = Arc::new(ask);
    let row = AskRow { ask: Arc::clone(&ask), seq: unit.next_seq() };
    unit.asks.insert(ask.id, Arc::new(row))?;
    let payload = match &ask.state {
        AskState::Pending(_) => EventPayload::AskRequested(Arc::clone(&ask)),
        AskState::Resolved { .. } => EventPayload::AskResolved(Arc::clone(&ask)),
    };
    unit.announce_ask(ask.origin.session, payload);
    decide::trace(unit, &ask);
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
