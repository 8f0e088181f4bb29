//! The ACP translator: converts commands into protocol lines, and protocol lines into events.

use sayso_core::id::SessionId;
use sayso_core::texts;
use sayso_core::time::Time;
use serde_json::json;

use super::state::{AcpPhase, AcpRequest, AcpState, Turn};
use crate::json_rpc::Message;
use crate::out::Out;
use crate::process::{self, ProcessAgent, StartSettings};
use crate::translator::{AgentEvent, Exit, Input, Outcome, Output, Saved, Translator};

/// Version of the saved state's format.
const VERSION: u32 = 2;

const CLOSED: &str = "The session is closed; the message was not sent.";
const NOT_RUNNING: &str = "The agent is not running; the message was not sent. Resume the session first.";

/// Translator for one agent process with one session.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AcpTranslator {
    state: AcpState,
}

impl AcpTranslator {
    /// Creates a translator that waits for its first command.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a translator for an agent that is already running and working on a prompt. The first session id that the
    /// agent sends is the id of this session.
    #[must_use]
    pub fn attached(session: SessionId) -> Self {
        let state =
            AcpState { session: Some(session), phase: AcpPhase::Ready, turn: Some(Turn::default()), ..AcpState::default() };
        Self { state }
    }

    /// Restores a saved translator; `None` if the state has another format version.
    #[must_use]
    pub fn restore(saved: &Saved) -> Option<Self> {
        saved.read(VERSION).map(|state| Self { state })
    }
}

impl ProcessAgent for AcpTranslator {
    const OTHER_SESSION: &'static str = "The agent does not have this session.";

    fn session(&mut self) -> &mut Option<SessionId> {
        &mut self.state.session
    }

    fn start_session(&mut self, _now: Time, wanted: StartSettings, prompt: Option<String>, out: &mut Out) {
        let state = &mut self.state;
        state.wanted = wanted;
        if let Some(text) = prompt {
            state.enqueue(text, out);
        }
        match state.phase {
            AcpPhase::Down | AcpPhase::Closed => state.launch(out),
            AcpPhase::Ready if state.turn.is_none() && state.queue.is_empty() => out.event(AgentEvent::TurnEnded),
            AcpPhase::Starting | AcpPhase::Replaying | AcpPhase::Settling | AcpPhase::Ready => state.send_next_prompt(out),
        }
    }

    fn send_prompt(&mut self, text: String, out: &mut Out) {
        match self.state.phase {
            AcpPhase::Closed => out.event(AgentEvent::Error(CLOSED.to_owned())),
            AcpPhase::Down => out.event(AgentEvent::Error(NOT_RUNNING.to_owned())),
            AcpPhase::Starting | AcpPhase::Replaying | AcpPhase::Settling | AcpPhase::Ready => {
                self.state.enqueue(text, out);
                self.state.send_next_prompt(out);
            }
        }
    }

    fn deliver_outcome(&mut self, outcome: &Outcome<'_>, out: &mut Out) {
        self.state.deliver_outcome(outcome, out);
    }

    fn interrupt(&mut self, out: &mut Out) {
        let state = &mut self.state;
        let starting = matches!(state.phase, AcpPhase::Starting | AcpPhase::Replaying | AcpPhase::Settling);
        if starting && !state.queue.is_empty() {
            state.queue.clear();
            out.event(AgentEvent::Notice("The agent is still starting; queued messages will not be sent.".to_owned()));
        }
        state.cancel_turn(texts::WITHDRAWN_INTERRUPTED, out);
    }

    fn configure(&mut self, permission_mode: Option<String>, model: Option<String>, out: &mut Out) {
        self.state.configure(permission_mode, model, out);
    }

    fn close_session(&mut self, out: &mut Out) {
        let state = &mut self.state;
        if state.phase == AcpPhase::Closed {
            return;
        }
        state.finish_messages(None, out);
        state.cancel_turn(texts::WITHDRAWN_CLOSED, out);
        if state.phase != AcpPhase::Down {
            if let (true, Some(session)) = (state.agent.close, &state.agent.session) {
                let params = json!({ "sessionId": session });
                state.requests.send(AcpRequest::CloseSession, "session/close", &params, out);
            }
            out.stop();
        }
        state.forget_process();
        state.queue.clear();
        state.phase = AcpPhase::Closed;
        out.closed();
    }

    fn handle_line(&mut self, line: &str, out: &mut Out) {
        let state = &mut self.state;
        if matches!(state.phase, AcpPhase::Down | AcpPhase::Closed) {
            return;
        }
        match state.hearing.read("The agent", line, out) {
            Some(Message::Request { id, method, params }) => state.request(id, &method, params, line, out),
            Some(Message::Notification { method, params }) => state.handle_notification(&method, params, out),
            Some(Message::Response { id, outcome }) => state.response(&id, outcome, out),
            None => {}
        }
    }

    fn handle_exit(&mut self, exit: &Exit, out: &mut Out) {
        let state = &mut self.state;
        if matches!(state.phase, AcpPhase::Down | AcpPhase::Closed) {
            return;
        }
        state.finish_messages(None, out);
        let reason = state.hearing.describe_exit("the agent", None, exit);
        let failed = exit.code != Some(0) || state.turn.is_some() || state.phase != AcpPhase::Ready;
        let resumable = state.can_resume();
        state.phase = AcpPhase::Down;
        state.forget_process();
        out.event(AgentEvent::Ended { reason, failed, resumable });
    }
}

impl Translator for AcpTranslator {
    fn handle(&mut self, now: Time, input: Input) -> Vec<Output> {
        process::handle(self, now, input)
    }

    fn save(&self) -> Saved {
        Saved::of(VERSION, &self.state)
    }
}
