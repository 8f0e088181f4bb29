//! Requests of the agent: opening them as asks, answering them and withdrawing them.

use sayso_core::ask::{AskBody, Decision, Delivery};
use sayso_core::limits;
use sayso_core::raw::Raw;
use sayso_core::session::Labels;
use sayso_core::texts;
use serde_json::json;
use serde_json::value::RawValue;

use super::requests::{self, AcpAsk, Refusal};
use super::state::{AcpPhase, AcpState, Answered, Open, Prompt};
use super::tool_call::{Status, ToolCallInfo};
use crate::json::Object;
use crate::json_rpc::{self, INVALID_PARAMS, Id, METHOD_NOT_FOUND};
use crate::out::Out;
use crate::process::memory::QUEUE;
use crate::text::{fingerprint, said_later};
use crate::translator::{AgentEvent, NewAsk, Outcome};

/// How many delivered outcomes can wait for the agent to continue their tool call. The oldest is dropped: it stays
/// delivered but is never confirmed. These entries are saved with every step, and agents usually run only a few calls
/// in parallel.
const ANSWERED: usize = 8;
/// How many distinct reasons are sent to the agent between two messages of the person.
const REASONS: usize = 8;

const NOT_WAITING: &str = "The agent no longer waits for it.";
const TAKEN_BACK: &str = "The agent withdrew it.";
const OPENED_ELSEWHERE: &str = "It was opened elsewhere.";

impl AcpState {
    /// Opens an ask for a request, or refuses the request immediately.
    pub(super) fn request(&mut self, id: Id, method: &str, params: Option<&RawValue>, line: &str, out: &mut Out) {
        if self.open.iter().any(|open| open.id == id) {
            // The agent would take any answer for an answer to the first request with this id.
            return self
                .hearing
                .complaints
                .report("The agent used the id of an open request again; the second one was ignored.", out);
        }
        let params = params.and_then(Object::of).unwrap_or_default();
        let asked = match requests::read(method, &params, &self.tools) {
            Ok(asked) => asked,
            Err(Refusal::Acknowledged) => return out.line(json_rpc::result(&id, &json!({}))),
            Err(Refusal::UnknownMethod) => {
                out.line(json_rpc::error(&id, METHOD_NOT_FOUND, "Method not found"));
                if self.hearing.complaints.should_report_method(method) {
                    let method = limits::head(method, 80);
                    out.event(AgentEvent::Notice(format!("The agent asked for `{method}`, which Sayso does not support.")));
                }
                return;
            }
            Err(Refusal::Invalid(why)) => return self.refuse(&id, method, &why, out),
        };
        if self.turn.as_ref().is_some_and(|turn| turn.cancelled) {
            // The agent has not yet processed the cancellation of the turn.
            return out.line(asked.kind.cancelled().line(&id));
        }
        if let Err(limit) = self.check(&asked, line) {
            return self.refuse(&id, method, &limit.to_string(), out);
        }
        self.open(id, asked, &params, line, out);
    }

    fn check(&self, asked: &AcpAsk, line: &str) -> Result<(), limits::LimitExceeded> {
        limits::check("the size of the request", line.len(), limits::RAW)?;
        limits::check("the number of pending asks", self.open.len() + 1, limits::PENDING)?;
        limits::check("the id of the tool call", asked.tool_call.as_ref().map_or(0, String::len), limits::TEXT)?;
        limits::check("the id of the link", asked.link.as_ref().map_or(0, String::len), limits::TEXT)?;
        asked.body.check_limits()
    }

    fn refuse(&mut self, id: &Id, method: &str, why: &str, out: &mut Out) {
        out.line(json_rpc::error(id, INVALID_PARAMS, &format!("Sayso refused this request: {why}")));
        let method = limits::head(method, 80);
        out.event(AgentEvent::Notice(format!("A request of the agent (`{method}`) was refused: {why}.")));
    }

    fn open(&mut self, id: Id, asked: AcpAsk, params: &Object<'_>, line: &str, out: &mut Out) {
        let subagent = self.subagent(params);
        self.finish_messages(Some(&subagent), out);
        if let (Some(call), AskBody::Approval(_), Some(update)) = (&asked.tool_call, &asked.body, params.object("toolCall"))
            && self.tools.get(call).is_none()
        {
            // This request is the first message that mentions the call.
            self.report_tool_call(call.clone(), &update, subagent.clone(), out);
        }
        let raw = Raw::parse(line.trim().to_owned()).ok();
        let print = raw.as_ref().map_or(0, |raw| fingerprint(raw.as_str()));
        out.event(AgentEvent::AskOpened(Box::new(NewAsk {
            native_id: id.as_str().to_owned(),
            body: asked.body,
            tool_call_id: asked.tool_call.clone(),
            subagent,
            blocking: true,
            context: None,
            labels: Labels::new(),
            raw,
        })));
        self.open.push(Open { id, kind: asked.kind, tool_call: asked.tool_call, link: asked.link, print });
    }

    /// The name of the sub-agent that sent this message; `None` for the main thread. If the session id is not known
    /// yet, the first id that arrives becomes the id of the main session.
    pub(super) fn subagent(&mut self, params: &Object<'_>) -> Option<String> {
        let named = params.non_blank_text("sessionId").filter(|named| named.len() <= limits::TEXT)?;
        match &self.agent.session {
            Some(main) if *main != named => Some(limits::head(&named, limits::NAME).to_owned()),
            Some(_) => None,
            None => {
                if self.phase == AcpPhase::Ready {
                    self.agent.session = Some(named);
                }
                None
            }
        }
    }

    /// Emits the merged state of a tool call after this update, and confirms an outcome if the update shows that the
    /// call continued.
    pub(super) fn report_tool_call(&mut self, id: String, update: &Object<'_>, subagent: Option<String>, out: &mut Out) {
        let known = self.tools.get(&id);
        if known.is_some_and(|call| call.status().has_ended()) {
            return;
        }
        let call = ToolCallInfo::merge_update(known, id, update);
        let output = call.output(update);
        let shown = |call: &ToolCallInfo| (call.tool(), call.input().cloned(), call.status().to_tool_status());
        if output.is_some() || known.map(shown) != Some(shown(&call)) {
            out.event(AgentEvent::Tool {
                tool_call_id: call.id.clone(),
                name: call.tool(),
                input: call.input().filter(|input| input.as_str().len() <= limits::RAW).cloned(),
                output,
                status: call.status().to_tool_status(),
                subagent,
            });
        }
        self.tools.store_call(call);
    }

    /// Confirms the outcome of a call's ask: the agent has continued the call.
    pub(super) fn confirm_outcome(&mut self, tool_call: &str, status: Option<Status>, out: &mut Out) {
        if !matches!(status, Some(Status::Running | Status::Completed | Status::Failed)) {
            return;
        }
        while let Some(at) = self.answered.iter().position(|answered| answered.tool_call == tool_call) {
            if let Some(Answered { ask, .. }) = self.answered.remove(at) {
                out.event(AgentEvent::AskDelivery { ask, delivery: Delivery::Confirmed });
            }
        }
    }

    /// Sends an outcome to the agent.
    pub(super) fn deliver_outcome(&mut self, given: &Outcome<'_>, out: &mut Out) {
        let Outcome { ask, native_id, decision, raw, by } = *given;
        let print = raw.map(|raw| fingerprint(raw.as_str()));
        let open =
            self.open.iter().position(|open| open.id.as_str() == native_id && print.is_none_or(|print| print == open.print));
        let Some(open) = open.map(|at| self.open.remove(at)) else {
            return out.undeliverable(ask, NOT_WAITING);
        };
        let Some(params) = raw.and_then(|raw| Object::parse(raw.as_str())).and_then(|message| message.object("params")) else {
            out.line(open.kind.cancelled().line(&open.id));
            return out.undeliverable(ask, "The request can no longer be read, so it was cancelled.");
        };
        let answer = open.kind.answer(&params, decision);
        out.line(answer.reply.line(&open.id));
        match (answer.lost, open.tool_call) {
            (Some(why), _) => out.undeliverable(ask, why),
            (None, Some(tool_call)) => {
                if self.answered.len() == ANSWERED {
                    self.answered.pop_front();
                }
                self.answered.push_back(Answered { ask, tool_call });
            }
            (None, None) => {}
        }
        if let Decision::Rejected { stop: true, .. } | Decision::Denied { stop: true, .. } = decision {
            self.cancel_turn(texts::WITHDRAWN_INTERRUPTED, out);
        } else if let Some(words) = answer.unsaid.filter(|_| by.is_person()) {
            self.queue_follow_up(&params, decision, &words, out);
        }
    }

    /// Queues a person's words that the response has no field for; they are sent after the turn.
    fn queue_follow_up(&mut self, params: &Object<'_>, decision: &Decision, words: &str, out: &mut Out) {
        let call = params.object("toolCall").unwrap_or_default();
        let known = || self.tools.get(&call.non_blank_text("toolCallId")?)?.title.clone();
        let title = call.non_blank_text("title").or_else(known);
        let about = title.as_deref().and_then(|title| title.lines().next()).map(|title| limits::head(title, limits::NAME));
        let text = said_later(decision, about, words);
        let print = fingerprint(&text);
        if self.told.contains(&print) || self.told.len() == REASONS {
            return;
        }
        if self.queue.len() >= QUEUE {
            return out.event(AgentEvent::Error(format!(
                "{QUEUE} messages are already queued; your message to the agent was not sent."
            )));
        }
        self.told.push(print);
        let at = self.queue.iter().take_while(|prompt| prompt.follow_up).count();
        self.queue.insert(at, Prompt { text, follow_up: true });
        self.send_next_prompt(out);
    }

    /// Cancels the turn and answers all pending requests as cancelled.
    pub(super) fn cancel_turn(&mut self, reason: &str, out: &mut Out) {
        if let Some(turn) = &mut self.turn {
            turn.cancelled = true;
            if let Some(session) = &self.agent.session {
                out.line(json_rpc::notification("session/cancel", &json!({ "sessionId": session })));
            }
        }
        self.withdraw_all(reason, out);
        self.queue.retain(|prompt| !prompt.follow_up);
    }

    /// Withdraws all asks and answers their requests as cancelled.
    pub(super) fn withdraw_all(&mut self, reason: &str, out: &mut Out) {
        for open in std::mem::take(&mut self.open) {
            withdraw(&open, reason, out);
        }
    }

    /// Handles a cancellation of a request by the agent.
    pub(super) fn cancel_request(&mut self, params: &Object<'_>, out: &mut Out) {
        let id = params.get("requestId").or_else(|| params.get("id")).and_then(Id::of);
        if let Some(at) = self.open.iter().position(|open| Some(&open.id) == id.as_ref()) {
            withdraw(&self.open.remove(at), TAKEN_BACK, out);
        }
    }

    /// Handles the notification that a link was opened outside Sayso.
    pub(super) fn link_completed(&mut self, params: &Object<'_>, out: &mut Out) {
        let link = params.non_blank_text("elicitationId");
        if let Some(at) = self.open.iter().position(|open| open.link.is_some() && open.link == link) {
            withdraw(&self.open.remove(at), OPENED_ELSEWHERE, out);
        }
    }
}

fn withdraw(open: &Open, reason: &str, out: &mut Out) {
    out.line(open.kind.cancelled().line(&open.id));
    out.event(AgentEvent::AskWithdrawn { native_id: open.id.as_str().to_owned(), reason: reason.to_owned() });
}
