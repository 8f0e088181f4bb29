//! Agents that people run in their own terminal or editor. Hooks report their asks and events to Sayso.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The session of an external agent, as the agent identifies it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExternalSession {
    /// The name of the agent, for example `claude`.
    pub agent: String,
    /// The id that the agent gave the session.
    pub session_id: String,
    /// The working directory, as an absolute path. Sayso reads the project policy from there.
    pub cwd: String,
    /// The first line of the first prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The git branch. Defaults to the branch of `cwd`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
}

/// Something that happened in an external agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum ExternalEvent {
    /// A tool call finished, so the ask about it was decided in the terminal. Withdraws the oldest pending ask whose
    /// `dedupeKey` starts with the given one.
    ToolDone,
    /// The person entered a prompt. Withdraws all pending asks of the session.
    Prompted,
    /// The turn ended. Withdraws all pending asks of the session.
    TurnEnded,
    /// The agent exited. Withdraws all pending asks of the session and ends the session.
    Ended,
}

/// Reports an event of an external agent, so that Sayso can withdraw asks that were decided in its terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExternalNews {
    /// The name of the agent.
    pub agent: String,
    /// The id that the agent gave the session.
    pub session_id: String,
    /// The event to report.
    pub event: ExternalEvent,
    /// With `toolDone`: a prefix of the `dedupeKey` of asks about this tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dedupe_key: Option<String>,
}

/// The result of reporting an event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExternalNewsTaken {
    /// The ids of the asks that were withdrawn.
    pub withdrawn: Vec<String>,
}
