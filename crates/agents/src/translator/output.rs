//! What a translator wants done.

use sayso_core::ask::{AskBody, Delivery};
use sayso_core::id::{AskId, SessionId};
use sayso_core::raw::Raw;
use sayso_core::session::Labels;
use sayso_core::transcript::{Role, ToolStatus};
use serde::{Deserialize, Serialize};

use super::HttpCall;

/// What a translator wants done. The server carries outputs out in order, after the commit.
///
/// `Launch`, `Lines`, `Stop` and `HttpCall` act on the agent. If they follow from [`Command::Outcome`](super::Command::Outcome),
/// they carry the outcome: the ask counts as delivered when the agent has them, and as undeliverable if it cannot get them.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Something happened in a session. Stored in the transcript and shown to people.
    Event {
        /// The session.
        session: SessionId,
        /// What happened.
        event: AgentEvent,
    },
    /// Start the process: the next epoch of the connection. Messages that have not reached a former process are dropped.
    Launch(Launch),
    /// Write these lines to stdin, together. No line contains a line break.
    Lines(Vec<String>),
    /// End the process: the supervisor closes stdin, then sends SIGTERM, then SIGKILL.
    Stop,
    /// Call the agent's server. [`Method`](super::Method) says whether the call is stored.
    HttpCall(HttpCall),
    /// A conversation on an attached server asks for the first time. It gets a session, and
    /// [`Translator::adopt`](super::Translator::adopt) is called with it.
    Found(FoundSession),
    /// The outcome of an ask cannot reach the agent any more.
    Undeliverable {
        /// The ask.
        ask: AskId,
        /// Why, as a sentence for a person.
        reason: String,
    },
}

/// A conversation that a person has with an agent that they run themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundSession {
    /// The agent's own id of it.
    pub native_id: String,
    /// The directory, as the agent spells it.
    pub project: String,
    /// What it is about. May be empty.
    pub title: String,
}

/// What a translator adds to the configured command of its agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// The directory it works in.
    pub directory: String,
    /// More arguments.
    pub args: Vec<String>,
    /// More variables.
    pub env: Vec<(String, String)>,
    /// The variable that gets a password made for this life of the agent. Only the two know it.
    #[serde(default)]
    pub password: Option<String>,
}

/// An ask as the agent made it. The server adds the policy, the id and the time.
#[derive(Debug, Clone, PartialEq)]
pub struct NewAsk {
    /// The agent's id of its request, unique among its open requests. It comes back with the outcome.
    pub native_id: String,
    /// What is asked.
    pub body: AskBody,
    /// The agent's id of the tool call.
    pub tool_call_id: Option<String>,
    /// The sub-agent that asks.
    pub subagent: Option<String>,
    /// Whether the agent waits.
    pub blocking: bool,
    /// What the agent said before, if the translator knows it better than the transcript does.
    pub context: Option<String>,
    /// Labels.
    pub labels: Labels,
    /// The request as it arrived. It is shown on demand and comes back with the outcome.
    pub raw: Option<Raw>,
}

/// What happens in a session. Texts are the agent's own and are shown as they are; the server masks secrets that it knows.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentEvent {
    /// A turn began: the session is running.
    TurnStarted,
    /// The turn is over: the session is idle, and the agent accepts messages.
    TurnEnded,
    /// The agent wants something from a person. The policy may decide it at once; then the outcome is the next command.
    AskOpened(Box<NewAsk>),
    /// The agent no longer waits for an ask, or somebody answered it elsewhere.
    AskWithdrawn {
        /// The agent's id of its request.
        native_id: String,
        /// Why.
        reason: String,
    },
    /// The agent's protocol shows what became of an outcome.
    AskDelivery {
        /// The ask.
        ask: AskId,
        /// How.
        delivery: Delivery,
    },
    /// A piece of a message that streams. Shown live and not stored; `Message` follows with the whole text.
    MessageDelta {
        /// A name for the message, unique in its session while it streams.
        message: String,
        /// The next piece.
        text: String,
    },
    /// A whole message.
    Message {
        /// The name it had while it streamed.
        message: String,
        /// Whose.
        role: Role,
        /// The text.
        text: String,
        /// The sub-agent.
        subagent: Option<String>,
    },
    /// A tool call began or changed. The id of the call makes it one entry of the transcript.
    Tool {
        /// The agent's id of the call.
        tool_call_id: String,
        /// The tool's name.
        name: String,
        /// What it was called with. Nothing means: as before.
        input: Option<Raw>,
        /// What it gave.
        output: Option<String>,
        /// How it stands.
        status: ToolStatus,
        /// The sub-agent that uses it.
        subagent: Option<String>,
    },
    /// A person allowed more than this one call: commands like these, for this agent in this project.
    Granted {
        /// The patterns of the commands, as rules write them.
        run: Vec<String>,
    },
    /// The agent has another permission mode or model now.
    Configured {
        /// The permission mode, if it changed.
        permission_mode: Option<String>,
        /// The model, if it changed.
        model: Option<String>,
    },
    /// Something that the person should know.
    Notice(String),
    /// Something went wrong, and the session continues.
    Error(String),
    /// The session has ended. The server parks its questions if it is resumable, and withdraws all other asks.
    Ended {
        /// Why, in words for a person, without a full stop.
        reason: String,
        /// Whether it ended by a fault.
        failed: bool,
        /// Whether [`Command::Start`](super::Command::Start) can resume it.
        resumable: bool,
    },
}
