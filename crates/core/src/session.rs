//! Sessions: conversations with agents.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::id::{ConnectionId, RunId, SessionId, TokenId};
use crate::policy::SessionPolicy;
use crate::time::Time;

/// Labels of sessions and asks: small, sorted, and chosen by the caller that creates them.
pub type Labels = BTreeMap<String, String>;

/// The stored status of a session. "Waiting" is not stored, because it follows from pending asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum SessionStatus {
    /// The agent works on a turn.
    Running,
    /// The agent finished its turn and accepts a message.
    Idle,
    /// The agent works on a turn but has been silent for a long time.
    Stalled,
    /// The session ended, and may be resumable.
    Ended {
        /// The reason, for people.
        reason: String,
        /// Whether the session ended with an error.
        failed: bool,
        /// Whether the agent can resume the session.
        resumable: bool,
    },
}

impl SessionStatus {
    #[must_use]
    pub const fn is_ended(&self) -> bool {
        matches!(self, Self::Ended { .. })
    }
}

/// An agent that a person runs in their own terminal or editor, and that reports its asks through hooks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct External {
    /// The id that the agent gave the session.
    pub native_id: String,
}

/// The workflow step that a session executes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepOf {
    pub run: RunId,
    /// The id of the step.
    pub step: String,
}

/// The hashes of watched configuration files, by absolute path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ConfigSnapshot(pub BTreeMap<String, String>);

/// One conversation with one agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    pub id: SessionId,
    /// The connection that carries the session.
    pub connection: ConnectionId,
    /// The agent's name in the configuration.
    pub agent: String,
    /// The first line of the first prompt.
    pub title: String,
    /// The working directory of the agent, as an absolute path.
    pub project: String,
    /// The git branch when the session started.
    pub branch: Option<String>,
    #[serde(flatten)]
    pub status: SessionStatus,
    /// The agent's permission mode (`default`, `bypassPermissions`, …).
    pub permission_mode: String,
    /// The chosen model. `None` leaves the choice to the agent.
    pub model: Option<String>,
    /// Policy settings of this session, in addition to the policy file.
    pub policy: SessionPolicy,
    /// The text of the project's `.sayso.toml` when the session started. It is read only once, so the agent cannot change it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_policy: Option<String>,
    /// The configuration files that make programs run, as they were when the session started. `None` if they were not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<ConfigSnapshot>,
    /// Set if a person runs the agent themselves. Sayso can then send only outcomes, and no messages or commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external: Option<External>,
    /// Set if the session executes a step of a workflow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<StepOf>,
    pub labels: Labels,
    /// The token that started the session.
    pub opened_by: Option<TokenId>,
    pub created_at: Time,
    pub updated_at: Time,
}

/// Returns whether an agent in this permission mode still asks before it acts. Only modes that are known to do so count,
/// because agents choose the names of their modes freely.
#[must_use]
pub fn keeps_approvals(mode: &str) -> bool {
    ["", "default", "plan", "ask", "manual", "read-only", "readonly"].iter().any(|known| known.eq_ignore_ascii_case(mode))
}

/// Derives a session title: the first line of the first prompt, shortened.
#[must_use]
pub fn title_of(prompt: &str) -> String {
    let line = prompt.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("");
    if line.chars().count() <= 80 {
        return line.to_owned();
    }
    line.chars().take(79).chain(['…']).collect()
}
