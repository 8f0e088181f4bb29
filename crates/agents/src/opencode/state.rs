//! State that the translator keeps between two inputs.

use std::collections::VecDeque;

use sayso_core::id::{AskId, SessionId};
use sayso_core::limits;
use sayso_core::raw::Raw;
use sayso_core::time::Time;
use serde::{Deserialize, Serialize};

use crate::out::Out;
use crate::process::memory::{ID, Names, RECENT, remember};
use crate::process::{StartSettings, TurnComplaints};
use crate::translator::AgentEvent;

/// Maximum size of a tool's input in bytes that is kept until the tool asks for permission.
const INPUT: usize = 16 * 1024;

/// The saved state.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OpenCodeState {
    pub(super) session: Option<SessionId>,
    pub(super) wanted: StartSettings,
    pub(super) conversation: Option<Conversation>,
    pub(super) life: OpenCodeLife,
    /// The number of the last call.
    pub(super) called: u64,
}

/// The session in OpenCode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Conversation {
    pub(super) id: String,
    /// The directory in OpenCode's spelling, which lists and replies require.
    pub(super) directory: String,
}

/// The lifecycle of the session's process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum OpenCodeLife {
    /// No process is running.
    #[default]
    Down,
    /// The process is running or starting.
    Up(Box<OpenCodeProcess>),
    /// The session was closed and the process was told to exit. Its remaining output is ignored.
    Closing {
        /// The server's URL, needed for the last calls.
        url: Option<String>,
    },
}

/// State of a running process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OpenCodeProcess {
    /// Whether the process has written any output.
    pub(super) heard: bool,
    /// The server's URL, once known.
    pub(super) url: Option<String>,
    /// Deadline for the start.
    pub(super) start_by: Option<Time>,
    /// Whether the session is known to exist.
    pub(super) ready: bool,
    /// Failed attempts to create the session.
    pub(super) tries: u8,
    /// The first session that appears is the main session, because it existed before the translator.
    pub(super) adopts: bool,
    /// The user started this server: sessions that are neither the main session nor its sub-agents belong to other
    /// clients.
    #[serde(default)]
    pub(super) shared: bool,
    pub(super) turn: Turn,
    /// Messages of the person that are not sent yet.
    pub(super) waiting: VecDeque<String>,
    /// Calls that have no reply yet.
    pub(super) calls: Vec<Waiting>,
    /// Requests that have no outcome yet.
    pub(super) open: Vec<Open>,
    /// Outcomes that were sent but not confirmed.
    pub(super) sent: Vec<Sent>,
    /// The session in which a permission was denied during this turn.
    pub(super) denied_in: Option<String>,
    /// Resolved requests that OpenCode may still report.
    pub(super) over: Vec<String>,
    /// Requests of idle sessions that the last poll found.
    pub(super) doubtful: Vec<String>,
    /// Names of sub-agents by session id.
    pub(super) helpers: Names,
    /// Sessions that other clients created on this server.
    pub(super) foreign: Vec<String>,
    /// Messages that are being streamed.
    pub(super) speaking: Vec<Speech>,
    pub(super) tools: Vec<Tool>,
    /// The number of polls.
    pub(super) looks: u64,
    pub(super) look_at: Option<Time>,
    /// How many polls in a row reported the session as idle during a turn.
    pub(super) idle: u8,
    pub(super) complaints: TurnComplaints,
}

/// Whether OpenCode is working.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Turn {
    /// OpenCode accepts messages.
    #[default]
    Idle,
    /// OpenCode is working or was given a message. Once the turn has `begun`, OpenCode reports its end; `stopping`
    /// means that an abort was sent.
    Running { begun: bool, stopping: bool },
}

/// A call without a reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Waiting {
    pub(super) id: u64,
    pub(super) what: CallPurpose,
}

/// The purpose of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum CallPurpose {
    /// Creates the session.
    NewSession,
    /// Checks whether the session exists.
    FindSession,
    /// Sends a message of the person; `at` is the time of sending.
    Prompt { text: String, at: Time },
    /// Checks whether the message arrived.
    FindPrompt { text: String, at: Time },
    /// Sends an outcome.
    Outcome { request: String },
    /// Rejects a request that no person will answer.
    Leftover,
    /// Aborts the turn.
    Abort,
    /// Requests the busy sessions, the first half of a poll.
    Status { look: u64 },
    /// Requests the pending asks, the second half of a poll; `busy` are the sessions that work.
    List { look: u64, of: Kind, busy: Vec<String> },
}

/// What a request asks for. It determines the format of the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Kind {
    Question,
    /// A question that only accepts yes or no, which is a plan approval.
    Plan,
    Permission,
}

/// A request of OpenCode that waits for its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Open {
    pub(super) id: String,
    pub(super) kind: Kind,
    /// The OpenCode session that asks: the main session or a sub-agent's.
    pub(super) session: String,
    pub(super) tool_call: Option<String>,
    /// The poll that was current when the request was opened: older polls cannot contain it.
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

/// The response for an outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OutcomeReply {
    /// The last segment of the response's path.
    pub(super) verb: String,
    pub(super) body: Option<Raw>,
    /// Whether it allows an action: such a response is only sent while the session is busy.
    pub(super) is_yes: bool,
}

/// Whether an outcome arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Arrived {
    /// The call is in flight.
    Soon,
    /// The reply was lost; the next poll shows whether the outcome arrived.
    Unsure,
    Yes,
}

/// A message of the main thread that is being streamed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Speech {
    pub(super) part: String,
    /// The text that was emitted so far, truncated at the start.
    pub(super) text: String,
}

/// A running tool call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Tool {
    pub(super) id: String,
    pub(super) input: Option<Raw>,
}

impl OpenCodeProcess {
    /// Records that OpenCode was given work.
    pub(super) fn expect_turn(&mut self, out: &mut Out) {
        if self.turn == Turn::Idle {
            self.turn = Turn::Running { begun: false, stopping: false };
            self.complaints = TurnComplaints::default();
            self.idle = 0;
            out.event(AgentEvent::TurnStarted);
        }
    }

    /// Records that OpenCode started to work.
    pub(super) fn begin_turn(&mut self, out: &mut Out) {
        self.expect_turn(out);
        if let Turn::Running { begun, .. } = &mut self.turn {
            *begun = true;
        }
    }

    pub(super) const fn is_stopping(&self) -> bool {
        matches!(self.turn, Turn::Running { stopping: true, .. })
    }

    /// Whether a session is the main session or one of its sub-agents.
    pub(super) fn carries(&self, session: &str, root: Option<&str>) -> bool {
        if self.shared {
            return root == Some(session) || self.helpers.get(session).is_some();
        }
        self.foreign.iter().all(|foreign| foreign != session)
    }

    /// Whether this request was seen before.
    pub(super) fn is_known_request(&self, request: &str) -> bool {
        self.open.iter().any(|open| open.id == request)
            || self.sent.iter().any(|sent| sent.request.id == request)
            || self.over.iter().any(|over| over == request)
    }

    /// Records that a request is resolved.
    pub(super) fn mark_resolved(&mut self, request: String) {
        remember(&mut self.over, request);
    }

    /// Replaces the requests that the last poll could not classify.
    pub(super) fn set_doubtful(&mut self, of: Kind, requests: Vec<String>) {
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

    pub(super) fn start_message(&mut self, part: &str) {
        if self.speaking.iter().all(|known| known.part != part) {
            remember(&mut self.speaking, Speech { part: part.to_owned(), text: String::new() });
        }
    }

    /// The unfinished message, which is the context of an ask: OpenCode ends a message after the question about it.
    pub(super) fn unfinished(&self) -> Option<String> {
        let speech = self.speaking.iter().rev().find(|speech| !speech.text.trim().is_empty())?;
        Some(limits::tail(&speech.text, limits::CONTEXT).to_owned())
    }

    pub(super) fn remember_tool(&mut self, id: &str, input: Option<Raw>) {
        self.tools.retain(|tool| tool.id != id);
        remember(&mut self.tools, Tool { id: id.to_owned(), input: input.filter(|input| input.as_str().len() <= INPUT) });
    }
}

/// Whether this is a valid OpenCode id. The id comes from outside and becomes part of a URL.
pub(super) fn is_id(id: &str) -> bool {
    (1..=ID).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}
