//! What a translator gets.

use sayso_core::ask::Decision;
use sayso_core::id::{AskId, SessionId};
use sayso_core::raw::Raw;
use serde::{Deserialize, Serialize};

use super::HttpReply;

/// What a translator gets: something from the agent, a command, or the time.
///
/// | agent | inputs besides `Command` and `Tick` |
/// |---|---|
/// | a process | `Line`, `Exited` |
/// | a process that is also a server | `Line`, `Exited`, `HttpReply`, `StreamOpened`, `StreamEvent`, `StreamClosed` |
/// | a server or endpoint without a process of ours | `HttpReply`, `StreamOpened`, `StreamEvent`, `StreamClosed` |
/// | a function inside the server | none |
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// One line that the process wrote to stdout, without its line break. It can be empty, and it can be anything.
    Line(String),
    /// The reply to an [`HttpCall`](super::HttpCall). With the id [`HttpReply::EVENTS`]: the event stream could not be opened.
    HttpReply(HttpReply),
    /// The event stream is open, or the reply to a call that is [streamed](super::HttpCall::streamed) begins. Events that
    /// happened before are not repeated, so this is the time to read the server's state.
    StreamOpened,
    /// The data of one server-sent event.
    StreamEvent(String),
    /// The event stream was closed. The server of Sayso opens it again by itself.
    StreamClosed,
    /// The process ended, or could not be started. No line follows. Emit [`AgentEvent::Ended`](super::AgentEvent::Ended).
    Exited(Exit),
    /// A person, a policy or the server wants something of the agent.
    Command(Command),
    /// The time of [`Translator::deadline`](super::Translator::deadline) has come.
    Tick,
}

/// How a process ended. Without code and signal: the process could not be started, or nobody saw it end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exit {
    /// Its code, if it ended by itself.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// The end of stderr, or why the process could not be started. May be empty.
    pub message: String,
}

/// What a person, a policy or the server wants of the agent. Commands are stored in the outbox as JSON until the translator
/// has them, so each is complete in itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Command {
    /// Start the session, or resume it if it has ended.
    Start {
        /// The session.
        session: SessionId,
        /// The directory that the agent works in, absolute.
        project: String,
        /// The first prompt. Without one, the agent waits for a message.
        prompt: Option<String>,
        /// The agent's own name of a permission mode. May be empty.
        permission_mode: String,
        /// The agent's own name of a model; `None` for its default.
        model: Option<String>,
        /// Whether the agent may ask questions at all.
        questions: bool,
    },
    /// Send a message of the person to the agent. During a turn, the translator queues it or sends it at once, as the
    /// agent's protocol allows.
    Prompt {
        /// The session.
        session: SessionId,
        /// The message.
        text: String,
    },
    /// Send the outcome of an ask. Lines and calls that follow carry it; see [`Output`](super::Output).
    Outcome {
        /// The session.
        session: SessionId,
        /// The ask.
        ask: AskId,
        /// [`NewAsk::native_id`](super::NewAsk::native_id) of the request.
        native_id: String,
        /// What was decided. Never `Withdrawn`. Secret answers are in clear here, and nowhere on disk.
        decision: Decision,
        /// [`NewAsk::raw`](super::NewAsk::raw): the request as it arrived, so that no translator has to remember it.
        raw: Option<Raw>,
        /// Who decided.
        #[serde(default)]
        by: DecidedBy,
    },
    /// Stop the current turn. Open asks of the turn are withdrawn.
    Interrupt {
        /// The session.
        session: SessionId,
    },
    /// Change the permission mode or the model. Sent only to agents with
    /// [`Capabilities::configure`](super::Capabilities::configure).
    Configure {
        /// The session.
        session: SessionId,
        /// The permission mode, if it changes.
        permission_mode: Option<String>,
        /// The model, if it changes.
        model: Option<String>,
    },
    /// End the session and the process. Emit [`AgentEvent::Ended`](super::AgentEvent::Ended) at once.
    Close {
        /// The session.
        session: SessionId,
    },
}

impl Command {
    /// The session it is for.
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

/// Who decided an ask, as far as it matters to an agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DecidedBy {
    /// A person.
    #[default]
    Person,
    /// A person who typed a message instead of choosing; it stands in every answer.
    Typed,
    /// A policy, a timeout or a limit. Its words are an agent's to read where its protocol has a place
    /// for them; they are never said in a person's name.
    Nobody,
}

impl DecidedBy {
    /// Whether a person did.
    #[must_use]
    pub const fn is_person(self) -> bool {
        match self {
            Self::Person | Self::Typed => true,
            Self::Nobody => false,
        }
    }
}

/// A [`Command::Outcome`] on its way through a translator.
pub(crate) struct Outcome<'a> {
    pub(crate) ask: AskId,
    pub(crate) native_id: &'a str,
    pub(crate) decision: &'a Decision,
    pub(crate) raw: Option<&'a Raw>,
    pub(crate) by: DecidedBy,
}
