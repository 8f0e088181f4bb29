//! Codex as a translator: what a person wants becomes lines for it, and what it says becomes events.

use sayso_core::ask::TypedAnswers;
use sayso_core::id::SessionId;
use sayso_core::texts;
use sayso_core::time::Time;
use serde::{Deserialize, Serialize};

use super::exit;
use super::state::{Phase, State};
use crate::json_rpc::{self, Message, Nonsense};
use crate::out::Out;
use crate::translator::{AgentEvent, Capabilities, Command, Exit, Input, Outcome, Output, Saved, Translator};
use crate::wanted::Wanted;

/// What Codex can do. Its plans are messages: it does not ask whether to begin.
pub const CAPABILITIES: Capabilities = Capabilities {
    questions: true,
    approvals: true,
    plans: false,
    elicitation: true,
    resume: true,
    survives_restart: true,
    configure: false,
    typed: TypedAnswers::OwnText,
};

/// The version of the saved state's shape.
const VERSION: u32 = 2;

const NOT_RUNNING: &str = "Codex is not running; the message was not taken. Resume the session first.";

/// The Codex of one session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CodexTranslator {
    pub(super) state: State,
}

impl CodexTranslator {
    /// A translator whose process is started by its first command.
    #[must_use]
    pub fn new() -> Self {
        Self { state: State::new() }
    }

    /// A translator whose process runs already. The first thread that it names is taken for the session's.
    #[must_use]
    pub fn attached(session: SessionId) -> Self {
        Self { state: State { session: Some(session), phase: Phase::Ready, ..State::new() } }
    }

    /// The translator as it was saved; nothing if the state is of another version.
    #[must_use]
    pub fn restore(saved: &Saved) -> Option<Self> {
        saved.read(VERSION).map(|state| Self { state })
    }

    fn command(&mut self, command: Command, out: &mut Out) {
        let state = &mut self.state;
        match command {
            Command::Start { project, prompt, permission_mode, model, questions, .. } => {
                state.wanted = Wanted { project, mode: permission_mode, model, questions };
                let up = matches!(state.phase, Phase::Starting | Phase::Ready);
                if !up {
                    state.launch(out);
                }
                match prompt {
                    Some(text) => state.say(text, out),
                    None if state.phase == Phase::Ready && state.turn.is_none() => out.event(AgentEvent::TurnEnded),
                    None => {}
                }
            }
            Command::Prompt { text, .. } => match state.phase {
                Phase::Down | Phase::Closed => out.event(AgentEvent::Error(NOT_RUNNING.to_owned())),
                Phase::Starting | Phase::Ready => state.say(text, out),
            },
            Command::Outcome { ask, native_id, decision, raw, by, .. } => {
                state.outcome(&Outcome { ask, native_id: &native_id, decision: &decision, raw: raw.as_ref(), by }, out);
            }
            Command::Interrupt { .. } => {
                if state.phase == Phase::Starting && !state.queue.is_empty() {
                    state.queue.clear();
                    out.event(AgentEvent::Notice("Codex is still starting; what waited for it will not be sent.".to_owned()));
                }
                state.stop_turn(out);
            }
            Command::Close { .. } => self.close(out),
            Command::Configure { .. } => out.event(AgentEvent::Error(texts::SETTINGS_FIXED.to_owned())),
        }
    }

    fn close(&mut self, out: &mut Out) {
        let state = &mut self.state;
        if state.phase == Phase::Closed {
            return;
        }
        for open in std::mem::take(&mut state.open) {
            let reason = texts::WITHDRAWN_CLOSED.to_owned();
            out.event(AgentEvent::AskWithdrawn { native_id: open.native_id, reason });
        }
        if state.phase != Phase::Down {
            state.stop_turn(out);
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
        match json_rpc::heard("Codex", line) {
            Ok(Message::Request { id, method, params }) => state.request(id, &method, params, line, out),
            Ok(Message::Notification { method, params }) => state.notification(&method, params, line, out),
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
        let reason = exit::told(state.heard, exit);
        let failed = exit.code != Some(0) || state.turn.is_some() || state.phase != Phase::Ready;
        state.phase = Phase::Down;
        state.forget_process();
        out.event(AgentEvent::Ended { reason, failed, resumable: state.can_resume() });
    }
}

impl Default for CodexTranslator {
    fn default() -> Self {
        Self::new()
    }
}

impl Translator for CodexTranslator {
    fn handle(&mut self, _now: Time, input: Input) -> Vec<Output> {
        let mut out = match Out::carrying(&mut self.state.session, "Codex", &input) {
            Ok(out) => out,
            Err(outputs) => return outputs,
        };
        match input {
            Input::Command(command) => self.command(command, &mut out),
            Input::Line(line) => self.line(&line, &mut out),
            Input::Exited(exit) => self.exited(&exit, &mut out),
            // Codex is no server here, and waits as long as it takes.
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
