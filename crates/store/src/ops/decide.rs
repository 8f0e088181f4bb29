//! Changes of asks that several operations share: decisions, deliveries and reach.

use std::sync::Arc;

use sayso_core::actor::Actor;
use sayso_core::ask::{self, AgentGoneEffect, Ask, AskKind, AskState, Decision, Delivery, Reach, Refused};
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

/// Decides a pending ask. This is the compare-and-set that gives every ask one outcome: the row is the current one of the unit
/// and the batch commits as a whole, so no other write can come in between.
pub(super) fn decide(unit: &mut Unit, row: &AskRow, decision: Decision, by: Actor) -> Result<Arc<Ask>, Refused> {
    decide_with_content(unit, row, decision, by, None)
}

/// Decides a pending ask. `content` is the digest of the files that the command executes, if they were compared.
pub(super) fn decide_with_content(
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
    // The agent withdrew the ask or is gone, so there is nothing to deliver.
    let delivery = if withdrawn { Delivery::Delivered } else { Delivery::Queued };
    let mut ask = Ask::clone(&row.ask);
    ask.state = AskState::Resolved { outcome: resolution.outcome, delivery };
    if let (true, Decision::Answered { answers, .. }) = (resolution.secret, &resolution.for_agent) {
        unit.secrets.put(ask.id, Arc::new(Raw::of(answers)));
    }
    let ask = Arc::new(ask);
    unit.put_ask(Arc::clone(&ask), row.seq);
    unit.announce_ask(ask.origin.session, EventPayload::AskResolved(Arc::clone(&ask)));
    announce_step_question(unit, &ask);
    if !withdrawn {
        unit.queue_outcome(&ask, resolution.for_agent, reach);
    }
    Ok(ask)
}

/// Announces that the agent of a step asked a question, or that the question has its outcome. Checkpoints are excluded: they
/// are questions of the run and have step events.
pub(super) fn announce_step_question(unit: &mut Unit, ask: &Arc<Ask>) {
    if ask.context.run.is_none() || ask.origin.session.is_none() || ask.kind() != AskKind::Question {
        return;
    }
    let payload = match &ask.state {
        AskState::Pending(_) => EventPayload::AgentQuestionAsked(Arc::clone(ask)),
        AskState::Resolved { .. } => EventPayload::AgentQuestionAnswered(Arc::clone(ask)),
    };
    unit.announce_ask(ask.origin.session, payload);
}

/// Records the progress of a delivery. Late and repeated reports change nothing. The ask and its secret must be loaded.
pub(super) fn report_delivery(unit: &mut Unit, id: AskId, report: Delivery) -> Result<(), StoreError> {
    let Some(row) = unit.ask(id)?.cloned() else { return Ok(()) };
    let report = match report {
        // The reason may contain text of an agent, and its column cannot store U+0000.
        Delivery::Undeliverable { reason } => Delivery::Undeliverable { reason: plain_text::without_nul(&reason) },
        Delivery::Queued | Delivery::Delivered | Delivery::Confirmed | Delivery::Withheld => report,
    };
    let Ok(Some(state)) = row.ask.state.apply_delivery(report) else { return Ok(()) };
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

/// Parks or withdraws a pending ask whose agent is gone. See [`ask::agent_gone_effect`] for the rules.
pub(super) fn park_or_withdraw(unit: &mut Unit, row: &AskRow, resumable: bool, reason: &str) {
    match ask::agent_gone_effect(&row.ask, resumable, reason) {
        AgentGoneEffect::Park(parked) => set_reach(unit, row, parked, Reach::Parked),
        AgentGoneEffect::Withdraw(decision) => {
            // Withdrawing a pending ask cannot fail.
            let _ = decide(unit, row, decision, Actor::Agent);
        }
        AgentGoneEffect::Keep => {}
    }
}

/// Stores a new reach of a pending ask and announces it.
pub(super) fn set_reach(unit: &mut Unit, row: &AskRow, state: AskState, reach: Reach) {
    let ask = Arc::new(Ask { state, ..Ask::clone(&row.ask) });
    unit.put_ask(Arc::clone(&ask), row.seq);
    unit.announce_ask(ask.origin.session, EventPayload::AskParked { ask, reach });
}
