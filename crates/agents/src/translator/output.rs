//! Outputs of translators.

use sayso_core::ask::{AskBody, Delivery};
use sayso_core::id::{AskId, SessionId};
use sayso_core::raw::Raw;
use sayso_core::session::Labels;
use sayso_core::transcript::{Role, ToolStatus};
use serde::{Deserialize, Serialize};

use super::HttpCall;

/// An output of a translator. The server carries out outputs in order, after the commit.
///
/// `Launch`, `Lines`, `Stop` and `HttpCall` affect the agent. If they are returned for a
/// [`Command::Outcome`](super::Command::Outcome), they carry the outcome: the ask is delivered when the agent has
/// received them, and undeliverable if the agent cannot receive them.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// An event of a session. It is stored in the transcript and shown to people.
    Event { session: SessionId, event: AgentEvent },
    /// Start the process, which begins the next epoch of the connection. Messages that have not reached the previous
    /// process are dropped.
    Launch(Launch),
    /// Write these lines to stdin as one batch. No line contains a line break.
    Lines(Vec<String>),
    /// Stop the process: the supervisor closes stdin, then sends SIGTERM, then SIGKILL.
    Stop,
    /// Call the agent's server. [`Method`](super::Method) determines whether the call is stored.
    HttpCall(HttpCall),
    /// A conversation on an attached server asked for the first time. The server creates a session for it and passes it
    /// to [`Translator::adopt`](super::Translator::adopt).
    Found(FoundSession),
    /// The outcome of an ask can no longer reach the agent.
    Undeliverable {
        ask: AskId,
        /// The reason, as a sentence for a person.
        reason: String,
    },
}

/// A conversation on a server that the user started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundSession {
    /// The agent's own id of the conversation.
    pub native_id: String,
    /// The directory, as the agent spells it.
    pub project: String,
    /// The title of the conversation. May be empty.
    pub title: String,
}

/// What a translator adds to the configured command of its agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// The working directory.
    pub directory: String,
    pub args: Vec<String>,
    /// Additional environment variables.
    pub env: Vec<(String, String)>,
    /// The name of an environment variable that receives a random password. Only this process and Sayso know the
    /// password.
    #[serde(default)]
    pub password: Option<String>,
}

/// An ask from the agent. The server adds the policy decision, the id and the time.
#[derive(Debug, Clone, PartialEq)]
pub struct NewAsk {
    /// The agent's id of its request, unique among its open requests. It is repeated in the outcome.
    pub native_id: String,
    pub body: AskBody,
    /// The agent's id of the tool call.
    pub tool_call_id: Option<String>,
    /// The name of the sub-agent that asks.
    pub subagent: Option<String>,
    /// Whether the agent waits for the answer.
    pub blocking: bool,
    /// The message that preceded the ask, if the translator knows it better than the transcript.
    pub context: Option<String>,
    pub labels: Labels,
    /// The original request. It is shown on demand and returned with the outcome.
    pub raw: Option<Raw>,
}

/// An event in a session. Texts are the agent's own and are shown unchanged, except that the server masks known
/// secrets.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentEvent {
    /// A turn started: the session is running.
    TurnStarted,
    /// A turn ended: the session is idle, and the agent accepts messages.
    TurnEnded,
    /// The agent asks a person. The policy may decide immediately; then the next command is the outcome.
    AskOpened(Box<NewAsk>),
    /// The agent no longer waits for an ask, or it was answered elsewhere.
    AskWithdrawn {
        /// The agent's id of its request.
        native_id: String,
        reason: String,
    },
    /// The agent's protocol shows whether an outcome took effect.
    AskDelivery { ask: AskId, delivery: Delivery },
    /// A chunk of a streaming message. It is shown live and not stored; `Message` follows with the whole text.
    MessageDelta {
        /// An id for the message, unique in its session while it streams.
        message: String,
        text: String,
    },
    /// A complete message.
    Message {
        /// The id that the message had while it streamed.
        message: String,
        role: Role,
        text: String,
        /// The name of the sub-agent that wrote the message.
        subagent: Option<String>,
    },
    /// A tool call started or changed. The transcript has one entry per call id.
    Tool {
        /// The agent's id of the call.
        tool_call_id: String,
        name: String,
        /// The input of the call; `None` if it did not change.
        input: Option<Raw>,
        output: Option<String>,
        status: ToolStatus,
        /// The name of the sub-agent that uses the tool.
        subagent: Option<String>,
    },
    /// A person allowed more than one call: these commands, for this agent in this project.
    Granted {
        /// The command patterns, in the syntax of policy rules.
        run: Vec<String>,
    },
    /// The agent changed its permission mode or model.
    Configured {
        /// The permission mode, if it changed.
        permission_mode: Option<String>,
        /// The model, if it changed.
        model: Option<String>,
    },
    /// Information for the person.
    Notice(String),
    /// An error after which the session continues.
    Error(String),
    /// The session ended. The server parks its questions if it is resumable, and withdraws all other asks.
    Ended {
        /// The reason in words for a person, without a full stop.
        reason: String,
        /// Whether the session ended because of an error.
        failed: bool,
        /// Whether [`Command::Start`](super::Command::Start) can resume the session.
        resumable: bool,
    },
}
