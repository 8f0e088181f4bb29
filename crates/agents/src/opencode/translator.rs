//! OpenCode as a translator: what a person wants becomes calls to its server.

use std::time::Duration;

use sayso_core::ask::{Delivery, TypedAnswers};
use sayso_core::id::SessionId;
use sayso_core::texts;
use sayso_core::time::Time;
use serde::{Deserialize, Serialize};

use super::launch::{USER, launch};
use super::replies::After;
use super::state::{Arrived, Life, Process, QUEUE, State, Turn};
use crate::exit::Gone;
use crate::out::Out;
use crate::translator::{AgentEvent, Capabilities, Command, Exit, HttpServer, Input, Login, Outcome, Output, Saved, Translator};
use crate::wanted::Wanted;

/// What OpenCode can do.
pub const CAPABILITIES: Capabilities = Capabilities {
    questions: true,
    approvals: true,
    plans: true,
    elicitation: false,
    resume: true,
    survives_restart: true,
    configure: false,
    typed: TypedAnswers::OwnText,
};

/// The version of the saved state's shape.
const VERSION: u32 = 1;
/// How long it may take until it listens and our session is there. It is slow on a busy machine.
const START: Duration = Duration::from_secs(180);
/// What it says before its address.
const LISTENS: &str = "listening on ";

const NOT_RUNNING: &str = "OpenCode is not running; the message was not taken.";

/// The OpenCode of one session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OpenCodeTranslator {
    pub(super) state: State,
}

impl OpenCodeTranslator {
    /// A translator whose process is started by its first command.
    #[must_use]
    pub fn new() -> Self {
        Self { state: State::new() }
    }

    /// A translator whose process runs already: recordings are replayed with it. The first session that
    /// is named is taken for this one.
    #[must_use]
    pub fn attached(session: SessionId) -> Self {
        let process = Process { adopts: true, ready: true, ..Process::default() };
        Self { state: State { session: Some(session), life: Life::Up(Box::new(process)), ..State::new() } }
    }

    /// The translator as it was saved; nothing if the state is of another version.
    #[must_use]
    pub fn restore(saved: &Saved) -> Option<Self> {
        saved.read(VERSION).map(|state| Self { state })
    }

    fn command(&mut self, now: Time, command: Command, out: &mut Out) {
        match command {
            Command::Start { project, prompt, permission_mode, model, questions, .. } => {
                if let Some(model) = model.as_deref().filter(|model| !model.is_empty() && !model.contains('/')) {
                    out.event(AgentEvent::Notice(format!(
                        "OpenCode names a model with its provider, as in `anthropic/claude-sonnet-4`. `{model}` was left out."
                    )));
                }
                if !matches!(self.state.life, Life::Up(_)) {
                    self.state.wanted = Wanted { project, mode: permission_mode, model, questions };
                    out.launch(launch(&self.state.wanted));
                    let process = Process { start_by: Some(now.plus(START)), ..Process::default() };
                    self.state.life = Life::Up(Box::new(process));
                }
                match prompt {
                    Some(text) => self.prompt(text, out),
                    // It takes a message: that is all there is to say about a start without a prompt.
                    None if matches!(&self.state.life, Life::Up(process) if process.turn == Turn::Idle) => {
                        out.event(AgentEvent::TurnEnded);
                    }
                    None => {}
                }
            }
            Command::Prompt { text, .. } => self.prompt(text, out),
            Command::Outcome { ask, native_id, decision, raw, by, .. } => {
                let given = Outcome { ask, native_id: &native_id, decision: &decision, raw: raw.as_ref(), by };
                match self.state.process() {
                    Some((process, mut line)) => process.outcome(&given, &mut line, out),
                    None => out.undeliverable(ask, texts::AGENT_GONE_NOTHING_SENT),
                }
            }
            Command::Interrupt { .. } => self.interrupt(out),
            Command::Close { .. } => self.close(out),
            Command::Configure { .. } => out.event(AgentEvent::Error(texts::SETTINGS_FIXED.to_owned())),
        }
    }

    /// Takes what the person says. OpenCode takes it at any time, once the session is there.
    fn prompt(&mut self, text: String, out: &mut Out) {
        let Some((process, _)) = self.state.process() else { return out.event(AgentEvent::Error(NOT_RUNNING.to_owned())) };
        if process.waiting.len() >= QUEUE {
            return out.event(AgentEvent::Error(format!("{QUEUE} messages wait already; this one was not taken.")));
        }
        process.turn_asked_for(out);
        process.waiting.push_back(text);
    }

    fn interrupt(&mut self, out: &mut Out) {
        let Some((process, mut line)) = self.state.process() else { return };
        if !process.waiting.is_empty() {
            process.waiting.clear();
            out.event(AgentEvent::Notice("OpenCode is still starting; what waited for it will not be sent.".to_owned()));
        }
        if process.ready {
            process.stop(texts::WITHDRAWN_INTERRUPTED, &mut line, out);
        } else if process.turn != Turn::Idle {
            process.turn_ended(&mut line, out);
        }
    }

    fn close(&mut self, out: &mut Out) {
        let Some((process, mut line)) = self.state.process() else { return };
        process.stop(texts::WITHDRAWN_CLOSED, &mut line, out);
        let url = process.url.take();
        out.stop();
        self.state.life = Life::Closing { url };
        out.event(AgentEvent::Ended { reason: "closed".to_owned(), failed: false, resumable: false });
    }

    fn exited(&mut self, exit: &Exit, out: &mut Out) {
        // When it was closed, the end of the session has been told.
        let Life::Up(process) = std::mem::replace(&mut self.state.life, Life::Down) else { return };
        for sent in process.sent.iter().filter(|sent| sent.arrived == Arrived::Unsure) {
            let delivery = Delivery::Undeliverable { reason: texts::AGENT_GONE_NOT_CERTAIN.to_owned() };
            out.event(AgentEvent::AskDelivery { ask: sent.ask, delivery });
        }
        let mut reason = Gone { who: "OpenCode", heard: process.heard }.told(exit);
        if !process.heard && exit.code.is_none() && exit.signal.is_none() {
            reason.push_str(". Is `opencode` installed? `npm install -g opencode-ai` installs it");
        }
        let failed = exit.code != Some(0) || process.turn != Turn::Idle;
        out.event(AgentEvent::Ended { reason, failed, resumable: self.state.conversation.is_some() });
    }

    /// Gives a process up that cannot be worked with.
    fn give_up(&mut self, reason: String, out: &mut Out) {
        let Life::Up(process) = &mut self.state.life else { return };
        let url = process.url.take();
        self.state.life = Life::Closing { url };
        out.stop();
        out.event(AgentEvent::Ended { reason, failed: true, resumable: self.state.conversation.is_some() });
    }

    fn line(&mut self, text: &str) {
        let Life::Up(process) = &mut self.state.life else { return };
        process.heard = true;
        // We told it where to listen; a password goes nowhere else.
        if let Some((_, address)) = text.trim().split_once(LISTENS)
            && let Some(port) = address.strip_prefix("http://127.0.0.1:")
            && port.parse::<u16>().is_ok_and(|port| port != 0)
        {
            process.url = Some(address.to_owned());
        }
    }

    fn tick(&mut self, now: Time, out: &mut Out) {
        let Some((process, mut line)) = self.state.process() else { return };
        if process.ready {
            process.start_by = None;
        }
        if process.start_by.is_some_and(|by| by <= now) {
            let what = if process.url.is_some() { "did not begin a session" } else { "did not say where it listens" };
            return self.give_up(format!("OpenCode {what} within {} seconds", START.as_secs()), out);
        }
        if process.wants_look() && process.look_at.is_none_or(|at| at <= now) {
            process.look(now, &mut line, out);
        }
    }

    /// Looks at what is there, our session first of all.
    fn stream_opened(&mut self, now: Time, out: &mut Out) {
        let Some((process, mut line)) = self.state.process() else { return };
        process.look(now, &mut line, out);
    }
}

impl Default for OpenCodeTranslator {
    fn default() -> Self {
        Self::new()
    }
}

impl Translator for OpenCodeTranslator {
    fn handle(&mut self, now: Time, input: Input) -> Vec<Output> {
        let mut out = match Out::carrying(&mut self.state.session, "OpenCode", &input) {
            Ok(out) => out,
            Err(outputs) => return outputs,
        };
        match input {
            Input::Command(command) => self.command(now, command, &mut out),
            Input::Line(text) => self.line(&text),
            Input::Exited(exit) => self.exited(&exit, &mut out),
            Input::Tick => self.tick(now, &mut out),
            Input::StreamOpened => self.stream_opened(now, &mut out),
            // It is opened again, and then everything is looked at.
            Input::StreamClosed => {}
            Input::StreamEvent(data) => {
                if let Some((process, mut line)) = self.state.process() {
                    process.event(now, &data, &mut line, &mut out);
                }
            }
            Input::HttpReply(reply) => {
                let after = match self.state.process() {
                    Some((process, mut line)) => process.replied(now, &reply, &mut line, &mut out),
                    None => After::GoOn,
                };
                if let After::Give { reason, lost } = after {
                    if lost {
                        self.state.conversation = None;
                    }
                    self.give_up(reason, &mut out);
                }
            }
        }
        if let Some((process, mut line)) = self.state.process()
            && process.ready
        {
            while let Some(text) = process.waiting.pop_front() {
                line.prompt(process, text, now, &mut out);
            }
        }
        out.into_outputs()
    }

    fn deadline(&self) -> Option<Time> {
        let Life::Up(process) = &self.state.life else { return None };
        let start = process.start_by.filter(|_| !process.ready);
        let look = process.look_at.filter(|_| process.wants_look());
        start.into_iter().chain(look).min()
    }

    fn save(&self) -> Saved {
        Saved::of(VERSION, &self.state)
    }

    fn server(&self) -> Option<HttpServer> {
        let url = match &self.state.life {
            Life::Down => None,
            Life::Up(process) => process.url.clone(),
            Life::Closing { url } => url.clone(),
        }?;
        Some(HttpServer { url, login: Login::Basic(USER.to_owned()), events: Some("/global/event".to_owned()) })
    }
}
