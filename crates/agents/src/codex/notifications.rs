//! Notifications of Codex: turns, messages, tool calls and requests that other clients resolved.

use sayso_core::ask::Delivery;
use sayso_core::transcript::Role;
use sayso_core::{limits, texts};
use serde_json::value::RawValue;

use super::items::{self, Item};
use super::state::{CodexState, ID, Kind, Open};
use crate::json::Object;
use crate::json_rpc::Id;
use crate::out::Out;
use crate::text::{bounded, fingerprint};
use crate::translator::AgentEvent;

/// Maximum length of a displayed error in bytes.
const SHOWN: usize = 2048;
const ELSEWHERE: &str = "It was answered elsewhere.";
const TURN_OVER: &str = "The turn ended without an answer.";

impl CodexState {
    /// Handles a notification. Unknown notifications are ignored.
    pub(super) fn handle_notification(&mut self, method: &str, params: Option<&RawValue>, line: &str, out: &mut Out) {
        let params = params.and_then(Object::of).unwrap_or_default();
        match method {
            "thread/started" => self.thread_started(&params),
            "turn/started" => self.turn_started(&params, out),
            "turn/completed" => self.turn_completed(&params, out),
            "item/started" => self.handle_item(&params, false, line, out),
            "item/completed" => self.handle_item(&params, true, line, out),
            "item/agentMessage/delta" => self.handle_delta(&params, out),
            "serverRequest/resolved" => self.handle_resolved(&params, out),
            "error" if params.is_true("willRetry") => {
                let words = params.object("error").and_then(|error| error.non_blank_text("message"));
                out.event(AgentEvent::Notice(format!("Codex is retrying: {}", describe_error(words))));
            }
            _ => {}
        }
    }

    /// Records a sub-agent's thread.
    fn thread_started(&mut self, params: &Object<'_>) {
        let Some(thread) = params.object("thread") else { return };
        let Some(id) = thread.non_blank_text("id").filter(|id| id.len() <= ID) else { return };
        if self.thread.as_ref().is_some_and(|own| *own != id)
            && let Some(name) = ["agentNickname", "agentRole", "name"].into_iter().find_map(|name| thread.non_blank_text(name))
        {
            self.name_helper(id, limits::head(&name, limits::NAME).to_owned());
        }
    }

    fn turn_started(&mut self, params: &Object<'_>, out: &mut Out) {
        let (Some(thread), Some(turn)) = (thread(params), turn(params)) else { return };
        if self.subagent(&thread).is_none() {
            self.record_turn_id(turn, out);
        }
    }

    fn turn_completed(&mut self, params: &Object<'_>, out: &mut Out) {
        let (Some(thread), Some(turn)) = (thread(params), turn(params)) else { return };
        let subagent = self.subagent(&thread);
        let own = subagent.is_none();
        let ours = own && self.turn.as_ref().is_some_and(|running| running.id.as_ref().is_none_or(|id| *id == turn));
        let stopping = ours && self.turn.as_ref().is_some_and(|turn| turn.stopping);
        let fields = params.object("turn").unwrap_or_default();
        let status = fields.text("status");
        let interrupted = status.as_deref() == Some("interrupted");
        let reason = if interrupted || stopping { texts::WITHDRAWN_INTERRUPTED } else { TURN_OVER };
        // Asks that do not block Codex outlive the turn, unless the person stopped it.
        let over = |open: &Open| {
            open.thread == thread
                && open.turn.as_ref().is_none_or(|of| *of == turn)
                && (open.kind != Kind::Message || interrupted)
        };
        for open in self.open.extract_if(.., |open| over(open)) {
            out.event(AgentEvent::AskWithdrawn { native_id: open.native_id, reason: reason.to_owned() });
        }
        if interrupted {
            for item in self.items.take_thread(&thread) {
                out.event(item.cut_short(subagent.clone()));
            }
        }
        if status.as_deref() == Some("failed") && own {
            let words = fields.object("error").and_then(|error| error.non_blank_text("message"));
            out.event(AgentEvent::Error(format!("Codex: {}", describe_error(words))));
        }
        if ours {
            self.turn = None;
            out.event(AgentEvent::TurnEnded);
            self.send_next_message(out);
        }
    }

    /// Withdraws all open asks because the shared Codex is gone.
    pub(super) fn lost(&mut self, reason: &str, out: &mut Out) {
        for open in std::mem::take(&mut self.open) {
            out.event(AgentEvent::AskWithdrawn { native_id: open.native_id, reason: reason.to_owned() });
        }
        self.sent.clear();
        self.requests.forget();
        self.queue.clear();
        self.items = items::Items::default();
        if self.turn.take().is_some() {
            out.event(AgentEvent::TurnEnded);
        }
    }

    /// Withdraws another ask with the id of a new request: the Codex process that sent the earlier request has exited.
    pub(super) fn withdraw_other(&mut self, id: &Id, line: &str, out: &mut Out) {
        let print = fingerprint(line.trim());
        for open in self.open.extract_if(.., |open| open.id.as_ref() == Some(id) && open.print != print) {
            out.event(AgentEvent::AskWithdrawn { native_id: open.native_id, reason: TURN_OVER.to_owned() });
        }
    }

    /// Withdraws all asks except these; they were answered elsewhere.
    pub(super) fn withdraw_except(&mut self, waiting: &[Id], out: &mut Out) {
        let over = |open: &Open| open.id.as_ref().is_some_and(|id| !waiting.contains(id));
        for open in self.open.extract_if(.., |open| over(open)) {
            out.event(AgentEvent::AskWithdrawn { native_id: open.native_id, reason: ELSEWHERE.to_owned() });
        }
    }

    fn handle_item(&mut self, params: &Object<'_>, ended: bool, line: &str, out: &mut Out) {
        let (Some(thread), Some(item)) = (thread(params), params.object("item")) else { return };
        let Some(id) = item.non_blank_text("id").filter(|id| id.len() <= ID) else { return };
        let subagent = self.subagent(&thread);
        match item.text("type").as_deref() {
            Some("agentMessage") if ended => {
                if item.list("questions").is_some_and(|questions| !questions.is_empty()) {
                    self.open_message_ask(&item, params, line, out);
                } else {
                    report_message(id, &item, subagent, out);
                }
            }
            Some("plan") if ended => report_message(id, &item, subagent, out),
            _ => {
                let Some(event) = items::event(&item, &id, subagent, ended) else { return };
                out.event(event);
                if ended {
                    self.items.forget(&thread, &id);
                } else if let Some(item) = Item::of(&item, &id, &thread) {
                    self.items.keep(item);
                }
            }
        }
    }

    /// Handles a chunk of a streaming message. Only the session's own thread is shown live.
    fn handle_delta(&mut self, params: &Object<'_>, out: &mut Out) {
        let (Some(thread), Some(item), Some(text)) = (thread(params), params.non_blank_text("itemId"), params.text("delta"))
        else {
            return;
        };
        if self.subagent(&thread).is_none() && item.len() <= ID && !text.is_empty() {
            out.event(AgentEvent::MessageDelta { message: item, text: bounded(text) });
        }
    }

    /// Handles a resolved request: answered by Sayso or another client, or ended with its turn.
    fn handle_resolved(&mut self, params: &Object<'_>, out: &mut Out) {
        let Some(id) = params.get("requestId").and_then(Id::of) else { return };
        if let Some(at) = self.open.iter().position(|open| open.id.as_ref() == Some(&id)) {
            let open = self.open.remove(at);
            let own = self.thread.as_ref() == Some(&open.thread);
            let stopped = own && self.turn.as_ref().is_none_or(|turn| turn.stopping);
            let reason = if stopped { texts::WITHDRAWN_INTERRUPTED } else { ELSEWHERE };
            out.event(AgentEvent::AskWithdrawn { native_id: open.native_id, reason: reason.to_owned() });
        } else if let Some(at) = self.sent.iter().position(|sent| sent.id == id) {
            let sent = self.sent.remove(at);
            out.event(AgentEvent::AskDelivery { ask: sent.ask, delivery: Delivery::Confirmed });
        }
    }
}

fn thread(params: &Object<'_>) -> Option<String> {
    params.non_blank_text("threadId").filter(|thread| thread.len() <= ID)
}

fn turn(params: &Object<'_>) -> Option<String> {
    params.object("turn")?.non_blank_text("id").filter(|turn| turn.len() <= ID)
}

fn report_message(message: String, item: &Object<'_>, subagent: Option<String>, out: &mut Out) {
    if let Some(text) = item.non_blank_text("text") {
        out.event(AgentEvent::Message { message, role: Role::Assistant, text: bounded(text), subagent });
    }
}

fn describe_error(words: Option<String>) -> String {
    words.map_or_else(|| "it gave no reason".to_owned(), |words| limits::head(words.trim(), SHOWN).to_owned())
}
