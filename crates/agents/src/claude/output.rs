//! Parses Claude's output line by line. Unknown messages are ignored, but unknown requests always get a response.

use sayso_core::ask::Delivery;
use sayso_core::{limits, texts};

use super::launch::is_conversation;
use super::state::{ClaudeLife, ClaudeProcess, ClaudeState, Control, Turn};
use super::wire::{self, Line, Response};
use crate::json::{Object, list, text};
use crate::out::Out;
use crate::process::TurnComplaints;
use crate::translator::AgentEvent;

/// How many bytes of an invalid line or an error message are shown.
const SHOWN: usize = 1024;
/// Claude's error for a conversation that it cannot resume.
pub(super) const NO_CONVERSATION: &str = "No conversation found";
const NOT_NEEDED: &str = "Claude Code no longer needs an answer.";
const TURN_OVER: &str = "The turn ended without an answer.";
const TOO_LATE: &str = "It came too late: Claude Code no longer waited for it.";

impl ClaudeState {
    /// Handles one line of output.
    pub(super) fn handle_output(&mut self, line: &str, out: &mut Out) {
        let ClaudeLife::Up(process) = &mut self.life else { return };
        if line.trim().is_empty() {
            return;
        }
        process.heard = true;
        let read = if line.len() <= limits::LINE { wire::read(line) } else { None };
        match read {
            Some(Line::Request(request)) => process.request(&request, out),
            Some(Line::Cancel { id }) => process.handle_cancellation(&id, out),
            Some(Line::Response(response)) => process.handle_response(&response, out),
            Some(Line::Message { kind, fields }) => match kind.as_str() {
                "system" => {
                    process.system(&fields, out);
                    if fields.text("subtype").as_deref() == Some("init") {
                        self.learn_conversation(&fields);
                    }
                }
                "assistant" => {
                    process.assistant(&fields, out);
                    self.learn_conversation(&fields);
                }
                "user" => {
                    process.user(&fields, out);
                    self.learn_conversation(&fields);
                }
                "stream_event" => process.stream_event(&fields, out),
                "result" => process.result(&fields, out),
                _ => {}
            },
            None => {
                let shown = limits::head(line.trim(), SHOWN);
                process.complaints.report(AgentEvent::Error(format!("Claude Code wrote an invalid line: {shown}")), out);
            }
        }
    }

    /// Records the conversation id. A conversation can be resumed once it has a recorded turn.
    fn learn_conversation(&mut self, fields: &Object<'_>) {
        if let Some(id) = fields.text("session_id").filter(|id| is_conversation(id)) {
            self.conversation = Some(id);
        }
    }
}

impl ClaudeProcess {
    /// Handles a cancelled request: it was interrupted or answered elsewhere.
    fn handle_cancellation(&mut self, id: &str, out: &mut Out) {
        if let Some(at) = self.open.iter().position(|open| open.id == id) {
            let native_id = self.open.remove(at).id;
            let reason = match self.turn {
                Turn::Running { stopping: true, .. } => texts::WITHDRAWN_INTERRUPTED,
                Turn::Running { stopping: false, .. } | Turn::Idle { .. } => NOT_NEEDED,
            };
            out.event(AgentEvent::AskWithdrawn { native_id, reason: reason.to_owned() });
        } else if let Some(at) = self.sent.iter().position(|sent| sent.request == id) {
            // The response and the cancellation crossed. Claude ignores a response after its cancellation.
            let sent = self.sent.remove(at);
            let delivery = Delivery::Undeliverable { reason: TOO_LATE.to_owned() };
            out.event(AgentEvent::AskDelivery { ask: sent.ask, delivery });
        }
    }

    /// Withdraws the ask of a tool call that already has a result.
    pub(super) fn withdraw_answered_call(&mut self, tool_use: &str, out: &mut Out) {
        for open in self.open.extract_if(.., |open| open.tool_use.as_deref() == Some(tool_use)) {
            out.event(AgentEvent::AskWithdrawn { native_id: open.id, reason: NOT_NEEDED.to_owned() });
        }
    }

    /// Handles the response to one of Sayso's requests. Other responses are ignored.
    fn handle_response(&mut self, response: &Response<'_>, out: &mut Out) {
        let Some(at) = self.waiting.iter().position(|waiting| wire::request_id(waiting.number) == response.id) else { return };
        let waiting = self.waiting.remove(at);
        if let Some(error) = &response.error {
            let what = match waiting.control {
                Control::Initialize => "did not accept the handshake".to_owned(),
                Control::Interrupt => "could not be interrupted".to_owned(),
                Control::SetMode(mode) => format!("did not change its permission mode to `{mode}`"),
                Control::SetModel(model) => format!("did not change its model to `{model}`"),
            };
            out.event(AgentEvent::Error(format!("Claude Code {what}: {}", limits::head(error, SHOWN))));
        } else {
            match waiting.control {
                Control::SetMode(mode) => out.event(AgentEvent::Configured { permission_mode: Some(mode), model: None }),
                Control::SetModel(model) => out.event(AgentEvent::Configured { permission_mode: None, model: Some(model) }),
                Control::Initialize | Control::Interrupt => {}
            }
        }
        for request in &response.pending {
            // The list can still contain requests that were answered in the meantime.
            if self.sent.iter().all(|sent| sent.request != request.id) {
                self.request(request, out);
            }
        }
    }

    fn system(&mut self, fields: &Object<'_>, out: &mut Out) {
        match fields.text("subtype").as_deref() {
            Some("init") => self.begin_turn(out),
            Some("session_state_changed") => match fields.text("state").as_deref() {
                Some("running") => self.begin_turn(out),
                // `idle` follows the result and only matters if there was no result. A turn that has not begun is the
                // next turn, which Sayso requested before `idle` arrived.
                Some("idle") if matches!(self.turn, Turn::Running { begun: true, .. }) => {
                    self.turn_ended(Turn::Idle { cut_short: false }, out)
                }
                _ => {}
            },
            Some("task_started") => {
                let name =
                    super::messages::helper_name(fields.non_blank_text("subagent_type"), fields.non_blank_text("description"));
                if let Some(name) = name {
                    self.name_helper([fields.text("task_id"), fields.text("tool_use_id")], &name);
                }
            }
            _ => {}
        }
    }

    /// Handles the end of a turn, successful or not.
    fn result(&mut self, fields: &Object<'_>, out: &mut Out) {
        let ours = matches!(self.turn, Turn::Running { stopping: true, .. });
        let aborted = fields.text("terminal_reason").is_some_and(|reason| reason.starts_with("aborted"));
        if fields.is_true("is_error") {
            let words = error_words(fields);
            self.lost |= words.contains(NO_CONVERSATION);
            match (aborted, ours) {
                (true, true) => {}
                (true, false) => out.event(AgentEvent::Notice("Claude Code stopped the turn.".to_owned())),
                (false, true) if words.is_empty() => {}
                (false, _) => {
                    let words = if words.is_empty() { "the turn failed" } else { limits::head(&words, SHOWN) };
                    out.event(AgentEvent::Error(format!("Claude Code: {words}")));
                }
            }
        }
        self.turn_ended(Turn::Idle { cut_short: aborted }, out);
    }

    fn turn_ended(&mut self, after: Turn, out: &mut Out) {
        let Turn::Running { stopping, .. } = std::mem::replace(&mut self.turn, after) else { return };
        // Sub-agents in the background continue and still wait for their answers.
        for open in self.open.extract_if(.., |open| !open.by_helper) {
            let reason = if stopping { texts::WITHDRAWN_INTERRUPTED } else { TURN_OVER };
            out.event(AgentEvent::AskWithdrawn { native_id: open.id, reason: reason.to_owned() });
        }
        self.complaints = TurnComplaints::default();
        out.event(AgentEvent::TurnEnded);
    }
}

/// The error message of a failed turn, without internal diagnostics.
fn error_words(fields: &Object<'_>) -> String {
    let errors = fields.get("errors").and_then(list).unwrap_or_default().into_iter().filter_map(text);
    let errors: Vec<String> = errors.filter(|error| !error.starts_with("[ede_diagnostic]")).collect();
    if !errors.is_empty() {
        return errors.join("\n");
    }
    let by_subtype = match fields.text("subtype").as_deref() {
        Some("error_max_turns") => Some("the turn was ended because it took too many steps"),
        Some("error_max_budget_usd") => Some("the turn was ended because it cost too much"),
        _ => None,
    };
    fields.non_blank_text("result").or_else(|| by_subtype.map(str::to_owned)).unwrap_or_default()
}
