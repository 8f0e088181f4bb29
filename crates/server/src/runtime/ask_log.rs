//! Logs the life of every ask at level `debug`, from commits: committed, decided, delivered. Services log when an ask is
//! opened; connections and callers log when its outcome is sent.
//!
//! Every line has the id in the field `ask`, by which `sayso logs --ask` finds it. Lines contain ids, kinds and states, but
//! never text of an agent or a person.

use sayso_core::actor::Actor;
use sayso_core::ask::{Ask, AskState, Delivery, Reach};
use sayso_store::{EventKind, StoredEvent};
use tracing::field::display;

/// Logs what a commit changed about asks. Runs on the writer's thread before other consumers of the commit, so the lines of one
/// ask are in chronological order.
pub(crate) fn log_commit(events: &[StoredEvent]) {
    if !tracing::enabled!(tracing::Level::DEBUG) {
        return;
    }
    for event in events {
        if let Some(ask) = event.payload.ask() {
            log_event(event.payload.kind(), event.seq, ask);
        }
    }
}

fn log_event(kind: EventKind, seq: i64, ask: &Ask) {
    let id = display(ask.id);
    match (kind, &ask.state) {
        (EventKind::AskRequested, _) => log_committed(seq, ask),
        (EventKind::AskResolved, AskState::Resolved { outcome, .. }) => {
            let by = actor_name(&outcome.by);
            // The policy decides before the insert, so such an ask is committed and decided at the same time.
            if matches!(outcome.by, Actor::Policy { .. }) {
                log_committed(seq, ask);
            }
            let token = outcome.by.token().map(display);
            tracing::debug!(ask = id, seq, status = outcome.decision.status().as_str(), by, token, "ask decided");
        }
        (EventKind::AskDelivery, AskState::Resolved { delivery, .. }) => match delivery {
            Delivery::Queued => {}
            Delivery::Delivered => tracing::debug!(ask = id, seq, "ask delivered"),
            Delivery::Confirmed => tracing::debug!(ask = id, seq, "ask confirmed by the agent"),
            Delivery::Withheld => tracing::debug!(ask = id, seq, "ask withheld"),
            Delivery::Undeliverable { .. } => tracing::debug!(ask = id, seq, "ask undeliverable"),
        },
        (EventKind::AskParked, AskState::Pending(Reach::Parked)) => tracing::debug!(ask = id, seq, "ask parked"),
        (EventKind::AskParked, AskState::Pending(Reach::Live)) => tracing::debug!(ask = id, seq, "ask live again"),
        (EventKind::AskSnoozed, _) => tracing::debug!(ask = id, seq, "ask snoozed"),
        _ => {}
    }
}

fn log_committed(seq: i64, ask: &Ask) {
    let (session, connection) = (ask.origin.session.map(display), ask.origin.connection.map(display));
    tracing::debug!(ask = display(ask.id), seq, session, connection, run = ask.context.run.map(display), "ask committed");
}

const fn actor_name(actor: &Actor) -> &'static str {
    match actor {
        Actor::Person { .. } => "person",
        Actor::Policy { .. } => "policy",
        Actor::Timeout { .. } => "timeout",
        Actor::Message { .. } => "message",
        Actor::Agent => "agent",
    }
}
