//! State that the mock keeps between two inputs, and its state machine.

use std::collections::VecDeque;

use sayso_core::ask::AskKind;
use sayso_core::id::SessionId;
use sayso_core::raw::Raw;
use sayso_core::session::Labels;
use sayso_core::time::Time;
use sayso_core::transcript::{Role, ToolStatus};
use serde::{Deserialize, Serialize};

use super::asks::MockAsk;
use super::script::{FollowUp, PIECE_EVERY, SLOW, Script, Step, TAKE_BACK_AFTER, TurnProgress, pieces};
use crate::out::Out;
use crate::translator::{AgentEvent, NewAsk};

/// The saved state. It is small and contains no secrets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MockState {
    pub(super) session: Option<SessionId>,
    pub(super) mode: String,
    /// Whether the session may ask questions.
    pub(super) questions: bool,
    /// Whether the person allowed the command for the rest of the session.
    pub(super) always: bool,
    pub(super) closed: bool,
    /// The number of the last ask or tool call.
    pub(super) asked: u64,
    /// The number of the last message id.
    pub(super) said: u64,
    pub(super) turn: Option<Turn>,
    pub(super) queue: VecDeque<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Turn {
    pub(super) script: Script,
    pub(super) so_far: TurnProgress,
    /// The asks of this round; empty between rounds.
    pub(super) asks: Vec<RoundAsk>,
    /// When to withdraw the open asks.
    pub(super) take_back_at: Option<Time>,
    pub(super) stream: Option<Stream>,
}

/// One ask of the round, or what replaced it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RoundAsk {
    pub(super) number: u64,
    pub(super) shape: MockAsk,
    /// The reply to the outcome; `None` while the ask is open.
    pub(super) words: Option<String>,
}

/// A message that is being streamed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Stream {
    pub(super) message: u64,
    /// The number of emitted chunks.
    pub(super) pieces: usize,
    pub(super) next_at: Time,
}

impl Out {
    /// Emits the tool call of an ask with this status.
    pub(super) fn tool(&mut self, ask: &RoundAsk, status: ToolStatus, input: Option<&Raw>, output: Option<&str>) {
        let Some(tool) = ask.shape.tool() else { return };
        self.event(AgentEvent::Tool {
            tool_call_id: call_id(ask.number),
            name: tool.name.to_owned(),
            input: Some(input.cloned().unwrap_or(tool.input)),
            output: output.map(str::to_owned),
            status,
            subagent: None,
        });
    }
}

pub(super) fn native_id(number: u64) -> String {
    format!("req-{number}")
}

fn call_id(number: u64) -> String {
    format!("call-{number}")
}

fn message_id(number: u64) -> String {
    format!("msg-{number}")
}

impl Default for MockState {
    fn default() -> Self {
        Self {
            session: None,
            mode: "default".to_owned(),
            questions: true,
            always: false,
            closed: false,
            asked: 0,
            said: 0,
            turn: None,
            queue: VecDeque::new(),
        }
    }
}

impl MockState {
    /// Runs until the mock needs an answer, the clock or a prompt.
    pub(super) fn run(&mut self, now: Time, out: &mut Out) {
        loop {
            let Some(turn) = &mut self.turn else {
                let Some(prompt) = self.queue.pop_front() else { return };
                out.event(AgentEvent::TurnStarted);
                self.turn = Some(Turn {
                    script: Script::of(&prompt),
                    so_far: TurnProgress::default(),
                    asks: Vec::new(),
                    take_back_at: None,
                    stream: None,
                });
                continue;
            };
            match &turn.stream {
                Some(stream) if stream.pieces < SLOW.split_inclusive(' ').count() => return,
                Some(stream) => {
                    let message = stream.message;
                    self.end_turn(message, SLOW, out);
                    continue;
                }
                None => {}
            }
            if turn.asks.iter().any(|ask| ask.words.is_none()) {
                return;
            }
            turn.finish_round();
            match turn.script.next(&turn.so_far) {
                Step::Stream => {
                    self.said += 1;
                    turn.stream = Some(Stream { message: self.said, pieces: 0, next_at: now });
                    turn.stream_next_chunk(now, out);
                }
                Step::Say(text) => {
                    self.said += 1;
                    let message = self.said;
                    stream_whole(message, &text, out);
                    self.end_turn(message, &text, out);
                }
                Step::Ask { lead, shapes, then } => {
                    if let Some(lead) = lead {
                        self.said += 1;
                        stream_whole(self.said, lead, out);
                        message(self.said, lead, out);
                    }
                    for shape in shapes {
                        self.ask(*shape, out);
                    }
                    if !self.follow_up(then, now, out) {
                        return;
                    }
                }
            }
        }
    }

    /// Runs the action that follows the opening of a round; returns false if the agent crashed.
    fn follow_up(&mut self, then: FollowUp, now: Time, out: &mut Out) -> bool {
        let Some(turn) = &mut self.turn else { return false };
        let waits = turn.asks.iter().any(|ask| ask.words.is_none());
        // A round without open asks would repeat immediately.
        turn.so_far.enough |= !waits;
        match then {
            FollowUp::Wait => {}
            FollowUp::TakeBack => turn.take_back_at = waits.then(|| now.plus(TAKE_BACK_AFTER)),
            FollowUp::Die => {
                self.turn = None;
                let reason = "the mock agent crashed, as it was asked to".to_owned();
                out.event(AgentEvent::Ended { reason, failed: true, resumable: true });
                return false;
            }
        }
        true
    }

    /// Opens an ask, or runs its replacement if this session does not ask.
    fn ask(&mut self, shape: MockAsk, out: &mut Out) {
        let instead = self.replacement_message(shape);
        let Some(turn) = &mut self.turn else { return };
        self.asked += 1;
        let ask = RoundAsk { number: self.asked, shape, words: instead };
        out.tool(&ask, ToolStatus::Running, None, None);
        if ask.words.is_some() {
            let output = shape.tool().map(|tool| tool.output);
            out.tool(&ask, ToolStatus::Complete, None, output);
        } else {
            out.event(AgentEvent::AskOpened(Box::new(NewAsk {
                native_id: native_id(ask.number),
                body: shape.body(),
                tool_call_id: Some(call_id(ask.number)),
                subagent: None,
                blocking: true,
                context: Some(turn.script.lead().to_owned()),
                labels: Labels::new(),
                raw: None,
            })));
        }
        turn.asks.push(ask);
    }

    /// The message that replaces an ask; `None` if the mock asks.
    fn replacement_message(&self, shape: MockAsk) -> Option<String> {
        let never = self.mode == "dontAsk";
        match shape.kind() {
            AskKind::Question if !self.questions => {
                Some(format!("I did not ask for {}: questions are switched off for this session.", shape.subject()))
            }
            AskKind::Question | AskKind::Link if never => {
                Some(format!("I did not ask for {}: the permission mode is dontAsk.", shape.subject()))
            }
            AskKind::Question | AskKind::Link => None,
            AskKind::Approval if shape == MockAsk::Command && self.always => {
                Some(format!("Ran without asking (always allowed): {}", shape.subject()))
            }
            AskKind::Approval if self.mode == "default" || self.mode == "plan" => None,
            AskKind::Approval => Some(format!("Ran without asking ({}): {}", self.mode, shape.subject())),
        }
    }

    fn end_turn(&mut self, number: u64, text: &str, out: &mut Out) {
        message(number, text, out);
        out.event(AgentEvent::TurnEnded);
        self.turn = None;
    }

    /// Aborts the turn; returns false if none is running.
    pub(super) fn cut_short(&mut self, reason: &str, out: &mut Out) -> bool {
        let Some(mut turn) = self.turn.take() else { return false };
        turn.withdraw_open(reason, out);
        if let Some(stream) = turn.stream {
            let said: String = SLOW.split_inclusive(' ').take(stream.pieces).collect();
            message(stream.message, said.trim_end(), out);
        }
        true
    }
}

impl Turn {
    /// Withdraws the open asks.
    pub(super) fn withdraw_open(&mut self, reason: &str, out: &mut Out) {
        self.take_back_at = None;
        for ask in self.asks.iter_mut().filter(|ask| ask.words.is_none()) {
            // After an interrupt, the agent only reports what it received.
            ask.words = Some(if self.so_far.enough { String::new() } else { format!("Withdrawn: {reason}") });
            out.event(AgentEvent::AskWithdrawn { native_id: native_id(ask.number), reason: reason.to_owned() });
            out.tool(ask, ToolStatus::Error, None, Some(reason));
        }
    }

    fn finish_round(&mut self) {
        self.take_back_at = None;
        if !self.asks.is_empty() {
            self.so_far.rounds += 1;
            self.so_far.received = self.asks.drain(..).filter_map(|ask| ask.words).filter(|words| !words.is_empty()).collect();
        }
    }

    /// Emits the next chunk of a streamed message.
    pub(super) fn stream_next_chunk(&mut self, now: Time, out: &mut Out) {
        let Some(stream) = &mut self.stream else { return };
        if let Some(piece) = SLOW.split_inclusive(' ').nth(stream.pieces) {
            out.event(AgentEvent::MessageDelta { message: message_id(stream.message), text: piece.to_owned() });
            stream.pieces += 1;
            stream.next_at = now.plus(PIECE_EVERY);
        }
    }
}

fn stream_whole(number: u64, text: &str, out: &mut Out) {
    for piece in pieces(text) {
        out.event(AgentEvent::MessageDelta { message: message_id(number), text: piece.to_owned() });
    }
}

fn message(number: u64, text: &str, out: &mut Out) {
    let message = message_id(number);
    out.event(AgentEvent::Message { message, role: Role::Assistant, text: text.to_owned(), subagent: None });
}
