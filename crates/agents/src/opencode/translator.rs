//! The OpenCode translator: converts commands into calls to its server.

use std::time::Duration;

use sayso_core::ask::{Delivery, TypedAnswers};
use sayso_core::id::SessionId;
use sayso_core::texts;
use sayso_core::time::Time;
use serde::{Deserialize, Serialize};

use super::launch::{USER, launch};
use super::replies::ReplyEffect;
use super::state::{Arrived, OpenCodeLife, OpenCodeProcess, OpenCodeState, Turn};
use crate::out::Out;
use crate::process::memory::{QUEUE, queue_is_full};
use crate::process::{self, ExitedProcess, ProcessAgent, StartSettings};
use crate::translator::{AgentEvent, Capabilities, Exit, HttpServer, Input, Login, Outcome, Output, Saved, Translator};

/// OpenCode sends plans as questions with only yes and no.
pub const CAPABILITIES: Capabilities =
    Capabilities { elicitation: false, configure: false, typed: TypedAnswers::OwnText, ..Capabilities::FULL };

/// Version of the saved state's format.
const VERSION: u32 = 1;
/// Timeout for the start of the server and the creation of the session. OpenCode is slow on a loaded machine.
const START: Duration = Duration::from_secs(180);
/// The output that precedes the server's URL.
const LISTENS: &str = "listening on ";

const HOW_TO_INSTALL: &str = "Is `opencode` installed? `npm install -g opencode-ai` installs it";
const NOT_RUNNING: &str = "OpenCode is not running; the message was not sent.";

/// Translator for one OpenCode session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OpenCodeTranslator {
    pub(super) state: OpenCodeState,
}

impl OpenCodeTranslator {
    /// Creates a translator whose first command starts the process.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a translator for a running process, for the replay of recordings. The first session that appears is this
    /// session.
    #[must_use]
    pub fn attached(session: SessionId) -> Self {
        let process = OpenCodeProcess { adopts: true, ready: true, ..OpenCodeProcess::default() };
        Self {
            state: OpenCodeState {
                session: Some(session),
                life: OpenCodeLife::Up(Box::new(process)),
                ..OpenCodeState::default()
            },
        }
    }

    /// Restores a saved translator; `None` if the state has another format version.
    #[must_use]
    pub fn restore(saved: &Saved) -> Option<Self> {
        saved.read(VERSION).map(|state| Self { state })
    }

    /// Stops an unusable process and ends the session.
    fn abort_session(&mut self, reason: String, out: &mut Out) {
        let OpenCodeLife::Up(process) = &mut self.state.life else { return };
        let url = process.url.take();
        self.state.life = OpenCodeLife::Closing { url };
        out.stop();
        out.event(AgentEvent::Ended { reason, failed: true, resumable: self.state.conversation.is_some() });
    }

    fn tick(&mut self, now: Time, out: &mut Out) {
        let Some((process, mut ctx)) = self.state.process() else { return };
        if process.ready {
            process.start_by = None;
        }
        if process.start_by.is_some_and(|by| by <= now) {
            let what = if process.url.is_some() { "did not create a session" } else { "did not report its address" };
            return self.abort_session(format!("OpenCode {what} within {} seconds", START.as_secs()), out);
        }
        if process.needs_poll() && process.look_at.is_none_or(|at| at <= now) {
            process.poll(now, &mut ctx, out);
        }
    }

    /// Polls the server's state, starting with the session.
    fn stream_opened(&mut self, now: Time, out: &mut Out) {
        let Some((process, mut ctx)) = self.state.process() else { return };
        process.poll(now, &mut ctx, out);
    }
}

impl ProcessAgent for OpenCodeTranslator {
    const OTHER_SESSION: &'static str = "OpenCode does not have this session.";

    fn session(&mut self) -> &mut Option<SessionId> {
        &mut self.state.session
    }

    fn start_session(&mut self, now: Time, wanted: StartSettings, prompt: Option<String>, out: &mut Out) {
        if let Some(model) = wanted.model.as_deref().filter(|model| !model.is_empty() && !model.contains('/')) {
            out.event(AgentEvent::Notice(format!(
                "OpenCode names a model with its provider, as in `anthropic/claude-sonnet-4`. `{model}` was left out."
            )));
        }
        if !matches!(self.state.life, OpenCodeLife::Up(_)) {
            self.state.wanted = wanted;
            out.launch(launch(&self.state.wanted));
            let process = OpenCodeProcess { start_by: Some(now.plus(START)), ..OpenCodeProcess::default() };
            self.state.life = OpenCodeLife::Up(Box::new(process));
        }
        match prompt {
            Some(text) => self.send_prompt(text, out),
            // Without a prompt, `TurnEnded` is what reports that the session accepts messages.
            None if matches!(&self.state.life, OpenCodeLife::Up(process) if process.turn == Turn::Idle) => {
                out.event(AgentEvent::TurnEnded);
            }
            None => {}
        }
    }

    /// Sends a message. OpenCode accepts messages at any time once the session exists.
    fn send_prompt(&mut self, text: String, out: &mut Out) {
        let Some((process, _)) = self.state.process() else { return out.event(AgentEvent::Error(NOT_RUNNING.to_owned())) };
        if process.waiting.len() >= QUEUE {
            return out.event(queue_is_full());
        }
        process.expect_turn(out);
        process.waiting.push_back(text);
    }

    fn deliver_outcome(&mut self, outcome: &Outcome<'_>, out: &mut Out) {
        match self.state.process() {
            Some((process, mut ctx)) => process.deliver_outcome(outcome, &mut ctx, out),
            None => out.undeliverable(outcome.ask, texts::AGENT_GONE_NOTHING_SENT),
        }
    }

    fn interrupt(&mut self, out: &mut Out) {
        let Some((process, mut ctx)) = self.state.process() else { return };
        if !process.waiting.is_empty() {
            process.waiting.clear();
            out.event(AgentEvent::Notice("OpenCode is still starting; queued messages will not be sent.".to_owned()));
        }
        if process.ready {
            process.stop(texts::WITHDRAWN_INTERRUPTED, &mut ctx, out);
        } else if process.turn != Turn::Idle {
            process.turn_ended(&mut ctx, out);
        }
    }

    fn configure(&mut self, _permission_mode: Option<String>, _model: Option<String>, out: &mut Out) {
        out.event(AgentEvent::Error(texts::SETTINGS_FIXED.to_owned()));
    }

    fn close_session(&mut self, out: &mut Out) {
        let Some((process, mut ctx)) = self.state.process() else { return };
        process.stop(texts::WITHDRAWN_CLOSED, &mut ctx, out);
        let url = process.url.take();
        out.stop();
        self.state.life = OpenCodeLife::Closing { url };
        out.closed();
    }

    fn handle_exit(&mut self, exit: &Exit, out: &mut Out) {
        // The end of a closed session was already reported.
        let OpenCodeLife::Up(process) = std::mem::take(&mut self.state.life) else { return };
        for sent in process.sent.iter().filter(|sent| sent.arrived == Arrived::Unsure) {
            let delivery = Delivery::Undeliverable { reason: texts::AGENT_GONE_NOT_CERTAIN.to_owned() };
            out.event(AgentEvent::AskDelivery { ask: sent.ask, delivery });
        }
        let reason = ExitedProcess { who: "OpenCode", heard: process.heard, hint: Some(HOW_TO_INSTALL) }.describe(exit);
        let failed = exit.code != Some(0) || process.turn != Turn::Idle;
        out.event(AgentEvent::Ended { reason, failed, resumable: self.state.conversation.is_some() });
    }

    fn handle_line(&mut self, text: &str, _out: &mut Out) {
        let OpenCodeLife::Up(process) = &mut self.state.life else { return };
        process.heard = true;
        // Sayso chose the port, so the password is only sent to this address.
        if let Some((_, address)) = text.trim().split_once(LISTENS)
            && let Some(port) = address.strip_prefix("http://127.0.0.1:")
            && port.parse::<u16>().is_ok_and(|port| port != 0)
        {
            process.url = Some(address.to_owned());
        }
    }

    fn other_input(&mut self, now: Time, input: Input, out: &mut Out) {
        match input {
            Input::Tick => self.tick(now, out),
            Input::StreamOpened => self.stream_opened(now, out),
            // The caller reopens the stream and everything is polled then.
            Input::StreamClosed => {}
            Input::StreamEvent(data) => {
                if let Some((process, mut ctx)) = self.state.process() {
                    process.event(now, &data, &mut ctx, out);
                }
            }
            Input::HttpReply(reply) => {
                let after = match self.state.process() {
                    Some((process, mut ctx)) => process.replied(now, &reply, &mut ctx, out),
                    None => ReplyEffect::Continue,
                };
                if let ReplyEffect::Abort { reason, lost } = after {
                    if lost {
                        self.state.conversation = None;
                    }
                    self.abort_session(reason, out);
                }
            }
            // `process::handle` handles these.
            Input::Command(_) | Input::Line(_) | Input::Exited(_) => {}
        }
    }

    /// Sends messages that waited for the session.
    fn after_input(&mut self, now: Time, out: &mut Out) {
        if let Some((process, mut ctx)) = self.state.process()
            && process.ready
        {
            while let Some(text) = process.waiting.pop_front() {
                ctx.prompt(process, text, now, out);
            }
        }
    }
}

impl Translator for OpenCodeTranslator {
    fn handle(&mut self, now: Time, input: Input) -> Vec<Output> {
        process::handle(self, now, input)
    }

    fn deadline(&self) -> Option<Time> {
        let OpenCodeLife::Up(process) = &self.state.life else { return None };
        let start = process.start_by.filter(|_| !process.ready);
        let look = process.look_at.filter(|_| process.needs_poll());
        start.into_iter().chain(look).min()
    }

    fn save(&self) -> Saved {
        Saved::of(VERSION, &self.state)
    }

    fn server(&self) -> Option<HttpServer> {
        let url = match &self.state.life {
            OpenCodeLife::Down => None,
            OpenCodeLife::Up(process) => process.url.clone(),
            OpenCodeLife::Closing { url } => url.clone(),
        }?;
        Some(HttpServer { url, login: Login::Basic(USER.to_owned()), events: Some("/global/event".to_owned()) })
    }
}
