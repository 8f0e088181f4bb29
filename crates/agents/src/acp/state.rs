//! State that the translator keeps between two inputs.

use std::collections::VecDeque;

use sayso_core::id::{AskId, SessionId};
use sayso_core::transcript::Role;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::requests::RequestKind;
use super::tool_call::ToolCalls;
use crate::json_rpc::Id;
use crate::out::Out;
use crate::process::StartSettings;
use crate::process::memory::{QUEUE, queue_is_full};
use crate::process::rpc::{LineReader, Requests};
use crate::translator::AgentEvent;

/// How many messages are assembled at a time: one of the main thread, the others of sub-agents.
const STREAMS: usize = 8;
/// Maximum size of one message in bytes. Longer text is split into several messages.
const MESSAGE: usize = 1024 * 1024;

/// The saved state. It contains no answers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AcpState {
    pub(super) session: Option<SessionId>,
    pub(super) phase: AcpPhase,
    pub(super) wanted: StartSettings,
    pub(super) agent: Agent,
    #[serde(flatten)]
    pub(super) requests: Requests<AcpRequest>,
    pub(super) turn: Option<Turn>,
    /// Prompts to send when the turn ends.
    pub(super) queue: VecDeque<Prompt>,
    /// Fingerprints of the reasons sent to the agent since the person's last message. No reason is sent twice, so that
    /// a script that rejects everything with the same words cannot keep the agent running.
    pub(super) told: Vec<u64>,
    pub(super) open: Vec<Open>,
    /// Outcomes that were sent to the agent, in order, until the agent's messages show an effect.
    pub(super) answered: VecDeque<Answered>,
    pub(super) tools: ToolCalls,
    pub(super) streams: Vec<Stream>,
    /// The number of the last message id.
    pub(super) said: u64,
    #[serde(flatten)]
    pub(super) hearing: LineReader,
}

/// The stage of the connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum AcpPhase {
    /// No process is running.
    #[default]
    Down,
    /// The process was started, but the session is not open yet.
    Starting,
    /// The agent replays the history of a loaded session, which is ignored.
    Replaying,
    /// The session is open; mode and model are being set.
    Settling,
    /// The session accepts prompts.
    Ready,
    /// The person closed the session.
    Closed,
}

/// What the agent reported about itself and its session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Agent {
    /// The agent's id of the session.
    pub(super) session: Option<String>,
    pub(super) load: bool,
    pub(super) resume: bool,
    pub(super) close: bool,
    /// The sign-in methods that the agent offers.
    pub(super) logins: Vec<String>,
    /// The current permission mode.
    pub(super) mode: Option<String>,
    /// The agent's config option for the permission mode, if it has no list of modes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) mode_option: Option<String>,
    /// The agent's config option for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) model_option: Option<String>,
}

/// A request that Sayso sent.
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

/// The running turn.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Turn {
    /// The id of the prompt request; `None` if it was sent before this translator existed.
    pub(super) call: Option<u64>,
    /// Whether the turn was cancelled.
    pub(super) cancelled: bool,
}

/// A message to the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Prompt {
    pub(super) text: String,
    /// The message carries words from a decision, so the transcript does not contain it yet.
    pub(super) follow_up: bool,
}

/// A request of the agent that waits for a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Open {
    pub(super) id: Id,
    #[serde(rename = "door")]
    pub(super) kind: RequestKind,
    pub(super) tool_call: Option<String>,
    pub(super) link: Option<String>,
    /// Fingerprint of the request: an outcome must not reach a different request with the same id.
    pub(super) print: u64,
}

/// An outcome that was sent but not confirmed.
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
    /// The agent's id of the message.
    pub(super) native: Option<String>,
    pub(super) text: String,
}

impl AcpState {
    /// Resets everything that belonged to the exited process.
    pub(super) fn forget_process(&mut self) {
        self.requests.forget();
        self.turn = None;
        self.open.clear();
        self.answered.clear();
        self.tools.clear();
        self.streams.clear();
        self.hearing = LineReader::default();
    }

    /// Queues a message of the person.
    pub(super) fn enqueue(&mut self, text: String, out: &mut Out) {
        if self.queue.len() >= QUEUE {
            return out.event(queue_is_full());
        }
        self.told.clear();
        self.queue.push_back(Prompt { text, follow_up: false });
    }

    /// Sends the next queued message if the agent is idle.
    pub(super) fn send_next_prompt(&mut self, out: &mut Out) {
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

    /// Appends a chunk to the message of this thread.
    pub(super) fn append_chunk(&mut self, subagent: Option<String>, native: Option<String>, text: &str, out: &mut Out) {
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

    /// Emits the finished messages of one thread, or of all threads.
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
