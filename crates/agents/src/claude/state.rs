//! What is remembered between two inputs: who waits for what, and a few names. Requests themselves
//! travel with the command that answers them, so this stays small however large they are.

use sayso_core::id::{AskId, SessionId};
use sayso_core::limits;
use serde::{Deserialize, Serialize};

use super::wire;
use crate::out::Out;
use crate::translator::AgentEvent;

/// Bytes of an id or a name that is remembered. Claude's own have about forty.
pub(super) const ID: usize = 128;
/// Requests that may wait at once. The broker refuses earlier; this bounds the state by itself.
pub(super) const OPEN: usize = limits::PENDING + 56;
/// Tool calls, outcomes, sub-agents and requests of our own that are remembered; the oldest go first.
const RECENT: usize = 64;
/// Lines that are complained about in one turn. What is wrong once is wrong all the time.
const COMPLAINTS: u8 = 5;

/// Everything that outlives an input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct State {
    pub(super) session: Option<SessionId>,
    /// Claude's id of the conversation, once there is one that can be resumed.
    pub(super) conversation: Option<String>,
    pub(super) life: Life,
    /// Numbers given to requests of our own so far.
    pub(super) asked: u64,
}

/// The process of the session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Life {
    /// There is none.
    Down,
    /// It runs, or is about to.
    Up(Box<Process>),
    /// The session was closed and it was told to end. What it still says is not listened to.
    Closing,
}

/// What is known of a process while it runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Process {
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
    pub(super) tools: Vec<Named>,
    /// Sub-agents, by their own id and by the id of the tool call that started them.
    pub(super) helpers: Vec<Named>,
    /// The message that is being said.
    pub(super) speech: Option<Speech>,
    pub(super) complaints: u8,
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

/// An id and what it stands for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Named {
    pub(super) id: String,
    pub(super) name: String,
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

impl State {
    pub(super) const fn new() -> Self {
        Self { session: None, conversation: None, life: Life::Down, asked: 0 }
    }
}

impl Process {
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
            self.complaints = 0;
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

    /// Says what is wrong, unless it was said often enough in this turn.
    pub(super) fn complain(&mut self, event: AgentEvent, out: &mut Out) {
        if self.complaints < COMPLAINTS {
            self.complaints += 1;
            out.event(event);
        }
    }

    pub(super) fn tool_started(&mut self, id: &str, name: &str) {
        let name = limits::head(name, ID).to_owned();
        match self.tools.iter_mut().find(|tool| tool.id == id) {
            Some(tool) => tool.name = name,
            None if id.len() <= ID => remember(&mut self.tools, Named { id: id.to_owned(), name }),
            None => {}
        }
    }

    /// The name of a tool call that ends.
    pub(super) fn tool_ended(&mut self, id: &str) -> Option<String> {
        let at = self.tools.iter().position(|tool| tool.id == id)?;
        Some(self.tools.remove(at).name)
    }

    /// Learns what a sub-agent is called, by each of its ids.
    pub(super) fn name_helper(&mut self, ids: [Option<String>; 2], name: &str) {
        let name = limits::head(name, ID);
        for id in ids.into_iter().flatten().filter(|id| id.len() <= ID) {
            match self.helpers.iter_mut().find(|helper| helper.id == id) {
                Some(helper) => helper.name = name.to_owned(),
                None => remember(&mut self.helpers, Named { id, name: name.to_owned() }),
            }
        }
    }

    pub(super) fn helper(&self, id: &str) -> Option<String> {
        self.helpers.iter().find(|helper| helper.id == id).map(|helper| helper.name.clone())
    }

    pub(super) fn sent(&mut self, sent: Sent) {
        remember(&mut self.sent, sent);
    }
}

fn remember<T>(list: &mut Vec<T>, item: T) {
    if list.len() >= RECENT {
        list.remove(0);
    }
    list.push(item);
}
