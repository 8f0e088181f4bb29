//! Sessions, their transcripts, and what can be said to them.

use std::collections::BTreeMap;

use sayso_core::session as core;
use sayso_core::snapshot::SessionSnapshot;
use sayso_core::time::Time;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::ask::Ask;

/// What a session is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum SessionStatus {
    /// A turn is under way.
    Running,
    /// The agent waits for a person.
    Waiting,
    /// The agent has finished its turn and takes a message.
    Idle,
    /// Nothing has been heard for long.
    Stalled,
    /// Over.
    Ended,
    /// Ended by a fault.
    Failed,
}

/// One conversation with one agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// Its id.
    pub id: String,
    /// The agent's name.
    pub agent: String,
    /// The first line of the first prompt.
    pub title: String,
    /// The directory the agent works in.
    pub cwd: String,
    /// The git branch at start.
    #[serde(default)]
    pub branch: Option<String>,
    /// What it is doing.
    pub status: SessionStatus,
    /// Why it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether it can be taken up again.
    #[serde(default)]
    pub resumable: bool,
    /// The agent's permission mode.
    pub permission_mode: String,
    /// The model.
    #[serde(default)]
    pub model: Option<String>,
    /// What it adds to the person's policy.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub policy: serde_json::Value,
    /// Whether a person runs the agent themselves: it takes outcomes, and nothing else from here.
    #[serde(default)]
    pub external: bool,
    /// The agent's own id of the session, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_id: Option<String>,
    /// Labels.
    pub labels: BTreeMap<String, String>,
    /// When it was started.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Time,
    /// When something last changed.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Time,
    /// Its pending asks (one session only, not in lists).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks: Option<Vec<Ask>>,
    /// How many asks are pending.
    pub pending: u32,
    /// Whether `asks` leaves some out because they have many bytes; `GET /v1/asks?session=` lists all of them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// The feed position that this was read at (one session only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<i64>,
}

impl Session {
    /// The session as clients see it, with this many asks pending.
    #[must_use]
    pub fn of(session: &core::Session, pending: u32) -> Self {
        let mut shown = Self::from(SessionSnapshot::from(session));
        shown.pending = pending;
        if pending > 0 && shown.status == SessionStatus::Running {
            shown.status = SessionStatus::Waiting;
        }
        shown
    }
}

impl From<SessionSnapshot> for Session {
    fn from(session: SessionSnapshot) -> Self {
        Self {
            id: session.id.to_string(),
            agent: session.agent,
            title: session.title,
            cwd: session.project,
            branch: session.branch,
            status: session.status.status.into(),
            reason: session.status.reason,
            resumable: session.status.resumable,
            permission_mode: session.permission_mode,
            model: session.model,
            policy: serde_json::to_value(&session.policy).unwrap_or_default(),
            external: session.external,
            native_id: session.native_id,
            labels: session.labels,
            created_at: session.created_at,
            updated_at: session.updated_at,
            asks: None,
            pending: 0,
            truncated: false,
            seq: None,
        }
    }
}

/// Starts a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct NewSession {
    /// The agent's configured name, e.g. `mock`.
    #[schema(required)]
    pub agent: String,
    /// The directory the agent works in; the home directory if it is left out.
    pub cwd: Option<String>,
    /// The first prompt.
    pub prompt: Option<String>,
    /// The agent's permission mode: `default` asks before tools are used.
    pub permission_mode: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// What this session adds to the policy, e.g. `{"questions":"forward"}`.
    #[schema(value_type = Option<Object>)]
    pub policy: Option<sayso_core::policy::SessionPolicy>,
    /// Labels.
    pub labels: BTreeMap<String, String>,
    /// Variables of the caller for the agent: `PATH` and keys; others are left out. Only an `admin`
    /// token may send any. They are kept in memory and never written down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<BTreeMap<String, String>>,
}

/// A page of sessions, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionPage {
    /// The sessions.
    pub data: Vec<Session>,
    /// Give it as `cursor` to get the next page.
    pub next_cursor: Option<String>,
    /// The feed position that this list was read at.
    pub seq: i64,
    /// Whether the page ends early because it has many bytes, with fewer entries than `limit`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// What to list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub struct SessionQuery {
    /// Only sessions that are not over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open: Option<bool>,
    /// Only sessions with this label, as `key=value`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Only the session whose id ends like this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id_ends_with: Option<String>,
    /// How many at most, 1 to 500.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(minimum = 1, maximum = 500)]
    pub limit: Option<u32>,
    /// Where the last page ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// Changes the permission mode or the model of a session. A field that is left out stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ChangeSession {
    /// The agent's permission mode. Only admins choose one that skips approvals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    /// The model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// What happens to a message while asks are pending that it does not answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum IfPending {
    /// 409 `ask_pending`.
    #[default]
    Refuse,
    /// The agent gets it when it can take it.
    Queue,
}

/// Says something to the agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MessageRequest {
    /// The words.
    pub text: String,
    /// What happens while something is pending that a message does not answer.
    #[serde(default)]
    pub if_pending: IfPending,
}

/// What became of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageAccepted {
    /// The message's id in the transcript.
    pub message_id: String,
    /// The ask that it answered.
    #[serde(default)]
    pub answered: Option<Ask>,
}

/// A transcript: messages, tool calls, notices and asks in the order in which they happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Transcript {
    /// The blocks.
    #[schema(value_type = Vec<Object>)]
    pub data: Vec<serde_json::Value>,
    /// Give it as `cursor` to get the next page.
    pub next_cursor: Option<String>,
    /// The feed position that this was read at.
    pub seq: i64,
    /// Whether the page ends early because it has many bytes, with fewer entries than `limit`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// Which part of a transcript.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub struct TranscriptQuery {
    /// How many blocks at most, 1 to 500.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(minimum = 1, maximum = 500)]
    pub limit: Option<u32>,
    /// Where the last page ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// An agent that can be started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Agent {
    /// Its name.
    pub name: String,
    /// How it is reached.
    pub protocol: String,
    /// Whether its program is there, in the server's `PATH`.
    pub installed: bool,
    /// The command that is run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// How to get it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub install: Option<String>,
    /// What it can do.
    pub capabilities: Capabilities,
    /// Those that somebody else started and that Sayso listens to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attached: Vec<Attachment>,
}

/// A server of an agent that somebody else started and that Sayso listens to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Attachment {
    /// Its id.
    pub id: String,
    /// The agent's name.
    pub agent: String,
    /// Where it is: an address, or the path of a socket.
    pub place: String,
    /// How it stands.
    pub state: AttachmentState,
    /// Why it is not reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// What it says that it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// What can be done with it from here.
    pub capabilities: Capabilities,
}

/// How it stands with a server that somebody else started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum AttachmentState {
    /// It was not reached yet.
    Connecting,
    /// What it asks is heard.
    Connected,
    /// It is not there, or something else is. It is tried again and again.
    Unreachable,
}

/// A server to listen to.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewAttachment {
    /// The agent's name.
    pub agent: String,
    /// Where it is: an address, or the path of a socket.
    pub place: String,
    /// The name it knows us by, if it wants a password and the name is not its usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The password, if it wants one. It is kept in a file that only its owner may read, and never shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
}

impl std::fmt::Debug for NewAttachment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewAttachment").field("agent", &self.agent).field("place", &self.place).finish_non_exhaustive()
    }
}

/// What became of agents that were to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentsStopped {
    /// How many were running.
    pub stopped: usize,
}

/// What an agent can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Capabilities {
    /// It asks questions.
    pub questions: bool,
    /// It asks before it uses tools.
    pub approvals: bool,
    /// It asks to leave planning.
    pub plans: bool,
    /// It shows forms and links.
    pub elicitation: bool,
    /// A session can be taken up again after it ended.
    pub resume: bool,
    /// Its pending asks stay answerable across a restart of the server.
    pub survives_restart: bool,
    /// It takes a typed message as the answer to a set of questions.
    pub message_answers_sets: bool,
    /// Its permission mode and model can be changed while a session runs.
    #[serde(default)]
    pub change_settings: bool,
}

/// The agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentList {
    /// The agents.
    pub data: Vec<Agent>,
}
