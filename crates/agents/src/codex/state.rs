//! What is remembered between two inputs: who waits for what, and a few names. Requests themselves travel
//! with the command that answers them.

use std::collections::VecDeque;

use sayso_core::id::{AskId, SessionId};
use sayso_core::limits;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::items::Items;
use super::launch;
use crate::json_rpc::Id;
use crate::out::Out;
use crate::process::Wanted;
use crate::process::memory::{QUEUE, queue_is_full, remember};
use crate::process::rpc::{Hearing, Requests};
use crate::translator::AgentEvent;

/// Bytes of an id of a thread, a turn or an item. Codex's own have about forty.
pub(super) const ID: usize = 256;

/// Everything that outlives an input. No answer to a secret is in it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CodexState {
    pub(super) session: Option<SessionId>,
    pub(super) phase: CodexPhase,
    pub(super) wanted: Wanted,
    /// Codex's id of the session's thread.
    pub(super) thread: Option<String>,
    /// Whether Codex has that thread on record, so that another process can go on with it.
    pub(super) recorded: bool,
    /// The model of the thread.
    pub(super) model: Option<String>,
    #[serde(flatten)]
    pub(super) requests: Requests<CodexRequest>,
    pub(super) turn: Option<Turn>,
    /// What is said as soon as Codex takes it.
    pub(super) queue: VecDeque<String>,
    pub(super) open: Vec<Open>,
    /// Outcomes that Codex has, until it says that the request is resolved.
    pub(super) sent: Vec<Sent>,
    pub(super) items: Items,
    pub(super) helpers: Vec<Helper>,
    /// Numbers given to messages so far.
    pub(super) said: u64,
    #[serde(flatten)]
    pub(super) hearing: Hearing,
}

/// How far the connection is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum CodexPhase {
    /// There is no process.
    #[default]
    Down,
    /// The process was started; there is no thread in it yet.
    Starting,
    /// It takes messages.
    Ready,
    /// The person closed the session.
    Closed,
}

/// A request of ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum CodexRequest {
    Initialize,
    StartThread,
    ResumeThread,
    Turn,
    /// With the words, which begin a turn of their own if there is none any more.
    Steer(String),
    Interrupt,
}

/// The turn that runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Turn {
    /// Codex's id of it, once it is known.
    pub(super) id: Option<String>,
    /// Whether Codex was told to stop it.
    pub(super) stopping: bool,
    /// Whether it takes no more words: it is about to end.
    #[serde(default)]
    pub(super) closing: bool,
}

/// What is asked; it decides how the outcome is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Kind {
    Command,
    Patch,
    Permissions,
    McpTool,
    Question,
    /// Questions that Codex does not wait for.
    Message,
    Form,
    Link,
}

/// What waits for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Open {
    /// The name that its outcome comes with.
    pub(super) native_id: String,
    /// The request; none if it was a message.
    pub(super) id: Option<Id>,
    pub(super) kind: Kind,
    pub(super) thread: String,
    pub(super) turn: Option<String>,
    /// What it is about, in a line.
    pub(super) about: Option<String>,
    /// The fingerprint of what Codex wrote: an outcome must not reach another request with the same id.
    pub(super) print: u64,
}

/// An outcome that was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Sent {
    pub(super) ask: AskId,
    pub(super) id: Id,
}

/// A thread of a sub-agent and its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Helper {
    pub(super) thread: String,
    pub(super) name: String,
}

impl CodexState {
    /// Whether there is a process that is listened to.
    pub(super) const fn is_up(&self) -> bool {
        match self.phase {
            CodexPhase::Starting | CodexPhase::Ready => true,
            CodexPhase::Down | CodexPhase::Closed => false,
        }
    }

    /// Forgets what belongs to a process that is gone.
    pub(super) fn forget_process(&mut self) {
        self.requests.forget();
        self.turn = None;
        self.open.clear();
        self.sent.clear();
        self.items = Items::default();
        self.helpers.clear();
        self.hearing = Hearing::default();
    }

    /// Says something to Codex as soon as it takes it: in the turn that runs, or in a new one.
    pub(super) fn say(&mut self, text: String, out: &mut Out) {
        if !self.can_say() {
            return out.event(queue_is_full());
        }
        self.queue.push_back(text);
        self.say_next(out);
    }

    /// Whether one more message is taken.
    pub(super) fn can_say(&self) -> bool {
        self.queue.len() < QUEUE
    }

    /// Says what waits, if nothing is in the way.
    pub(super) fn say_next(&mut self, out: &mut Out) {
        let Some(thread) = self.thread.clone().filter(|_| self.phase == CodexPhase::Ready) else { return };
        while !self.queue.is_empty() {
            match &self.turn {
                // It takes the next words when it has said which turn it is, or that the turn is over.
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

    /// Says something in a turn that runs.
    pub(super) fn steer(&mut self, thread: &str, turn: &str, text: String, out: &mut Out) {
        let params = json!({ "threadId": thread, "expectedTurnId": turn, "input": launch::input(&text) });
        self.requests.send(CodexRequest::Steer(text), "turn/steer", &params, out);
    }

    /// Tells Codex to stop the turn of the session, as soon as it is known which one it is.
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

    /// Codex said which turn it is.
    pub(super) fn turn_is(&mut self, id: String, out: &mut Out) {
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
        self.say_next(out);
    }

    /// Whose thread this is: nothing for the session's own. Where that is not known, the first one that is named is it.
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
