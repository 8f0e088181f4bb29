//! Delivers an outcome to Codex: the single response to the pending request, plus the person's words, in one batch.

use sayso_core::ask::Decision;
use sayso_core::transcript::Role;

use super::state::{CodexState, Kind, Open, Sent};
use super::{approvals, forms, questions};
use crate::elicitation;
use crate::json::Object;
use crate::json_rpc;
use crate::out::Out;
use crate::text::{own_words, said_later};
use crate::translator::{AgentEvent, Outcome};

const NOT_WAITING: &str = "Codex no longer waits for it.";
const REQUEST_UNKNOWN: &str = "The request of Codex is no longer known, so it was denied.";
const MISFIT: &str = "The decision does not match the request of Codex, so the request was denied.";
const NOT_TAKEN: &str = "Too many messages are already queued for Codex; this one was not sent.";

/// The response of an outcome.
struct Reply {
    /// The result as JSON text.
    result: String,
    /// Words that the result has no field for.
    unsaid: Option<String>,
    /// Whether the turn must be interrupted separately.
    interrupt: bool,
    /// Why the decision cannot be delivered to Codex.
    lost: Option<&'static str>,
}

impl Reply {
    const fn new(result: String) -> Self {
        Self { result, unsaid: None, interrupt: false, lost: None }
    }

    fn mismatched(kind: Kind) -> Self {
        Self { lost: Some(MISFIT), ..Self::new(undecided_result(kind)) }
    }
}

impl CodexState {
    /// Sends an outcome to Codex.
    pub(super) fn deliver_outcome(&mut self, given: &Outcome<'_>, out: &mut Out) {
        let print = given.raw.map(|raw| crate::text::fingerprint(raw.as_str()));
        let fits = |open: &Open| open.native_id == given.native_id && print.is_none_or(|print| print == open.print);
        let Some(open) = self.open.iter().position(fits).map(|at| self.open.remove(at)) else {
            return out.undeliverable(given.ask, NOT_WAITING);
        };
        let params = given.raw.and_then(|raw| Object::parse(raw.as_str())).and_then(|message| message.object("params"));
        let Some(id) = &open.id else { return self.answer_message(params.as_ref(), given, out) };
        let reply = match &params {
            Some(params) => reply(open.kind, params, given),
            None => Reply { lost: Some(REQUEST_UNKNOWN), ..Reply::new(undecided_result(open.kind)) },
        };
        out.line(json_rpc::raw_result(id, &reply.result));
        match reply.lost {
            Some(why) => out.undeliverable(given.ask, why),
            None => self.sent(Sent { ask: given.ask, id: id.clone() }),
        }
        if stops(given) {
            self.stop(&open, reply.interrupt, out);
        } else if let Some(words) = reply.unsaid.filter(|_| given.by.is_person()) {
            self.send_words(&open, &said_later(given.decision, open.about.as_deref(), &words), out);
        }
    }

    /// Stops the turn on a person's request. Only a cancelled command ends its turn by itself.
    fn stop(&mut self, open: &Open, interrupt: bool, out: &mut Out) {
        if self.thread.as_ref() == Some(&open.thread) {
            match &mut self.turn {
                Some(turn) if !interrupt => turn.stopping = true,
                Some(_) | None => self.stop_turn(out),
            }
        } else if let (true, Some(turn)) = (interrupt, &open.turn) {
            self.interrupt(&open.thread, turn, out);
        }
    }

    /// Sends a person's words to the turn that the request belongs to. That turn is still running, because it waits for
    /// the outcome.
    fn send_words(&mut self, open: &Open, text: &str, out: &mut Out) {
        self.said += 1;
        let (message, shown) = (format!("words-{}", self.said), text.to_owned());
        out.event(AgentEvent::Message { message, role: Role::User, text: shown, subagent: None });
        match &open.turn {
            Some(turn) => self.steer(&open.thread, turn, text.to_owned(), out),
            None => self.queue_message(text.to_owned(), out),
        }
    }

    /// Delivers the outcome of questions that do not block Codex, as a message if there is something to send.
    fn answer_message(&mut self, params: Option<&Object<'_>>, given: &Outcome<'_>, out: &mut Out) {
        let text = match given.decision {
            Decision::Answered { answers, note } => {
                let item = params.and_then(|params| params.object("item"));
                let Some(text) = item.and_then(|item| questions::as_message(&item, answers, note.as_deref())) else {
                    return out.undeliverable(given.ask, "The request of Codex is no longer known, so nothing was sent.");
                };
                Some(text)
            }
            Decision::Rejected { message, stop: false } | Decision::Denied { message, stop: false } => {
                own_words(message).filter(|_| given.by.is_person()).map(|words| said_later(given.decision, None, &words))
            }
            Decision::Rejected { .. } | Decision::Denied { .. } | Decision::Approved { .. } | Decision::Withdrawn { .. } => None,
        };
        match text {
            Some(text) if self.has_queue_room() => self.queue_message(text, out),
            Some(_) => out.undeliverable(given.ask, NOT_TAKEN),
            None if stops(given) => self.stop_turn(out),
            None => {}
        }
    }
}

/// Whether a person wants to end the turn. Policies and timeouts never do.
fn stops(given: &Outcome<'_>) -> bool {
    let stop = matches!(given.decision, Decision::Rejected { stop: true, .. } | Decision::Denied { stop: true, .. });
    stop && given.by.is_person()
}

fn reply(kind: Kind, params: &Object<'_>, given: &Outcome<'_>) -> Reply {
    match given.decision {
        // Codex does not accept a changed input.
        Decision::Approved { input: Some(_), .. } => Reply::mismatched(kind),
        Decision::Approved { choice, input: None } => {
            approve_result(kind, params, choice.as_deref()).map_or_else(|| Reply::mismatched(kind), Reply::new)
        }
        Decision::Answered { answers, note } => match kind {
            Kind::Question => {
                questions::reply(params, answers, note.as_deref()).map_or_else(|| Reply::mismatched(kind), Reply::new)
            }
            Kind::Form => {
                let Some(schema) = params.get("requestedSchema") else { return Reply::mismatched(kind) };
                let filled = elicitation::fill(schema, None, answers, note.as_deref());
                let result = match &filled.content {
                    Some(content) => forms::reply("accept", content, "null"),
                    None => forms::reply("decline", "null", "null"),
                };
                Reply { unsaid: filled.unsaid, ..Reply::new(result) }
            }
            Kind::Command | Kind::Patch | Kind::Permissions | Kind::McpTool | Kind::Link | Kind::Message => {
                Reply::mismatched(kind)
            }
        },
        Decision::Rejected { message, .. } | Decision::Denied { message, .. } => deny_reply(kind, params, message, stops(given)),
        Decision::Withdrawn { .. } => Reply::new(undecided_result(kind)),
    }
}

/// The approving result; `None` if the choice does not match the request.
fn approve_result(kind: Kind, params: &Object<'_>, choice: Option<&str>) -> Option<String> {
    let decision = |decision: String| format!(r#"{{"decision":{decision}}}"#);
    match kind {
        Kind::Command => approvals::command_yes(params, choice).map(decision),
        Kind::Patch => approvals::patch_yes(choice).map(decision),
        Kind::Permissions => approvals::permissions_reply(params, choice),
        Kind::McpTool => approvals::mcp_tool_yes(params, choice).map(|meta| forms::reply("accept", "null", &meta)),
        Kind::Link if choice.is_none() => Some(forms::reply("accept", "null", "null")),
        Kind::Link | Kind::Question | Kind::Form | Kind::Message => None,
    }
}

/// A rejection, after which Codex continues or the turn ends.
fn deny_reply(kind: Kind, params: &Object<'_>, message: &str, stop: bool) -> Reply {
    let unsaid = own_words(message);
    match kind {
        Kind::Command | Kind::Patch if stop => Reply::new(r#"{"decision":"cancel"}"#.to_owned()),
        Kind::Question if stop => Reply { interrupt: true, ..Reply::new(undecided_result(kind)) },
        // The message takes the place of the answer.
        Kind::Question => Reply::new(questions::refusal(params, message)),
        Kind::McpTool | Kind::Form | Kind::Link if !stop => {
            Reply { unsaid, ..Reply::new(forms::reply("decline", "null", "null")) }
        }
        Kind::Command | Kind::Patch | Kind::Permissions | Kind::McpTool | Kind::Form | Kind::Link | Kind::Message => {
            Reply { unsaid, interrupt: stop, ..Reply::new(undecided_result(kind)) }
        }
    }
}

/// The result of a request that was not decided. It allows nothing, and Codex continues.
pub(super) fn undecided_result(kind: Kind) -> String {
    match kind {
        Kind::Command | Kind::Patch => r#"{"decision":"decline"}"#.to_owned(),
        Kind::Permissions => r#"{"permissions":{},"scope":"turn"}"#.to_owned(),
        Kind::Question | Kind::Message => questions::unanswered(),
        Kind::McpTool | Kind::Form | Kind::Link => forms::reply("cancel", "null", "null"),
    }
}
