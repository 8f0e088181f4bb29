//! Tool calls as the agent reports them in successive updates.

use std::collections::VecDeque;

use sayso_core::limits;
use sayso_core::raw::Raw;
use sayso_core::transcript::ToolStatus;
use serde::{Deserialize, Serialize};

use super::action::texts;
use crate::json::{Object, text};
use crate::text::{bounded, one_line};

/// How many tool calls are kept. The oldest is dropped.
const CALLS: usize = 64;
/// Maximum total size of the kept calls in bytes. They are saved after every line.
const KEPT: usize = 1024 * 1024;
/// Maximum length of a title in characters. The preview shows the full text.
const TITLE: usize = 512;

/// The merged state of one call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ToolCallInfo {
    pub(super) id: String,
    pub(super) name: Option<String>,
    pub(super) title: Option<String>,
    pub(super) kind: Option<String>,
    pub(super) input: Option<Raw>,
    pub(super) content: Option<Raw>,
    pub(super) locations: Option<Raw>,
    /// A command that the person can edit (Devin).
    pub(super) command: Option<String>,
    /// The MCP server that provides the tool.
    pub(super) server: Option<String>,
    status: Status,
    /// Parts of the call were too large and were dropped.
    pub(super) cut: bool,
}

/// The status of a call, as in the protocol.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Status {
    #[default]
    Pending,
    Running,
    Completed,
    Failed,
}

impl Status {
    pub(super) fn of(word: &str) -> Option<Self> {
        match word {
            "pending" => Some(Self::Pending),
            "in_progress" => Some(Self::Running),
            "completed" => Some(Self::Completed),
            "failed" => Some(Self::Failed),
            _ => None,
        }
    }

    pub(super) const fn has_ended(self) -> bool {
        matches!(self, Self::Completed | Self::Failed)
    }

    pub(super) const fn to_tool_status(self) -> ToolStatus {
        match self {
            Self::Pending | Self::Running => ToolStatus::Running,
            Self::Completed => ToolStatus::Complete,
            Self::Failed => ToolStatus::Error,
        }
    }
}

/// The calls of the running turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct ToolCalls(VecDeque<ToolCallInfo>);

impl ToolCalls {
    /// The merged state of a call so far.
    pub(super) fn get(&self, id: &str) -> Option<&ToolCallInfo> {
        self.0.iter().find(|call| call.id == id)
    }

    /// Stores the current state of a call. After a call has ended, only its name is kept, so that the saved state does
    /// not grow during the turn.
    pub(super) fn store_call(&mut self, mut call: ToolCallInfo) {
        self.0.retain(|known| known.id != call.id);
        if call.status.has_ended() {
            call = ToolCallInfo { id: call.id, name: call.name, status: call.status, ..ToolCallInfo::default() };
        }
        call.shrink_to(KEPT);
        self.0.push_back(call);
        while self.0.len() > CALLS || self.0.iter().map(ToolCallInfo::size).sum::<usize>() > KEPT {
            self.0.pop_front();
        }
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

impl ToolCallInfo {
    /// Merges an update into a call: fields that the update omits keep their values.
    pub(super) fn merge_update(known: Option<&Self>, id: String, update: &Object<'_>) -> Self {
        let mut call = known.cloned().unwrap_or_else(|| Self { id, ..Self::default() });
        let meta = update.object("_meta").unwrap_or_default();
        let claude = meta.object("claudeCode").unwrap_or_default();
        let raw = |name: &str| update.get(name).map(|raw| Raw::of(&raw));
        let name = update
            .non_blank_text("name")
            .or_else(|| claude.non_blank_text("toolName"))
            .or_else(|| meta.non_blank_text("toolName"));
        call.title = update.non_blank_text("title").or(call.title);
        call.kind = update.non_blank_text("kind").or(call.kind);
        call.cut &= update.get("rawInput").is_none();
        call.input = raw("rawInput").or(call.input);
        call.content = raw("content").filter(|content| content.as_str() != "[]").or(call.content);
        call.locations = raw("locations").filter(|locations| locations.as_str() != "[]").or(call.locations);
        call.command = meta.non_blank_text("cognition.ai/editableCommand").or(call.command);
        call.server = claude.object("mcpServer").and_then(|server| server.non_blank_text("name")).or(call.server);
        call.status = update.text("status").and_then(|word| Status::of(&word)).unwrap_or(call.status);
        call.name = name.or(call.name.take());
        if call.name.is_none() {
            // Most agents do not send the tool's name. Some prefix the call id with it, or use it as the first title.
            let title = call.title.as_deref().filter(|title| is_name(title) && call.command_line().as_deref() != Some(*title));
            let prefix = call.id.rsplit_once("__").map(|(prefix, _)| prefix).filter(|prefix| is_name(prefix));
            call.name = prefix.or(title).map(str::to_owned);
        }
        call
    }

    fn size(&self) -> usize {
        let short = [&self.name, &self.title, &self.kind, &self.command, &self.server];
        let long = [&self.input, &self.content, &self.locations];
        self.id.len()
            + short.into_iter().flatten().map(String::len).sum::<usize>()
            + long.into_iter().flatten().map(|raw| raw.as_str().len()).sum::<usize>()
    }

    fn shrink_to(&mut self, limit: usize) {
        if self.size() > limit {
            let id = limits::head(&self.id, limits::TEXT).to_owned();
            let short = |text: &Option<String>| text.as_deref().map(|text| limits::head(text, limits::NAME).to_owned());
            *self = Self {
                id,
                name: short(&self.name),
                title: short(&self.title),
                kind: short(&self.kind),
                status: self.status,
                cut: true,
                ..Self::default()
            };
        }
    }

    pub(super) const fn status(&self) -> Status {
        self.status
    }

    pub(super) fn kind(&self) -> Option<&str> {
        self.kind.as_deref()
    }

    /// The agent's name of the tool, as far as known.
    pub(super) fn tool(&self) -> String {
        let name = self.name.as_deref().or(self.kind.as_deref()).unwrap_or("tool");
        limits::head(name, limits::NAME).to_owned()
    }

    /// A one-line description of the call.
    pub(super) fn title(&self) -> String {
        let title = self.title.as_deref().or(self.name.as_deref()).unwrap_or("Use a tool");
        one_line(title, TITLE)
    }

    /// The arguments of the call.
    pub(super) fn input(&self) -> Option<&Raw> {
        self.input.as_ref()
    }

    /// The result of an ended call.
    pub(super) fn output(&self, update: &Object<'_>) -> Option<String> {
        if !self.status.has_ended() {
            return None;
        }
        let raw = update.get("rawOutput");
        let said = raw.and_then(text).or_else(|| {
            let object = raw.and_then(Object::of)?;
            ["formatted_output", "output", "text", "stdout", "error"].into_iter().find_map(|name| object.text(name))
        });
        let said = said.or_else(|| update.get("content").map(texts).filter(|text| !text.is_empty()));
        said.or_else(|| raw.map(|raw| raw.get().to_owned())).map(bounded)
    }
}

fn is_name(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b))
}
#[cfg(test)]
pub(super) mod tests {
    use sayso_core::ask::Action;

    use super::*;

    pub(in crate::acp) fn call(json: &str) -> ToolCallInfo {
        let object = Object::parse(json).unwrap();
        ToolCallInfo::merge_update(None, object.text("toolCallId").unwrap_or_default(), &object)
    }

    #[test]
    fn tool_name_is_found_in_title_or_call_id() {
        assert_eq!(call(r#"{"toolCallId":"write_file__call_1","title":"Writing to a"}"#).tool(), "write_file");
        assert_eq!(call(r#"{"toolCallId":"t","title":"bash","kind":"execute"}"#).tool(), "bash");
        assert_eq!(call(r#"{"toolCallId":"t","title":"ls","kind":"execute","rawInput":{"command":"ls"}}"#).tool(), "execute");
        assert_eq!(call(r#"{"title":"x y","_meta":{"toolName":"ask"}}"#).tool(), "ask");
        assert_eq!(call("{}").tool(), "tool");
        assert_eq!(call(r#"{"title":"one\ntwo"}"#).title(), "one…");
    }

    #[test]
    fn update_keeps_fields_it_omits() {
        let first = call(
            r#"{"toolCallId":"t","name":"Bash","title":"Terminal","kind":"execute","rawInput":{"command":"ls"},"content":[]}"#,
        );
        let update = Object::parse(r#"{"toolCallId":"t","title":"ls","status":"in_progress","content":[]}"#).unwrap();
        let merged = ToolCallInfo::merge_update(Some(&first), "t".into(), &update);
        assert_eq!((merged.tool().as_str(), merged.title().as_str(), merged.status), ("Bash", "ls", Status::Running));
        assert_eq!(merged.action(), Action::Run { command: "ls".into() });
    }

    #[test]
    fn stored_calls_stay_within_limits() {
        let mut calls = ToolCalls::default();
        let big = "x".repeat(300 * 1024);
        for n in 0..200 {
            calls.store_call(call(&format!(r#"{{"toolCallId":"{n}","rawInput":{{"command":"{big}"}}}}"#)));
        }
        assert!(calls.0.len() < 4 && calls.get("199").is_some());
        calls.store_call(call(&format!(
            r#"{{"toolCallId":"huge","name":"Write","rawInput":{{"content":"{}"}}}}"#,
            "y".repeat(2 * KEPT)
        )));
        let huge = calls.get("huge").unwrap();
        assert!(huge.cut && huge.input().is_none() && huge.tool() == "Write" && huge.reason().is_some());
        calls.store_call(call(r#"{"toolCallId":"199","status":"completed","rawInput":{"command":"ls"}}"#));
        assert!(calls.get("199").unwrap().input().is_none());
        for n in 0..200 {
            calls.store_call(call(&format!(r#"{{"toolCallId":"{n}"}}"#)));
        }
        assert_eq!(calls.0.len(), CALLS);
    }
}
