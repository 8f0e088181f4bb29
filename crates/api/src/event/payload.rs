//! Event payloads that are not resources of the API.

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

/// The payload of events about an ask.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AskEvent {
    /// The ask. Large asks are shortened and marked with `truncated`.
    #[serde(flatten)]
    pub ask: Ask,
    /// The ask in the question REST dialect. Absent if clients of that dialect cannot answer it.
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
    /// The id of the ask.
    pub id: String,
    /// Whether the agent still waits.
    pub reach: Reach,
}

/// The payload of `ask.snoozed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AskSnoozed {
    /// The id of the ask.
    pub id: String,
    /// When the ask returns to the inbox. `null` if it has returned.
    #[serde(default)]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub snoozed_until: Option<Time>,
}

/// The payload of `ask.delivery`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AskDelivery {
    /// The id of the ask.
    pub id: String,
    /// How far the outcome has travelled to the agent.
    pub delivery: Delivery,
    /// Why the outcome was withheld or is undeliverable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery_reason: Option<String>,
    /// The code of `deliveryReason`, if Sayso wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery_code: Option<TextCode>,
}

impl AskDelivery {
    /// Builds the payload for this ask.
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
    /// The new status. Never `waiting`, which clients derive from the session's pending asks.
    pub status: SessionStatus,
    /// Why the session ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether the session can be resumed.
    #[serde(default)]
    pub resumable: bool,
    /// The new permission mode, if it changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    /// The new model, if it changed.
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
    /// The id of the message. `message.completed` has the same id.
    pub message_id: String,
    /// The text to append to the message.
    pub text: String,
}

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum MessageRole {
    /// The person who uses the session.
    User,
    /// The agent of the session.
    Assistant,
}

/// The state of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum ToolCallStatus {
    /// The agent announced or started the call.
    Running,
    /// The call succeeded.
    Complete,
    /// The call failed or was denied.
    Error,
}

/// Declares an enum with one variant, for a `type` field that has one value.
macro_rules! constant_type {
    ($name:ident, $variant:ident) => {
        /// The value of the `type` field.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
        #[serde(rename_all = "camelCase")]
        pub enum $name {
            /// The only value of this type.
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

/// Tells the client that the requested position is no longer available. List the resources again and continue the stream at
/// `seq`. A reset is not an event and has no time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResetEvent {
    /// The position at which the stream continues.
    pub seq: i64,
    /// Always `reset`.
    #[serde(rename = "type", default)]
    #[schema(required)]
    pub kind: ResetType,
    /// Always an empty object.
    #[serde(default)]
    #[schema(required)]
    pub data: NoData,
}

/// An object without fields.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NoData {}

impl ResetEvent {
    /// The value of `type`, and of the `event:` line.
    pub const NAME: &'static str = "reset";

    /// Creates a reset that continues after `seq`.
    #[must_use]
    pub const fn at(seq: i64) -> Self {
        Self { seq, kind: ResetType::Reset, data: NoData {} }
    }
}

/// The payload of `message.completed`: the message as a block of the transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageBlock {
    /// The id of the block.
    pub id: String,
    /// When the message was written.
    #[schema(value_type = String, format = DateTime)]
    pub at: Time,
    /// The name of the sub-agent that wrote the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent: Option<String>,
    /// Always `message`.
    #[serde(rename = "type", default)]
    pub kind: MessageType,
    /// The author of the message.
    pub role: MessageRole,
    /// The text of the message.
    pub text: String,
}

/// The payload of `tool.started`, `tool.updated` and `tool.completed`: the tool call as a block of the transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolBlock {
    /// The id of the block.
    pub id: String,
    /// When the tool call started.
    #[schema(value_type = String, format = DateTime)]
    pub at: Time,
    /// The name of the sub-agent that called the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent: Option<String>,
    /// Always `tool`.
    #[serde(rename = "type", default)]
    pub kind: ToolType,
    /// The id that the agent gave the tool call.
    pub tool_call_id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments of the tool, as the agent sent them.
    #[serde(default)]
    #[schema(value_type = Option<serde_json::Value>)]
    pub input: Option<Raw>,
    /// The output of the tool.
    #[serde(default)]
    pub output: Option<String>,
    /// The state of the tool call.
    pub status: ToolCallStatus,
}

/// The payload of `notice`. In a session, it is a block of the transcript; otherwise `agent` names the sender.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Notice {
    /// The id of the block, in a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// When the notice was written, in a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub at: Option<Time>,
    /// The name of the sub-agent that sent the notice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent: Option<String>,
    /// `notice` in a session; absent otherwise.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<NoticeType>,
    /// The name of the sender, outside of sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The text of the notice.
    pub text: String,
}

/// The payload of `error`: the error as a block of the transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ErrorBlock {
    /// The id of the block.
    pub id: String,
    /// When the error happened.
    #[schema(value_type = String, format = DateTime)]
    pub at: Time,
    /// The name of the sub-agent in which the error happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent: Option<String>,
    /// Always `error`.
    #[serde(rename = "type", default)]
    pub kind: ErrorType,
    /// A description of the error for people.
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
