//! The translator: commands of people in, lines of the protocol out, and the other way round.

use sayso_core::id::SessionId;
use sayso_core::texts;
use sayso_core::time::Time;
use serde_json::json;

use super::state::{Call, Phase, State, Turn};
use crate::exit::Gone;
use crate::json_rpc::{self, Message, Nonsense};
use crate::out::Out;
use crate::translator::{AgentEvent, Command, Exit, Input, Outcome, Output, Saved, Translator};
use crate::wanted::Wanted;

/// The version of the saved state's shape.
const VERSION: u32 = 2;

/// The host of one agent process with one session.
#[derive(Debug, Clone, PartialEq)]
pub struct AcpTranslator {
    state: State,
}

impl AcpTranslator {
    /// A host that waits for its first command.
    #[must_use]
    pub fn new() -> Self {
        Self { state: State::new() }
    }

    /// A host whose agent runs already and works on a prompt. The first session that the agent names is taken
    /// for this one.
    #[must_use]
    pub fn attached(session: SessionId) -> Self {
        let state = State { session: Some(session), phase: Phase::Ready, turn: Some(Turn::default()), ..State::new() };
        Self { state }
    }

    /// The host as it was saved; nothing if the state is of another version.
    #[must_use]
    pub fn restore(saved: &Saved) -> Option<Self> {
        saved.read(VERSION).map(|state| Self { state })
    }

    fn command(&mut self, command: Command, out: &mut Out) {
        let state = &mut self.state;
        match command {
            Command::Start { project, prompt, permission_mode, model, questions, .. } => {
                state.wanted = Wanted { project, mode: permission_mode, model, questions };
                if let Some(text) = prompt {
                    state.enqueue(text, out);
                }
                match state.phase {
                    Phase::Down | Phase::Closed => state.launch(out),
                    Phase::Ready if state.turn.is_none() && state.queue.is_empty() => out.event(AgentEvent::TurnEnded),
                    Phase::Starting | Phase::Replaying | Phase::Settling | Phase::Ready => state.say_next(out),
                }
            }
            Command::Prompt { text, .. } => match state.phase {
                Phase::Closed => out.event(AgentEvent::Error("The session is closed; the message was not taken.".to_owned())),
                Phase::Down => out.event(AgentEvent::Error(
                    "The agent is not running; the message was not taken. Resume the session first.".to_owned(),
                )),
                Phase::Starting | Phase::Replaying | Phase::Settling | Phase::Ready => {
                    state.enqueue(text, out);
                    state.say_next(out);
                }
            },
            Command::Outcome { ask, native_id, decision, raw, by, .. } => {
                state.outcome(&Outcome { ask, native_id: &native_id, decision: &decision, raw: raw.as_ref(), by }, out);
            }
            Command::Interrupt { .. } => {
                let starting = matches!(state.phase, Phase::Starting | Phase::Replaying | Phase::Settling);
                if starting && !state.queue.is_empty() {
                    state.queue.clear();
                    out.event(AgentEvent::Notice("The agent is still starting; what waited for it will not be sent.".to_owned()));
                }
                state.cancel_turn(texts::WITHDRAWN_INTERRUPTED, out);
            }
            Command::Close { .. } => self.close(out),
            Command::Configure { permission_mode, model, .. } => state.configure(permission_mode, model, out),
        }
    }

    fn close(&mut self, out: &mut Out) {
        let state = &mut self.state;
        if state.phase == Phase::Closed {
            return;
        }
        state.finish_messages(None, out);
        state.cancel_turn(texts::WITHDRAWN_CLOSED, out);
        if state.phase != Phase::Down {
            if let (true, Some(session)) = (state.agent.close, &state.agent.session) {
                let params = json!({ "sessionId": session });
                state.call(Call::CloseSession, "session/close", &params, out);
            }
            out.stop();
        }
        state.forget_process();
        state.queue.clear();
        state.phase = Phase::Closed;
        out.event(AgentEvent::Ended { reason: "closed".to_owned(), failed: false, resumable: false });
    }

    fn line(&mut self, line: &str, out: &mut Out) {
        let state = &mut self.state;
        if line.trim().is_empty() || matches!(state.phase, Phase::Down | Phase::Closed) {
            return;
        }
        state.heard = true;
        match json_rpc::heard("The agent", line) {
            Ok(Message::Request { id, method, params }) => state.request(id, &method, params, line, out),
            Ok(Message::Notification { method, params }) => state.notification(&method, params, out),
            Ok(Message::Response { id, outcome }) => state.response(&id, outcome, out),
            Err(Nonsense { reply, told }) => {
                reply.into_iter().for_each(|reply| out.line(reply));
                state.complaints.tell(&told, out);
            }
        }
    }

    /// The process is gone. What it asked is parked or withdrawn by whoever hears of the end.
    fn exited(&mut self, exit: &Exit, out: &mut Out) {
        let state = &mut self.state;
        if matches!(state.phase, Phase::Down | Phase::Closed) {
            return;
        }
        state.finish_messages(None, out);
        let reason = Gone { who: "the agent", heard: state.heard }.told(exit);
        let failed = exit.code != Some(0) || state.turn.is_some() || state.phase != Phase::Ready;
        let resumable = state.can_resume();
        state.phase = Phase::Down;
        state.forget_process();
        out.event(AgentEvent::Ended { reason, failed, resumable });
    }
}

impl Default for AcpTranslator {
    fn default() -> Self {
        Self::new()
    }
}

impl Translator for AcpTranslator {
    fn handle(&mut self, _now: Time, input: Input) -> Vec<Output> {
        let mut out = match Out::carrying(&mut self.state.session, "The agent", &input) {
            Ok(out) => out,
            Err(outputs) => return outputs,
        };
        match input {
            Input::Command(command) => self.command(command, &mut out),
            Input::Line(line) => self.line(&line, &mut out),
            Input::Exited(exit) => self.exited(&exit, &mut out),
            Input::HttpReply(_) | Input::StreamOpened | Input::StreamEvent(_) | Input::StreamClosed | Input::Tick => {}
        }
        out.into_outputs()
    }

    fn deadline(&self) -> Option<Time> {
        None
    }

    fn save(&self) -> Saved {
        Saved::of(VERSION, &self.state)
    }
}
