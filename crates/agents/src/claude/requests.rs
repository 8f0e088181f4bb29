//! Requests of Claude: each becomes an ask or is refused immediately with a reason.

use sayso_core::ask::AskBody;
use sayso_core::raw::Raw;
use sayso_core::session::Labels;
use serde_json::value::RawValue;

use super::outcome::deny;
use super::state::{ClaudeProcess, Kind, Open};
use super::{approvals, forms, plan, questions, wire};
use crate::json::Object;
use crate::out::Out;
use crate::process::memory::{ID, OPEN};
use crate::translator::{AgentEvent, NewAsk};

/// The tool that asks questions.
pub(super) const QUESTION_TOOL: &str = "AskUserQuestion";
/// Name of a sub-agent whose own name is unknown.
pub(super) const SOME_HELPER: &str = "sub-agent";

impl ClaudeProcess {
    /// Opens an ask for a request. A request that is already open was repeated and is ignored.
    pub(super) fn request(&mut self, request: &wire::Request<'_>, out: &mut Out) {
        if self.open.iter().any(|open| open.id == request.id) {
            return;
        }
        let raw = request.request.unwrap_or(RawValue::NULL);
        let refused = match Object::of(raw) {
            _ if request.id.len() > ID => Err("its id is too long".to_owned()),
            _ if wire::too_deep(raw.get()) => Err("it is nested too deeply".to_owned()),
            _ if self.open.len() >= OPEN => Err(format!("{OPEN} requests are already open")),
            None => Err("it cannot be read".to_owned()),
            Some(fields) => match fields.text("subtype").as_deref() {
                Some("can_use_tool") => match fields.non_blank_text("tool_name") {
                    Some(tool) => {
                        self.tool_request(request, &fields, &tool, out);
                        Ok(())
                    }
                    None => Err("it names no tool".to_owned()),
                },
                Some("elicitation") => forms::read(&fields).map(|(kind, body)| self.open(request, &fields, kind, body, out)),
                // Claude discards an error response to this request, so none is sent.
                Some("request_user_dialog") => {
                    self.complaints.report(
                        AgentEvent::Notice("Claude Code wanted to show a dialog that Sayso does not support.".to_owned()),
                        out,
                    );
                    Ok(())
                }
                Some(other) => {
                    Err(format!("Sayso does not support requests of the kind `{}`", sayso_core::limits::head(other, ID)))
                }
                None => Err("it does not say what it is".to_owned()),
            },
        };
        if let Err(why) = refused {
            out.line(wire::failure(&request.id, &format!("Sayso refused this request: {why}.")));
            self.complaints.report(AgentEvent::Notice(format!("A request of Claude Code was refused: {why}.")), out);
        }
    }

    fn tool_request(&mut self, request: &wire::Request<'_>, fields: &Object<'_>, tool: &str, out: &mut Out) {
        let input = fields.get("input").unwrap_or(RawValue::NULL);
        if fields.get("agent_id").is_none() {
            self.begin_turn(out);
        }
        let (kind, body) = match tool {
            QUESTION_TOOL => match questions::read(input) {
                Ok(questions) => (Kind::Question, AskBody::Question { questions }),
                Err(why) => {
                    out.line(wire::success(&request.id, &deny(&format!("This question could not be shown: {why}."))));
                    self.complaints
                        .report(AgentEvent::Notice(format!("A question of Claude Code could not be shown: {why}.")), out);
                    return;
                }
            },
            plan::TOOL => (Kind::Plan, AskBody::Approval(plan::read(fields, input))),
            _ => (Kind::Approval, AskBody::Approval(approvals::read(fields, tool, input))),
        };
        self.open(request, fields, kind, body, out);
    }

    fn open(&mut self, request: &wire::Request<'_>, fields: &Object<'_>, kind: Kind, body: AskBody, out: &mut Out) {
        let tool_use = fields.text("tool_use_id").filter(|id| id.len() <= ID);
        let subagent = fields.text("agent_id").map(|id| self.helpers.get(&id).unwrap_or(SOME_HELPER).to_owned());
        let by_helper = subagent.is_some();
        // The request is stored before the ask is emitted, because its outcome can arrive immediately.
        self.open.push(Open { id: request.id.clone(), kind, tool_use: tool_use.clone(), by_helper });
        out.event(AgentEvent::AskOpened(Box::new(NewAsk {
            native_id: request.id.clone(),
            body,
            tool_call_id: tool_use,
            subagent,
            blocking: true,
            context: None,
            labels: Labels::new(),
            raw: request.request.map(|raw| Raw::of(&raw)),
        })));
    }
}
