//! Sessions, their transcripts, and the messages and commands that people send to them.

use std::collections::BTreeMap;

use sayso_core::session as core;
use sayso_core::snapshot::SessionSnapshot;
use sayso_core::time::Time;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::ask::Ask;

/// The status of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum SessionStatus {
    /// The agent works on a turn.
    Running,
    /// The agent waits for a person to decide an ask.
    Waiting,
    /// The agent finished its turn and accepts a message.
    Idle,
    /// The agent works on a turn but has been silent for a long time.
    Stalled,
    /// The session ended normally.
    Ended,
    /// The session ended with an error; see `reason`.
    Failed,
}

/// One conversation with one agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// The unique id of the session.
    pub id: String,
    /// The name of the agent.
    pub agent: String,
    /// The first line of the first prompt.
    pub title: String,
    /// The working directory of the agent.
    pub cwd: String,
    /// The git branch when the session started.
    #[serde(default)]
    pub branch: Option<String>,
    /// The status of the session.
    pub status: SessionStatus,
    /// Why the session ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether the session can be resumed after it ended.
    #[serde(default)]
    pub resumable: bool,
    /// The agent's permission mode.
    pub permission_mode: String,
    /// The model that the agent uses.
    #[serde(default)]
    pub model: Option<String>,
    /// Policy settings that apply to this session, in addition to the policy file.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub policy: serde_json::Value,
    /// Whether a person runs the agent in their own terminal or editor. Sayso can decide its asks, but cannot send it messages
    /// or commands.
    #[serde(default)]
    pub external: bool,
    /// The id that the agent gave the session, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_id: Option<String>,
    /// The labels of the session.
    pub labels: BTreeMap<String, String>,
    /// When the session was created.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Time,
    /// When the session last changed.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Time,
    /// The pending asks. Absent in lists of sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks: Option<Vec<Ask>>,
    /// The number of pending asks.
    pub pending: u32,
    /// Whether `asks` is incomplete because of its size. `GET /v1/asks?session=` lists all asks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// The feed position at which the session was read. Absent in lists of sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<i64>,
}

impl Session {
    /// Converts a session of the core. `pending` is the number of its pending asks.
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
    /// The configured name of the agent, for example `mock`.
    #[schema(required)]
    pub agent: String,
    /// The working directory of the agent. Defaults to the home directory.
    pub cwd: Option<String>,
    /// The first prompt for the agent.
    pub prompt: Option<String>,
    /// The agent's permission mode. With `default`, the agent asks before it uses tools.
    pub permission_mode: Option<String>,
    /// The model that the agent should use.
    pub model: Option<String>,
    /// Policy settings for this session, for example `{"questions":"forward"}`.
    #[schema(value_type = Option<Object>)]
    pub policy: Option<sayso_core::policy::SessionPolicy>,
    /// Labels of the session. Its asks get them as well.
    pub labels: BTreeMap<String, String>,
    /// Environment variables for the agent. Only `PATH` and API keys are used; others are ignored. Only `admin` tokens may set
    /// this field. The values are kept in memory and never stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<BTreeMap<String, String>>,
}

/// One page of a list of sessions, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionPage {
    /// The sessions of this page.
    pub data: Vec<Session>,
    /// The `cursor` of the next page. Absent on the last page.
    pub next_cursor: Option<String>,
    /// The feed position at which the list was read.
    pub seq: i64,
    /// Whether the page has fewer than `limit` entries because it reached its size limit in bytes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// Filters and paging for a list of sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub struct SessionQuery {
    /// Only sessions that have not ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open: Option<bool>,
    /// Only sessions with this label, written as `key=value`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Only sessions whose id ends with this text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id_ends_with: Option<String>,
    /// The maximum number of entries, 1 to 500.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(minimum = 1, maximum = 500)]
    pub limit: Option<u32>,
    /// The `nextCursor` of the previous page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// Changes the permission mode or the model of a session. Fields that are left out keep their value.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ChangeSession {
    /// The new permission mode. Only admins can set a mode that skips approvals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    /// The model to switch to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// What happens to a message while asks are pending that it cannot answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum IfPending {
    /// The request fails with 409 `ask_pending`.
    #[default]
    Refuse,
    /// The message is delivered when the agent can accept it.
    Queue,
}

/// Sends a message to the agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MessageRequest {
    /// The text of the message.
    pub text: String,
    /// What happens to the message while asks are pending that it cannot answer.
    #[serde(default)]
    pub if_pending: IfPending,
}

/// The result of sending a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageAccepted {
    /// The id of the message in the transcript.
    pub message_id: String,
    /// The ask that the message answered, if it answered one.
    #[serde(default)]
    pub answered: Option<Ask>,
}

/// A part of a transcript: messages, tool calls, notices and asks in chronological order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Transcript {
    /// The blocks of this page.
    #[schema(value_type = Vec<Object>)]
    pub data: Vec<serde_json::Value>,
    /// The `cursor` of the next page. Absent on the last page.
    pub next_cursor: Option<String>,
    /// The feed position at which the transcript was read.
    pub seq: i64,
    /// Whether the page has fewer than `limit` entries because it reached its size limit in bytes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// Paging for a transcript.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub struct TranscriptQuery {
    /// The maximum number of blocks, 1 to 500.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(minimum = 1, maximum = 500)]
    pub limit: Option<u32>,
    /// The `nextCursor` of the previous page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// An agent that Sayso can start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Agent {
    /// The name of the agent.
    pub name: String,
    /// The protocol between Sayso and the agent.
    pub protocol: String,
    /// Whether the program of the agent is in the server's `PATH`.
    pub installed: bool,
    /// The command that starts the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// How to install the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub install: Option<String>,
    /// What the agent supports.
    pub capabilities: Capabilities,
    /// Servers of this agent that someone else started and that Sayso is attached to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attached: Vec<Attachment>,
}

/// A server of an agent that someone else started and that Sayso is attached to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Attachment {
    /// The unique id of the attachment.
    pub id: String,
    /// The name of the agent.
    pub agent: String,
    /// The URL of the server, or the path of its socket.
    pub place: String,
    /// The state of the connection.
    pub state: AttachmentState,
    /// Why the server cannot be reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The version that the server reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// What the agent supports when Sayso is attached to it.
    pub capabilities: Capabilities,
}

/// The state of the connection to an attached server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum AttachmentState {
    /// Sayso is connecting for the first time.
    Connecting,
    /// Sayso is connected and receives the asks of the server.
    Connected,
    /// The server does not respond, or a different service does. Sayso retries until the attachment is removed.
    Unreachable,
}

/// Attaches Sayso to a running server of an agent.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewAttachment {
    /// The name of the agent.
    pub agent: String,
    /// The URL of the server, or the path of its socket.
    pub place: String,
    /// The user name, if the server requires one other than its default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The password, if the server requires one. It is stored in a file that only its owner can read, and is never returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
}

impl std::fmt::Debug for NewAttachment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewAttachment").field("agent", &self.agent).field("place", &self.place).finish_non_exhaustive()
    }
}

/// The result of stopping all agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentsStopped {
    /// The number of agents that were running.
    pub stopped: usize,
}

/// What an agent supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Capabilities {
    /// The agent asks questions.
    pub questions: bool,
    /// The agent asks before it uses tools.
    pub approvals: bool,
    /// The agent asks before it leaves plan mode.
    pub plans: bool,
    /// The agent sends forms and links.
    pub elicitation: bool,
    /// Sessions can be resumed after they ended.
    pub resume: bool,
    /// Pending asks stay answerable when the server restarts.
    pub survives_restart: bool,
    /// A typed message can answer an ask with several questions.
    pub message_answers_sets: bool,
    /// The permission mode and the model can be changed while a session runs.
    #[serde(default)]
    pub change_settings: bool,
}

/// All configured agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentList {
    /// The agents with their capabilities.
    pub data: Vec<Agent>,
}
