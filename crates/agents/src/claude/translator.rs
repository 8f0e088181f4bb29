//! The Claude Code translator: converts commands into protocol lines. `output` parses the output.

use sayso_core::id::SessionId;
use sayso_core::texts;
use sayso_core::time::Time;

use super::launch::launch;
use super::state::{ClaudeLife, ClaudeState, Control, Turn};
use super::{exit, wire};
use crate::out::Out;
use crate::process::{self, ProcessAgent, StartSettings};
use crate::translator::{AgentEvent, Capabilities, Exit, Input, Outcome, Output, Saved, Translator};

pub const CAPABILITIES: Capabilities = Capabilities::FULL;

/// Version of the saved state's format.
const VERSION: u32 = 1;

const NOT_RUNNING: &str = "Claude Code is not running; the message was not sent.";

/// Translator for one Claude Code session.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClaudeTranslator {
    pub(super) state: ClaudeState,
}

impl ClaudeTranslator {
    /// Creates a translator whose first command starts the process.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a translator for a process that is already running: for the replay of recordings, and for a process
    /// whose translator state was lost.
    #[must_use]
    pub fn attached(session: SessionId) -> Self {
        let life = ClaudeLife::Up(Box::default());
        Self { state: ClaudeState { session: Some(session), life, ..ClaudeState::default() } }
    }

    /// Restores a saved translator; `None` if the state has another format version.
    #[must_use]
    pub fn restore(saved: &Saved) -> Option<Self> {
        saved.read(VERSION).map(|state| Self { state })
    }

    /// Sends `initialize` once, then the first prompt. Claude reads both in this order, so there is no need to wait for
    /// the response.
    fn initialize(&mut self, prompt: Option<&str>, out: &mut Out) {
        let ClaudeLife::Up(process) = &mut self.state.life else { return };
        if !process.greeted {
            out.line(process.control(Control::Initialize, &mut self.state.asked));
        }
        if let Some(prompt) = prompt {
            out.line(wire::user(prompt));
        }
        match (prompt, process.turn) {
            (Some(_), _) => process.expect_turn(out),
            // Without a prompt, `TurnEnded` is what reports that the session accepts messages.
            (None, Turn::Idle { .. }) => out.event(AgentEvent::TurnEnded),
            (None, Turn::Running { .. }) => {}
        }
    }
}

impl ProcessAgent for ClaudeTranslator {
    const OTHER_SESSION: &'static str = texts::AGENT_GONE_NOTHING_SENT;

    fn session(&mut self) -> &mut Option<SessionId> {
        &mut self.state.session
    }

    fn start_session(&mut self, _now: Time, wanted: StartSettings, prompt: Option<String>, out: &mut Out) {
        let Some(session) = self.state.session else { return };
        if !matches!(self.state.life, ClaudeLife::Up(_)) {
            out.launch(launch(session, wanted, self.state.conversation.as_deref()));
            self.state.life = ClaudeLife::Up(Box::default());
        }
        self.initialize(prompt.as_deref(), out);
    }

    fn send_prompt(&mut self, text: String, out: &mut Out) {
        match &mut self.state.life {
            ClaudeLife::Up(process) => {
                process.expect_turn(out);
                out.line(wire::user(&text));
            }
            ClaudeLife::Down | ClaudeLife::Closing => out.event(AgentEvent::Error(NOT_RUNNING.to_owned())),
        }
    }

    fn deliver_outcome(&mut self, outcome: &Outcome<'_>, out: &mut Out) {
        match &mut self.state.life {
            ClaudeLife::Up(process) => process.deliver_outcome(outcome, &mut self.state.asked, out),
            ClaudeLife::Down | ClaudeLife::Closing => out.undeliverable(outcome.ask, texts::AGENT_GONE_NOTHING_SENT),
        }
    }

    fn interrupt(&mut self, out: &mut Out) {
        if let ClaudeLife::Up(process) = &mut self.state.life {
            process.mark_stopping();
            out.line(process.control(Control::Interrupt, &mut self.state.asked));
        }
    }

    fn configure(&mut self, permission_mode: Option<String>, model: Option<String>, out: &mut Out) {
        match &mut self.state.life {
            ClaudeLife::Up(process) => {
                for control in [permission_mode.map(Control::SetMode), model.map(Control::SetModel)].into_iter().flatten() {
                    out.line(process.control(control, &mut self.state.asked));
                }
            }
            // The next start uses the new settings of the session.
            ClaudeLife::Down | ClaudeLife::Closing => out.event(AgentEvent::Configured { permission_mode, model }),
        }
    }

    fn close_session(&mut self, out: &mut Out) {
        if let ClaudeLife::Up(process) = &mut self.state.life {
            for open in process.open.drain(..) {
                let reason = texts::WITHDRAWN_CLOSED.to_owned();
                out.event(AgentEvent::AskWithdrawn { native_id: open.id, reason });
            }
            // Closing stdin does not stop Claude: its pending requests fail and it continues alone. So the turn is
            // interrupted first.
            out.line(process.control(Control::Interrupt, &mut self.state.asked));
            out.stop();
            self.state.life = ClaudeLife::Closing;
            out.closed();
        }
    }

    fn handle_line(&mut self, line: &str, out: &mut Out) {
        self.state.handle_output(line, out);
    }

    fn handle_exit(&mut self, exit: &Exit, out: &mut Out) {
        let Some(session) = self.state.session else { return };
        // The end of a closed session was already reported.
        if let ClaudeLife::Up(process) = std::mem::take(&mut self.state.life) {
            out.event(exit::ended(&process, &mut self.state.conversation, session, exit));
        }
    }
}

impl Translator for ClaudeTranslator {
    fn handle(&mut self, now: Time, input: Input) -> Vec<Output> {
        process::handle(self, now, input)
    }

    fn save(&self) -> Saved {
        Saved::of(VERSION, &self.state)
    }
}
