//! What is remembered between two inputs.

use std::collections::VecDeque;

use sayso_core::id::{AskId, SessionId};
use sayso_core::limits;
use sayso_core::raw::Raw;
use sayso_core::time::Time;
use serde::{Deserialize, Serialize};

use crate::out::Out;
use crate::process::memory::{ID, Names, RECENT, remember};
use crate::process::{TurnComplaints, Wanted};
use crate::translator::AgentEvent;

/// Bytes of a tool's input that are remembered until it asks for permission.
const INPUT: usize = 16 * 1024;

/// Everything that outlives an input.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OpenCodeState {
    pub(super) session: Option<SessionId>,
    pub(super) wanted: Wanted,
    pub(super) conversation: Option<Conversation>,
    pub(super) life: OpenCodeLife,
    /// Numbers given to calls so far.
    pub(super) called: u64,
}

/// OpenCode's session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Conversation {
    pub(super) id: String,
    /// Its directory as OpenCode spells it. Lists and replies need exactly this.
    pub(super) directory: String,
}

/// The process of the session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum OpenCodeLife {
    /// There is none.
    #[default]
    Down,
    /// It runs, or is about to.
    Up(Box<OpenCodeProcess>),
    /// The session was closed and it was told to end. What it still says is not listened to.
    Closing {
        /// Where it listens: the last calls have to reach it.
        url: Option<String>,
    },
}

/// What is known of a process while it runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OpenCodeProcess {
    /// Whether it has said anything.
    pub(super) heard: bool,
    /// Where it listens.
    pub(super) url: Option<String>,
    /// When it has to be ready at the latest.
    pub(super) start_by: Option<Time>,
    /// Whether our session is known to be there.
    pub(super) ready: bool,
    /// How often it was tried to begin it.
    pub(super) tries: u8,
    /// The first session that is named is ours: it ran before we came.
    pub(super) adopts: bool,
    /// It is somebody's own server: sessions that are neither ours nor of its sub-agents are not ours.
    #[serde(default)]
    pub(super) shared: bool,
    pub(super) turn: Turn,
    /// What the person said and is not sent yet.
    pub(super) waiting: VecDeque<String>,
    /// Calls without a reply.
    pub(super) calls: Vec<Waiting>,
    /// Requests without an outcome.
    pub(super) open: Vec<Open>,
    /// Outcomes that were sent and whose effect was not seen yet.
    pub(super) sent: Vec<Sent>,
    /// The session in which a permission was denied in this turn.
    pub(super) denied_in: Option<String>,
    /// Requests that are over and may still be told of.
    pub(super) over: Vec<String>,
    /// Requests that the last look found, of sessions that did not work.
    pub(super) doubtful: Vec<String>,
    /// Sub-agents by their sessions.
    pub(super) helpers: Names,
    /// Sessions that somebody else began on this server.
    pub(super) foreign: Vec<String>,
    /// Texts that are being said.
    pub(super) speaking: Vec<Speech>,
    pub(super) tools: Vec<Tool>,
    /// How often everything was looked at, and when the next time is.
    pub(super) looks: u64,
    pub(super) look_at: Option<Time>,
    /// How often the session was found idle while it should work.
    pub(super) idle: u8,
    pub(super) complaints: TurnComplaints,
}

/// Whether OpenCode works.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Turn {
    /// It takes a message.
    #[default]
    Idle,
    /// It works, or was told to. Once it has `begun` it says itself when it ends; `stopping` if it was
    /// told to end early.
    Running { begun: bool, stopping: bool },
}

/// A call of ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Waiting {
    pub(super) id: u64,
    pub(super) what: What,
}

/// What is called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum What {
    /// Begins our session.
    NewSession,
    /// Asks whether our session is there.
    FindSession,
    /// Says something of the person, at this time.
    Prompt { text: String, at: Time },
    /// Asks whether that arrived.
    FindPrompt { text: String, at: Time },
    /// Gives an outcome.
    Outcome { request: String },
    /// Rejects a request that nobody will answer.
    Leftover,
    /// Stops the turn.
    Abort,
    /// Asks which sessions work; the first part of a look.
    Status { look: u64 },
    /// Asks what waits; the second part, with the sessions that work.
    List { look: u64, of: Kind, busy: Vec<String> },
}

/// What a request is about; it decides how its outcome is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Kind {
    Question,
    /// A question that takes only yes or no, and means a plan.
    Plan,
    Permission,
}

/// A request of OpenCode's that waits for its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Open {
    pub(super) id: String,
    pub(super) kind: Kind,
    /// OpenCode's session that asks: ours, or one of a sub-agent.
    pub(super) session: String,
    pub(super) tool_call: Option<String>,
    /// The look that was the last one when it was opened: an older one cannot know of it.
    pub(super) since: u64,
}

/// An outcome that was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Sent {
    pub(super) ask: AskId,
    pub(super) request: Open,
    pub(super) said: OutcomeReply,
    pub(super) arrived: Arrived,
    pub(super) tries: u8,
}

/// What is said for an outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OutcomeReply {
    /// The path behind the request.
    pub(super) verb: String,
    pub(super) body: Option<Raw>,
    /// Whether it lets OpenCode do something: then it leaves only while the session works.
    pub(super) is_yes: bool,
}

/// Whether an outcome arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Arrived {
    /// It is on its way.
    Soon,
    /// Nobody knows; the next look tells.
    Unsure,
    Yes,
}

/// A text of the main thread that is being said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Speech {
    pub(super) part: String,
    /// The end of it, as far as it was said.
    pub(super) text: String,
}

/// A tool call that runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Tool {
    pub(super) id: String,
    pub(super) input: Option<Raw>,
}

impl OpenCodeProcess {
    /// OpenCode was given something to do.
    pub(super) fn turn_asked_for(&mut self, out: &mut Out) {
        if self.turn == Turn::Idle {
            self.turn = Turn::Running { begun: false, stopping: false };
            self.complaints = TurnComplaints::default();
            self.idle = 0;
            out.event(AgentEvent::TurnStarted);
        }
    }

    /// OpenCode works.
    pub(super) fn turn_begun(&mut self, out: &mut Out) {
        self.turn_asked_for(out);
        if let Turn::Running { begun, .. } = &mut self.turn {
            *begun = true;
        }
    }

    pub(super) const fn is_stopping(&self) -> bool {
        matches!(self.turn, Turn::Running { stopping: true, .. })
    }

    /// Whether a session is ours, or one of a sub-agent of it.
    pub(super) fn carries(&self, session: &str, root: Option<&str>) -> bool {
        if self.shared {
            return root == Some(session) || self.helpers.get(session).is_some();
        }
        self.foreign.iter().all(|foreign| foreign != session)
    }

    /// Whether this request was seen before.
    pub(super) fn knows(&self, request: &str) -> bool {
        self.open.iter().any(|open| open.id == request)
            || self.sent.iter().any(|sent| sent.request.id == request)
            || self.over.iter().any(|over| over == request)
    }

    /// Remembers that a request is over.
    pub(super) fn is_over(&mut self, request: String) {
        remember(&mut self.over, request);
    }

    /// Remembers what a look was in doubt about, in place of what the last one was.
    pub(super) fn doubt(&mut self, of: Kind, requests: Vec<String>) {
        let prefix = if of == Kind::Permission { "per" } else { "que" };
        self.doubtful.retain(|known| !known.starts_with(prefix));
        requests.into_iter().take(RECENT).for_each(|request| remember(&mut self.doubtful, request));
    }

    pub(super) fn remember_sent(&mut self, sent: Sent) {
        remember(&mut self.sent, sent);
    }

    pub(super) fn remember_foreign(&mut self, id: &str) {
        if self.foreign.iter().all(|known| known != id) {
            remember(&mut self.foreign, id.to_owned());
        }
    }

    pub(super) fn begins_to_speak(&mut self, part: &str) {
        if self.speaking.iter().all(|known| known.part != part) {
            remember(&mut self.speaking, Speech { part: part.to_owned(), text: String::new() });
        }
    }

    /// What was said last and is not over: OpenCode ends a text after what it asks about it.
    pub(super) fn unfinished(&self) -> Option<String> {
        let speech = self.speaking.iter().rev().find(|speech| !speech.text.trim().is_empty())?;
        Some(limits::tail(&speech.text, limits::CONTEXT).to_owned())
    }

    pub(super) fn remember_tool(&mut self, id: &str, input: Option<Raw>) {
        self.tools.retain(|tool| tool.id != id);
        remember(&mut self.tools, Tool { id: id.to_owned(), input: input.filter(|input| input.as_str().len() <= INPUT) });
    }
}

/// Whether this can be an id of OpenCode's. It comes from outside and becomes part of an address.
pub(super) fn is_id(id: &str) -> bool {
    (1..=ID).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}
