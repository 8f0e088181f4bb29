//! The interface between the server and an agent's protocol. Read this page before you add an agent.
//!
//! A [`Translator`] turns what an agent says into events, and commands of people into what the agent understands. It is
//! sans-I/O, like the protocol crates of quinn or rustls: it has no process, no socket, no clock and no randomness. The
//! caller brings inputs and the time, and carries out the outputs. That makes a translator easy to test: play a recording of
//! the agent, and compare the outputs.
//!
//! # How the server drives a translator
//!
//! 1. It creates a translator, or restores one from the [`Saved`] state of the last commit. `None` means that the state has
//!    an unknown version; then the server ends the agent, and the session says so.
//! 2. It calls [`handle`](Translator::handle) with one [`Input`] at a time, in the order in which they happened.
//! 3. It commits the outputs and the result of [`save`](Translator::save) in one transaction. Nothing is shown to a person
//!    or sent to the agent before that commit, except streamed text ([`AgentEvent::MessageDelta`]). After a crash, the server restores the last committed state and repeats the
//!    inputs that came after it. `handle` must therefore depend on nothing but the state and its arguments.
//! 4. It carries out the outputs. [`Output::Launch`], [`Output::Lines`], [`Output::Stop`] and calls with [`Method::Post`]
//!    are rows of the outbox: the agent gets each once, in order. Calls with [`Method::Get`] are not stored and may get lost.
//! 5. It calls `handle` with [`Input::Tick`] when the time of [`deadline`](Translator::deadline) has come, and opens the event
//!    stream of [`server`](Translator::server) as soon as the translator knows the address.
//!
//! # What a translator owes
//!
//! - **One session per translator**, the one of the first command. An outcome of another session is
//!   [undeliverable](Output::Undeliverable); other commands for it are ignored. (A translator of an
//!   [attached server](Translator::attached) has many sessions.)
//! - **Every request of the agent gets a reply.** It becomes an [ask](AgentEvent::AskOpened), or it is refused at once. An
//!   agent that waits for nobody is stuck.
//! - **Every outcome ends in one of three ways**: lines or a call that carry it to the agent, [`Output::Undeliverable`], or
//!   nothing, for an agent inside the server that has taken it. The server reports the ask as delivered when the process has
//!   the lines. [`AgentEvent::AskDelivery`] confirms it if the agent's protocol shows an effect.
//! - **Turns have an end.** [`AgentEvent::TurnStarted`] and [`AgentEvent::TurnEnded`] alternate. A start without a prompt emits
//!   `TurnEnded`: the agent accepts messages. After [`AgentEvent::Ended`] nothing follows until the next [`Command::Start`].
//! - **The state stays small.** It is written with every commit. Requests are not part of it: [`NewAsk::raw`] comes back with
//!   the outcome. Bound every list and every text, because an agent can send anything.
//! - **No answer to a secret question in the state**, in an event or in an error.
//! - **No panic.** Input of the agent is untrusted. Report an invalid line as [`AgentEvent::Error`], a few times per turn.
//!
//! An agent that is a process implements `ProcessAgent` in `process/` instead of the whole trait; the module has the limits,
//! the JSON-RPC requests and the sentences that all processes need. `mock/` is a complete agent without a process, `claude/`
//! one with a protocol of its own, `acp/` and `codex/` speak JSON-RPC, and `opencode/` is a server.
//!
//! # Example
//!
//! An agent whose protocol has two words: it writes `ask TEXT`, waits, and reads `answer TEXT`.
//!
//! ```
//! use sayso_agents::translator::{AgentEvent, Command, DecidedBy, Input, Launch, NewAsk, Output, Saved, Translator};
//! use sayso_core::ask::{AskBody, Decision, Input as QuestionInput, Question};
//! use sayso_core::id::{AskId, SessionId};
//! use sayso_core::session::Labels;
//! use sayso_core::time::Time;
//! use serde::{Deserialize, Serialize};
//!
//! /// Everything that outlives an input.
//! #[derive(Default, Serialize, Deserialize)]
//! struct Oracle {
//!     session: Option<SessionId>,
//!     /// The number of the request that waits for its outcome.
//!     open: Option<u64>,
//!     asked: u64,
//! }
//!
//! /// Changes with the shape of `Oracle`.
//! const VERSION: u32 = 1;
//!
//! impl Oracle {
//!     fn restore(saved: &Saved) -> Option<Self> {
//!         saved.read(VERSION)
//!     }
//!
//!     fn command(&mut self, command: Command) -> Vec<Output> {
//!         let session = command.session();
//!         let event = |event| Output::Event { session, event };
//!         if *self.session.get_or_insert(session) != session {
//!             return match command {
//!                 Command::Outcome { ask, .. } => vec![Output::Undeliverable { ask, reason: "Another session.".to_owned() }],
//!                 _ => Vec::new(),
//!             };
//!         }
//!         match command {
//!             Command::Start { project, prompt, .. } => {
//!                 let launch = Output::Launch(Launch { directory: project, ..Launch::default() });
//!                 match prompt {
//!                     Some(text) => vec![launch, event(AgentEvent::TurnStarted), Output::Lines(vec![text])],
//!                     None => vec![launch, event(AgentEvent::TurnEnded)],
//!                 }
//!             }
//!             Command::Prompt { text, .. } => vec![event(AgentEvent::TurnStarted), Output::Lines(vec![text])],
//!             Command::Outcome { ask, native_id, decision, .. } => {
//!                 if self.open.take_if(|open| open.to_string() == native_id).is_none() {
//!                     return vec![Output::Undeliverable { ask, reason: "The agent no longer waits for it.".to_owned() }];
//!                 }
//!                 let answer = match decision {
//!                     Decision::Answered { answers, .. } => answers.concat().join(", "),
//!                     Decision::Rejected { message, .. } | Decision::Denied { message, .. } => message,
//!                     Decision::Approved { .. } | Decision::Withdrawn { .. } => String::new(),
//!                 };
//!                 // Lines that follow from an outcome carry it: the ask is delivered when the process has them.
//!                 vec![Output::Lines(vec![format!("answer {}", answer.replace('\n', " "))])]
//!             }
//!             Command::Interrupt { .. } | Command::Close { .. } => vec![Output::Stop],
//!             // Not sent: `Capabilities::configure` of the oracle is false.
//!             Command::Configure { .. } => Vec::new(),
//!         }
//!     }
//!
//!     fn line(&mut self, session: SessionId, line: &str) -> Vec<Output> {
//!         let event = match line.strip_prefix("ask ") {
//!             Some(text) if self.open.is_none() => {
//!                 self.asked += 1;
//!                 self.open = Some(self.asked);
//!                 let input = QuestionInput::Text { secret: false };
//!                 let question = Question { key: "0".to_owned(), header: None, text: text.to_owned(), input, required: true };
//!                 AgentEvent::AskOpened(Box::new(NewAsk {
//!                     native_id: self.asked.to_string(),
//!                     body: AskBody::Question { questions: vec![question] },
//!                     tool_call_id: None,
//!                     subagent: None,
//!                     blocking: true,
//!                     context: None,
//!                     labels: Labels::new(),
//!                     raw: None,
//!                 }))
//!             }
//!             Some(_) | None => AgentEvent::Error("The agent wrote a line that was not understood.".to_owned()),
//!         };
//!         vec![Output::Event { session, event }]
//!     }
//! }
//!
//! impl Translator for Oracle {
//!     fn handle(&mut self, _now: Time, input: Input) -> Vec<Output> {
//!         match (input, self.session) {
//!             (Input::Command(command), _) => self.command(command),
//!             (Input::Line(line), Some(session)) => self.line(session, &line),
//!             (Input::Exited(exit), Some(session)) => {
//!                 self.open = None;
//!                 // The server withdraws what is open, because the session cannot be resumed.
//!                 let failed = exit.code != Some(0);
//!                 let event = AgentEvent::Ended { reason: "the oracle ended".to_owned(), failed, resumable: false };
//!                 vec![Output::Event { session, event }]
//!             }
//!             // The oracle is no server, and has no deadline.
//!             _ => Vec::new(),
//!         }
//!     }
//!
//!     fn save(&self) -> Saved {
//!         Saved::of(VERSION, self)
//!     }
//! }
//!
//! // The server starts a session …
//! let now = Time::from_millis(0);
//! let session = SessionId::from_bytes([1; 16]);
//! let mut oracle = Oracle::default();
//! let outputs = oracle.handle(now, Input::Command(Command::Start {
//!     session,
//!     project: "/project".to_owned(),
//!     prompt: Some("start the server".to_owned()),
//!     permission_mode: "default".to_owned(),
//!     model: None,
//!     questions: true,
//! }));
//! assert!(matches!(outputs[0], Output::Launch(_)));
//!
//! // … the agent asks, and the server commits the ask together with the state …
//! let outputs = oracle.handle(now, Input::Line("ask Which port?".to_owned()));
//! assert!(matches!(&outputs[0], Output::Event { event: AgentEvent::AskOpened(ask), .. } if ask.native_id == "1"));
//! let saved = oracle.save();
//!
//! // … the server is restarted, and a person answers.
//! let mut oracle = Oracle::restore(&saved).unwrap();
//! let outputs = oracle.handle(now, Input::Command(Command::Outcome {
//!     session,
//!     ask: AskId::from_bytes([2; 16]),
//!     native_id: "1".to_owned(),
//!     decision: Decision::Answered { answers: vec![vec!["8080".to_owned()]], note: None },
//!     raw: None,
//!     by: DecidedBy::Person,
//! }));
//! assert_eq!(outputs, [Output::Lines(vec!["answer 8080".to_owned()])]);
//! ```

mod input;
mod output;
mod server;

pub(crate) use input::Outcome;
pub use input::{Command, DecidedBy, Exit, Input};
pub use output::{AgentEvent, FoundSession, Launch, NewAsk, Output};
pub use server::{AttachedAgent, Guard, HttpCall, HttpReply, HttpServer, Login, Method, Standing};

use sayso_core::ask::TypedAnswers;
use sayso_core::id::SessionId;
use sayso_core::raw::Raw;
use sayso_core::time::Time;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The pure part of an agent's adapter. The [module documentation](self) explains how the server drives it, what it owes,
/// and has an example.
pub trait Translator: Send {
    /// Takes one input and returns what follows from it, in order. `now` is the time of the input; it may be equal for
    /// several inputs and may jump.
    fn handle(&mut self, now: Time, input: Input) -> Vec<Output>;

    /// When to call [`handle`](Self::handle) with [`Input::Tick`] although nothing arrives. The server asks again after every
    /// input. `None`, the default, is right for agents that wait as long as it takes.
    fn deadline(&self) -> Option<Time> {
        None
    }

    /// The state to commit with the outputs of the last input. Restoring it gives a translator that goes on in the same way.
    fn save(&self) -> Saved;

    /// The HTTP server that the agent is, once its address is known. The server of Sayso keeps its event stream open, and sends
    /// it the calls. `None` for agents that are not servers.
    fn server(&self) -> Option<HttpServer> {
        None
    }

    /// Gives a conversation that was [found](Output::Found) its session. Only for attached servers.
    fn adopt(&mut self, _now: Time, _session: SessionId, _found: &FoundSession) -> Vec<Output> {
        Vec::new()
    }

    /// The place and the standing of the server, if somebody else started it. Such a translator launches and stops nothing.
    fn attached(&self) -> Option<AttachedAgent> {
        None
    }
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

impl Capabilities {
    /// Everything. An agent that can do less names what it lacks.
    pub const FULL: Self = Self {
        questions: true,
        approvals: true,
        plans: true,
        elicitation: true,
        resume: true,
        survives_restart: true,
        configure: true,
        typed: TypedAnswers::Sets,
    };
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
