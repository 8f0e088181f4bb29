//! One conversation with one agent.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::id::{ConnectionId, RunId, SessionId, TokenId};
use crate::policy::SessionPolicy;
use crate::time::Time;

/// Labels of sessions and asks: small, sorted, chosen by whoever starts them.
pub type Labels = BTreeMap<String, String>;

/// What a session is doing, as stored. "Waiting for you" is not stored: it follows from its pending asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum SessionStatus {
    /// A turn is under way.
    Running,
    /// The agent has finished its turn and takes a message.
    Idle,
    /// A turn is under way, but nothing has been heard for long.
    Stalled,
    /// Over. It may be resumable.
    Ended {
        /// Why, in words for a person.
        reason: String,
        /// Whether it ended by a fault.
        failed: bool,
        /// Whether the agent can take it up again.
        resumable: bool,
    },
}

impl SessionStatus {
    /// Whether the session is over.
    #[must_use]
    pub const fn is_ended(&self) -> bool {
        matches!(self, Self::Ended { .. })
    }
}

/// An agent that a person runs themselves, and that tells us of its asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct External {
    /// The agent's own id of the session.
    pub native_id: String,
}

/// The step of a workflow that a session carries out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepOf {
    /// The run.
    pub run: RunId,
    /// The step's id.
    pub step: String,
}

/// The hashes of watched configuration files by their absolute paths.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ConfigSnapshot(pub BTreeMap<String, String>);

/// One conversation with one agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// What carries it.
    pub connection: ConnectionId,
    /// The agent's configured name.
    pub agent: String,
    /// The first line of the first prompt.
    pub title: String,
    /// The directory the agent works in, absolute.
    pub project: String,
    /// The git branch at start.
    pub branch: Option<String>,
    /// What it is doing.
    #[serde(flatten)]
    pub status: SessionStatus,
    /// The agent's permission mode (`default`, `bypassPermissions`, …).
    pub permission_mode: String,
    /// The model, if one was chosen.
    pub model: Option<String>,
    /// What this session adds to the person's policy.
    pub policy: SessionPolicy,
    /// The text of the project's `.sayso.toml` when the session began; it is read once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_policy: Option<String>,
    /// The configuration that makes programs run, as it was when the session began. `None` if it was not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<ConfigSnapshot>,
    /// Set when a person runs the agent themselves: nothing can be sent to it but the outcomes it waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external: Option<External>,
    /// Set when it carries out a step of a workflow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<StepOf>,
    /// Labels.
    pub labels: Labels,
    /// Who started it.
    pub opened_by: Option<TokenId>,
    /// When it was started.
    pub created_at: Time,
    /// When something last changed.
    pub updated_at: Time,
}

/// Whether an agent in this permission mode still asks before it does something. Only modes that are known to do so count:
/// agents name their modes as they like.
#[must_use]
pub fn keeps_approvals(mode: &str) -> bool {
    ["", "default", "plan", "ask", "manual", "read-only", "readonly"].iter().any(|known| known.eq_ignore_ascii_case(mode))
}

/// The title of a session: the first line of its first prompt, shortened.
#[must_use]
pub fn title_of(prompt: &str) -> String {
    let line = prompt.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("");
    if line.chars().count() <= 80 {
        return line.to_owned();
    }
    line.chars().take(79).chain(['…']).collect()
}
