//! Converts stored events to the events of the API. This is the only place that does.

use sayso_api::event::{
    AskDelivery, AskEvent, AskParked, AskSnoozed, ErrorBlock, ErrorType, Event, MessageBlock, MessageDelta, MessageType, Notice,
    NoticeType, PolicyChanged, SessionStatusChange, ToolBlock, ToolType,
};
use sayso_api::run::{QuestionAnswered, QuestionAsked, RunNews, StepNews};
use sayso_api::session::Session;
use sayso_core::ask::AskKind;
use sayso_core::run::{RunStatus, StepWord};
use sayso_core::transcript::{Block, BlockBody};
use sayso_store::{EventPayload, ToolProgress};

use super::frame::LiveEvent;

/// Converts a payload to the complete event. `None` if clients have no use for it.
pub(super) fn event_of(payload: &EventPayload) -> Option<Event> {
    Some(match payload {
        EventPayload::AskRequested(ask) => requested(ask.kind(), AskEvent::from(&**ask)),
        EventPayload::AskResolved(ask) => resolved(ask.kind(), AskEvent::from(&**ask)),
        EventPayload::AskParked { ask, reach } => Event::AskParked(AskParked { id: ask.id.to_string(), reach: (*reach).into() }),
        EventPayload::AskSnoozed { ask, until } => {
            Event::AskSnoozed(AskSnoozed { id: ask.id.to_string(), snoozed_until: *until })
        }
        EventPayload::AskDelivery { ask, delivery } => Event::AskDelivery(AskDelivery::of(ask.id, delivery)),
        EventPayload::AgentQuestionAsked(ask) => Event::AgentQuestionAsked(QuestionAsked::of(ask)),
        EventPayload::AgentQuestionAnswered(ask) => Event::AgentQuestionAnswered(QuestionAnswered::of(ask)?),
        EventPayload::SessionCreated(session) => Event::SessionCreated(Session::from((**session).clone())),
        EventPayload::SessionStatus(change) if change.ends_session() => Event::SessionEnded(SessionStatusChange::from(change)),
        EventPayload::SessionStatus(change) => Event::SessionStatus(SessionStatusChange::from(change)),
        EventPayload::Block { block, tool } => block_event(block, *tool),
        EventPayload::Notice { agent, text } => {
            Event::Notice(Notice { agent: Some(agent.clone()), text: text.clone(), ..Notice::default() })
        }
        EventPayload::PolicyChanged { fingerprint, valid } => {
            Event::PolicyChanged(PolicyChanged { fingerprint: fingerprint.clone(), valid: *valid })
        }
        EventPayload::Run(run) => {
            let data = RunNews::from(run);
            match run.status {
                RunStatus::Running => Event::RunStarted(data),
                RunStatus::Completed => Event::RunCompleted(data),
                RunStatus::Failed { .. } => Event::RunFailed(data),
                RunStatus::Cancelled { .. } => Event::RunCancelled(data),
            }
        }
        EventPayload::Step(step) => {
            let data = StepNews::from((**step).clone());
            match step.status {
                StepWord::Running | StepWord::Waiting => Event::StepStarted(data),
                StepWord::Completed => Event::StepCompleted(data),
                StepWord::Failed => Event::StepFailed(data),
                StepWord::Pending | StepWord::Cancelled => Event::StepCancelled(data),
            }
        }
    })
}

/// Converts a fragment of a message.
pub(super) fn live_event(live: &LiveEvent) -> Event {
    Event::MessageDelta(MessageDelta { message_id: live.message.to_string(), text: live.text.clone() })
}

/// Builds the event of an ask that needs a person.
pub(super) const fn requested(kind: AskKind, ask: AskEvent) -> Event {
    match kind {
        AskKind::Question => Event::QuestionRequested(ask),
        AskKind::Approval => Event::ApprovalRequested(ask),
        AskKind::Link => Event::LinkRequested(ask),
    }
}

/// Builds the event of an ask that got its outcome.
pub(super) const fn resolved(kind: AskKind, ask: AskEvent) -> Event {
    match kind {
        AskKind::Question => Event::QuestionResolved(ask),
        AskKind::Approval => Event::ApprovalResolved(ask),
        AskKind::Link => Event::LinkResolved(ask),
    }
}

fn block_event(block: &Block, progress: ToolProgress) -> Event {
    let (id, at, subagent) = (block.id.to_string(), block.at, block.subagent.clone());
    match &block.body {
        BlockBody::Message { role, text } => {
            let (role, text) = ((*role).into(), text.clone());
            Event::MessageCompleted(MessageBlock { id, at, subagent, kind: MessageType::Message, role, text })
        }
        BlockBody::Notice { text } => {
            let kind = Some(NoticeType::Notice);
            Event::Notice(Notice { id: Some(id), at: Some(at), subagent, kind, agent: None, text: text.clone() })
        }
        BlockBody::Error { text } => Event::Error(ErrorBlock { id, at, subagent, kind: ErrorType::Error, text: text.clone() }),
        BlockBody::Tool { tool_call_id, name, input, output, status } => {
            let tool = ToolBlock {
                id,
                at,
                subagent,
                kind: ToolType::Tool,
                tool_call_id: tool_call_id.clone(),
                name: name.clone(),
                input: input.clone(),
                output: output.clone(),
                status: (*status).into(),
            };
            match progress {
                ToolProgress::Started => Event::ToolStarted(tool),
                ToolProgress::Updated => Event::ToolUpdated(tool),
                ToolProgress::Completed => Event::ToolCompleted(tool),
            }
        }
    }
}
