//! Deciding an ask: the one compare-and-set, with its event and the way back to the agent.

use std::sync::Arc;

use rusqlite::params;
use sayso_core::actor::Actor;
use sayso_core::ask::{self, AgentGone, Answers, Ask, AskState, Decision, Delivery, Reach, Refused};
use sayso_core::policy;
use sayso_core::raw::Raw;
use sayso_core::time::Time;

use super::tx::{Earlier, Tx};
use super::{ask_row, open_ask, to_json};
use crate::error::StoreError;
use crate::event::{EventKind, WorkspaceId};
use crate::write::{CallerHasOutcome, ExpireAsk, KeyReused, Operation, ResolveAsk, ResolveError, SnoozeAsk, WithdrawAsk};

/// Decides a pending ask inside the transaction. The caller has read it in the same transaction, and
/// there is one writer, so reading, deciding and writing are one step.
pub(super) fn decide(
    tx: &mut Tx<'_>,
    workspace: WorkspaceId,
    ask: Arc<Ask>,
    decision: Decision,
    by: Actor,
    now: Time,
) -> Result<Result<Arc<Ask>, Refused>, StoreError> {
    let resolution = match ask::resolve(&ask, decision, by, now) {
        Ok(resolution) => resolution,
        Err(refused) => return Ok(Err(refused)),
    };
    let reach = match ask.state {
        AskState::Pending(reach) => reach,
        AskState::Resolved { .. } => Reach::Live,
    };
    let withdrawn = matches!(resolution.for_agent, Decision::Withdrawn { .. });
    // The agent itself took it back, or is gone: there is nothing to deliver.
    let delivery = if withdrawn { Delivery::Delivered } else { Delivery::Queued };
    let mut ask = Arc::unwrap_or_clone(ask);
    ask.state = AskState::Resolved { outcome: resolution.outcome, delivery };
    ask_row::update_state(tx.db(), &ask)?;
    if let (true, Decision::Answered { answers, .. }) = (resolution.secret, &resolution.for_agent) {
        tx.db()
            .prepare_cached("INSERT OR REPLACE INTO secret (ask, workspace, answers) VALUES (?1, ?2, ?3)")?
            .execute(params![ask.id.as_bytes(), workspace.0, to_json("secret", answers)?])?;
    }
    let ask = Arc::new(ask);
    tx.event(EventKind::AskResolved, now, ask.origin.session, Some(Arc::clone(&ask)), None)?;
    open_ask::trace(tx, &ask, now)?;
    if !withdrawn {
        tx.send_outcome(&ask, resolution.for_agent, reach)?;
    }
    Ok(Ok(ask))
}

/// Notes how far an outcome has come. A step back, or no news, changes nothing.
pub(super) fn report(
    tx: &mut Tx<'_>,
    workspace: WorkspaceId,
    id: sayso_core::id::AskId,
    news: Delivery,
    now: Time,
) -> Result<(), StoreError> {
    let Some(ask) = tx.ask(workspace, id)? else { return Ok(()) };
    let Ok(Some(state)) = ask.state.delivered(news) else { return Ok(()) };
    let mut ask = Arc::unwrap_or_clone(ask);
    ask.state = state;
    if ask.body.is_secret() {
        let deleted = tx.db().prepare_cached("DELETE FROM secret WHERE ask = ?1")?.execute([ask.id.as_bytes()])?;
        if deleted > 0 {
            tx.secret_deleted();
        }
    }
    let (number, reason, word) = match &ask.state {
        AskState::Resolved { delivery, .. } => (
            ask_row::delivery_number(delivery),
            match delivery {
                Delivery::Undeliverable { reason } => Some(reason.clone()),
                Delivery::Queued | Delivery::Delivered | Delivery::Confirmed => None,
            },
            delivery.as_str(),
        ),
        AskState::Pending(_) => return Ok(()),
    };
    tx.db().prepare_cached("UPDATE ask SET delivery = ?2, delivery_reason = ?3 WHERE id = ?1")?.execute(params![
        ask.id.as_bytes(),
        number,
        reason
    ])?;
    let data = Raw::of(&DeliveryNews { id: ask.id, delivery: word, delivery_reason: reason });
    let session = ask.origin.session;
    tx.event(EventKind::AskDelivery, now, session, Some(Arc::new(ask)), Some(data))?;
    Ok(())
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct DeliveryNews {
    id: sayso_core::id::AskId,
    delivery: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    delivery_reason: Option<String>,
}

/// Parks or withdraws a pending ask whose agent is gone.
pub(super) fn agent_gone(
    tx: &mut Tx<'_>,
    workspace: WorkspaceId,
    mut ask: Ask,
    resumable: bool,
    reason: &str,
    now: Time,
) -> Result<(), StoreError> {
    match ask::agent_gone(&ask, resumable, reason) {
        AgentGone::Keep => Ok(()),
        AgentGone::Park(parked) => {
            ask.state = parked;
            ask_row::update_state(tx.db(), &ask)?;
            reach_event(tx, ask, Reach::Parked, now)
        }
        AgentGone::Withdraw(decision) => {
            // A pending ask can always be withdrawn; the refusals do not apply.
            let _ = decide(tx, workspace, Arc::new(ask), decision, Actor::Agent, now)?;
            Ok(())
        }
    }
}

/// Says that somebody waits for an ask, or nobody any more.
pub(super) fn reach_event(tx: &mut Tx<'_>, ask: Ask, reach: Reach, now: Time) -> Result<(), StoreError> {
    let data = Raw::of(&ReachNews { id: ask.id, reach });
    let session = ask.origin.session;
    tx.event(EventKind::AskParked, now, session, Some(Arc::new(ask)), Some(data))?;
    Ok(())
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct ReachNews {
    id: sayso_core::id::AskId,
    reach: Reach,
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct SnoozeNews {
    id: sayso_core::id::AskId,
    snoozed_until: Option<Time>,
}

impl Operation for ResolveAsk {
    type Output = Result<Arc<Ask>, ResolveError>;

    fn apply(self, tx: &mut Tx<'_>) -> Result<Self::Output, StoreError> {
        let Some(ask) = tx.ask(self.workspace, self.ask)? else { return Ok(Err(ResolveError::NotFound)) };
        let elsewhere = self.session.is_some_and(|session| ask.origin.session != Some(session));
        if elsewhere || !ask_row::visible(&ask, &self.scope) {
            return Ok(Err(ResolveError::NotFound));
        }
        match tx.earlier(self.key.as_ref())? {
            Earlier::Fresh => {}
            Earlier::Same(_) => return Ok(Ok(ask)),
            Earlier::Other => return Ok(Err(KeyReused.into())),
        }
        match decide(tx, self.workspace, ask, self.decision, self.by, self.now)? {
            Ok(ask) => {
                tx.remember(self.key.as_ref(), &ask.id.to_string(), self.now)?;
                Ok(Ok(ask))
            }
            Err(refused) => Ok(Err(refused.into())),
        }
    }
}

impl Operation for ExpireAsk {
    type Output = Option<Arc<Ask>>;

    fn apply(self, tx: &mut Tx<'_>) -> Result<Self::Output, StoreError> {
        let Some(ask) = tx.ask(self.workspace, self.ask)? else { return Ok(None) };
        let Some(deadline) = ask.policy.deadline.filter(|deadline| deadline.at <= self.now) else { return Ok(None) };
        let decision = policy::timed_out(&ask.body, &deadline);
        let by = Actor::Timeout { after: deadline.after };
        Ok(decide(tx, self.workspace, ask, decision, by, self.now)?.ok())
    }
}

impl Operation for WithdrawAsk {
    type Output = Result<Arc<Ask>, ResolveError>;

    fn apply(self, tx: &mut Tx<'_>) -> Result<Self::Output, StoreError> {
        let found = tx.ask(self.workspace, self.ask)?;
        // Only what a caller opened can be taken back by a caller; an agent takes its own back by its wire.
        let Some(ask) = found.filter(|ask| ask_row::visible(ask, &self.scope) && ask.origin.connection.is_none()) else {
            return Ok(Err(ResolveError::NotFound));
        };
        let decision = Decision::Withdrawn { reason: self.reason };
        Ok(decide(tx, self.workspace, ask, decision, Actor::Agent, self.now)?.map_err(ResolveError::from))
    }
}

impl Operation for SnoozeAsk {
    type Output = Result<Arc<Ask>, ResolveError>;

    fn apply(self, tx: &mut Tx<'_>) -> Result<Self::Output, StoreError> {
        let found = tx.ask(self.workspace, self.ask)?;
        let Some(ask) = found.filter(|ask| ask_row::visible(ask, &self.scope)) else {
            return Ok(Err(ResolveError::NotFound));
        };
        if let Some(outcome) = ask.outcome() {
            return Ok(Err(Refused::AlreadyResolved(Box::new(outcome.clone())).into()));
        }
        let mut ask = Arc::unwrap_or_clone(ask);
        ask.snoozed_until = self.until;
        tx.db()
            .prepare_cached("UPDATE ask SET snoozed_ms = ?2 WHERE id = ?1")?
            .execute(params![ask.id.as_bytes(), self.until.map(Time::as_millis)])?;
        let data = Raw::of(&SnoozeNews { id: ask.id, snoozed_until: self.until });
        let ask = Arc::new(ask);
        tx.event(EventKind::AskSnoozed, self.now, ask.origin.session, Some(Arc::clone(&ask)), Some(data))?;
        Ok(Ok(ask))
    }
}

impl Operation for CallerHasOutcome {
    type Output = Option<Answers>;

    fn apply(self, tx: &mut Tx<'_>) -> Result<Self::Output, StoreError> {
        let secret = ask_row::secret(tx.db(), self.ask)?;
        report(tx, self.workspace, self.ask, Delivery::Delivered, self.now)?;
        Ok(secret)
    }
}
