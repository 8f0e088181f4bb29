//! Events of OpenCode. Unknown events are ignored.

use sayso_core::ask::Delivery;
use sayso_core::limits;
use sayso_core::raw::Raw;
use sayso_core::time::Time;
use sayso_core::transcript::{Role, ToolStatus};
use serde_json::value::RawValue;

use super::calls::CallContext;
use super::state::{Conversation, Kind, OpenCodeProcess, Turn, is_id};
use crate::json::{Object, too_deep};
use crate::out::Out;
use crate::process::memory::ID;
use crate::text::{bounded, one_line};
use crate::translator::AgentEvent;

/// Maximum length of a displayed error in characters.
const WORDS: usize = 500;

impl OpenCodeProcess {
    /// Handles one event, of a single directory or of all directories with the directory in an outer field.
    pub(super) fn event(&mut self, now: Time, data: &str, ctx: &mut CallContext<'_>, out: &mut Out) {
        let Some(frame) = Object::parse(data) else {
            return self
                .complaints
                .report(AgentEvent::Error("OpenCode sent an event that is not JSON; it was ignored.".to_owned()), out);
        };
        let event = frame.object("payload").unwrap_or(frame);
        let (Some(kind), Some(raw)) = (event.text("type"), event.get("properties")) else { return };
        let Some(fields) = Object::of(raw) else { return };
        match kind.as_str() {
            "question.asked" => return self.handle_request(Kind::Question, raw, ctx, out),
            "permission.asked" => return self.handle_request(Kind::Permission, raw, ctx, out),
            "server.instance.disposed" => return self.poll(now, ctx, out),
            _ => {}
        }
        let Some(session) = fields.text("sessionID").filter(|id| is_id(id)) else { return };
        if kind == "session.created" || kind == "session.updated" {
            return self.handle_session(&session, &fields, ctx);
        }
        if self.foreign.contains(&session) {
            return;
        }
        self.adopt(&session, ctx);
        let ours = ctx.root() == Some(session.as_str());
        match kind.as_str() {
            "question.replied" | "question.rejected" => self.handle_decided(Kind::Question, &session, &fields, out),
            "permission.replied" => self.handle_decided(Kind::Permission, &session, &fields, out),
            "session.status" if ours => self.handle_status(&fields, ctx, out),
            "session.idle" if ours => self.handle_idle(ctx, out),
            "session.error" => self.failed(&fields, out),
            "message.part.delta" if ours => self.delta(&fields, out),
            "message.part.updated" => {
                if let Some(part) = fields.object("part") {
                    self.part(&session, &part, ctx, out);
                }
            }
            _ => {}
        }
    }

    /// Uses the first session that appears as this session if its id is not known yet.
    pub(super) fn adopt(&mut self, session: &str, ctx: &mut CallContext<'_>) {
        if self.adopts && ctx.conversation.is_none() {
            *ctx.conversation = Some(Conversation { id: session.to_owned(), directory: ctx.wanted.project.clone() });
        }
    }

    /// Records a session: a child of this session is a sub-agent; a session without a parent belongs to another client.
    fn handle_session(&mut self, session: &str, fields: &Object<'_>, ctx: &CallContext<'_>) {
        let info = fields.object("info").unwrap_or_default();
        if ctx.root() == Some(session) || ctx.root().is_none() {
            return;
        }
        match info.text("parentID") {
            Some(parent) if self.foreign.contains(&parent) => self.remember_foreign(session),
            Some(_) => {
                let name = info.non_blank_text("title").unwrap_or_else(|| super::asks::SOME_HELPER.to_owned());
                self.helpers.set(session, &name);
            }
            None if self.adopts => {}
            None => self.remember_foreign(session),
        }
    }

    fn handle_decided(&mut self, of: Kind, session: &str, fields: &Object<'_>, out: &mut Out) {
        if let Some(request) = fields.text("requestID") {
            self.decided(of, &request, session, out);
        }
    }

    fn handle_status(&mut self, fields: &Object<'_>, ctx: &mut CallContext<'_>, out: &mut Out) {
        let status = fields.object("status").unwrap_or_default();
        match status.text("type").as_deref() {
            Some("busy") => self.begin_turn(out),
            Some("retry") => {
                self.begin_turn(out);
                let words = one_line(&status.non_blank_text("message").unwrap_or_default(), WORDS);
                self.complaints.report(AgentEvent::Notice(format!("OpenCode is retrying the model: {words}")), out);
            }
            Some("idle") => self.handle_idle(ctx, out),
            _ => {}
        }
    }

    /// Handles the idle event. It arrives twice after an abort, and late: if the turn has not begun, the event belongs
    /// to the previous turn.
    fn handle_idle(&mut self, ctx: &mut CallContext<'_>, out: &mut Out) {
        if let Turn::Running { begun: true, .. } = self.turn {
            self.turn_ended(ctx, out);
        }
    }

    fn failed(&mut self, fields: &Object<'_>, out: &mut Out) {
        let error = fields.object("error").unwrap_or_default();
        let name = error.non_blank_text("name").unwrap_or_else(|| "an error".to_owned());
        if name == "MessageAbortedError" {
            if !self.is_stopping() && self.turn != Turn::Idle {
                out.event(AgentEvent::Notice("OpenCode's turn was stopped elsewhere.".to_owned()));
            }
            return;
        }
        let words = error.object("data").and_then(|data| data.non_blank_text("message")).unwrap_or(name);
        out.event(AgentEvent::Error(format!("OpenCode: {}", one_line(&words, WORDS))));
    }

    fn delta(&mut self, fields: &Object<'_>, out: &mut Out) {
        let (Some(part), Some(text)) = (fields.text("partID"), fields.text("delta")) else { return };
        if fields.text("field").as_deref() == Some("text")
            && let Some(speech) = self.speaking.iter_mut().find(|speech| speech.part == part)
        {
            speech.text.push_str(&text);
            if speech.text.len() > 2 * limits::CONTEXT {
                speech.text = limits::tail(&speech.text, limits::CONTEXT).to_owned();
            }
            out.event(AgentEvent::MessageDelta { message: part, text });
        }
    }

    fn part(&mut self, session: &str, part: &Object<'_>, ctx: &CallContext<'_>, out: &mut Out) {
        match part.text("type").as_deref() {
            Some("text") => self.text(session, part, ctx, out),
            Some("tool") => self.tool(session, part, ctx, out),
            _ => {}
        }
    }

    /// Handles a text part. Text of the model has start and end times; text of the person has none.
    fn text(&mut self, session: &str, part: &Object<'_>, ctx: &CallContext<'_>, out: &mut Out) {
        let (Some(id), Some(time)) = (part.text("id").filter(|id| is_id(id)), part.object("time")) else { return };
        if part.is_true("synthetic") || part.is_true("ignored") {
            return;
        }
        let ours = ctx.root() == Some(session);
        if time.get("end").is_none() {
            if ours {
                self.start_message(&id);
            }
            return;
        }
        self.speaking.retain(|known| known.part != id);
        if let Some(text) = part.non_blank_text("text") {
            let subagent = self.speaker(session, ctx);
            out.event(AgentEvent::Message { message: id, role: Role::Assistant, text: bounded(text), subagent });
        }
    }

    fn tool(&mut self, session: &str, part: &Object<'_>, ctx: &CallContext<'_>, out: &mut Out) {
        let (Some(id), Some(name)) = (part.non_blank_text("callID").filter(|id| id.len() <= ID), part.non_blank_text("tool"))
        else {
            return;
        };
        let state = part.object("state").unwrap_or_default();
        let fits = |raw: &&RawValue| raw.get().len() <= limits::RAW && !too_deep(raw.get());
        let input = state.get("input").filter(fits).map(|raw| Raw::of(&raw));
        let (status, output) = match state.text("status").as_deref() {
            Some("running") => (ToolStatus::Running, None),
            Some("completed") => (ToolStatus::Complete, state.text("output")),
            Some("error") => (ToolStatus::Error, state.text("error")),
            // The input is still being streamed.
            _ => return,
        };
        match status {
            ToolStatus::Running if self.tools.iter().any(|tool| tool.id == id && tool.input == input) => return,
            ToolStatus::Running => self.remember_tool(&id, input.clone()),
            ToolStatus::Complete | ToolStatus::Error => {
                self.tools.retain(|tool| tool.id != id);
                self.call_ended(&id, out);
            }
        }
        let name = limits::head(&name, limits::NAME).to_owned();
        let (output, subagent) = (output.map(bounded), self.speaker(session, ctx));
        out.event(AgentEvent::Tool { tool_call_id: id, name, input, output, status, subagent });
    }

    /// Handles the result of a tool call: its outcome arrived, or its ask is no longer needed.
    fn call_ended(&mut self, call: &str, out: &mut Out) {
        while let Some(at) = self.sent.iter().position(|sent| sent.request.tool_call.as_deref() == Some(call)) {
            let sent = self.sent.remove(at);
            self.mark_resolved(sent.request.id);
            out.event(AgentEvent::AskDelivery { ask: sent.ask, delivery: Delivery::Confirmed });
        }
        let waiting = self.open.iter().filter(|open| open.tool_call.as_deref() == Some(call));
        for id in waiting.map(|open| open.id.clone()).collect::<Vec<_>>() {
            self.withdraw(&id, super::poll::ELSEWHERE, out);
        }
    }
}
