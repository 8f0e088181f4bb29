//! What is remembered between two inputs: who waits for what, and a few names. Requests themselves
//! travel with the command that answers them, so this stays small however large they are.

use sayso_core::id::{AskId, SessionId};
use serde::{Deserialize, Serialize};

use super::wire;
use crate::out::Out;
use crate::process::TurnComplaints;
use crate::process::memory::{Names, remember};
use crate::translator::AgentEvent;

/// Everything that outlives an input.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ClaudeState {
    pub(super) session: Option<SessionId>,
    /// Claude's id of the conversation, once there is one that can be resumed.
    pub(super) conversation: Option<String>,
    pub(super) life: ClaudeLife,
    /// Numbers given to requests of our own so far.
    pub(super) asked: u64,
}

/// The process of the session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum ClaudeLife {
    /// There is none.
    #[default]
    Down,
    /// It runs, or is about to.
    Up(Box<ClaudeProcess>),
    /// The session was closed and it was told to end. What it still says is not listened to.
    Closing,
}

/// What is known of a process while it runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ClaudeProcess {
    /// Whether we introduced ourselves.
    pub(super) greeted: bool,
    /// Whether it has said anything.
    pub(super) heard: bool,
    /// Whether it said that it does not know the conversation.
    pub(super) lost: bool,
    pub(super) turn: Turn,
    /// Requests of ours without a response.
    pub(super) waiting: Vec<Waiting>,
    /// Requests of Claude's without an outcome.
    pub(super) open: Vec<Open>,
    /// Outcomes that were sent and whose effect was not seen yet.
    pub(super) sent: Vec<Sent>,
    /// Tool calls that run.
    pub(super) tools: Names,
    /// Sub-agents, by their own id and by the id of the tool call that started them.
    pub(super) helpers: Names,
    /// The message that is being said.
    pub(super) speech: Option<Speech>,
    pub(super) complaints: TurnComplaints,
}

/// Whether Claude works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Turn {
    /// It takes a message. If the last turn was cut short, the process ends with code 1 without any fault.
    Idle { cut_short: bool },
    /// It works, or was told to. Once it has `begun` it says itself when it ends; `stopping` if it was
    /// told to end early.
    Running { begun: bool, stopping: bool },
}

/// A request of ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Waiting {
    pub(super) number: u64,
    pub(super) control: Control,
}

/// What we may want of Claude.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Control {
    /// Greets it; it answers with what waits for us.
    Initialize,
    /// Stops the turn.
    Interrupt,
    /// Changes the permission mode.
    SetMode(String),
    /// Changes the model.
    SetModel(String),
}

/// A request of Claude's that waits for its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Open {
    pub(super) id: String,
    pub(super) kind: Kind,
    pub(super) tool_use: Option<String>,
    /// Whether a sub-agent asks. One in the background goes on after the turn.
    pub(super) by_helper: bool,
}

/// What a request is about; it decides how its outcome is said.
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

/// A message that is being said, text by text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Speech {
    pub(super) message: String,
    /// Texts of it that are complete.
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
    /// A request of our own as a line; `asked` counts them.
    pub(super) fn control(&mut self, control: Control, asked: &mut u64) -> String {
        *asked += 1;
        self.greeted |= control == Control::Initialize;
        let line = control.line(*asked);
        remember(&mut self.waiting, Waiting { number: *asked, control });
        line
    }

    /// Claude was given something to do.
    pub(super) fn turn_asked_for(&mut self, out: &mut Out) {
        if let Turn::Idle { .. } = self.turn {
            self.turn = Turn::Running { begun: false, stopping: false };
            self.complaints = TurnComplaints::default();
            out.event(AgentEvent::TurnStarted);
        }
    }

    /// Claude works.
    pub(super) fn turn_begun(&mut self, out: &mut Out) {
        self.turn_asked_for(out);
        if let Turn::Running { begun, .. } = &mut self.turn {
            *begun = true;
        }
    }

    /// The turn was told to stop.
    pub(super) fn stopping(&mut self) {
        if let Turn::Running { stopping, .. } = &mut self.turn {
            *stopping = true;
        }
    }

    /// Learns what a sub-agent is called, by each of its ids.
    pub(super) fn name_helper(&mut self, ids: [Option<String>; 2], name: &str) {
        ids.iter().flatten().for_each(|id| self.helpers.set(id, name));
    }

    pub(super) fn sent(&mut self, sent: Sent) {
        remember(&mut self.sent, sent);
    }
}
