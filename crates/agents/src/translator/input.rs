//! Inputs of translators.

use sayso_core::ask::Decision;
use sayso_core::id::{AskId, SessionId};
use sayso_core::raw::Raw;
use serde::{Deserialize, Serialize};

use super::HttpReply;

/// An input of a translator: data from the agent, a command, or the time.
///
/// | agent | inputs in addition to `Command` and `Tick` |
/// |---|---|
/// | a process | `Line`, `Exited` |
/// | a process that is also a server | `Line`, `Exited`, `HttpReply`, `StreamOpened`, `StreamEvent`, `StreamClosed` |
/// | a server or endpoint that Sayso did not start | `HttpReply`, `StreamOpened`, `StreamEvent`, `StreamClosed` |
/// | a function inside the server | none |
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// One line that the process wrote to stdout, without its line break. It may be empty or contain anything.
    Line(String),
    /// The reply to an [`HttpCall`](super::HttpCall). The id [`HttpReply::EVENTS`] means that the event stream could
    /// not be opened.
    HttpReply(HttpReply),
    /// The event stream is open, or the reply to a [streamed](super::HttpCall::streamed) call has started. Earlier
    /// events are not repeated, so the translator should now read the server's state.
    StreamOpened,
    /// The data of one server-sent event.
    StreamEvent(String),
    /// The event stream was closed. Sayso's server reopens it automatically.
    StreamClosed,
    /// The process ended or could not be started. No more lines follow. Emit
    /// [`AgentEvent::Ended`](super::AgentEvent::Ended).
    Exited(Exit),
    /// An instruction from a person, a policy or the server.
    Command(Command),
    /// The deadline returned by [`Translator::deadline`](super::Translator::deadline) has passed.
    Tick,
}

/// How a process ended. Without a code and a signal, the process could not be started or its exit status is unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exit {
    /// The exit code, if the process was not killed by a signal.
    pub code: Option<i32>,
    /// The signal that killed the process.
    pub signal: Option<i32>,
    /// The end of stderr, or the reason why the process could not be started. May be empty.
    pub message: String,
}

/// An instruction for the agent. Commands are stored in the outbox as JSON until the translator has handled them, so
/// each command is self-contained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Command {
    /// Start the session, or resume it if it has ended.
    Start {
        session: SessionId,
        /// The absolute working directory of the agent.
        project: String,
        /// The first prompt. Without one, the agent waits for a message.
        prompt: Option<String>,
        /// The agent's own name of a permission mode. May be empty.
        permission_mode: String,
        /// The agent's own name of a model; `None` for its default.
        model: Option<String>,
        /// Whether the agent may ask questions.
        questions: bool,
    },
    /// Send a message of the person to the agent. During a turn, the translator queues or sends the message, depending
    /// on the protocol.
    Prompt { session: SessionId, text: String },
    /// Deliver the outcome of an ask. The lines and calls that the translator returns carry the outcome; see
    /// [`Output`](super::Output).
    Outcome {
        session: SessionId,
        ask: AskId,
        /// [`NewAsk::native_id`](super::NewAsk::native_id) of the request.
        native_id: String,
        /// The decision, never `Withdrawn`. It contains secret answers in plain text, which are not stored anywhere.
        decision: Decision,
        /// [`NewAsk::raw`](super::NewAsk::raw): the original request, so that the translator does not have to store it.
        raw: Option<Raw>,
        #[serde(default)]
        by: DecidedBy,
    },
    /// Interrupt the current turn. Open asks of the turn are withdrawn.
    Interrupt { session: SessionId },
    /// Change the permission mode or the model. Only sent to agents with
    /// [`Capabilities::configure`](super::Capabilities::configure).
    Configure {
        session: SessionId,
        /// The new permission mode, if it changes.
        permission_mode: Option<String>,
        /// The new model, if it changes.
        model: Option<String>,
    },
    /// End the session and the process. Emit [`AgentEvent::Ended`](super::AgentEvent::Ended) immediately.
    Close { session: SessionId },
}

impl Command {
    /// The session that the command addresses.
    #[must_use]
    pub const fn session(&self) -> SessionId {
        match self {
            Self::Start { session, .. }
            | Self::Prompt { session, .. }
            | Self::Outcome { session, .. }
            | Self::Interrupt { session }
            | Self::Configure { session, .. }
            | Self::Close { session } => *session,
        }
    }
}

/// Who decided an ask, as far as an agent needs to know.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DecidedBy {
    #[default]
    Person,
    /// A person who typed a message instead of choosing; the message is the answer to every question.
    Typed,
    /// A policy, a timeout or a limit. The reason may be shown to the agent where its protocol has a field for it, but
    /// never as a message of a person.
    #[serde(rename = "nobody")]
    Automatic,
}

impl DecidedBy {
    /// Whether a person decided.
    #[must_use]
    pub const fn is_person(self) -> bool {
        match self {
            Self::Person | Self::Typed => true,
            Self::Automatic => false,
        }
    }
}

/// A borrowed [`Command::Outcome`].
pub(crate) struct Outcome<'a> {
    pub(crate) ask: AskId,
    pub(crate) native_id: &'a str,
    pub(crate) decision: &'a Decision,
    pub(crate) raw: Option<&'a Raw>,
    pub(crate) by: DecidedBy,
}
