//! The handshake: from a new process to a thread that accepts messages, and the responses to Sayso's own requests.

use sayso_core::limits;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::launch;
use super::state::{CodexPhase, CodexRequest, CodexState, ID};
use crate::json::Object;
use crate::json_rpc::{Fault, Id};
use crate::out::Out;
use crate::translator::AgentEvent;

/// Completes the handshake. Codex rejects this notification if it has parameters.
pub(super) const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"initialized"}"#;

/// The parameters of `initialize`.
pub(super) fn introduction() -> Value {
    json!({
        "clientInfo": { "name": "sayso", "title": "Sayso", "version": env!("CARGO_PKG_VERSION") },
        // Plan mode is part of the experimental API.
        "capabilities": { "experimentalApi": true, "requestAttestation": false },
    })
}

impl CodexState {
    /// Starts the process and sends `initialize`.
    pub(super) fn launch(&mut self, out: &mut Out) {
        self.forget_process();
        self.phase = CodexPhase::Starting;
        out.launch(launch::launch(&self.wanted));
        self.requests.send(CodexRequest::Initialize, "initialize", &introduction(), out);
    }

    /// Handles the response to one of Sayso's requests.
    pub(super) fn response(&mut self, id: &Id, outcome: Result<Option<&RawValue>, Fault>, out: &mut Out) {
        let Some(call) = self.requests.take(id) else { return };
        let result = outcome.map(|result| result.and_then(Object::of).unwrap_or_default());
        match (call, result) {
            (CodexRequest::Initialize, Ok(_)) => {
                out.line(INITIALIZED.to_owned());
                if !self.recorded {
                    self.thread = None;
                }
                let params = launch::thread(&self.wanted, self.thread.as_deref());
                match &self.thread {
                    Some(_) => self.requests.send(CodexRequest::ResumeThread, "thread/resume", &params, out),
                    None => self.requests.send(CodexRequest::StartThread, "thread/start", &params, out),
                };
            }
            (CodexRequest::StartThread | CodexRequest::ResumeThread, Ok(result)) => self.thread_opened(&result, out),
            (CodexRequest::ResumeThread, Err(fault)) => {
                // Codex has no recording of this thread, so resuming cannot succeed later either.
                self.recorded = false;
                self.abort_start(&format!("Codex cannot resume this session: {}", fault.in_words()), out);
            }
            (CodexRequest::Initialize | CodexRequest::StartThread, Err(fault)) => {
                self.abort_start(&format!("Codex did not open a session: {}", fault.in_words()), out);
            }
            (CodexRequest::Turn, Ok(result)) => {
                let id = result.object("turn").and_then(|turn| turn.non_blank_text("id")).filter(|id| id.len() <= ID);
                // The turn may have ended already.
                if let (Some(id), true) = (id, self.turn.as_ref().is_some_and(|turn| turn.id.is_none())) {
                    self.record_turn_id(id, out);
                }
            }
            (CodexRequest::Turn, Err(fault)) => {
                out.event(AgentEvent::Error(format!("Codex did not accept the message: {}", fault.in_words())));
                if self.turn.as_ref().is_some_and(|turn| turn.id.is_none()) {
                    self.turn = None;
                    out.event(AgentEvent::TurnEnded);
                    self.send_next_message(out);
                }
            }
            // The turn ended before the text arrived: it starts the next turn.
            (CodexRequest::Steer(text), Err(_)) => {
                self.queue.push_front(text);
                if let Some(turn) = &mut self.turn {
                    turn.closing = true;
                }
                self.send_next_message(out);
            }
            (CodexRequest::Steer(_) | CodexRequest::Interrupt, Ok(_)) => {}
            (CodexRequest::Interrupt, Err(fault)) => {
                if let Some(turn) = &mut self.turn {
                    turn.stopping = false;
                    out.event(AgentEvent::Error(format!("Codex could not be interrupted: {}", fault.in_words())));
                }
            }
        }
    }

    fn thread_opened(&mut self, result: &Object<'_>, out: &mut Out) {
        let thread = result.object("thread").and_then(|thread| thread.non_blank_text("id")).filter(|id| id.len() <= ID);
        let Some(thread) = thread.or_else(|| self.thread.take()) else {
            return self.abort_start("Codex opened a session without an id", out);
        };
        self.thread = Some(thread);
        self.model = result.non_blank_text("model").map(|model| limits::head(&model, limits::NAME).to_owned());
        self.phase = CodexPhase::Ready;
        if !launch::knows_mode(&self.wanted) {
            let mode = limits::head(&self.wanted.mode, 80);
            out.event(AgentEvent::Notice(format!("Codex has no permission mode `{mode}`. It uses its own configuration.")));
        }
        if self.queue.is_empty() {
            // Without a prompt, `TurnEnded` is what reports that the session accepts messages.
            out.event(AgentEvent::TurnEnded);
        }
        self.send_next_message(out);
    }

    /// Ends a session whose start failed.
    fn abort_start(&mut self, reason: &str, out: &mut Out) {
        out.event(AgentEvent::Error(format!("{}.", reason.trim_end_matches('.'))));
        self.phase = CodexPhase::Down;
        self.forget_process();
        out.stop();
        out.event(AgentEvent::Ended { reason: reason.to_owned(), failed: true, resumable: self.can_resume() });
    }

    /// Whether another process can resume this session.
    pub(super) fn can_resume(&self) -> bool {
        self.thread.is_some() && self.recorded
    }
}
