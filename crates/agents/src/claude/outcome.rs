//! Delivers an outcome to Claude: the single response to the pending request.

use sayso_core::ask::Decision;
use sayso_core::texts;
use sayso_core::transcript::Role;

use super::state::{ClaudeProcess, Control, Kind, Sent};
use super::{approvals, forms, plan, questions, wire};
use crate::json::{Object, line};
use crate::out::Out;
use crate::translator::{AgentEvent, DecidedBy, Outcome};

const NOT_WAITING: &str = "Claude Code no longer waits for it.";
const REQUEST_UNKNOWN: &str = "The request of Claude Code is no longer known, so it could not be answered.";
/// The error for a decision that does not match the request. Such a decision never approves anything.
const MISFIT: &str = "Sayso received a decision that does not fit this request, so nothing was approved.";

/// The response of an outcome.
pub(super) enum Reply {
    /// The payload of a response.
    Say(String),
    /// A payload, plus words of the person that the response has no field for; they are sent as a message.
    SayAndTell(String, Words),
    /// The original request is needed to build the response, but is missing.
    Unknown,
}

/// Words of the person that become a message.
pub(super) enum Words {
    /// They were typed as a message, so the transcript already contains them.
    Typed(String),
    /// They were entered together with a decision.
    Note(String),
}

impl Reply {
    /// A payload, plus the person's extra words if there are any.
    pub(super) fn with(payload: String, note: Option<String>) -> Self {
        match note {
            Some(words) => Self::SayAndTell(payload, Words::Note(words)),
            None => Self::Say(payload),
        }
    }
}

impl ClaudeProcess {
    /// Answers the request that waits for this outcome.
    pub(super) fn deliver_outcome(&mut self, given: &Outcome<'_>, asked: &mut u64, out: &mut Out) {
        let Some(at) = self.open.iter().position(|open| open.id == given.native_id) else {
            return out.undeliverable(given.ask, NOT_WAITING);
        };
        let open = self.open.remove(at);
        match reply(open.kind, given) {
            Reply::Say(payload) => out.line(wire::success(&open.id, &payload)),
            Reply::SayAndTell(payload, words) => {
                out.line(wire::success(&open.id, &payload));
                let text = match words {
                    Words::Typed(text) => text,
                    Words::Note(text) => {
                        let message = format!("{}-words", open.id);
                        out.event(AgentEvent::Message { message, role: Role::User, text: text.clone(), subagent: None });
                        text
                    }
                };
                out.line(wire::user(&text));
            }
            Reply::Unknown => {
                // Claude waits indefinitely for a response.
                out.line(wire::failure(&open.id, REQUEST_UNKNOWN));
                return out.undeliverable(given.ask, REQUEST_UNKNOWN);
            }
        }
        if let Decision::Rejected { stop: true, .. } | Decision::Denied { stop: true, .. } = given.decision {
            self.mark_stopping();
            match open.kind {
                // The response itself stops the turn.
                Kind::Question | Kind::Approval | Kind::Plan => {}
                Kind::Form | Kind::Link => out.line(self.control(Control::Interrupt, asked)),
            }
        }
        self.sent(Sent { ask: given.ask, request: open.id, tool_use: open.tool_use });
    }
}

pub(super) fn reply(kind: Kind, given: &Outcome<'_>) -> Reply {
    let request = given.raw.and_then(|raw| Object::parse(raw.as_str()));
    match kind {
        Kind::Question | Kind::Approval | Kind::Plan => Reply::Say(match given.decision {
            Decision::Rejected { message, stop: true } | Decision::Denied { message, stop: true } => deny_and_stop(message),
            Decision::Rejected { message, stop: false } | Decision::Denied { message, stop: false } => deny(message),
            Decision::Withdrawn { reason } => deny(reason),
            Decision::Answered { answers, note } if kind == Kind::Question => {
                let Some(input) = request.as_ref().and_then(|request| request.get("input")) else { return Reply::Unknown };
                let given = questions::AnswerInput { answers, note: note.as_deref(), typed: given.by == DecidedBy::Typed };
                match questions::answered(input, &given) {
                    Some(input) => allow(&input, None),
                    None => return Reply::Unknown,
                }
            }
            Decision::Approved { choice, input } if kind != Kind::Question => {
                let Some(request) = request else { return Reply::Unknown };
                let of = if kind == Kind::Plan { plan::approved } else { approvals::approved };
                let approved = of(&request, choice.as_deref(), input.as_ref());
                approved.map_or_else(|| deny(MISFIT), |yes| allow(&yes.input, yes.permission.as_deref()))
            }
            Decision::Answered { .. } | Decision::Approved { .. } => deny(MISFIT),
        }),
        Kind::Form => forms::form_reply(request.as_ref(), given),
        Kind::Link => forms::link_reply(given),
    }
}

/// The payload that allows a tool. The input is always included: it replaces the input of the call.
fn allow(input: &str, permission: Option<&str>) -> String {
    match permission {
        None => format!(r#"{{"behavior":"allow","updatedInput":{input}}}"#),
        Some(update) => format!(r#"{{"behavior":"allow","updatedInput":{input},"updatedPermissions":[{update}]}}"#),
    }
}

/// The payload that denies a tool. The message is required; the model reads it.
pub(super) fn deny(message: &str) -> String {
    format!(r#"{{"behavior":"deny","message":{}}}"#, line(&own_message(message)))
}

/// A denial that also ends the turn. The message is required, but not shown.
fn deny_and_stop(message: &str) -> String {
    format!(r#"{{"behavior":"deny","message":{},"interrupt":true}}"#, line(&own_message(message)))
}

fn own_message(message: &str) -> &str {
    if message.trim().is_empty() { texts::DENIED } else { message }
}

/// An approval of a tool call.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ApprovedCall {
    /// The input that the tool runs with.
    pub(super) input: String,
    /// The permission change that the person chose.
    pub(super) permission: Option<String>,
}
