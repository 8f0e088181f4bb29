//! State that the translator keeps between two inputs: pending requests and a few names. The requests themselves travel
//! with the commands that answer them, so this state stays small regardless of their size.

use sayso_core::id::{AskId, SessionId};
use serde::{Deserialize, Serialize};

use super::wire;
use crate::out::Out;
use crate::process::TurnComplaints;
use crate::process::memory::{Names, remember};
use crate::translator::AgentEvent;

/// The saved state.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ClaudeState {
    pub(super) session: Option<SessionId>,
    /// Claude's id of the conversation, once it can be resumed.
    pub(super) conversation: Option<String>,
    pub(super) life: ClaudeLife,
    /// The number of the last request that Sayso sent.
    pub(super) asked: u64,
}

/// The lifecycle of the session's process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum ClaudeLife {
    /// No process is running.
    #[default]
    Down,
    /// The process is running or starting.
    Up(Box<ClaudeProcess>),
    /// The session was closed and the process was told to exit. Its remaining output is ignored.
    Closing,
}

/// State of a running process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ClaudeProcess {
    /// Whether `initialize` was sent.
    pub(super) greeted: bool,
    /// Whether the process has written any output.
    pub(super) heard: bool,
    /// Whether Claude reported that the conversation does not exist.
    pub(super) lost: bool,
    pub(super) turn: Turn,
    /// Requests of Sayso that have no response yet.
    pub(super) waiting: Vec<Waiting>,
    /// Requests of Claude that have no outcome yet.
    pub(super) open: Vec<Open>,
    /// Outcomes that were sent but not confirmed.
    pub(super) sent: Vec<Sent>,
    /// The names of running tool calls.
    pub(super) tools: Names,
    /// Sub-agents, by their own id and by the id of the tool call that started them.
    pub(super) helpers: Names,
    /// The message that is being streamed.
    pub(super) speech: Option<Speech>,
    pub(super) complaints: TurnComplaints,
}

/// Whether Claude is working.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Turn {
    /// Claude accepts messages. If the last turn was cut short, the process exits with code 1 although nothing failed.
    Idle { cut_short: bool },
    /// Claude is working or was given a message. Once the turn has `begun`, Claude reports its end; `stopping` means
    /// that an interrupt was sent.
    Running { begun: bool, stopping: bool },
}

/// A request of Sayso.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Waiting {
    pub(super) number: u64,
    pub(super) control: Control,
}

/// The requests that Sayso sends to Claude.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Control {
    /// Opens the protocol. Claude's response lists the requests that are pending.
    Initialize,
    /// Interrupts the turn.
    Interrupt,
    SetMode(String),
    SetModel(String),
}

/// A request of Claude that waits for its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Open {
    pub(super) id: String,
    pub(super) kind: Kind,
    pub(super) tool_use: Option<String>,
    /// Whether a sub-agent asks. A background sub-agent continues after the turn.
    pub(super) by_helper: bool,
}

/// What a request asks for. It determines the format of the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Kind {
    Question,
    Approval,
    Plan,
    Form,
    Link,
}

/// An outcome that was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Sent {
    pub(super) ask: AskId,
    pub(super) request: String,
    pub(super) tool_use: Option<String>,
}

/// A message that is being streamed, block by block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Speech {
    pub(super) message: String,
    /// The number of completed text blocks.
    pub(super) texts: u32,
}

impl Default for Turn {
    fn default() -> Self {
        Self::Idle { cut_short: false }
    }
}

impl Control {
    /// The request as a line.
    fn line(&self, number: u64) -> String {
        match self {
            Self::Initialize => wire::request(number, "initialize", None),
            Self::Interrupt => wire::request(number, "interrupt", None),
            Self::SetMode(mode) => wire::request(number, "set_permission_mode", Some(("mode", mode))),
            Self::SetModel(model) => wire::request(number, "set_model", Some(("model", model))),
        }
    }
}

impl ClaudeProcess {
    /// Records a request of Sayso and returns its line; `asked` is the request counter.
    pub(super) fn control(&mut self, control: Control, asked: &mut u64) -> String {
        *asked += 1;
        self.greeted |= control == Control::Initialize;
        let line = control.line(*asked);
        remember(&mut self.waiting, Waiting { number: *asked, control });
        line
    }

    /// Records that Claude was given work.
    pub(super) fn expect_turn(&mut self, out: &mut Out) {
        if let Turn::Idle { .. } = self.turn {
            self.turn = Turn::Running { begun: false, stopping: false };
            self.complaints = TurnComplaints::default();
            out.event(AgentEvent::TurnStarted);
        }
    }

    /// Records that Claude started to work.
    pub(super) fn begin_turn(&mut self, out: &mut Out) {
        self.expect_turn(out);
        if let Turn::Running { begun, .. } = &mut self.turn {
            *begun = true;
        }
    }

    /// Records that an interrupt was sent.
    pub(super) fn mark_stopping(&mut self) {
        if let Turn::Running { stopping, .. } = &mut self.turn {
            *stopping = true;
        }
    }

    /// Stores the name of a sub-agent under each of its ids.
    pub(super) fn name_helper(&mut self, ids: [Option<String>; 2], name: &str) {
        ids.iter().flatten().for_each(|id| self.helpers.set(id, name));
    }

    pub(super) fn sent(&mut self, sent: Sent) {
        remember(&mut self.sent, sent);
    }
}
