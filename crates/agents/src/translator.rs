//! The interface that every agent's adapter has.

use sayso_core::ask::{AskBody, Decision, Delivery, TypedAnswers};
use sayso_core::id::{AskId, SessionId};
use sayso_core::raw::Raw;
use sayso_core::session::Labels;
use sayso_core::time::Time;
use sayso_core::transcript::{Role, ToolStatus};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What reaches a translator.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// One line that the agent wrote.
    Line(String),
    /// The reply to an [`HttpCall`], or to the opening of the server's events if it is no stream.
    HttpReply(HttpReply),
    /// The stream of the server's events was opened, or that of a call that is answered by one. What
    /// happened while there was none is not told.
    StreamOpened,
    /// The data of one event of it.
    StreamEvent(String),
    /// The stream of the server's events was closed. It is opened again without being asked for.
    StreamClosed,
    /// The agent's process ended.
    Exited(Exit),
    /// Something to be done for a person.
    Command(Command),
    /// The time given by [`Translator::deadline`] has come.
    Tick,
}

/// How a process ended. Neither code nor signal: it could not be started, or nobody saw it end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exit {
    /// Its code, if it ended by itself.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Its last words on standard error, or why it could not be started. May be empty.
    pub message: String,
}

/// An agent that is an HTTP server: a process of ours that listens, or an endpoint without a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpServer {
    /// Where it is: scheme, host and port, and what every path begins with.
    pub url: String,
    /// How we prove who we are.
    pub login: Login,
    /// The path of its events, if it has a stream of them. The stream is kept open.
    pub events: Option<String>,
}

/// How a call proves who makes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Login {
    /// Not at all.
    Open,
    /// By this name and the password that the process got at its start ([`Launch::password`]), or that the
    /// person gave with the address of a server of their own.
    Basic(String),
    /// By a bearer token that stands in this variable of the agent's environment.
    Bearer(String),
}

/// How something is asked of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Method {
    /// Reads. It changes nothing, so it is not stored: it can be lost without a reply when the server of
    /// Sayso ends, or when much is under way, and is to be asked again then.
    Get,
    /// Changes something. It is stored first and sent once, in the order of the calls.
    Post,
}

/// A request to an agent that is a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HttpCall {
    /// Given back with the reply. Not 0.
    pub id: u64,
    /// The method.
    pub method: Method,
    /// Path and query.
    pub path: String,
    /// A JSON body.
    pub body: Option<Raw>,
    /// What must hold when it is sent. If it does not, nothing is sent and the status is
    /// [`HttpReply::NOT_SENT`].
    pub guard: Option<Guard>,
    /// Whether the reply is a stream of events: each is told as it comes, and the reply when it is over.
    pub streamed: bool,
}

/// Holds if a GET of this path gives an object with this key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Guard {
    /// Path and query.
    pub path: String,
    /// The key.
    pub key: String,
}

/// The reply to an [`HttpCall`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpReply {
    /// The id of the call; [`HttpReply::EVENTS`] if the stream of events could not be opened.
    pub id: u64,
    /// The status; nothing if no reply came. Then nobody knows whether the call arrived.
    pub status: Option<u16>,
    /// The body, or why there is none.
    pub body: String,
}

impl HttpReply {
    /// The id of the opening of the server's events.
    pub const EVENTS: u64 = 0;
    /// The status of a call whose guard did not hold.
    pub const NOT_SENT: u16 = 412;
}

/// What a person, a policy or the server wants from the agent. It is stored in the outbox until the
/// agent has it, so it is complete in itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Command {
    /// Begin a session. A translator that knows the session already takes it up again.
    Start {
        /// Our id of it.
        session: SessionId,
        /// Where the agent works.
        project: String,
        /// The first prompt, if there is one.
        prompt: Option<String>,
        /// The agent's permission mode.
        permission_mode: String,
        /// The model.
        model: Option<String>,
        /// Whether the agent may ask questions at all.
        questions: bool,
    },
    /// Say something to the agent.
    Prompt {
        /// The session.
        session: SessionId,
        /// The words.
        text: String,
    },
    /// The outcome of an ask.
    Outcome {
        /// The session.
        session: SessionId,
        /// Our id.
        ask: AskId,
        /// The agent's id of its request.
        native_id: String,
        /// What was decided. Secret answers are filled in on the way and are never stored here.
        decision: Decision,
        /// The agent's request as it arrived, so that no translator has to remember it.
        raw: Option<Raw>,
        /// Who decided.
        #[serde(default)]
        by: DecidedBy,
    },
    /// Stop the current turn.
    Interrupt {
        /// The session.
        session: SessionId,
    },
    /// End the session.
    Close {
        /// The session.
        session: SessionId,
    },
    /// Change the permission mode or the model. Sent only to agents with [`Capabilities::configure`].
    Configure {
        /// The session.
        session: SessionId,
        /// The permission mode, if it changes.
        permission_mode: Option<String>,
        /// The model, if it changes.
        model: Option<String>,
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
            | Self::Close { session }
            | Self::Configure { session, .. } => *session,
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

/// What a translator wants done.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Something happened in a session.
    Event {
        /// Which session.
        session: SessionId,
        /// What.
        event: AgentEvent,
    },
    /// Start the agent's process: a new life of the connection. What follows is sent to it.
    Launch(Launch),
    /// Lines for the agent, written together. Those that follow from an outcome carry it.
    Lines(Vec<String>),
    /// End the agent's process: no more input, then a signal, then a stronger one.
    Stop,
    /// A request to the agent's server.
    HttpCall(HttpCall),
    /// A conversation of somebody's own was found. It gets a session, and [`Translator::adopt`] is called.
    Found(Found),
    /// An outcome can no longer reach the agent.
    Undeliverable {
        /// The ask.
        ask: AskId,
        /// Why, in words for a person.
        reason: String,
    },
}

/// A conversation that a person has with an agent that they run themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The agent's own id of it.
    pub native_id: String,
    /// The directory, as the agent spells it.
    pub project: String,
    /// What it is about. May be empty.
    pub title: String,
}

/// A server that somebody else started, and how it stands with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attached {
    /// Where it is: an address, or the path of a socket.
    pub place: String,
    /// How it stands.
    pub standing: Standing,
}

/// How it stands with a server that somebody else started.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "camelCase")]
pub enum Standing {
    /// It was not reached yet.
    #[default]
    Connecting,
    /// What it asks is heard.
    Connected {
        /// What it says that it is.
        version: Option<String>,
    },
    /// It is not there, or it is something else. It is tried again and again.
    Unreachable {
        /// Why, in words for a person.
        why: String,
    },
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

/// An ask as the agent made it. Policy, ids and times are added by the broker.
#[derive(Debug, Clone, PartialEq)]
pub struct NewAsk {
    /// The agent's own id of its request.
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
    /// The request as it arrived.
    pub raw: Option<Raw>,
}

/// What happens in a session.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentEvent {
    /// A turn began.
    TurnStarted,
    /// The turn is over; the agent takes a message.
    TurnEnded,
    /// The agent wants something from a person.
    AskOpened(Box<NewAsk>),
    /// It no longer does.
    AskWithdrawn {
        /// The agent's id of its request.
        native_id: String,
        /// Why.
        reason: String,
    },
    /// The agent's wire shows how an outcome fared.
    AskDelivery {
        /// The ask.
        ask: AskId,
        /// How.
        delivery: Delivery,
    },
    /// Streamed words; shown live, not stored.
    MessageDelta {
        /// A name for the message while it streams.
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
    /// A tool call began or changed.
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
    /// Something the person should know.
    Notice(String),
    /// Something went wrong; the session goes on.
    Error(String),
    /// The session is over.
    Ended {
        /// Why.
        reason: String,
        /// By a fault.
        failed: bool,
        /// Whether it can be taken up again.
        resumable: bool,
    },
}

/// What an agent can do, reported truthfully.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Its permission mode and its model can be changed while a session runs.
    pub configure: bool,
    /// Which of its questions a typed message answers.
    pub typed: TypedAnswers,
}

/// A translator's state between two inputs: small, versioned, readable only by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saved {
    /// The version of its shape.
    pub version: u32,
    /// The state.
    pub state: Raw,
}

impl Saved {
    /// This state, of this version.
    #[must_use]
    pub fn of(version: u32, state: &impl Serialize) -> Self {
        Self { version, state: Raw::of(state) }
    }

    /// The state; nothing if it is of another version or cannot be read.
    #[must_use]
    pub fn read<T: DeserializeOwned>(&self, version: u32) -> Option<T> {
        if self.version == version { serde_json::from_str(self.state.as_str()).ok() } else { None }
    }
}

/// The pure part of an adapter.
pub trait Translator: Send {
    /// Takes one input at a time and says what follows from it.
    fn handle(&mut self, now: Time, input: Input) -> Vec<Output>;

    /// When it wants a [`Input::Tick`] although nothing arrives.
    fn deadline(&self) -> Option<Time>;

    /// The state to commit with what `handle` returned.
    fn save(&self) -> Saved;

    /// The server that the agent is, as soon as it is known where.
    fn server(&self) -> Option<HttpServer> {
        None
    }

    /// The session that a conversation got which it found.
    fn adopt(&mut self, _now: Time, _session: SessionId, _found: &Found) -> Vec<Output> {
        Vec::new()
    }

    /// The server that somebody else started, if it speaks with one.
    fn attached(&self) -> Option<Attached> {
        None
    }
}
