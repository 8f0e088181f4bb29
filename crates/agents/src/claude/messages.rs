//! Claude's messages, tool calls and tool results.

use sayso_core::ask::Delivery;
use sayso_core::limits;
use sayso_core::raw::Raw;
use sayso_core::transcript::{Role, ToolStatus};
use serde_json::value::RawValue;

use super::requests::SOME_HELPER;
use super::state::{ClaudeProcess, Speech};
use super::wire::too_deep;
use crate::json::{Object, list, text};
use crate::out::Out;
use crate::process::memory::ID;
use crate::text::bounded;
use crate::translator::AgentEvent;

impl ClaudeProcess {
    /// Handles a block of an assistant message: text or a tool call.
    pub(super) fn assistant(&mut self, fields: &Object<'_>, out: &mut Out) {
        let Some(message) = fields.object("message") else { return };
        let subagent = self.speaker(fields);
        if subagent.is_none() {
            self.begin_turn(out);
        }
        let id = message.text("id").filter(|id| id.len() <= ID).unwrap_or_default();
        for block in message.list("content").unwrap_or_default().into_iter().filter_map(Object::of) {
            match block.text("type").as_deref() {
                Some("text") => {
                    let name = if subagent.is_none() { self.text_said(&id) } else { id.clone() };
                    if let Some(text) = block.non_blank_text("text") {
                        let text = bounded(text);
                        out.event(AgentEvent::Message { message: name, role: Role::Assistant, text, subagent: subagent.clone() });
                    }
                }
                Some("tool_use") => self.tool_called(&block, subagent.clone(), out),
                _ => {}
            }
        }
    }

    fn tool_called(&mut self, block: &Object<'_>, subagent: Option<String>, out: &mut Out) {
        let (Some(id), Some(name)) = (block.text("id").filter(|id| id.len() <= ID), block.non_blank_text("name")) else { return };
        self.tools.set(&id, &name);
        let input = block.get("input");
        if let Some(input) = input.filter(|_| name == "Task" || name == "Agent").and_then(Object::of)
            && let Some(name) = helper_name(input.non_blank_text("subagent_type"), input.non_blank_text("description"))
        {
            self.name_helper([Some(id.clone()), None], &name);
        }
        let input = input.filter(|input| input.get().len() <= limits::RAW && !too_deep(input.get())).map(|input| Raw::of(&input));
        let name = limits::head(&name, limits::NAME).to_owned();
        out.event(AgentEvent::Tool { tool_call_id: id, name, input, output: None, status: ToolStatus::Running, subagent });
    }

    /// Handles a message in the user role: tool results. Claude echoes nothing else that is new.
    pub(super) fn user(&mut self, fields: &Object<'_>, out: &mut Out) {
        let subagent = self.speaker(fields);
        let content = fields.object("message").and_then(|message| message.list("content")).unwrap_or_default();
        for block in content.into_iter().filter_map(Object::of) {
            let Some(id) = block.text("tool_use_id").filter(|_| block.text("type").as_deref() == Some("tool_result")) else {
                continue;
            };
            self.withdraw_answered_call(&id, out);
            if let Some(at) = self.sent.iter().position(|sent| sent.tool_use.as_ref() == Some(&id)) {
                let sent = self.sent.remove(at);
                out.event(AgentEvent::AskDelivery { ask: sent.ask, delivery: Delivery::Confirmed });
            }
            let status = if block.is_true("is_error") { ToolStatus::Error } else { ToolStatus::Complete };
            let name = self.tools.take(&id).unwrap_or_else(|| "tool".to_owned());
            let output = Some(bounded(block.get("content").map(output).unwrap_or_default()));
            if id.len() <= ID {
                let subagent = subagent.clone();
                out.event(AgentEvent::Tool { tool_call_id: id, name, input: None, output, status, subagent });
            }
        }
    }

    /// Handles a chunk of a streaming message. Only the main thread is shown live.
    pub(super) fn stream_event(&mut self, fields: &Object<'_>, out: &mut Out) {
        if fields.get("parent_tool_use_id").is_some() {
            return;
        }
        let Some(event) = fields.object("event") else { return };
        match event.text("type").as_deref() {
            Some("message_start") => {
                if let Some(id) = event.object("message").and_then(|message| message.text("id")) {
                    self.speech_of(&id);
                }
            }
            Some("content_block_delta") => {
                let delta = event.object("delta").filter(|delta| delta.text("type").as_deref() == Some("text_delta"));
                if let (Some(text), Some(speech)) = (delta.and_then(|delta| delta.text("text")), &self.speech) {
                    out.event(AgentEvent::MessageDelta { message: speech.name(), text: bounded(text) });
                }
            }
            _ => {}
        }
    }

    /// Marks a text block as complete and returns the message id that its chunks had.
    fn text_said(&mut self, message: &str) -> String {
        let speech = self.speech_of(message);
        let name = speech.name();
        speech.texts = speech.texts.saturating_add(1);
        name
    }

    fn speech_of(&mut self, message: &str) -> &mut Speech {
        let message = limits::head(message, ID);
        match &self.speech {
            Some(speech) if speech.message == message => {}
            Some(_) | None => self.speech = None,
        }
        self.speech.get_or_insert_with(|| Speech { message: message.to_owned(), texts: 0 })
    }

    /// The sub-agent that sent a line; `None` for the main thread.
    fn speaker(&mut self, fields: &Object<'_>) -> Option<String> {
        let call = fields.text("parent_tool_use_id");
        let agent = fields.text("agent_id");
        if call.is_none() && agent.is_none() {
            return None;
        }
        if let Some(name) = helper_name(fields.non_blank_text("subagent_type"), fields.non_blank_text("task_description")) {
            self.name_helper([agent, call], &name);
            return Some(name);
        }
        let known = [&agent, &call].into_iter().flatten().find_map(|id| self.helpers.get(id));
        Some(known.unwrap_or(SOME_HELPER).to_owned())
    }
}

impl Speech {
    /// The id of the current block. One message can hold several text blocks; each becomes a separate message.
    fn name(&self) -> String {
        match self.texts {
            0 => self.message.clone(),
            texts => format!("{}.{texts}", self.message),
        }
    }
}

/// The display name of a sub-agent: its type and its task.
pub(super) fn helper_name(kind: Option<String>, what_for: Option<String>) -> Option<String> {
    let name = match (kind, what_for) {
        (Some(kind), Some(what_for)) => format!("{kind}: {what_for}"),
        (Some(name), None) | (None, Some(name)) => name,
        (None, None) => return None,
    };
    Some(limits::head(&name, ID).to_owned())
}

/// The text of a tool result: a string or a list of blocks.
fn output(content: &RawValue) -> String {
    if let Some(text) = text(content) {
        return text;
    }
    let blocks = list(content).unwrap_or_default().into_iter().filter_map(Object::of);
    let texts = blocks.filter_map(|block| match block.text("type")?.as_str() {
        "text" => block.text("text"),
        other => Some(format!("[{}]", limits::head(other, ID))),
    });
    texts.collect::<Vec<_>>().join("\n")
}
