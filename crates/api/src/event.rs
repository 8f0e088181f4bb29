//! The catalogue of events.

use std::borrow::Cow;

use sayso_core::time::Time;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};

/// The types of events, as they stand in `event:` and in `type`.
pub mod names {
    /// A question waits.
    pub const QUESTION_REQUESTED: &str = "question.requested";
    /// A question has its outcome.
    pub const QUESTION_RESOLVED: &str = "question.resolved";
    /// An approval waits.
    pub const APPROVAL_REQUESTED: &str = "approval.requested";
    /// An approval has its outcome.
    pub const APPROVAL_RESOLVED: &str = "approval.resolved";
    /// A link waits.
    pub const LINK_REQUESTED: &str = "link.requested";
    /// A link has its outcome.
    pub const LINK_RESOLVED: &str = "link.resolved";
    /// An ask was parked, or is live again.
    pub const ASK_PARKED: &str = "ask.parked";
    /// An ask was snoozed, or is back.
    pub const ASK_SNOOZED: &str = "ask.snoozed";
    /// An outcome came closer to the agent.
    pub const ASK_DELIVERY: &str = "ask.delivery";
    /// A session was started.
    pub const SESSION_CREATED: &str = "session.created";
    /// A session changed what it is doing.
    pub const SESSION_STATUS: &str = "session.status";
    /// A session is over.
    pub const SESSION_ENDED: &str = "session.ended";
    /// A message began to stream.
    pub const MESSAGE_STARTED: &str = "message.started";
    /// A message is whole.
    pub const MESSAGE_COMPLETED: &str = "message.completed";
    /// The next piece of a message. Live only.
    pub const MESSAGE_DELTA: &str = "message.delta";
    /// A tool call began.
    pub const TOOL_STARTED: &str = "tool.started";
    /// A tool call changed.
    pub const TOOL_UPDATED: &str = "tool.updated";
    /// A tool call ended.
    pub const TOOL_COMPLETED: &str = "tool.completed";
    /// The next piece of a tool's input. Live only.
    pub const TOOL_DELTA: &str = "tool.delta";
    /// The policy is another one now.
    pub const POLICY_CHANGED: &str = "policy.changed";
    /// Something to know.
    pub const NOTICE: &str = "notice";
    /// Something went wrong.
    pub const ERROR: &str = "error";
    /// A run was started.
    pub const RUN_STARTED: &str = "run.started";
    /// Every step of a run is done.
    pub const RUN_COMPLETED: &str = "run.completed";
    /// A run failed.
    pub const RUN_FAILED: &str = "run.failed";
    /// A person ended a run.
    pub const RUN_CANCELLED: &str = "run.cancelled";
    /// A step of a run began.
    pub const STEP_STARTED: &str = "step.started";
    /// A step of a run is done.
    pub const STEP_COMPLETED: &str = "step.completed";
    /// A step of a run failed.
    pub const STEP_FAILED: &str = "step.failed";
    /// A step of a run was stopped, or never began.
    pub const STEP_CANCELLED: &str = "step.cancelled";
    /// The agent of a step asks a person.
    pub const AGENT_QUESTION_ASKED: &str = "agent_question_asked";
    /// What the agent of a step asked has its outcome: by a person, a rule, the policy or a timeout.
    pub const AGENT_QUESTION_ANSWERED: &str = "agent_question_answered";
    /// The past that was asked for is gone: list again, stream from the `seq` given.
    pub const RESET: &str = "reset";
}

/// One event as it stands in `data:` of a stream.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Event<'a> {
    /// Its place in the feed; absent for live-only events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<i64>,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub at: Time,
    /// What.
    #[serde(rename = "type", borrow)]
    pub kind: Cow<'a, str>,
    /// The session it belongs to.
    #[serde(default)]
    pub session_id: Option<String>,
    /// The rest; for events of asks, the ask.
    #[serde(borrow)]
    #[schema(value_type = Object)]
    pub data: Cow<'a, RawValue>,
}

/// How to stream.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub struct StreamQuery {
    /// Begin after this `seq`; the header `Last-Event-ID` comes first. Without either, begin now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<i64>,
}
