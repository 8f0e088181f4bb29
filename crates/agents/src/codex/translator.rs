//! The Codex translator: converts commands into protocol lines, and output into events.

use sayso_core::ask::TypedAnswers;
use sayso_core::id::SessionId;
use sayso_core::texts;
use sayso_core::time::Time;
use serde::{Deserialize, Serialize};

use super::state::{CodexPhase, CodexState};
use crate::json_rpc::Message;
use crate::out::Out;
use crate::process::{self, ProcessAgent, StartSettings};
use crate::translator::{AgentEvent, Capabilities, Exit, Input, Outcome, Output, Saved, Translator};

/// Codex sends plans as messages: it does not ask for their approval.
pub const CAPABILITIES: Capabilities =
    Capabilities { plans: false, configure: false, typed: TypedAnswers::OwnText, ..Capabilities::FULL };

/// Version of the saved state's format.
const VERSION: u32 = 2;

const NOT_RUNNING: &str = "Codex is not running; the message was not sent. Resume the session first.";

const HOW_TO_INSTALL: &str = "Is `codex` installed? `npm install -g @openai/codex` installs it";

/// Translator for one Codex session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CodexTranslator {
    pub(super) state: CodexState,
}

impl CodexTranslator {
    /// Creates a translator whose first command starts the process.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a translator for a running process. The first thread that appears is the session's.
    #[must_use]
    pub fn attached(session: SessionId) -> Self {
        Self { state: CodexState { session: Some(session), phase: CodexPhase::Ready, ..CodexState::default() } }
    }

    /// Restores a saved translator; `None` if the state has another format version.
    #[must_use]
    pub fn restore(saved: &Saved) -> Option<Self> {
        saved.read(VERSION).map(|state| Self { state })
    }
}

impl ProcessAgent for CodexTranslator {
    const OTHER_SESSION: &'static str = "Codex does not have this session.";

    fn session(&mut self) -> &mut Option<SessionId> {
        &mut self.state.session
    }

    fn start_session(&mut self, _now: Time, wanted: StartSettings, prompt: Option<String>, out: &mut Out) {
        self.state.wanted = wanted;
        if !self.state.is_up() {
            self.state.launch(out);
        }
        match prompt {
            Some(text) => self.state.queue_message(text, out),
            None if self.state.phase == CodexPhase::Ready && self.state.turn.is_none() => out.event(AgentEvent::TurnEnded),
            None => {}
        }
    }

    fn send_prompt(&mut self, text: String, out: &mut Out) {
        if self.state.is_up() {
            self.state.queue_message(text, out);
        } else {
            out.event(AgentEvent::Error(NOT_RUNNING.to_owned()));
        }
    }

    fn deliver_outcome(&mut self, outcome: &Outcome<'_>, out: &mut Out) {
        self.state.deliver_outcome(outcome, out);
    }

    fn interrupt(&mut self, out: &mut Out) {
        let state = &mut self.state;
        if state.phase == CodexPhase::Starting && !state.queue.is_empty() {
            state.queue.clear();
            out.event(AgentEvent::Notice("Codex is still starting; queued messages will not be sent.".to_owned()));
        }
        state.stop_turn(out);
    }

    fn configure(&mut self, _permission_mode: Option<String>, _model: Option<String>, out: &mut Out) {
        out.event(AgentEvent::Error(texts::SETTINGS_FIXED.to_owned()));
    }

    fn close_session(&mut self, out: &mut Out) {
        let state = &mut self.state;
        if state.phase == CodexPhase::Closed {
            return;
        }
        for open in std::mem::take(&mut state.open) {
            let reason = texts::WITHDRAWN_CLOSED.to_owned();
            out.event(AgentEvent::AskWithdrawn { native_id: open.native_id, reason });
        }
        if state.phase != CodexPhase::Down {
            state.stop_turn(out);
            out.stop();
        }
        state.forget_process();
        state.queue.clear();
        state.phase = CodexPhase::Closed;
        out.closed();
    }

    fn handle_line(&mut self, line: &str, out: &mut Out) {
        let state = &mut self.state;
        if !state.is_up() {
            return;
        }
        match state.hearing.read("Codex", line, out) {
            Some(Message::Request { id, method, params }) => state.request(id, &method, params, line, out),
            Some(Message::Notification { method, params }) => state.handle_notification(&method, params, line, out),
            Some(Message::Response { id, outcome }) => state.response(&id, outcome, out),
            None => {}
        }
    }

    fn handle_exit(&mut self, exit: &Exit, out: &mut Out) {
        let state = &mut self.state;
        if !state.is_up() {
            return;
        }
        let reason = state.hearing.describe_exit("Codex", Some(HOW_TO_INSTALL), exit);
        let failed = exit.code != Some(0) || state.turn.is_some() || state.phase != CodexPhase::Ready;
        state.phase = CodexPhase::Down;
        state.forget_process();
        out.event(AgentEvent::Ended { reason, failed, resumable: state.can_resume() });
    }
}

impl Translator for CodexTranslator {
    fn handle(&mut self, now: Time, input: Input) -> Vec<Output> {
        process::handle(self, now, input)
    }

    fn save(&self) -> Saved {
        Saved::of(VERSION, &self.state)
    }
}
