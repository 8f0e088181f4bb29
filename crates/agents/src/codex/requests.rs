//! Requests and asking messages of Codex: each becomes an ask or is refused immediately with a reason.

use sayso_core::ask::AskBody;
use sayso_core::limits;
use sayso_core::raw::Raw;
use sayso_core::session::Labels;
use serde_json::value::RawValue;

use super::state::{CodexState, ID, Kind, Open};
use super::{approvals, forms, outcome, patch, questions};
use crate::json::Object;
use crate::json_rpc::{self, INVALID_PARAMS, Id, METHOD_NOT_FOUND};
use crate::out::Out;
use crate::text::fingerprint;
use crate::translator::{AgentEvent, NewAsk};

/// A parsed request for a person's decision.
struct CodexAsk {
    kind: Kind,
    body: AskBody,
    item: Option<String>,
}

/// The thread and turn that sent a request.
struct From {
    thread: String,
    turn: Option<String>,
}

impl CodexState {
    /// Handles a request. A request that is already open was repeated to all clients and is ignored.
    pub(super) fn request(&mut self, id: Id, method: &str, params: Option<&RawValue>, line: &str, out: &mut Out) {
        if let Some(open) = self.open.iter().find(|open| open.id.as_ref() == Some(&id)) {
            if open.print != fingerprint(line.trim()) {
                self.hearing.complaints.report("Codex used the id of an open request again; the second one was ignored.", out);
            }
            return;
        }
        let params = params.and_then(Object::of).unwrap_or_default();
        let Some(from) = From::of(&params) else { return self.refuse_unknown(&id, method, out) };
        let asked = match self.read(method, &params, &from.thread) {
            None => return self.refuse_unknown(&id, method, out),
            Some(Err(why)) => return self.refuse(&id, method, &why, out),
            Some(Ok(asked)) => asked,
        };
        let own = self.subagent(&from.thread).is_none();
        if own && self.turn.as_ref().is_some_and(|turn| turn.stopping) {
            // Codex has not yet processed the interruption of the turn.
            return out.line(json_rpc::raw_result(&id, &outcome::undecided_result(asked.kind)));
        }
        if let Err(limit) = self.check(&asked, line) {
            return self.refuse(&id, method, &limit.to_string(), out);
        }
        if let (true, Some(turn)) = (own, &from.turn)
            && self.turn.as_ref().is_none_or(|turn| turn.id.is_none())
        {
            self.record_turn_id(turn.clone(), out);
        }
        self.open(Some(id), asked, from, line, out);
    }

    /// Parses a request; `None` if the method is unknown.
    fn read(&self, method: &str, params: &Object<'_>, thread: &str) -> Option<Result<CodexAsk, String>> {
        let mut item = params.non_blank_text("itemId");
        let known = item.as_deref().and_then(|item| self.items.get(thread, item));
        let read = match method {
            "item/commandExecution/requestApproval" => Ok((Kind::Command, AskBody::Approval(approvals::command(params)))),
            "item/fileChange/requestApproval" => Ok((Kind::Patch, AskBody::Approval(patch::read(params, known)))),
            "item/permissions/requestApproval" => {
                approvals::permissions(params).map(|approval| (Kind::Permissions, AskBody::Approval(approval)))
            }
            "item/tool/requestUserInput" => {
                questions::read(params).map(|questions| (Kind::Question, AskBody::Question { questions }))
            }
            "mcpServer/elicitation/request" => match params.object("_meta") {
                Some(meta) if meta.text("codex_approval_kind").as_deref() == Some("mcp_tool_call") => {
                    let known = approvals::mcp_item(params, self.items.of(thread));
                    item = item.or_else(|| known.map(|item| item.id.clone()));
                    Ok((Kind::McpTool, AskBody::Approval(approvals::mcp_tool(params, &meta, known))))
                }
                _ => forms::read(params),
            },
            _ => return None,
        };
        Some(read.map(|(kind, body)| CodexAsk { kind, body, item }))
    }

    /// Opens an ask for a message with questions. Codex continues without waiting for the answer.
    pub(super) fn open_message_ask(&mut self, item: &Object<'_>, params: &Object<'_>, line: &str, out: &mut Out) {
        let (Some(from), Some(id)) = (From::of(params), item.non_blank_text("id").filter(|id| id.len() <= ID)) else { return };
        if self.open.iter().any(|open| open.native_id == message_id(&id)) {
            return;
        }
        let asked = questions::of_message(item).and_then(|questions| {
            let asked = CodexAsk { kind: Kind::Message, body: AskBody::Question { questions }, item: Some(id) };
            self.check(&asked, line).map(|()| asked).map_err(|limit| limit.to_string())
        });
        match asked {
            Ok(asked) => self.open(None, asked, from, line, out),
            Err(why) => out.event(AgentEvent::Notice(format!("A question of Codex could not be shown: {why}."))),
        }
    }

    fn check(&self, asked: &CodexAsk, line: &str) -> Result<(), limits::LimitExceeded> {
        limits::check("the size of the request", line.len(), limits::RAW)?;
        limits::check("the number of pending asks", self.open.len() + 1, limits::PENDING)?;
        limits::check("the id of the item", asked.item.as_ref().map_or(0, String::len), ID)?;
        asked.body.check_limits()
    }

    /// Refuses a request that is not a question for a person and that Sayso cannot answer itself.
    fn refuse_unknown(&mut self, id: &Id, method: &str, out: &mut Out) {
        out.line(json_rpc::error(id, METHOD_NOT_FOUND, "Method not found"));
        if self.hearing.complaints.should_report_method(method) {
            let method = limits::head(method, 80);
            out.event(AgentEvent::Notice(format!("Codex asked for `{method}`, which Sayso does not support.")));
        }
    }

    fn refuse(&mut self, id: &Id, method: &str, why: &str, out: &mut Out) {
        out.line(json_rpc::error(id, INVALID_PARAMS, &format!("Sayso refused this request: {why}")));
        let method = limits::head(method, 80);
        out.event(AgentEvent::Notice(format!("A request of Codex (`{method}`) was refused: {why}.")));
    }

    fn open(&mut self, id: Option<Id>, asked: CodexAsk, from: From, line: &str, out: &mut Out) {
        let subagent = self.subagent(&from.thread);
        let CodexAsk { kind, body, item } = asked;
        let native_id = match (&id, &item) {
            (Some(id), _) => id.as_str().to_owned(),
            (None, item) => message_id(item.as_deref().unwrap_or_default()),
        };
        let about = match &body {
            AskBody::Approval(approval) => Some(approval.title.clone()),
            AskBody::Question { .. } | AskBody::Link(_) => None,
        };
        let raw = Raw::parse(line.trim().to_owned()).ok();
        let print = raw.as_ref().map_or(0, |raw| fingerprint(raw.as_str()));
        // The request is stored before the ask is emitted, because its outcome can arrive immediately.
        self.open.push(Open { native_id: native_id.clone(), id, kind, thread: from.thread, turn: from.turn, about, print });
        out.event(AgentEvent::AskOpened(Box::new(NewAsk {
            native_id,
            body,
            tool_call_id: item,
            subagent,
            blocking: kind != Kind::Message,
            context: None,
            labels: Labels::new(),
            raw,
        })));
    }
}

impl From {
    fn of(params: &Object<'_>) -> Option<Self> {
        let thread = params.non_blank_text("threadId").filter(|thread| thread.len() <= ID)?;
        Some(Self { thread, turn: params.non_blank_text("turnId").filter(|turn| turn.len() <= ID) })
    }
}

/// The native id of a question from a message. It cannot collide with a request id, which is a number or quoted.
fn message_id(item: &str) -> String {
    format!("message:{item}")
}
