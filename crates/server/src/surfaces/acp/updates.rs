//! Converts session events to updates for the client.

use std::collections::HashSet;

use sayso_api::event::{MessageBlock, MessageDelta, MessageRole, ToolBlock, ToolCallStatus};
use sayso_core::limits;
use serde_json::{Value, json};

/// The maximum length of a tool call's title, in bytes.
const TITLE: usize = 200;
/// Names of the argument that a tool works on. The first one that is present becomes part of the title.
const SUBJECTS: [&str; 7] = ["command", "file_path", "path", "url", "pattern", "query", "description"];

/// What the client already knows about the current turn.
#[derive(Debug, Default)]
pub(super) struct SentUpdates {
    /// The message that is being streamed, and the text that was sent.
    streaming: Option<(String, String)>,
    /// The ids of tool calls that the client knows.
    tools: HashSet<String>,
}

impl SentUpdates {
    /// Converts a fragment of a message.
    pub(super) fn piece(&mut self, piece: MessageDelta) -> Value {
        match &mut self.streaming {
            Some((id, sent)) if *id == piece.message_id => sent.push_str(&piece.text),
            other => *other = Some((piece.message_id, piece.text.clone())),
        }
        text_update("agent_message_chunk", &piece.text)
    }

    /// Converts a complete message: the part that was not streamed. After a lost connection, that may be the whole text.
    pub(super) fn message(&mut self, message: &MessageBlock) -> Option<Value> {
        if message.role == MessageRole::User {
            return Some(text_update("user_message_chunk", &message.text));
        }
        let sent = match self.streaming.take() {
            Some((id, sent)) if id == message.id => sent,
            other => {
                self.streaming = other;
                String::new()
            }
        };
        let rest = match message.text.strip_prefix(&sent) {
            Some(rest) => rest.to_owned(),
            // The stored text of an interrupted message lacks its trailing whitespace.
            None if sent.starts_with(&message.text) => String::new(),
            None => format!("\n\n{}", message.text),
        };
        (!rest.is_empty()).then(|| text_update("agent_message_chunk", &rest))
    }

    /// Converts the current state of a tool call.
    pub(super) fn tool(&mut self, used: &ToolBlock) -> Value {
        let status = match used.status {
            ToolCallStatus::Running => "in_progress",
            ToolCallStatus::Complete => "completed",
            ToolCallStatus::Error => "failed",
        };
        let input: Option<Value> = used.input.as_ref().and_then(|input| serde_json::from_str(input.as_str()).ok());
        let mut update = json!({ "toolCallId": used.tool_call_id, "status": status });
        if self.tools.insert(used.tool_call_id.clone()) {
            update["sessionUpdate"] = json!("tool_call");
            update["title"] = json!(title(&used.name, input.as_ref()));
        } else {
            update["sessionUpdate"] = json!("tool_call_update");
        }
        if let Some(input) = input {
            update["rawInput"] = input;
        }
        if let Some(output) = &used.output {
            update["content"] = json!([content(&fenced("", output))]);
        }
        update
    }

    /// Resets the state at the end of a turn.
    pub(super) fn turn_ended(&mut self) {
        self.tools.clear();
    }
}

/// Builds an update with text.
pub(super) fn text_update(update: &str, text: &str) -> Value {
    json!({ "sessionUpdate": update, "content": { "type": "text", "text": text } })
}

/// Builds text as the content of a tool call.
pub(super) fn content(text: &str) -> Value {
    json!({ "type": "content", "content": { "type": "text", "text": text } })
}

/// Puts text into a code fence, so that the client displays it verbatim.
pub(super) fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{language}\n{text}{end}{fence}")
}

/// Builds a title from the name of a tool and the argument that it works on.
fn title(name: &str, input: Option<&Value>) -> String {
    let subject = input.and_then(|input| SUBJECTS.iter().find_map(|key| input.get(key)?.as_str()));
    match subject.and_then(|subject| subject.lines().find(|line| !line.trim().is_empty())) {
        Some(subject) => limits::head(&format!("{name}: {subject}"), TITLE).to_owned(),
        None => limits::head(name, TITLE).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use sayso_api::event::{MessageType, ToolType};
    use sayso_core::raw::Raw;
    use sayso_core::time::Time;

    use super::*;

    fn message(id: &str, text: &str) -> MessageBlock {
        MessageBlock {
            id: id.to_owned(),
            at: Time::from_millis(0),
            subagent: None,
            kind: MessageType::Message,
            role: MessageRole::Assistant,
            text: text.to_owned(),
        }
    }

    fn piece(id: &str, text: &str) -> MessageDelta {
        MessageDelta { message_id: id.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn streamed_message_is_not_repeated() {
        let mut sent_updates = SentUpdates::default();
        assert_eq!(sent_updates.piece(piece("a", "Hel"))["content"]["text"], "Hel");
        sent_updates.piece(piece("a", "lo "));
        assert_eq!(sent_updates.message(&message("a", "Hello you")), Some(text_update("agent_message_chunk", "you")));
        sent_updates.piece(piece("b", "cut short "));
        assert_eq!(sent_updates.message(&message("b", "cut short")), None);
        assert_eq!(sent_updates.message(&message("c", "whole")), Some(text_update("agent_message_chunk", "whole")));
        sent_updates.piece(piece("d", "the end"));
        assert_eq!(
            sent_updates.message(&message("d", "not the end")),
            Some(text_update("agent_message_chunk", "\n\nnot the end"))
        );
    }

    #[test]
    fn tool_call_is_announced_once() {
        let used = |status, output: Option<&str>| ToolBlock {
            id: "b".to_owned(),
            at: Time::from_millis(0),
            subagent: None,
            kind: ToolType::Tool,
            tool_call_id: "t".to_owned(),
            name: "Bash".to_owned(),
            input: Some(Raw::of(&json!({ "command": "\nmake test\nmake", "timeout": 3 }))),
            output: output.map(str::to_owned),
            status,
        };
        let mut sent_updates = SentUpdates::default();
        let first = json!({
            "sessionUpdate": "tool_call", "toolCallId": "t", "status": "in_progress", "title": "Bash: make test",
            "rawInput": { "command": "\nmake test\nmake", "timeout": 3 },
        });
        assert_eq!(sent_updates.tool(&used(ToolCallStatus::Running, None)), first);
        let last = sent_updates.tool(&used(ToolCallStatus::Error, Some("```")));
        assert_eq!((&last["sessionUpdate"], &last["status"]), (&json!("tool_call_update"), &json!("failed")));
        assert_eq!(last["content"][0]["content"]["text"], "````\n```\n````");
        sent_updates.turn_ended();
        assert_eq!(sent_updates.tool(&used(ToolCallStatus::Complete, None))["sessionUpdate"], "tool_call");
    }
}
