//! Agents that a person runs themselves, and that tell of their asks.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A session of an agent that a person runs themselves, as it knows itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExternalSession {
    /// The agent's name, e.g. `claude`.
    pub agent: String,
    /// The agent's own id of the session.
    pub session_id: String,
    /// The directory it works in, absolute. The project's policy file is read there.
    pub cwd: String,
    /// The first line of the first prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The git branch; read from the directory if it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
}

/// What happened where a person runs an agent themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum ExternalEvent {
    /// A tool call is over: the oldest pending ask whose `dedupeKey` begins with the one given was about it.
    ToolDone,
    /// The person gave a prompt: nothing that is pending is waited for.
    Prompted,
    /// The turn is over: the same.
    TurnEnded,
    /// The agent is over: the same, and the session ends.
    Ended,
}

/// News of a session of an agent that a person runs themselves. What was decided there is withdrawn here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExternalNews {
    /// The agent's name.
    pub agent: String,
    /// The agent's own id of the session.
    pub session_id: String,
    /// What happened.
    pub event: ExternalEvent,
    /// How the `dedupeKey` of the asks about such a tool call begins; for `toolDone`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dedupe_key: Option<String>,
}

/// What became of the news.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExternalNewsTaken {
    /// The asks that were withdrawn.
    pub withdrawn: Vec<String>,
}
