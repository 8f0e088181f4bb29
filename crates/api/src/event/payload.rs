//! The payloads of events that are not resources of their own.

use sayso_core::ask as core;
use sayso_core::raw::Raw;
use sayso_core::snapshot::{StatusChange, StatusWord};
use sayso_core::time::Time;
use sayso_core::transcript::{Role, ToolStatus};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::ask::{Ask, Delivery, Reach};
use crate::compat::QuestionEventData;
use crate::session::SessionStatus;
use crate::text_code::TextCode;

/// An ask in an event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AskEvent {
    /// The ask. A large one is shortened and marked `truncated`.
    #[serde(flatten)]
    pub ask: Ask,
    /// The same as an object of the question REST dialect; absent for asks that its clients cannot answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<QuestionEventData>,
}

impl From<&core::Ask> for AskEvent {
    fn from(ask: &core::Ask) -> Self {
        let answerable = match &*ask.body {
            core::AskBody::Question { .. } => true,
            core::AskBody::Approval(approval) => approval.action == core::Action::Plan,
            core::AskBody::Link(_) => false,
        };
        Self { ask: Ask::from(ask), question: answerable.then(|| QuestionEventData::from(ask)) }
    }
}

/// The payload of `ask.parked`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AskParked {
    /// The ask.
    pub id: String,
    /// Whether the agent still waits.
    pub reach: Reach,
}

/// The payload of `ask.snoozed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AskSnoozed {
    /// The ask.
    pub id: String,
    /// Until when the inbox hides it; `null` when it is back.
    #[serde(default)]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub snoozed_until: Option<Time>,
}

/// The payload of `ask.delivery`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AskDelivery {
    /// The ask.
    pub id: String,
    /// Whether the outcome has reached the agent.
    pub delivery: Delivery,
    /// Why it could not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery_reason: Option<String>,
    /// The code of `deliveryReason`, if Sayso wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery_code: Option<TextCode>,
}

impl AskDelivery {
    /// The payload for this ask.
    #[must_use]
    pub fn of(id: sayso_core::id::AskId, delivery: &core::Delivery) -> Self {
        let (delivery, delivery_reason) = Delivery::of(delivery);
        let delivery_code = delivery_reason.as_deref().and_then(TextCode::of);
        Self { id: id.to_string(), delivery, delivery_reason, delivery_code }
    }
}

/// The payload of `session.status` and `session.ended`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionStatusChange {
    /// What the session does now. Never `waiting`: that follows from its pending asks.
    pub status: SessionStatus,
    /// Why it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether it can be resumed.
    #[serde(default)]
    pub resumable: bool,
    /// The permission mode, if it changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    /// The model, if it changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

impl From<&StatusChange> for SessionStatusChange {
    fn from(change: &StatusChange) -> Self {
        let status = &change.status;
        Self {
            status: status.status.into(),
            reason: status.reason.clone(),
            resumable: status.resumable,
            permission_mode: change.permission_mode.clone(),
            model: change.model.clone(),
        }
    }
}

impl From<StatusWord> for SessionStatus {
    fn from(word: StatusWord) -> Self {
        match word {
            StatusWord::Running => Self::Running,
            StatusWord::Idle => Self::Idle,
            StatusWord::Stalled => Self::Stalled,
            StatusWord::Ended => Self::Ended,
            StatusWord::Failed => Self::Failed,
        }
    }
}

/// The payload of `message.delta`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageDelta {
    /// The message; `message.completed` has the same id.
    pub message_id: String,
    /// The next piece of its text.
    pub text: String,
}

/// Who speaks in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum MessageRole {
    /// The person.
    User,
    /// The agent.
    Assistant,
}

/// The state of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum ToolCallStatus {
    /// Announced or running.
    Running,
    /// Ended well.
    Complete,
    /// Ended badly, or was not allowed.
    Error,
}

/// A `type` that has only one value.
macro_rules! constant_type {
    ($name:ident, $variant:ident) => {
        /// The `type`.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
        #[serde(rename_all = "camelCase")]
        pub enum $name {
            /// The only value.
            #[default]
            $variant,
        }
    };
}

constant_type!(MessageType, Message);
constant_type!(ToolType, Tool);
constant_type!(NoticeType, Notice);
constant_type!(ErrorType, Error);
constant_type!(ResetType, Reset);

/// What a stream sends when the past that was asked for is gone: list again, and stream from `seq`. It is not an event: it has
/// no time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResetEvent {
    /// Continue from here.
    pub seq: i64,
    /// Always `reset`.
    #[serde(rename = "type", default)]
    #[schema(required)]
    pub kind: ResetType,
    /// Always empty.
    #[serde(default)]
    #[schema(required)]
    pub data: NoData,
}

/// An empty object.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NoData {}

impl ResetEvent {
    /// The `type`, and the name in the line `event:`.
    pub const NAME: &'static str = "reset";

    /// The stream continues after `seq`.
    #[must_use]
    pub const fn at(seq: i64) -> Self {
        Self { seq, kind: ResetType::Reset, data: NoData {} }
    }
}

/// The payload of `message.completed`: the message as a block of the transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageBlock {
    /// The block's id.
    pub id: String,
    /// When it was written.
    #[schema(value_type = String, format = DateTime)]
    pub at: Time,
    /// The sub-agent that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent: Option<String>,
    /// Always `message`.
    #[serde(rename = "type", default)]
    pub kind: MessageType,
    /// Who speaks.
    pub role: MessageRole,
    /// The words.
    pub text: String,
}

/// The payload of `tool.started`, `tool.updated` and `tool.completed`: the tool call as a block of the transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolBlock {
    /// The block's id.
    pub id: String,
    /// When it was written.
    #[schema(value_type = String, format = DateTime)]
    pub at: Time,
    /// The sub-agent that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent: Option<String>,
    /// Always `tool`.
    #[serde(rename = "type", default)]
    pub kind: ToolType,
    /// The agent's id of the call.
    pub tool_call_id: String,
    /// The tool's name.
    pub name: String,
    /// What the tool is called with, as the agent sent it.
    #[serde(default)]
    #[schema(value_type = Option<serde_json::Value>)]
    pub input: Option<Raw>,
    /// What the tool returned.
    #[serde(default)]
    pub output: Option<String>,
    /// The state of the call.
    pub status: ToolCallStatus,
}

/// The payload of `notice`. In a session it is a block of the transcript; otherwise it names who gave the notice.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Notice {
    /// The block's id, in a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// When it was written, in a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub at: Option<Time>,
    /// The sub-agent that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent: Option<String>,
    /// `notice`, in a session.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<NoticeType>,
    /// Who gave the notice, outside of sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The words.
    pub text: String,
}

/// The payload of `error`: the fault as a block of the transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ErrorBlock {
    /// The block's id.
    pub id: String,
    /// When it was written.
    #[schema(value_type = String, format = DateTime)]
    pub at: Time,
    /// The sub-agent that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent: Option<String>,
    /// Always `error`.
    #[serde(rename = "type", default)]
    pub kind: ErrorType,
    /// What went wrong.
    pub text: String,
}

impl From<Role> for MessageRole {
    fn from(role: Role) -> Self {
        match role {
            Role::User => Self::User,
            Role::Assistant => Self::Assistant,
        }
    }
}

impl From<ToolStatus> for ToolCallStatus {
    fn from(status: ToolStatus) -> Self {
        match status {
            ToolStatus::Running => Self::Running,
            ToolStatus::Complete => Self::Complete,
            ToolStatus::Error => Self::Error,
        }
    }
}

/// The payload of `policy.changed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyChanged {
    /// The fingerprint of the rules in force.
    pub fingerprint: String,
    /// Whether the policy file is valid. While it is not, the last valid policy stays in force.
    pub valid: bool,
}
