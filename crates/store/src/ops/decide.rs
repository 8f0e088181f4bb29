//! How an ask changes after it was opened. Several operations share these rules.

use std::sync::Arc;

use sayso_core::actor::Actor;
use sayso_core::ask::{self, AgentGone, Ask, AskKind, AskState, Decision, Delivery, Reach, Refused};
use sayso_core::digest::ShaDigest;
use sayso_core::id::AskId;
use sayso_core::plain_text;
use sayso_core::raw::Raw;
use sayso_core::scope::{Scope, Visible};

use crate::error::StoreError;
use crate::payload::EventPayload;
use crate::rows::AskRow;
use crate::unit::Unit;

pub(crate) fn is_visible(ask: &Ask, scope: &Scope) -> bool {
    scope.sees(Visible { session: ask.origin.session, labels: &ask.context.labels, opened_by: ask.origin.opened_by })
}

/// Decides a pending ask: the compare-and-set. The row is the current one of the unit, and the batch commits as a whole,
/// so nothing can come between reading and writing it.
pub(super) fn decide(unit: &mut Unit, row: &AskRow, decision: Decision, by: Actor) -> Result<Arc<Ask>, Refused> {
    decide_about(unit, row, decision, by, None)
}

/// The same, for files with this digest.
pub(super) fn decide_about(
    unit: &mut Unit,
    row: &AskRow,
    decision: Decision,
    by: Actor,
    content: Option<ShaDigest>,
) -> Result<Arc<Ask>, Refused> {
    let mut resolution = ask::resolve(&row.ask, decision, by, unit.now)?;
    resolution.outcome.content = content;
    let reach = match row.ask.state {
        AskState::Pending(reach) => reach,
        AskState::Resolved { .. } => Reach::Live,
    };
    let withdrawn = matches!(resolution.for_agent, Decision::Withdrawn { .. });
    // The agent itself took the ask back, or is gone: there is nothing to deliver.
    let delivery = if withdrawn { Delivery::Delivered } else { Delivery::Queued };
    let mut ask = Ask::clone(&row.ask);
    ask.state = AskState::Resolved { outcome: resolution.outcome, delivery };
    if let (true, Decision::Answered { answers, .. }) = (resolution.secret, &resolution.for_agent) {
        unit.secrets.put(ask.id, Arc::new(Raw::of(answers)));
    }
    let ask = Arc::new(ask);
    unit.put_ask(Arc::clone(&ask), row.seq);
    unit.announce_ask(ask.origin.session, EventPayload::AskResolved(Arc::clone(&ask)));
    trace(unit, &ask);
    if !withdrawn {
        unit.queue_outcome(&ask, resolution.for_agent, reach);
    }
    Ok(ask)
}

/// Announces to the run of a step that its agent asked a question, or that the question has its outcome. Checkpoints are
/// the run's own questions and have events of steps instead.
pub(super) fn trace(unit: &mut Unit, ask: &Arc<Ask>) {
    if ask.context.run.is_none() || ask.origin.session.is_none() || ask.kind() != AskKind::Question {
        return;
    }
    let payload = match &ask.state {
        AskState::Pending(_) => EventPayload::AgentQuestionAsked(Arc::clone(ask)),
        AskState::Resolved { .. } => EventPayload::AgentQuestionAnswered(Arc::clone(ask)),
    };
    unit.announce_ask(ask.origin.session, payload);
}

/// Records how far an outcome has come. A late or repeated report changes nothing. Needs the ask and its secret.
pub(super) fn report_delivery(unit: &mut Unit, id: AskId, report: Delivery) -> Result<(), StoreError> {
    let Some(row) = unit.ask(id)?.cloned() else { return Ok(()) };
    let report = match report {
        // Words of an agent may be part of the reason, which has a column of its own.
        Delivery::Undeliverable { reason } => Delivery::Undeliverable { reason: plain_text::without_nul(&reason) },
        Delivery::Queued | Delivery::Delivered | Delivery::Confirmed | Delivery::Withheld => report,
    };
    let Ok(Some(state)) = row.ask.state.delivered(report) else { return Ok(()) };
    let AskState::Resolved { delivery, .. } = &state else { return Ok(()) };
    let delivery = delivery.clone();
    if row.ask.body.is_secret() && unit.secrets.get(&id)?.is_some() {
        unit.secrets.remove(id);
    }
    let ask = Arc::new(Ask { state, ..Ask::clone(&row.ask) });
    unit.put_ask(Arc::clone(&ask), row.seq);
    unit.announce_ask(ask.origin.session, EventPayload::AskDelivery { ask, delivery });
    Ok(())
}

/// Parks or withdraws a pending ask whose agent is gone.
pub(super) fn agent_gone(unit: &mut Unit, row: &AskRow, resumable: bool, reason: &str) {
    match ask::agent_gone(&row.ask, resumable, reason) {
        AgentGone::Park(parked) => set_reach(unit, row, parked, Reach::Parked),
        AgentGone::Withdraw(decision) => {
            // A pending ask can always be withdrawn.
            let _ = decide(unit, row, decision, Actor::Agent);
        }
        AgentGone::Keep => {}
    }
}

/// Stores that someone waits for the ask, or that nobody does any more.
pub(super) fn set_reach(unit: &mut Unit, row: &AskRow, state: AskState, reach: Reach) {
    let ask = Arc::new(Ask { state, ..Ask::clone(&row.ask) });
    unit.put_ask(Arc::clone(&ask), row.seq);
    unit.announce_ask(ask.origin.session, EventPayload::AskParked { ask, reach });
}
