//! State that the translator keeps between two inputs: pending requests and a few names. The requests themselves travel
//! with the commands that answer them.

use std::collections::VecDeque;

use sayso_core::id::{AskId, SessionId};
use sayso_core::limits;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::items::Items;
use super::launch;
use crate::json_rpc::Id;
use crate::out::Out;
use crate::process::StartSettings;
use crate::process::memory::{QUEUE, queue_is_full, remember};
use crate::process::rpc::{LineReader, Requests};
use crate::translator::AgentEvent;

/// Maximum length of a thread, turn or item id in bytes. Codex's own ids have about 40.
pub(super) const ID: usize = 256;

/// The saved state. It contains no secret answers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CodexState {
    pub(super) session: Option<SessionId>,
    pub(super) phase: CodexPhase,
    pub(super) wanted: StartSettings,
    /// Codex's id of the session's thread.
    pub(super) thread: Option<String>,
    /// Whether Codex has recorded the thread, so that another process can resume it.
    pub(super) recorded: bool,
    pub(super) model: Option<String>,
    #[serde(flatten)]
    pub(super) requests: Requests<CodexRequest>,
    pub(super) turn: Option<Turn>,
    /// Messages to send as soon as Codex accepts them.
    pub(super) queue: VecDeque<String>,
    pub(super) open: Vec<Open>,
    /// Outcomes that were sent, until Codex reports that the request is resolved.
    pub(super) sent: Vec<Sent>,
    pub(super) items: Items,
    pub(super) helpers: Vec<Helper>,
    /// The number of the last message id.
    pub(super) said: u64,
    #[serde(flatten)]
    pub(super) hearing: LineReader,
}

/// The stage of the connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum CodexPhase {
    /// No process is running.
    #[default]
    Down,
    /// The process was started, but the thread is not open yet.
    Starting,
    /// The thread accepts messages.
    Ready,
    /// The person closed the session.
    Closed,
}

/// A request that Sayso sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum CodexRequest {
    Initialize,
    StartThread,
    ResumeThread,
    Turn,
    /// Carries the text, which starts a new turn if the current one has ended.
    Steer(String),
    Interrupt,
}

/// The running turn.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Turn {
    /// Codex's id of the turn, once known.
    pub(super) id: Option<String>,
    /// Whether the turn was interrupted.
    pub(super) stopping: bool,
    /// Whether the turn accepts no more messages because it is about to end.
    #[serde(default)]
    pub(super) closing: bool,
}

/// The kind of an ask. It determines the format of the outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Kind {
    Command,
    Patch,
    Permissions,
    McpTool,
    Question,
    /// Questions that do not block Codex.
    Message,
    Form,
    Link,
}

/// An ask that waits for a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Open {
    /// The id that identifies the ask in outcomes.
    pub(super) native_id: String,
    /// The id of the request; `None` for questions from a message.
    pub(super) id: Option<Id>,
    pub(super) kind: Kind,
    pub(super) thread: String,
    pub(super) turn: Option<String>,
    /// A one-line summary of the ask.
    pub(super) about: Option<String>,
    /// Fingerprint of the message: an outcome must not reach a different request with the same id.
    pub(super) print: u64,
}

/// An outcome that was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Sent {
    pub(super) ask: AskId,
    pub(super) id: Id,
}

/// The thread of a sub-agent and its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Helper {
    pub(super) thread: String,
    pub(super) name: String,
}

impl CodexState {
    /// Whether a process is running and its output is handled.
    pub(super) const fn is_up(&self) -> bool {
        match self.phase {
            CodexPhase::Starting | CodexPhase::Ready => true,
            CodexPhase::Down | CodexPhase::Closed => false,
        }
    }

    /// Resets everything that belonged to the exited process.
    pub(super) fn forget_process(&mut self) {
        self.requests.forget();
        self.turn = None;
        self.open.clear();
        self.sent.clear();
        self.items = Items::default();
        self.helpers.clear();
        self.hearing = LineReader::default();
    }

    /// Queues a message and sends it as soon as Codex accepts it, in the running turn or a new one.
    pub(super) fn queue_message(&mut self, text: String, out: &mut Out) {
        if !self.has_queue_room() {
            return out.event(queue_is_full());
        }
        self.queue.push_back(text);
        self.send_next_message(out);
    }

    /// Whether the queue has room for another message.
    pub(super) fn has_queue_room(&self) -> bool {
        self.queue.len() < QUEUE
    }

    /// Sends the next queued message if Codex accepts one.
    pub(super) fn send_next_message(&mut self, out: &mut Out) {
        let Some(thread) = self.thread.clone().filter(|_| self.phase == CodexPhase::Ready) else { return };
        while !self.queue.is_empty() {
            match &self.turn {
                // The queue continues after Codex reports the id of the turn or its end.
                Some(Turn { id: None, .. } | Turn { stopping: true, .. } | Turn { closing: true, .. }) => return,
                Some(Turn { id: Some(turn), .. }) => {
                    let turn = turn.clone();
                    let Some(text) = self.queue.pop_front() else { return };
                    self.steer(&thread, &turn, text, out);
                }
                None => {
                    let Some(text) = self.queue.pop_front() else { return };
                    out.event(AgentEvent::TurnStarted);
                    self.turn = Some(Turn::default());
                    let params = launch::turn(&self.wanted, &thread, self.model.as_deref(), &text);
                    self.requests.send(CodexRequest::Turn, "turn/start", &params, out);
                }
            }
        }
    }

    /// Sends a message to a running turn.
    pub(super) fn steer(&mut self, thread: &str, turn: &str, text: String, out: &mut Out) {
        let params = json!({ "threadId": thread, "expectedTurnId": turn, "input": launch::input(&text) });
        self.requests.send(CodexRequest::Steer(text), "turn/steer", &params, out);
    }

    /// Interrupts the session's turn as soon as its id is known.
    pub(super) fn stop_turn(&mut self, out: &mut Out) {
        let Some(turn) = &mut self.turn else { return };
        turn.stopping = true;
        if let (Some(thread), Some(turn)) = (self.thread.clone(), turn.id.clone()) {
            self.interrupt(&thread, &turn, out);
        }
    }

    pub(super) fn interrupt(&mut self, thread: &str, turn: &str, out: &mut Out) {
        self.requests.send(CodexRequest::Interrupt, "turn/interrupt", &json!({ "threadId": thread, "turnId": turn }), out);
    }

    /// Records the id of the running turn.
    pub(super) fn record_turn_id(&mut self, id: String, out: &mut Out) {
        if self.turn.is_none() {
            out.event(AgentEvent::TurnStarted);
        }
        self.recorded = true;
        let turn = self.turn.get_or_insert_default();
        let new = turn.id.as_ref() != Some(&id);
        turn.id = Some(id);
        if turn.stopping && new {
            self.stop_turn(out);
        }
        self.send_next_message(out);
    }

    /// The name of the sub-agent that owns a thread; `None` for the session's own thread. If that is not known yet, the
    /// first thread that arrives is the session's.
    pub(super) fn subagent(&mut self, thread: &str) -> Option<String> {
        match &self.thread {
            Some(own) if own == thread => None,
            Some(_) => {
                let known = self.helpers.iter().find(|helper| helper.thread == thread);
                Some(known.map_or_else(|| limits::head(thread, limits::NAME).to_owned(), |helper| helper.name.clone()))
            }
            None => {
                self.thread = Some(thread.to_owned());
                None
            }
        }
    }

    pub(super) fn sent(&mut self, sent: Sent) {
        remember(&mut self.sent, sent);
    }

    pub(super) fn name_helper(&mut self, thread: String, name: String) {
        self.helpers.retain(|helper| helper.thread != thread);
        remember(&mut self.helpers, Helper { thread, name });
    }
}
