//! The mock translator: runs the script of one session.

use sayso_core::ask::Decision;
use sayso_core::texts;
use sayso_core::time::Time;
use sayso_core::transcript::ToolStatus;

use super::asks::ALWAYS;
use super::state::{MockState, native_id};
use crate::out::Out;
use crate::process::memory::{QUEUE, queue_is_full};
use crate::translator::{AgentEvent, Capabilities, Command, Input, Output, Saved, Translator};

/// The permission modes of the mock.
const MODES: [&str; 4] = ["default", "acceptEdits", "plan", "bypassPermissions"];

pub const CAPABILITIES: Capabilities = Capabilities::FULL;

/// Version of the saved state's format.
const VERSION: u32 = 1;

const TOLD_TO_STOP: &str = "The agent was told to stop.";
const NOT_NEEDED: &str = "The agent no longer needs an answer.";
const NOT_WAITING: &str = "The agent no longer waits for it.";

/// Translator for one session of the mock agent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MockTranslator {
    state: MockState,
}

impl MockTranslator {
    /// Creates a mock that waits for its first command.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Restores a saved mock; `None` if the state has another format version.
    #[must_use]
    pub fn restore(saved: &Saved) -> Option<Self> {
        saved.read(VERSION).map(|state| Self { state })
    }

    fn command(&mut self, now: Time, command: Command, out: &mut Out) {
        match command {
            Command::Outcome { ask, native_id, decision, .. } => {
                if self.outcome(&native_id, &decision, out) {
                    self.state.run(now, out);
                } else {
                    out.undeliverable(ask, NOT_WAITING);
                }
            }
            Command::Start { prompt, permission_mode, questions, .. } => {
                self.state.mode = permission_mode;
                self.state.questions = questions;
                self.state.closed = false;
                match prompt {
                    Some(prompt) => self.prompt(now, prompt, out),
                    // Without a prompt, `TurnEnded` is what reports that the session accepts messages.
                    None if self.state.turn.is_none() && self.state.queue.is_empty() => out.event(AgentEvent::TurnEnded),
                    None => self.state.run(now, out),
                }
            }
            Command::Prompt { text, .. } => self.prompt(now, text, out),
            Command::Interrupt { .. } => {
                if self.state.cut_short(texts::WITHDRAWN_INTERRUPTED, out) {
                    out.event(AgentEvent::TurnEnded);
                    self.state.run(now, out);
                }
            }
            Command::Configure { permission_mode, model, .. } => {
                match permission_mode.as_deref().filter(|mode| !MODES.contains(mode)) {
                    Some(unknown) => out.event(AgentEvent::Error(format!("The mock has no permission mode `{unknown}`."))),
                    None => {
                        self.state.mode = permission_mode.clone().unwrap_or_else(|| self.state.mode.clone());
                        out.event(AgentEvent::Configured { permission_mode, model });
                    }
                }
            }
            Command::Close { .. } => {
                if !self.state.closed {
                    self.state.cut_short(texts::WITHDRAWN_CLOSED, out);
                    self.state.queue.clear();
                    self.state.closed = true;
                    out.closed();
                }
            }
        }
    }

    fn prompt(&mut self, now: Time, text: String, out: &mut Out) {
        if self.state.closed {
            out.event(AgentEvent::Error("The session is closed; the message was not sent.".to_owned()));
        } else if self.state.queue.len() >= QUEUE {
            out.event(queue_is_full());
        } else {
            self.state.queue.push_back(text);
            self.state.run(now, out);
        }
    }

    /// Handles an outcome; returns false if no ask waits for it.
    fn outcome(&mut self, native: &str, decision: &Decision, out: &mut Out) -> bool {
        let Some(turn) = &mut self.state.turn else { return false };
        let Some(ask) = turn.asks.iter_mut().find(|ask| ask.words.is_none() && native_id(ask.number) == native) else {
            return false;
        };
        ask.words = Some(ask.shape.words_for(decision));
        let stop = match decision {
            Decision::Answered { .. } => false,
            Decision::Approved { choice, input } => {
                self.state.always |= choice.as_deref() == Some(ALWAYS);
                let output = ask.shape.tool().map(|tool| tool.output);
                out.tool(ask, ToolStatus::Complete, input.as_ref(), output);
                false
            }
            Decision::Rejected { message, stop } | Decision::Denied { message, stop } => {
                out.tool(ask, ToolStatus::Error, None, Some(message));
                *stop
            }
            Decision::Withdrawn { reason } => {
                out.tool(ask, ToolStatus::Error, None, Some(reason));
                false
            }
        };
        if stop {
            turn.so_far.enough = true;
            turn.withdraw_open(TOLD_TO_STOP, out);
        }
        true
    }

    fn tick(&mut self, now: Time, out: &mut Out) {
        if self.deadline().is_none_or(|deadline| now < deadline) {
            return;
        }
        if let Some(turn) = &mut self.state.turn {
            if turn.take_back_at.is_some() {
                turn.withdraw_open(NOT_NEEDED, out);
            }
            turn.stream_next_chunk(now, out);
        }
        self.state.run(now, out);
    }
}

impl Translator for MockTranslator {
    fn handle(&mut self, now: Time, input: Input) -> Vec<Output> {
        let mut out = match Out::for_input(&mut self.state.session, NOT_WAITING, &input) {
            Ok(out) => out,
            Err(outputs) => return outputs,
        };
        match input {
            Input::Command(command) => self.command(now, command, &mut out),
            Input::Tick => self.tick(now, &mut out),
            // The mock has no process and no server.
            Input::Line(_)
            | Input::HttpReply(_)
            | Input::StreamOpened
            | Input::StreamEvent(_)
            | Input::StreamClosed
            | Input::Exited(_) => {}
        }
        out.into_outputs()
    }

    fn deadline(&self) -> Option<Time> {
        let turn = self.state.turn.as_ref()?;
        turn.take_back_at.or(turn.stream.as_ref().map(|stream| stream.next_at))
    }

    fn save(&self) -> Saved {
        Saved::of(VERSION, &self.state)
    }
}
