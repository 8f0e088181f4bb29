//! Claude Code as a translator: what a person wants becomes lines for it. What it says is read in
//! `hear`.

use sayso_core::ask::TypedAnswers;
use sayso_core::id::SessionId;
use sayso_core::texts;
use sayso_core::time::Time;

use super::launch::{Wanted, launch};
use super::state::{Control, Life, State, Turn};
use super::{exit, wire};
use crate::out::Out;
use crate::translator::{AgentEvent, Capabilities, Command, Exit, Input, Outcome, Output, Saved, Translator};

/// What Claude Code can do.
pub const CAPABILITIES: Capabilities = Capabilities {
    questions: true,
    approvals: true,
    plans: true,
    elicitation: true,
    resume: true,
    survives_restart: true,
    configure: true,
    typed: TypedAnswers::Sets,
};

/// The version of the saved state's shape.
const VERSION: u32 = 1;

const NOT_RUNNING: &str = "Claude Code is not running; the message was not taken.";

/// The Claude Code of one session.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaudeTranslator {
    pub(super) state: State,
}

impl ClaudeTranslator {
    /// A translator whose process is started by its first command.
    #[must_use]
    pub const fn new() -> Self {
        Self { state: State::new() }
    }

    /// A translator whose process runs already: recordings are replayed with it, and a process whose
    /// translator's state was lost is taken over.
    #[must_use]
    pub fn attached(session: SessionId) -> Self {
        let life = Life::Up(Box::default());
        Self { state: State { session: Some(session), life, ..State::new() } }
    }

    /// The translator as it was saved; nothing if the state is of another version.
    #[must_use]
    pub fn restore(saved: &Saved) -> Option<Self> {
        saved.read(VERSION).map(|state| Self { state })
    }

    fn command(&mut self, command: Command) -> Vec<Output> {
        let session = command.session();
        let ours = *self.state.session.get_or_insert(session) == session;
        let mut out = Out::new(session);
        match command {
            Command::Outcome { ask, native_id, decision, raw, by, .. } => {
                let given = Outcome { ask, native_id: &native_id, decision: &decision, raw: raw.as_ref(), by };
                match &mut self.state.life {
                    Life::Up(process) if ours => process.outcome(&given, &mut self.state.asked, &mut out),
                    Life::Up(_) | Life::Down | Life::Closing => out.undeliverable(ask, texts::AGENT_GONE_NOTHING_SENT),
                }
            }
            Command::Start { .. }
            | Command::Prompt { .. }
            | Command::Interrupt { .. }
            | Command::Close { .. }
            | Command::Configure { .. }
                if !ours => {}
            Command::Start { project, prompt, permission_mode, model, questions, .. } => {
                let wanted = Wanted {
                    session,
                    project,
                    permission_mode: &permission_mode,
                    model: model.as_deref(),
                    questions,
                    conversation: self.state.conversation.as_deref(),
                };
                if !matches!(self.state.life, Life::Up(_)) {
                    out.launch(launch(wanted));
                    self.state.life = Life::Up(Box::default());
                }
                self.start(prompt.as_deref(), &mut out);
            }
            Command::Prompt { text, .. } => match &mut self.state.life {
                Life::Up(process) => {
                    process.turn_asked_for(&mut out);
                    out.line(wire::user(&text));
                }
                Life::Down | Life::Closing => out.event(AgentEvent::Error(NOT_RUNNING.to_owned())),
            },
            Command::Interrupt { .. } => {
                if let Life::Up(process) = &mut self.state.life {
                    process.stopping();
                    out.line(process.control(Control::Interrupt, &mut self.state.asked));
                }
            }
            Command::Close { .. } => self.close(&mut out),
            Command::Configure { permission_mode, model, .. } => match &mut self.state.life {
                Life::Up(process) => {
                    for control in [permission_mode.map(Control::SetMode), model.map(Control::SetModel)].into_iter().flatten() {
                        out.line(process.control(control, &mut self.state.asked));
                    }
                }
                // The next start says what the session has.
                Life::Down | Life::Closing => out.event(AgentEvent::Configured { permission_mode, model }),
            },
        }
        out.into_outputs()
    }

    /// Greets the process, once, and says the first prompt. Claude reads both in this order and does
    /// not need to be waited for.
    fn start(&mut self, prompt: Option<&str>, out: &mut Out) {
        let Life::Up(process) = &mut self.state.life else { return };
        if !process.greeted {
            out.line(process.control(Control::Initialize, &mut self.state.asked));
        }
        if let Some(prompt) = prompt {
            out.line(wire::user(prompt));
        }
        match (prompt, process.turn) {
            (Some(_), _) => process.turn_asked_for(out),
            // It takes a message: that is all there is to say about a start without a prompt.
            (None, Turn::Idle { .. }) => out.event(AgentEvent::TurnEnded),
            (None, Turn::Running { .. }) => {}
        }
    }

    fn close(&mut self, out: &mut Out) {
        if let Life::Up(process) = &mut self.state.life {
            for open in process.open.drain(..) {
                let reason = texts::WITHDRAWN_CLOSED.to_owned();
                out.event(AgentEvent::AskWithdrawn { native_id: open.id, reason });
            }
            // A request that fails because nobody listens any more does not stop Claude: it goes on alone.
            out.line(process.control(Control::Interrupt, &mut self.state.asked));
            out.stop();
            self.state.life = Life::Closing;
            out.event(AgentEvent::Ended { reason: "closed".to_owned(), failed: false, resumable: false });
        }
    }

    fn exited(&mut self, exit: &Exit) -> Vec<Output> {
        let Some(session) = self.state.session else { return Vec::new() };
        let mut out = Out::new(session);
        // When it was closed, the end of the session has been told.
        if let Life::Up(process) = std::mem::replace(&mut self.state.life, Life::Down) {
            out.event(exit::ended(&process, &mut self.state.conversation, session, exit));
        }
        out.into_outputs()
    }

    fn line(&mut self, text: &str) -> Vec<Output> {
        let Some(session) = self.state.session else { return Vec::new() };
        let mut out = Out::new(session);
        self.state.hear(text, &mut out);
        out.into_outputs()
    }
}

impl Default for ClaudeTranslator {
    fn default() -> Self {
        Self::new()
    }
}

impl Translator for ClaudeTranslator {
    fn handle(&mut self, _now: Time, input: Input) -> Vec<Output> {
        match input {
            Input::Command(command) => self.command(command),
            Input::Line(text) => self.line(&text),
            Input::Exited(exit) => self.exited(&exit),
            // Claude is no server, and waits as long as it takes.
            Input::HttpReply(_) | Input::StreamOpened | Input::StreamEvent(_) | Input::StreamClosed | Input::Tick => Vec::new(),
        }
    }

    fn deadline(&self) -> Option<Time> {
        None
    }

    fn save(&self) -> Saved {
        Saved::of(VERSION, &self.state)
    }
}
