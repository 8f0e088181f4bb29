//! The interface between the server and an agent's protocol. Read this page before you add an agent.
//!
//! A [`Translator`] converts the output of an agent into events, and commands of people into messages of the agent's
//! protocol. It is sans-I/O, like the protocol crates of quinn or rustls: it has no process, socket, clock or randomness.
//! The caller passes in inputs and the time, and carries out the outputs. That makes translators easy to test: replay a
//! recording of the agent and compare the outputs.
//!
//! # How the server drives a translator
//!
//! 1. The server creates a translator, or restores one from the [`Saved`] state of the last commit. `None` means that the
//!    state has an unknown version; then the server ends the agent, and the session shows the reason.
//! 2. The server calls [`handle`](Translator::handle) with one [`Input`] at a time, in the order of their occurrence.
//! 3. The server commits the outputs and the result of [`save`](Translator::save) in one transaction. Before that commit,
//!    nothing is shown to people or sent to the agent, except streamed text ([`AgentEvent::MessageDelta`]). After a crash,
//!    the server restores the last committed state and repeats the inputs that followed it. `handle` must therefore depend
//!    only on the state and its arguments.
//! 4. The server carries out the outputs. [`Output::Launch`], [`Output::Lines`], [`Output::Stop`] and calls with
//!    [`Method::Post`] are rows of the outbox: the agent receives each once, in order. Calls with [`Method::Get`] are not
//!    stored and can be lost.
//! 5. The server calls `handle` with [`Input::Tick`] at the [`deadline`](Translator::deadline), and opens the event stream
//!    of [`server`](Translator::server) as soon as the translator knows the address.
//!
//! # What a translator guarantees
//!
//! - **One session per translator**, the session of the first command. An outcome for another session is
//!   [undeliverable](Output::Undeliverable); other commands for it are ignored. (A translator of an
//!   [attached server](Translator::attached) has many sessions.)
//! - **Every request of the agent gets a response.** It becomes an [ask](AgentEvent::AskOpened) or is refused
//!   immediately. An agent that waits for a response that never arrives is stuck.
//! - **Every outcome ends in one of three ways**: lines or a call that carry it to the agent, [`Output::Undeliverable`], or
//!   no output, for an agent inside the server that has consumed it. The server reports the ask as delivered when the
//!   process has received the lines. [`AgentEvent::AskDelivery`] confirms it if the agent's protocol shows an effect.
//! - **Turns have an end.** [`AgentEvent::TurnStarted`] and [`AgentEvent::TurnEnded`] alternate. A start without a prompt
//!   emits `TurnEnded`: the agent accepts messages. After [`AgentEvent::Ended`], no event follows until the next
//!   [`Command::Start`].
//! - **The state stays small.** It is written with every commit. Requests are not part of it: [`NewAsk::raw`] is returned
//!   with the outcome. Bound every list and every text, because an agent can send anything.
//! - **Answers to secret questions never appear** in the state, in an event or in an error.
//! - **No panics.** The agent's output is untrusted. Report invalid lines as [`AgentEvent::Error`], a few times per turn.
//!
//! An agent that is a process implements `ProcessAgent` in `process/` instead of the whole trait; that module has the
//! limits, the JSON-RPC requests and the messages that all processes need. `mock/` is a complete agent without a process,
//! `claude/` has its own protocol, `acp/` and `codex/` speak JSON-RPC, and `opencode/` is a server.
//!
//! # Example
//!
//! An agent with a protocol of two messages: it writes `ask TEXT`, waits, and reads `answer TEXT`.
//!
//! ```
//! use sayso_agents::translator::{AgentEvent, Command, DecidedBy, Input, Launch, NewAsk, Output, Saved, Translator};
//! use sayso_core::ask::{AskBody, Decision, Input as QuestionInput, Question};
//! use sayso_core::id::{AskId, SessionId};
//! use sayso_core::session::Labels;
//! use sayso_core::time::Time;
//! use serde::{Deserialize, Serialize};
//!
//! /// The saved state.
//! #[derive(Default, Serialize, Deserialize)]
//! struct Oracle {
//!     session: Option<SessionId>,
//!     /// The number of the pending request.
//!     open: Option<u64>,
//!     asked: u64,
//! }
//!
//! /// Increase it when the fields of `Oracle` change.
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
//!                 // These lines carry the outcome: the ask is delivered when the process has received them.
//!                 vec![Output::Lines(vec![format!("answer {}", answer.replace('\n', " "))])]
//!             }
//!             Command::Interrupt { .. } | Command::Close { .. } => vec![Output::Stop],
//!             // Never sent, because `Capabilities::configure` of this agent is false.
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
//!                 let (key, text) = ("0".to_owned(), text.to_owned());
//!                 let question = Question { key, header: None, text, input, required: true, response_schema: None };
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
//!             Some(_) | None => AgentEvent::Error("The agent wrote an invalid line.".to_owned()),
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
//!                 // The server withdraws the open asks, because the session cannot be resumed.
//!                 let failed = exit.code != Some(0);
//!                 let event = AgentEvent::Ended { reason: "the oracle ended".to_owned(), failed, resumable: false };
//!                 vec![Output::Event { session, event }]
//!             }
//!             // The oracle is not a server and has no deadline.
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

/// The pure part of an agent's adapter. The [module documentation](self) explains how the server drives a translator
/// and what it must guarantee, and has an example.
pub trait Translator: Send {
    /// Handles one input and returns the resulting outputs, in order. `now` is the time of the input; several inputs
    /// may have the same time, and the clock may jump.
    fn handle(&mut self, now: Time, input: Input) -> Vec<Output>;

    /// When to call [`handle`](Self::handle) with [`Input::Tick`] if no other input arrives. The server reads the
    /// deadline after every input. The default `None` suits agents without timeouts.
    fn deadline(&self) -> Option<Time> {
        None
    }

    /// The state to commit together with the outputs of the last input. A restored translator must behave identically.
    fn save(&self) -> Saved;

    /// The agent's HTTP server, once its address is known. Sayso's server keeps the event stream open and sends the
    /// calls. `None` for agents that are not servers.
    fn server(&self) -> Option<HttpServer> {
        None
    }

    /// Assigns a session to a conversation that was [found](Output::Found). Only for attached servers.
    fn adopt(&mut self, _now: Time, _session: SessionId, _found: &FoundSession) -> Vec<Output> {
        Vec::new()
    }

    /// The address and connection state of a server that the user started. Such a translator launches and stops
    /// nothing.
    fn attached(&self) -> Option<AttachedAgent> {
        None
    }
}

/// The capabilities of an agent, reported truthfully.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Capabilities {
    /// The agent asks questions.
    pub questions: bool,
    /// The agent asks before it uses tools.
    pub approvals: bool,
    /// The agent asks before it starts with a plan.
    pub plans: bool,
    /// The agent shows forms and links.
    pub elicitation: bool,
    /// An ended session can be resumed.
    pub resume: bool,
    /// Pending asks stay answerable across a server restart.
    pub survives_restart: bool,
    /// The permission mode and the model can be changed in a running session.
    pub configure: bool,
    /// Which kinds of questions a typed message answers.
    pub typed: TypedAnswers,
}

impl Capabilities {
    /// All capabilities. Agents that support less override single fields.
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

/// The saved state of a translator: small, versioned, and only readable by the translator that wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saved {
    /// The version of the format.
    pub version: u32,
    /// The state as JSON.
    pub state: Raw,
}

impl Saved {
    /// Serializes a state in this format version.
    #[must_use]
    pub fn of(version: u32, state: &impl Serialize) -> Self {
        Self { version, state: Raw::of(state) }
    }

    /// Deserializes the state; `None` if it has another version or is invalid.
    #[must_use]
    pub fn read<T: DeserializeOwned>(&self, version: u32) -> Option<T> {
        if self.version == version { serde_json::from_str(self.state.as_str()).ok() } else { None }
    }
}
