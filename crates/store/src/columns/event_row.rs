//! Writes and reads the column `data` of events.
//!
//! Events about an ask are rendered from the row of the ask. Their data contains only what that row does not. The types below
//! are stored in databases, so add only optional fields.

use std::sync::Arc;

use sayso_core::ask::{Ask, AskState, Decision, Delivery, Reach};
use sayso_core::time::Time;
use serde::{Deserialize, Serialize};

use super::decode::json;
use super::row_bytes::RowWriter;
use crate::error::StoreError;
use crate::event::EventKind;
use crate::payload::EventPayload;

#[derive(Serialize, Deserialize)]
struct ParkedData {
    reach: Reach,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SnoozedData {
    snoozed_until: Option<Time>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DeliveryData {
    delivery: DeliveryWord,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    delivery_reason: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum DeliveryWord {
    Queued,
    Delivered,
    Confirmed,
    Withheld,
    Undeliverable,
}

#[derive(Serialize, Deserialize)]
struct NoticeData {
    agent: String,
    text: String,
}

#[derive(Serialize, Deserialize)]
struct PolicyData {
    fingerprint: String,
    valid: bool,
}

impl From<&Delivery> for DeliveryData {
    fn from(delivery: &Delivery) -> Self {
        let (delivery, delivery_reason) = match delivery {
            Delivery::Queued => (DeliveryWord::Queued, None),
            Delivery::Delivered => (DeliveryWord::Delivered, None),
            Delivery::Confirmed => (DeliveryWord::Confirmed, None),
            Delivery::Withheld => (DeliveryWord::Withheld, None),
            Delivery::Undeliverable { reason } => (DeliveryWord::Undeliverable, Some(reason.clone())),
        };
        Self { delivery, delivery_reason }
    }
}

impl From<DeliveryData> for Delivery {
    fn from(data: DeliveryData) -> Self {
        match data.delivery {
            DeliveryWord::Queued => Self::Queued,
            DeliveryWord::Delivered => Self::Delivered,
            DeliveryWord::Confirmed => Self::Confirmed,
            DeliveryWord::Withheld => Self::Withheld,
            DeliveryWord::Undeliverable => Self::Undeliverable { reason: data.delivery_reason.unwrap_or_default() },
        }
    }
}

/// Writes the data of an event, or null if the event is rendered from another row.
pub(crate) fn write(out: &mut RowWriter<'_>, payload: &EventPayload) -> Result<(), StoreError> {
    match payload {
        EventPayload::AskRequested(_)
        | EventPayload::AskResolved(_)
        | EventPayload::AgentQuestionAsked(_)
        | EventPayload::AgentQuestionAnswered(_) => {
            out.null();
            Ok(())
        }
        EventPayload::AskParked { reach, .. } => out.json("event", &ParkedData { reach: *reach }),
        EventPayload::AskSnoozed { until, .. } => out.json("event", &SnoozedData { snoozed_until: *until }),
        EventPayload::AskDelivery { delivery, .. } => out.json("event", &DeliveryData::from(delivery)),
        EventPayload::SessionCreated(session) => out.json("event", session),
        EventPayload::SessionStatus(status) => out.json("event", status),
        EventPayload::Block { block, .. } => out.json("event", block),
        EventPayload::Notice { agent, text } => out.json("event", &NoticeData { agent: agent.clone(), text: text.clone() }),
        EventPayload::PolicyChanged { fingerprint, valid } => {
            out.json("event", &PolicyData { fingerprint: fingerprint.clone(), valid: *valid })
        }
        EventPayload::Run(run) => out.json("event", run),
        EventPayload::Step(step) => out.json("event", step),
    }
}

/// Reads the payload of an event. `text` is the data of the event, or the block with the same `seq`.
pub(crate) fn decode(
    kind: EventKind,
    ask: Option<Ask>,
    in_session: bool,
    text: Option<&str>,
) -> Result<EventPayload, StoreError> {
    let absent = |what| StoreError::Unreadable { what: "event", detail: format!("{kind:?} without {what}") };
    let ask = || ask.map(|ask| Arc::new(restore_ask_of_event(ask, kind))).ok_or_else(|| absent("its ask"));
    let text = || text.ok_or_else(|| absent("data"));
    Ok(match kind {
        EventKind::AskRequested => EventPayload::AskRequested(ask()?),
        EventKind::AskResolved => EventPayload::AskResolved(ask()?),
        EventKind::AgentQuestionAsked => EventPayload::AgentQuestionAsked(ask()?),
        EventKind::AgentQuestionAnswered => EventPayload::AgentQuestionAnswered(ask()?),
        EventKind::AskParked => EventPayload::AskParked { ask: ask()?, reach: json::<ParkedData>("event", text()?)?.reach },
        EventKind::AskSnoozed => {
            EventPayload::AskSnoozed { ask: ask()?, until: json::<SnoozedData>("event", text()?)?.snoozed_until }
        }
        EventKind::AskDelivery => {
            EventPayload::AskDelivery { ask: ask()?, delivery: json::<DeliveryData>("event", text()?)?.into() }
        }
        EventKind::SessionCreated => EventPayload::SessionCreated(Box::new(json("event", text()?)?)),
        EventKind::SessionStatus | EventKind::SessionEnded => EventPayload::SessionStatus(json("event", text()?)?),
        EventKind::Notice if !in_session => {
            let NoticeData { agent, text } = json("event", text()?)?;
            EventPayload::Notice { agent, text }
        }
        EventKind::MessageCompleted
        | EventKind::ToolStarted
        | EventKind::ToolUpdated
        | EventKind::ToolCompleted
        | EventKind::Notice
        | EventKind::Error => EventPayload::of_block(json("event", text()?)?, kind),
        EventKind::PolicyChanged => {
            let PolicyData { fingerprint, valid } = json("event", text()?)?;
            EventPayload::PolicyChanged { fingerprint, valid }
        }
        EventKind::RunStarted | EventKind::RunCompleted | EventKind::RunFailed | EventKind::RunCancelled => {
            EventPayload::Run(json("event", text()?)?)
        }
        EventKind::StepStarted | EventKind::StepCompleted | EventKind::StepFailed | EventKind::StepCancelled => {
            EventPayload::Step(Box::new(json("event", text()?)?))
        }
    })
}

/// Restores the state that the ask had when the event was written. The row contains the current state.
fn restore_ask_of_event(mut ask: Ask, kind: EventKind) -> Ask {
    match kind {
        EventKind::AskRequested => {
            ask.state = AskState::Pending(Reach::Live);
            ask.snoozed_until = None;
        }
        EventKind::AskResolved | EventKind::AgentQuestionAnswered => {
            if let AskState::Resolved { outcome, .. } = ask.state {
                let withdrawn = matches!(outcome.decision, Decision::Withdrawn { .. });
                let delivery = if withdrawn { Delivery::Delivered } else { Delivery::Queued };
                ask.state = AskState::Resolved { outcome, delivery };
            }
        }
        _ => {}
    }
    ask
}
