//! Notifications of the agent: message chunks, tool calls and mode changes.

use sayso_core::limits;
use serde_json::value::RawValue;

use super::state::{AcpPhase, AcpState};
use super::tool_call::Status;
use crate::json::Object;
use crate::out::Out;
use crate::translator::AgentEvent;

impl AcpState {
    /// Handles a notification. Unknown notifications are ignored.
    pub(super) fn handle_notification(&mut self, method: &str, params: Option<&RawValue>, out: &mut Out) {
        let params = params.and_then(Object::of).unwrap_or_default();
        match method {
            // A loaded session replays its history first.
            "session/update" if self.phase != AcpPhase::Replaying => self.update(&params, out),
            "$/cancel_request" => self.cancel_request(&params, out),
            "elicitation/complete" | "session/elicitation/complete" => self.link_completed(&params, out),
            _ => {}
        }
    }

    fn update(&mut self, params: &Object<'_>, out: &mut Out) {
        let Some(update) = params.object("update") else { return };
        let subagent = self.subagent(params);
        match update.text("sessionUpdate").as_deref() {
            Some("agent_message_chunk") => {
                let text = update.object("content").and_then(|content| content.text("text")).unwrap_or_default();
                if !text.is_empty() {
                    let native = update.non_blank_text("messageId").map(|id| limits::head(&id, limits::NAME).to_owned());
                    self.append_chunk(subagent, native, &text, out);
                }
            }
            Some("tool_call" | "tool_call_update") => {
                let Some(id) = update.non_blank_text("toolCallId").filter(|id| id.len() <= limits::TEXT) else { return };
                self.finish_messages(Some(&subagent), out);
                let status = update.text("status").and_then(|word| Status::of(&word));
                self.confirm_outcome(&id, status, out);
                // An update with only the status of an unknown call has nothing to show.
                if self.tools.get(&id).is_some() || update.get("title").is_some() || update.get("rawInput").is_some() {
                    self.report_tool_call(id, &update, subagent, out);
                }
            }
            Some("current_mode_update") => {
                let Some(mode) = update.non_blank_text("currentModeId").or_else(|| update.non_blank_text("modeId")) else {
                    return;
                };
                let mode = limits::head(&mode, limits::NAME);
                if self.agent.mode.as_deref() != Some(mode) {
                    out.event(AgentEvent::Notice(format!("The agent is now in mode `{mode}`.")));
                    self.agent.mode = Some(mode.to_owned());
                }
            }
            Some("notice") => {
                let said: Vec<String> =
                    ["title", "description"].into_iter().filter_map(|name| update.non_blank_text(name)).collect();
                if !said.is_empty() {
                    out.event(AgentEvent::Notice(limits::head(&said.join(": "), limits::TEXT).to_owned()));
                }
            }
            _ => {}
        }
    }
}
