//! Delivers an outcome to OpenCode.

use sayso_core::ask::Decision;
use sayso_core::raw::Raw;
use sayso_core::texts;
use sayso_core::transcript::Role;
use serde_json::json;

use super::calls::CallContext;
use super::state::{Arrived, Kind, OpenCodeProcess, OutcomeReply, Sent, Turn};
use super::{permissions, questions};
use crate::json::Object;
use crate::out::Out;
use crate::text::{own_words, said_later};
use crate::translator::{AgentEvent, DecidedBy, Outcome};

const NOT_WAITING: &str = "OpenCode no longer waits for it.";
/// The error for a decision that does not match the request. Such a decision never approves anything.
const MISFIT: &str = "Sayso received a decision that does not fit this request, so nothing was approved.";

/// How a decision is delivered.
struct Plan {
    said: OutcomeReply,
    /// Commands that the person allowed from now on.
    granted: Option<Vec<String>>,
    /// Words of the person that the response has no field for.
    unsaid: Option<String>,
    /// Why the decision cannot be delivered as it was made.
    lost: Option<&'static str>,
}

impl Plan {
    fn of(verb: &str, body: Option<Raw>) -> Self {
        let said = OutcomeReply { verb: verb.to_owned(), body, is_yes: false };
        Self { said, granted: None, unsaid: None, lost: None }
    }

    fn approve(body: Raw) -> Self {
        let mut plan = Self::of("reply", Some(body));
        plan.said.is_yes = true;
        plan
    }

    /// Rejects a permission, with a reason for the model.
    fn reject(message: &str) -> Self {
        let words = if message.trim().is_empty() { texts::DENIED } else { message };
        Self::of("reply", Some(Raw::of(&json!({ "reply": "reject", "message": words }))))
    }

    fn mismatched(kind: Kind) -> Self {
        let plan = match kind {
            Kind::Question | Kind::Plan => Self::of("reject", None),
            Kind::Permission => Self::reject(MISFIT),
        };
        Self { lost: Some(MISFIT), ..plan }
    }
}

impl OpenCodeProcess {
    /// Answers the request that waits for this outcome.
    pub(super) fn deliver_outcome(&mut self, given: &Outcome<'_>, ctx: &mut CallContext<'_>, out: &mut Out) {
        let Some(at) = self.open.iter().position(|open| open.id == given.native_id) else {
            return out.undeliverable(given.ask, NOT_WAITING);
        };
        let open = self.open.remove(at);
        let stop = matches!(given.decision, Decision::Rejected { stop: true, .. } | Decision::Denied { stop: true, .. });
        let plan = plan(open.kind, given, self.shared);
        ctx.send_outcome(self, &open, &plan.said, out);
        if let Some(why) = plan.lost {
            self.mark_resolved(open.id);
            return out.undeliverable(given.ask, why);
        }
        if open.kind == Kind::Permission && !plan.said.is_yes {
            self.denied_in = Some(open.session.clone());
        }
        self.remember_sent(Sent { ask: given.ask, request: open, said: plan.said, arrived: Arrived::Soon, tries: 0 });
        if let Some(run) = plan.granted {
            out.event(AgentEvent::Granted { run });
        }
        if stop {
            self.stop(texts::WITHDRAWN_INTERRUPTED, ctx, out);
        } else if let Some(words) = plan.unsaid {
            let text = said_later(given.decision, None, &words);
            let message = format!("{}-words", given.native_id);
            out.event(AgentEvent::Message { message, role: Role::User, text: text.clone(), subagent: None });
            self.waiting.push_back(text);
        }
    }

    /// Stops the turn. All pending requests are rejected first, because a late approval would still run its command.
    pub(super) fn stop(&mut self, reason: &str, ctx: &mut CallContext<'_>, out: &mut Out) {
        self.reject_all(reason, ctx, out);
        ctx.abort(self, out);
        if let Turn::Running { stopping, .. } = &mut self.turn {
            *stopping = true;
        }
    }
}

fn plan(kind: Kind, given: &Outcome<'_>, shared: bool) -> Plan {
    let Some(request) = given.raw.and_then(|raw| Object::parse(raw.as_str())) else { return Plan::mismatched(kind) };
    match (kind, given.decision) {
        (Kind::Question, Decision::Answered { answers, note }) => match questions::answered(&request, answers, note.as_deref()) {
            Some(body) => Plan::of("reply", Some(body)),
            None => Plan::mismatched(kind),
        },
        // OpenCode's rejection is the same; the stop follows as a separate call.
        (Kind::Question, Decision::Rejected { stop: true, .. } | Decision::Withdrawn { .. }) => Plan::of("reject", None),
        (Kind::Question, Decision::Rejected { message, stop: false }) => rejected(&request, message, given.by, shared),
        (Kind::Plan, Decision::Approved { choice: None, input: None }) => Plan::approve(questions::plan_approval()),
        (Kind::Plan, Decision::Denied { message, stop }) => {
            let unsaid = own_words(message).filter(|_| given.by.is_person() && !stop);
            Plan { unsaid, ..Plan::of("reject", None) }
        }
        (Kind::Plan, Decision::Withdrawn { .. }) => Plan::of("reject", None),
        (Kind::Permission, Decision::Approved { choice, input: None }) => {
            let once = || Plan::approve(Raw::of(&json!({ "reply": "once" })));
            match (choice.as_deref(), permissions::always(&request)) {
                (None, _) => once(),
                (Some(permissions::ALWAYS), Some(run)) => Plan { granted: Some(run), ..once() },
                (Some(_), _) => Plan::mismatched(kind),
            }
        }
        (Kind::Permission, Decision::Denied { message, .. }) => Plan::reject(message),
        (Kind::Permission, Decision::Withdrawn { reason }) => Plan::reject(reason),
        (Kind::Question | Kind::Plan | Kind::Permission, _) => Plan::mismatched(kind),
    }
}

/// Rejects questions. OpenCode's own rejection only says that they were dismissed, so the message takes the place of
/// the answers if the questions accept free text. On a shared server this also avoids ending the turn, which a
/// rejection would do.
fn rejected(request: &Object<'_>, message: &str, by: DecidedBy, shared: bool) -> Plan {
    let words = match (by.is_person(), own_words(message)) {
        (true, None) if shared => texts::REJECTED.to_owned(),
        (true, None) => return Plan::of("reject", None),
        (true, Some(words)) => format!("The user declined to answer and says: {words}"),
        (false, _) => message.to_owned(),
    };
    match questions::declined(request, &words) {
        Some(body) => Plan::of("reply", Some(body)),
        None => Plan { unsaid: own_words(message).filter(|_| by.is_person()), ..Plan::of("reject", None) },
    }
}
