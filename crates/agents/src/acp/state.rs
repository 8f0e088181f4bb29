//! What the translator remembers between two inputs.

use std::collections::VecDeque;

use sayso_core::id::{AskId, SessionId};
use sayso_core::transcript::Role;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::requests::RequestKind;
use super::tool_call::ToolCalls;
use crate::json_rpc::Id;
use crate::out::Out;
use crate::process::Wanted;
use crate::process::memory::{QUEUE, queue_is_full};
use crate::process::rpc::{Hearing, Requests};
use crate::translator::AgentEvent;

/// Messages that are assembled at the same time: one of the main thread, the others of sub-agents.
const STREAMS: usize = 8;
/// Bytes of one message. What is longer becomes several.
const MESSAGE: usize = 1024 * 1024;

/// Everything that outlives an input. No answer is in it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AcpState {
    pub(super) session: Option<SessionId>,
    pub(super) phase: AcpPhase,
    pub(super) wanted: Wanted,
    pub(super) agent: Agent,
    #[serde(flatten)]
    pub(super) requests: Requests<AcpRequest>,
    pub(super) turn: Option<Turn>,
    /// What is said when the turn is over.
    pub(super) queue: VecDeque<Prompt>,
    /// Fingerprints of the reasons that were said to the agent since the person sent a message. None
    /// is said twice, so that a script that always says no with the same words cannot keep the agent going.
    pub(super) told: Vec<u64>,
    pub(super) open: Vec<Open>,
    /// Outcomes that the agent has, in the order sent, until its wire shows an effect.
    pub(super) answered: VecDeque<Answered>,
    pub(super) tools: ToolCalls,
    pub(super) streams: Vec<Stream>,
    /// Numbers given to messages so far.
    pub(super) said: u64,
    #[serde(flatten)]
    pub(super) hearing: Hearing,
}

/// How far the connection is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum AcpPhase {
    /// There is no process.
    #[default]
    Down,
    /// The process was started; there is no session in it yet.
    Starting,
    /// The agent sends what was said before; nobody needs to see it again.
    Replaying,
    /// The session is there; mode and model are being set.
    Settling,
    /// It takes prompts.
    Ready,
    /// The person closed the session.
    Closed,
}

/// What the agent told about itself and its session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Agent {
    /// Its id of the session.
    pub(super) session: Option<String>,
    pub(super) load: bool,
    pub(super) resume: bool,
    pub(super) close: bool,
    /// The ways to sign in that it knows.
    pub(super) logins: Vec<String>,
    /// The permission mode it is in.
    pub(super) mode: Option<String>,
    /// Its option for the permission mode, if it has no list of modes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) mode_option: Option<String>,
    /// Its option for the model, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) model_option: Option<String>,
}

/// A request of ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum AcpRequest {
    Initialize,
    NewSession,
    ResumeSession,
    LoadSession,
    SetMode(String),
    SetModel(String),
    Prompt,
    CloseSession,
}

/// The turn that runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Turn {
    /// The id of the prompt; none if it was sent before this translator came.
    pub(super) call: Option<u64>,
    /// Whether the agent was told to stop it.
    pub(super) cancelled: bool,
}

/// Something to be said to the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Prompt {
    pub(super) text: String,
    /// It carries words of the person that had no other place, so it is not in the transcript yet.
    pub(super) follow_up: bool,
}

/// A request of the agent that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Open {
    pub(super) id: Id,
    #[serde(rename = "door")]
    pub(super) kind: RequestKind,
    pub(super) tool_call: Option<String>,
    pub(super) link: Option<String>,
    /// The fingerprint of the request: an outcome must not reach another one with the same id.
    pub(super) print: u64,
}

/// An outcome that is on its way into the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Answered {
    pub(super) ask: AskId,
    pub(super) tool_call: String,
}

/// A message that is being assembled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Stream {
    pub(super) number: u64,
    pub(super) subagent: Option<String>,
    /// The agent's name of it.
    pub(super) native: Option<String>,
    pub(super) text: String,
}

impl AcpState {
    /// Forgets what belongs to a process that is gone.
    pub(super) fn forget_process(&mut self) {
        self.requests.forget();
        self.turn = None;
        self.open.clear();
        self.answered.clear();
        self.tools.clear();
        self.streams.clear();
        self.hearing = Hearing::default();
    }

    /// Takes what the person says; it waits its turn.
    pub(super) fn enqueue(&mut self, text: String, out: &mut Out) {
        if self.queue.len() >= QUEUE {
            return out.event(queue_is_full());
        }
        self.told.clear();
        self.queue.push_back(Prompt { text, follow_up: false });
    }

    /// Says the next thing if nothing is in the way.
    pub(super) fn say_next(&mut self, out: &mut Out) {
        if self.phase != AcpPhase::Ready || self.turn.is_some() {
            return;
        }
        let Some(prompt) = self.queue.pop_front() else { return };
        if prompt.follow_up {
            self.said += 1;
            let (message, text) = (message_id(self.said), prompt.text.clone());
            out.event(AgentEvent::Message { message, role: Role::User, text, subagent: None });
        }
        out.event(AgentEvent::TurnStarted);
        let params = json!({ "sessionId": self.agent.session, "prompt": [{ "type": "text", "text": prompt.text }] });
        let call = self.requests.send(AcpRequest::Prompt, "session/prompt", &params, out);
        self.turn = Some(Turn { call: Some(call), cancelled: false });
    }

    /// Adds a piece to the message of this thread.
    pub(super) fn hear(&mut self, subagent: Option<String>, native: Option<String>, text: &str, out: &mut Out) {
        let known = self.streams.iter().position(|stream| stream.subagent == subagent);
        let at = match known {
            Some(at) if self.streams[at].native == native && self.streams[at].text.len() + text.len() <= MESSAGE => at,
            _ => {
                if let Some(at) = known {
                    self.streams.remove(at).finish(out);
                }
                if self.streams.len() == STREAMS {
                    self.streams.remove(0).finish(out);
                }
                self.said += 1;
                self.streams.push(Stream { number: self.said, subagent, native, text: String::new() });
                self.streams.len() - 1
            }
        };
        let stream = &mut self.streams[at];
        stream.text.push_str(text);
        out.event(AgentEvent::MessageDelta { message: message_id(stream.number), text: text.to_owned() });
    }

    /// Puts out the messages that are complete now: those of one thread, or all.
    pub(super) fn finish_messages(&mut self, of: Option<&Option<String>>, out: &mut Out) {
        let (done, open) = std::mem::take(&mut self.streams)
            .into_iter()
            .partition(|stream: &Stream| of.is_none_or(|subagent| stream.subagent == *subagent));
        self.streams = open;
        let done: Vec<Stream> = done;
        done.into_iter().for_each(|stream| stream.finish(out));
    }
}

impl Stream {
    fn finish(self, out: &mut Out) {
        if !self.text.trim().is_empty() {
            let message = message_id(self.number);
            out.event(AgentEvent::Message { message, role: Role::Assistant, text: self.text, subagent: self.subagent });
        }
    }
}

fn message_id(number: u64) -> String {
    format!("msg-{number}")
}
