//! The catalogue of events: every event with its `type` and payload. This list is the only place that names events. The enum,
//! its parser and the OpenAPI document are generated from it.

use serde::{Serialize, Serializer};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;

use super::payload::{
    AskDelivery, AskEvent, AskParked, AskSnoozed, ErrorBlock, MessageBlock, MessageDelta, Notice, PolicyChanged,
    SessionStatusChange, ToolBlock,
};
use super::schema::EventVariant;
use crate::run::{QuestionAnswered, QuestionAsked, RunNews, StepNews};
use crate::session::Session;

macro_rules! catalogue {
    ($($(#[doc = $doc:literal])* $name:literal $variant:ident($payload:ident),)*) => {
        /// An event of the feed. In JSON, `type` names the variant and `data` holds its payload.
        #[derive(Debug, Clone, PartialEq, Serialize)]
        #[serde(tag = "type", content = "data")]
        pub enum Event {
            $($(#[doc = $doc])* #[serde(rename = $name)] $variant($payload),)*
        }

        impl Event {
            /// Every `type`, in the order of the catalogue.
            pub const NAMES: &'static [&'static str] = &[$($name,)*];

            /// Returns the `type`, for example `question.requested`.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)*
                }
            }

            /// Parses the payload of the event with this name. Returns an error for names that this version does not know.
            pub(super) fn read(name: &str, data: &str) -> Result<Self, serde_json::Error> {
                match name {
                    $($name => serde_json::from_str(data).map(Self::$variant),)*
                    other => Err(serde::de::Error::custom(format!("there is no event `{other}`"))),
                }
            }
        }

        impl Serialize for EventData<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self.0 {
                    $(Event::$variant(payload) => payload.serialize(serializer),)*
                }
            }
        }

        pub(super) fn variants() -> Vec<EventVariant> {
            vec![$(EventVariant::of::<$payload>($name, stringify!($variant), concat!($($doc,)*)),)*]
        }

        pub(super) fn payload_schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
            $(super::schema::add_schema::<$payload>(schemas);)*
        }
    };
}

/// Serializes to the payload of an event, the content of `data`.
#[derive(Debug, Clone, Copy)]
pub struct EventData<'a>(pub &'a Event);

catalogue! {
    /// A question needs an answer from a person.
    "question.requested" QuestionRequested(AskEvent),
    /// A question got its outcome.
    "question.resolved" QuestionResolved(AskEvent),
    /// An approval needs a decision from a person.
    "approval.requested" ApprovalRequested(AskEvent),
    /// An approval got its outcome.
    "approval.resolved" ApprovalResolved(AskEvent),
    /// A link needs a decision from a person.
    "link.requested" LinkRequested(AskEvent),
    /// A link got its outcome.
    "link.resolved" LinkResolved(AskEvent),
    /// An ask was parked, or became live again.
    "ask.parked" AskParked(AskParked),
    /// An ask was snoozed, or returned to the inbox.
    "ask.snoozed" AskSnoozed(AskSnoozed),
    /// The delivery of an outcome to the agent progressed or failed.
    "ask.delivery" AskDelivery(AskDelivery),
    /// A session was created.
    "session.created" SessionCreated(Session),
    /// The status of a session changed.
    "session.status" SessionStatus(SessionStatusChange),
    /// A session ended.
    "session.ended" SessionEnded(SessionStatusChange),
    /// A fragment of a message. Sent to live subscribers only: it has no `seq` and is not stored.
    "message.delta" MessageDelta(MessageDelta),
    /// A message is complete.
    "message.completed" MessageCompleted(MessageBlock),
    /// A tool call started.
    "tool.started" ToolStarted(ToolBlock),
    /// A tool call changed.
    "tool.updated" ToolUpdated(ToolBlock),
    /// A tool call finished.
    "tool.completed" ToolCompleted(ToolBlock),
    /// An agent or a program sent people a message that needs no answer.
    "notice" Notice(Notice),
    /// An error happened in a session.
    "error" Error(ErrorBlock),
    /// The rules in force changed, or the policy file became valid or invalid.
    "policy.changed" PolicyChanged(PolicyChanged),
    /// A run started.
    "run.started" RunStarted(RunNews),
    /// A run completed all its steps.
    "run.completed" RunCompleted(RunNews),
    /// A run failed.
    "run.failed" RunFailed(RunNews),
    /// A person cancelled a run.
    "run.cancelled" RunCancelled(RunNews),
    /// A step of a run started.
    "step.started" StepStarted(StepNews),
    /// A step of a run completed.
    "step.completed" StepCompleted(StepNews),
    /// A step of a run failed.
    "step.failed" StepFailed(StepNews),
    /// A step of a run was cancelled, before or after it started.
    "step.cancelled" StepCancelled(StepNews),
    /// The agent of a step asked a question that needs a person.
    "agent_question_asked" AgentQuestionAsked(QuestionAsked),
    /// A question of a step's agent got its outcome from a person, a rule, a policy default or a timeout.
    "agent_question_answered" AgentQuestionAnswered(QuestionAnswered),
}

impl Event {
    /// Returns the ask of a `….requested` or `….resolved` event.
    #[must_use]
    pub const fn ask(&self) -> Option<&AskEvent> {
        match self {
            Self::QuestionRequested(ask)
            | Self::QuestionResolved(ask)
            | Self::ApprovalRequested(ask)
            | Self::ApprovalResolved(ask)
            | Self::LinkRequested(ask)
            | Self::LinkResolved(ask) => Some(ask),
            Self::AskParked(_)
            | Self::AskSnoozed(_)
            | Self::AskDelivery(_)
            | Self::SessionCreated(_)
            | Self::SessionStatus(_)
            | Self::SessionEnded(_)
            | Self::MessageDelta(_)
            | Self::MessageCompleted(_)
            | Self::ToolStarted(_)
            | Self::ToolUpdated(_)
            | Self::ToolCompleted(_)
            | Self::Notice(_)
            | Self::Error(_)
            | Self::PolicyChanged(_)
            | Self::RunStarted(_)
            | Self::RunCompleted(_)
            | Self::RunFailed(_)
            | Self::RunCancelled(_)
            | Self::StepStarted(_)
            | Self::StepCompleted(_)
            | Self::StepFailed(_)
            | Self::StepCancelled(_)
            | Self::AgentQuestionAsked(_)
            | Self::AgentQuestionAnswered(_) => None,
        }
    }

    /// Serializes the payload as JSON text.
    #[must_use]
    pub fn data_json(&self) -> String {
        serde_json::to_string(&EventData(self)).unwrap_or_default()
    }
}
