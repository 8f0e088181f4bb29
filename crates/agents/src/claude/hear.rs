//! What Claude says, line by line. What is not known is passed over; what waits for us never is.

use sayso_core::ask::Delivery;
use sayso_core::{limits, texts};

use super::launch::is_conversation;
use super::state::{ClaudeLife, ClaudeProcess, ClaudeState, Control, Turn};
use super::wire::{self, Line, Response};
use crate::json::{Object, list, text};
use crate::out::Out;
use crate::process::TurnComplaints;
use crate::translator::AgentEvent;

/// Bytes that are shown of what was not understood, and of an error's words.
const SHOWN: usize = 1024;
/// What Claude says when it does not know the conversation that it shall go on with.
pub(super) const NO_CONVERSATION: &str = "No conversation found";
const NOT_NEEDED: &str = "Claude Code no longer needs an answer.";
const TURN_OVER: &str = "The turn ended without an answer.";
const TOO_LATE: &str = "It came too late: Claude Code no longer waited for it.";

impl ClaudeState {
    /// Takes one line.
    pub(super) fn hear(&mut self, line: &str, out: &mut Out) {
        let ClaudeLife::Up(process) = &mut self.life else { return };
        if line.trim().is_empty() {
            return;
        }
        process.heard = true;
        let read = if line.len() <= limits::LINE { wire::read(line) } else { None };
        match read {
            Some(Line::Request(request)) => process.request(&request, out),
            Some(Line::Cancel { id }) => process.cancelled(&id, out),
            Some(Line::Response(response)) => process.responded(&response, out),
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
                process
                    .complaints
                    .tell(AgentEvent::Error(format!("Claude Code wrote a line that was not understood: {shown}")), out);
            }
        }
    }

    /// There is something to resume as soon as a turn is on record.
    fn learn_conversation(&mut self, fields: &Object<'_>) {
        if let Some(id) = fields.text("session_id").filter(|id| is_conversation(id)) {
            self.conversation = Some(id);
        }
    }
}

impl ClaudeProcess {
    /// Claude no longer waits for a request: it was interrupted, or answered elsewhere.
    fn cancelled(&mut self, id: &str, out: &mut Out) {
        if let Some(at) = self.open.iter().position(|open| open.id == id) {
            let native_id = self.open.remove(at).id;
            let reason = match self.turn {
                Turn::Running { stopping: true, .. } => texts::WITHDRAWN_INTERRUPTED,
                Turn::Running { stopping: false, .. } | Turn::Idle { .. } => NOT_NEEDED,
            };
            out.event(AgentEvent::AskWithdrawn { native_id, reason: reason.to_owned() });
        } else if let Some(at) = self.sent.iter().position(|sent| sent.request == id) {
            // Both were under way. An answer after this is passed over.
            let sent = self.sent.remove(at);
            let delivery = Delivery::Undeliverable { reason: TOO_LATE.to_owned() };
            out.event(AgentEvent::AskDelivery { ask: sent.ask, delivery });
        }
    }

    /// A tool call has its result, so nobody waits for an answer to it.
    pub(super) fn no_longer_needed(&mut self, tool_use: &str, out: &mut Out) {
        for open in self.open.extract_if(.., |open| open.tool_use.as_deref() == Some(tool_use)) {
            out.event(AgentEvent::AskWithdrawn { native_id: open.id, reason: NOT_NEEDED.to_owned() });
        }
    }

    /// The response to a request of ours; to any other it says nothing to us.
    fn responded(&mut self, response: &Response<'_>, out: &mut Out) {
        let Some(at) = self.waiting.iter().position(|waiting| wire::request_id(waiting.number) == response.id) else { return };
        let waiting = self.waiting.remove(at);
        if let Some(error) = &response.error {
            let what = match waiting.control {
                Control::Initialize => "did not take our greeting".to_owned(),
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
            // What was answered in the meantime may still be in the list.
            if self.sent.iter().all(|sent| sent.request != request.id) {
                self.request(request, out);
            }
        }
    }

    fn system(&mut self, fields: &Object<'_>, out: &mut Out) {
        match fields.text("subtype").as_deref() {
            Some("init") => self.turn_begun(out),
            Some("session_state_changed") => match fields.text("state").as_deref() {
                Some("running") => self.turn_begun(out),
                // It comes after the result and matters when there was none. A turn that has not begun is
                // the next one: we were faster.
                Some("idle") if matches!(self.turn, Turn::Running { begun: true, .. }) => {
                    self.turn_ended(Turn::Idle { cut_short: false }, out)
                }
                _ => {}
            },
            Some("task_started") => {
                let name = super::speech::helper_name(fields.words("subagent_type"), fields.words("description"));
                if let Some(name) = name {
                    self.name_helper([fields.text("task_id"), fields.text("tool_use_id")], &name);
                }
            }
            _ => {}
        }
    }

    /// The turn is over, well or not.
    fn result(&mut self, fields: &Object<'_>, out: &mut Out) {
        let ours = matches!(self.turn, Turn::Running { stopping: true, .. });
        let aborted = fields.text("terminal_reason").is_some_and(|reason| reason.starts_with("aborted"));
        if fields.says("is_error") {
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
        // Sub-agents in the background go on and still wait for their answers.
        for open in self.open.extract_if(.., |open| !open.by_helper) {
            let reason = if stopping { texts::WITHDRAWN_INTERRUPTED } else { TURN_OVER };
            out.event(AgentEvent::AskWithdrawn { native_id: open.id, reason: reason.to_owned() });
        }
        self.complaints = TurnComplaints::default();
        out.event(AgentEvent::TurnEnded);
    }
}

/// What a failed turn says about itself, without the diagnostics that are for nobody's eyes.
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
    fields.words("result").or_else(|| by_subtype.map(str::to_owned)).unwrap_or_default()
}
