//! An outcome on its way to Claude: the one response to the request that waits for it.

use sayso_core::ask::Decision;
use sayso_core::id::AskId;
use sayso_core::raw::Raw;
use sayso_core::texts;

use super::state::{Control, Kind, Out, Process, Sent};
use super::{approvals, forms, plan, questions, wire};
use crate::json_rpc::{Object, line};
use crate::translator::Output;

const NOT_WAITING: &str = "Claude Code no longer waits for it.";
const REQUEST_UNKNOWN: &str = "What Claude Code asked is no longer known, so it could not be answered.";
/// A decision that does not fit what was asked. It is never taken for a yes.
const MISFIT: &str = "Sayso received a decision that does not fit this request, so nothing was approved.";

/// What a command says about an ask.
pub(super) struct Outcome<'a> {
    pub(super) ask: AskId,
    pub(super) native_id: &'a str,
    pub(super) decision: &'a Decision,
    pub(super) raw: Option<&'a Raw>,
    /// The person typed a message; it stands in every answer.
    pub(super) typed: bool,
}

/// What is said to Claude.
pub(super) enum Reply {
    /// The payload of a response.
    Say(String),
    /// The same, and these words as a message, for which the response has no place.
    SayAndTell(String, String),
    /// The request as it arrived is needed and missing.
    Unknown,
}

impl Process {
    /// Answers the request that waits for this outcome.
    pub(super) fn outcome(&mut self, given: &Outcome<'_>, asked: &mut u64, out: &mut Out) {
        let Some(at) = self.open.iter().position(|open| open.id == given.native_id) else {
            out.outputs.push(Output::Undeliverable { ask: given.ask, reason: NOT_WAITING.to_owned() });
            return;
        };
        let open = self.open.remove(at);
        let mut lines = Vec::new();
        match reply(open.kind, given) {
            Reply::Say(payload) => lines.push(wire::success(&open.id, &payload)),
            Reply::SayAndTell(payload, words) => lines.extend([wire::success(&open.id, &payload), wire::user(&words)]),
            Reply::Unknown => {
                // Claude waits for ever unless it is told something.
                out.line(wire::failure(&open.id, REQUEST_UNKNOWN));
                out.outputs.push(Output::Undeliverable { ask: given.ask, reason: REQUEST_UNKNOWN.to_owned() });
                return;
            }
        }
        if let Decision::Rejected { stop: true, .. } | Decision::Denied { stop: true, .. } = given.decision {
            self.stopping();
            match open.kind {
                // The response itself stops the turn.
                Kind::Question | Kind::Approval | Kind::Plan => {}
                Kind::Form | Kind::Link => lines.push(self.control(Control::Interrupt, asked)),
            }
        }
        out.outputs.push(Output::Lines(lines));
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
                let given = questions::Given { answers, note: note.as_deref(), typed: given.typed };
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
        Kind::Link => Reply::Say(forms::link_reply(given.decision)),
    }
}

/// The payload that lets a tool run. The input is always said: it replaces the one that Claude has.
fn allow(input: &str, permission: Option<&str>) -> String {
    match permission {
        None => format!(r#"{{"behavior":"allow","updatedInput":{input}}}"#),
        Some(update) => format!(r#"{{"behavior":"allow","updatedInput":{input},"updatedPermissions":[{update}]}}"#),
    }
}

/// The payload that does not. The model reads the message, which is required.
pub(super) fn deny(message: &str) -> String {
    format!(r#"{{"behavior":"deny","message":{}}}"#, line(&words(message)))
}

/// The same, and the turn ends. Nobody reads the message, but it is required.
fn deny_and_stop(message: &str) -> String {
    format!(r#"{{"behavior":"deny","message":{},"interrupt":true}}"#, line(&words(message)))
}

fn words(message: &str) -> &str {
    if message.trim().is_empty() { texts::DENIED } else { message }
}

/// A yes, as a tool takes it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Yes {
    /// The input to use.
    pub(super) input: String,
    /// The one change of permissions that the person chose.
    pub(super) permission: Option<String>,
}
