//! The items of Codex: they are shown as tool calls, and later requests refer to them.

use std::collections::VecDeque;

use sayso_core::limits;
use sayso_core::raw::Raw;
use sayso_core::transcript::ToolStatus;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::json::{Object, list};
use crate::text::bounded;
use crate::translator::AgentEvent;

/// How many running items are kept. The oldest is dropped.
const ITEMS: usize = 64;
/// Maximum total size of the kept items in bytes. They are saved after every line.
const KEPT: usize = 1024 * 1024;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Item {
    pub(super) id: String,
    pub(super) thread: String,
    name: String,
    pub(super) what: ItemDetails,
}

/// The details of an item that a request can refer to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum ItemDetails {
    /// The changes of a patch; `None` if they were too large to keep.
    Patch { changes: Option<Raw> },
    /// A call of an MCP tool.
    Mcp { server: String, tool: String },
    /// Any other item, whose details no request refers to.
    Other,
}

/// The running items.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Items(VecDeque<Item>);

impl Items {
    pub(super) fn get(&self, thread: &str, id: &str) -> Option<&Item> {
        self.0.iter().find(|item| item.id == id && item.thread == thread)
    }

    /// The items of a thread, newest first.
    pub(super) fn of<'a>(&'a self, thread: &'a str) -> impl Iterator<Item = &'a Item> {
        self.0.iter().rev().filter(move |item| item.thread == thread)
    }

    pub(super) fn keep(&mut self, mut item: Item) {
        self.forget(&item.thread, &item.id);
        if item.size() > KEPT {
            item.what = match item.what {
                ItemDetails::Patch { .. } => ItemDetails::Patch { changes: None },
                ItemDetails::Mcp { .. } | ItemDetails::Other => ItemDetails::Other,
            };
        }
        self.0.push_back(item);
        while self.0.len() > ITEMS || self.0.iter().map(Item::size).sum::<usize>() > KEPT {
            self.0.pop_front();
        }
    }

    pub(super) fn forget(&mut self, thread: &str, id: &str) {
        self.0.retain(|item| item.id != id || item.thread != thread);
    }

    /// Removes and returns the unfinished items of a thread.
    pub(super) fn take_thread(&mut self, thread: &str) -> Vec<Item> {
        let (left, kept) = std::mem::take(&mut self.0).into_iter().partition(|item: &Item| item.thread == thread);
        self.0 = kept;
        left.into()
    }
}

impl Item {
    /// The started item, if it is a tool call.
    pub(super) fn of(fields: &Object<'_>, id: &str, thread: &str) -> Option<Self> {
        let name = tool(fields)?;
        let what = match fields.text("type").as_deref() {
            Some("fileChange") => ItemDetails::Patch { changes: fields.get("changes").map(|changes| Raw::of(&changes)) },
            Some("mcpToolCall") => match (fields.non_blank_text("server"), fields.non_blank_text("tool")) {
                (Some(server), Some(tool)) => ItemDetails::Mcp { server, tool },
                _ => ItemDetails::Other,
            },
            _ => ItemDetails::Other,
        };
        Some(Self { id: id.to_owned(), thread: thread.to_owned(), name, what })
    }

    fn size(&self) -> usize {
        let of_it = match &self.what {
            ItemDetails::Patch { changes } => changes.as_ref().map_or(0, |changes| changes.as_str().len()),
            ItemDetails::Mcp { server, tool } => server.len() + tool.len(),
            ItemDetails::Other => 0,
        };
        self.id.len() + self.thread.len() + self.name.len() + of_it
    }

    /// The event for an item that ends without a result.
    pub(super) fn cut_short(self, subagent: Option<String>) -> AgentEvent {
        let Self { id, name, .. } = self;
        AgentEvent::Tool { tool_call_id: id, name, input: None, output: None, status: ToolStatus::Error, subagent }
    }
}

/// The event for the current state of a tool call; `None` for other items.
pub(super) fn event(fields: &Object<'_>, id: &str, subagent: Option<String>, ended: bool) -> Option<AgentEvent> {
    let name = tool(fields)?;
    let status = match fields.text("status").as_deref() {
        Some("failed" | "declined") => ToolStatus::Error,
        _ if ended => ToolStatus::Complete,
        _ => ToolStatus::Running,
    };
    let input = if ended { None } else { input(fields) };
    let output = if ended { output(fields) } else { None };
    Some(AgentEvent::Tool { tool_call_id: id.to_owned(), name, input, output, status, subagent })
}

/// The tool's name; `None` if the item is not a tool call.
fn tool(fields: &Object<'_>) -> Option<String> {
    let kind = fields.non_blank_text("type")?;
    let name = match kind.as_str() {
        "mcpToolCall" => match (fields.non_blank_text("server"), fields.non_blank_text("tool")) {
            (Some(server), Some(tool)) => format!("mcp__{server}__{tool}"),
            _ => kind,
        },
        "dynamicToolCall" | "collabAgentToolCall" => fields.non_blank_text("tool").unwrap_or(kind),
        "commandExecution" | "fileChange" | "webSearch" | "imageView" | "imageGeneration" | "sleep" => kind,
        // Unknown items with a status are treated as tool calls.
        "userMessage" | "agentMessage" | "reasoning" | "plan" => return None,
        _ if fields.get("status").is_some() => kind,
        _ => return None,
    };
    Some(limits::head(&name, limits::NAME).to_owned())
}

fn input(fields: &Object<'_>) -> Option<Raw> {
    let raw = match fields.text("type").as_deref() {
        Some("commandExecution") => Raw::of(&json!({ "command": fields.text("command"), "cwd": fields.text("cwd") })),
        Some("fileChange") => Raw::of(&fields.get("changes")?),
        Some("webSearch") => Raw::of(&json!({ "query": fields.text("query") })),
        Some("imageView") => Raw::of(&json!({ "path": fields.text("path") })),
        Some("collabAgentToolCall") => Raw::of(&json!({ "prompt": fields.text("prompt") })),
        _ => Raw::of(&fields.get("arguments")?),
    };
    (raw.as_str().len() <= limits::RAW).then_some(raw)
}

fn output(fields: &Object<'_>) -> Option<String> {
    let said = fields.non_blank_text("aggregatedOutput").or_else(|| {
        let error = fields.object("error").and_then(|error| error.non_blank_text("message"));
        error.or_else(|| fields.object("result").and_then(|result| result.get("content").map(texts)))
    });
    let code = fields.get("exitCode").map(|code| code.get()).filter(|code| *code != "0");
    let said = match (said, code) {
        (Some(said), Some(code)) => format!("{said}\n(exit code {})", limits::head(code, 20)),
        (None, Some(code)) => format!("(exit code {})", limits::head(code, 20)),
        (said, None) => said?,
    };
    Some(bounded(said))
}

fn texts(content: &serde_json::value::RawValue) -> String {
    let blocks = list(content).unwrap_or_default().into_iter().filter_map(Object::of);
    blocks.filter_map(|block| block.text("text")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool_event(item: &str, ended: bool) -> Option<(String, Option<String>, Option<String>, ToolStatus)> {
        match event(&Object::parse(item).unwrap(), "i", None, ended)? {
            AgentEvent::Tool { name, input, output, status, .. } => {
                Some((name, input.map(|raw| raw.as_str().to_owned()), output, status))
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn tool_call_is_reported_at_start_and_end() {
        let begun = r#"{"type":"commandExecution","command":"ls","cwd":"/p","status":"inProgress","aggregatedOutput":null}"#;
        let input = Some(r#"{"command":"ls","cwd":"/p"}"#.to_owned());
        assert_eq!(tool_event(begun, false), Some(("commandExecution".into(), input, None, ToolStatus::Running)));
        let failed = r#"{"type":"commandExecution","status":"failed","aggregatedOutput":"no","exitCode":2}"#;
        let said = Some("no\n(exit code 2)".to_owned());
        assert_eq!(tool_event(failed, true), Some(("commandExecution".into(), None, said, ToolStatus::Error)));
        let called = r#"{"type":"mcpToolCall","server":"demo","tool":"plain","status":"completed","result":{"content":[{"type":"text","text":"ran"}]}}"#;
        assert_eq!(tool_event(called, true), Some(("mcp__demo__plain".into(), None, Some("ran".into()), ToolStatus::Complete)));
        for no in [r#"{"type":"agentMessage","text":"x"}"#, r#"{"type":"reasoning"}"#, r#"{"type":"news"}"#, "{}"] {
            assert_eq!(tool_event(no, true), None, "{no}");
        }
    }

    #[test]
    fn stored_items_stay_within_limits() {
        let mut items = Items::default();
        let patch = |id: &str, size: usize| {
            let item = format!(r#"{{"type":"fileChange","changes":["{}"]}}"#, "x".repeat(size));
            Item::of(&Object::parse(&item).unwrap(), id, "t").unwrap()
        };
        for n in 0..200 {
            items.keep(patch(&n.to_string(), 300 * 1024));
        }
        assert!(items.0.len() < 4 && items.get("t", "199").is_some() && items.get("u", "199").is_none());
        items.keep(patch("huge", 2 * KEPT));
        assert_eq!(items.get("t", "huge").unwrap().what, ItemDetails::Patch { changes: None });
        for n in 0..200 {
            items.keep(patch(&n.to_string(), 0));
        }
        assert_eq!(items.0.len(), ITEMS);
        assert_eq!(items.take_thread("t").len(), ITEMS);
    }
}
