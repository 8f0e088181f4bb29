//! Requests of OpenCode: each becomes one ask, even if it is reported several times or through several channels.

use sayso_core::ask::AskBody;
use sayso_core::limits;
use sayso_core::raw::Raw;
use sayso_core::session::Labels;
use serde_json::value::RawValue;

use super::calls::CallContext;
use super::state::{Kind, Open, OpenCodeProcess, OutcomeReply, is_id};
use super::{permissions, questions};
use crate::json::{Object, too_deep};
use crate::out::Out;
use crate::process::memory::{ID, OPEN};
use crate::translator::{AgentEvent, NewAsk};

/// Name of a sub-agent whose own name is unknown.
pub(super) const SOME_HELPER: &str = "sub-agent";

impl OpenCodeProcess {
    /// Handles a request from an event or a list. A known request was repeated and is ignored.
    pub(super) fn handle_request(&mut self, of: Kind, raw: &RawValue, ctx: &mut CallContext<'_>, out: &mut Out) {
        let Some(request) = Object::of(raw) else { return };
        let (Some(id), Some(session)) = (request.text("id"), request.text("sessionID")) else { return };
        if !is_id(&id) || !is_id(&session) {
            let event = AgentEvent::Notice("OpenCode made a request with an id that cannot be answered.".to_owned());
            return self.complaints.report(event, out);
        }
        if self.is_known_request(&id) || !self.carries(&session, ctx.root()) {
            return;
        }
        if self.is_stopping() {
            // OpenCode has not yet processed the abort of the turn.
            return ctx.reject(self, of, id, out);
        }
        let refused = match limits::check("the size of the request", raw.get().len(), limits::RAW) {
            Err(limit) => Err(limit.to_string()),
            Ok(()) if too_deep(raw.get()) => Err("it is nested too deeply".to_owned()),
            Ok(()) if self.open.len() >= OPEN => Err(format!("{OPEN} requests are already open")),
            Ok(()) => self.read(of, &request),
        };
        match refused {
            Ok(Some((kind, body))) => {
                let open = Open { id, kind, session, tool_call: tool_call(&request), since: self.looks };
                self.open_ask(open, body, raw, ctx, out);
            }
            // OpenCode also blocks on an empty list of questions.
            Ok(None) => {
                let said = OutcomeReply { verb: "reply".to_owned(), body: Some(questions::empty_answers()), is_yes: false };
                let open = Open { id, kind: of, session, tool_call: None, since: self.looks };
                ctx.send_outcome(self, &open, &said, out);
                self.mark_resolved(open.id);
            }
            Err(why) => {
                ctx.reject(self, of, id, out);
                self.complaints.report(AgentEvent::Notice(format!("A request of OpenCode was refused: {why}.")), out);
            }
        }
    }

    fn read(&self, of: Kind, request: &Object<'_>) -> Result<Option<(Kind, AskBody)>, String> {
        match of {
            Kind::Question | Kind::Plan => questions::read(request),
            Kind::Permission => {
                let call = tool_call(request);
                let input = call.and_then(|call| self.tools.iter().find(|tool| tool.id == call)?.input.clone());
                let approval = permissions::read(request, input).ok_or("it does not say what it is about")?;
                Ok(Some((Kind::Permission, AskBody::Approval(approval))))
            }
        }
    }

    fn open_ask(&mut self, open: Open, body: AskBody, raw: &RawValue, ctx: &mut CallContext<'_>, out: &mut Out) {
        self.begin_turn(out);
        self.adopt(&open.session, ctx);
        let subagent = self.speaker(&open.session, ctx);
        let context = self.unfinished().filter(|_| subagent.is_none());
        let (native_id, tool_call_id) = (open.id.clone(), open.tool_call.clone());
        // The request is stored before the ask is emitted, because its outcome can arrive immediately.
        self.open.push(open);
        out.event(AgentEvent::AskOpened(Box::new(NewAsk {
            native_id,
            body,
            tool_call_id,
            subagent,
            blocking: true,
            context,
            labels: Labels::new(),
            raw: Some(Raw::of(&raw)),
        })));
    }

    /// The name of the sub-agent that owns a session; `None` for the main session.
    pub(super) fn speaker(&self, session: &str, ctx: &CallContext<'_>) -> Option<String> {
        if ctx.root() == Some(session) {
            return None;
        }
        Some(self.helpers.get(session).unwrap_or(SOME_HELPER).to_owned())
    }

    /// Withdraws a request that was resolved outside Sayso.
    pub(super) fn withdraw(&mut self, request: &str, reason: &str, out: &mut Out) {
        if let Some(at) = self.open.iter().position(|open| open.id == request) {
            let open = self.open.remove(at);
            self.mark_resolved(open.id.clone());
            out.event(AgentEvent::AskWithdrawn { native_id: open.id, reason: reason.to_owned() });
        }
    }

    /// Withdraws and rejects all pending requests.
    pub(super) fn reject_all(&mut self, reason: &str, ctx: &mut CallContext<'_>, out: &mut Out) {
        for open in std::mem::take(&mut self.open) {
            ctx.reject(self, open.kind, open.id.clone(), out);
            out.event(AgentEvent::AskWithdrawn { native_id: open.id, reason: reason.to_owned() });
        }
    }
}

/// The id of the tool call that a request belongs to.
fn tool_call(request: &Object<'_>) -> Option<String> {
    request.object("tool")?.non_blank_text("callID").filter(|id| id.len() <= ID)
}
