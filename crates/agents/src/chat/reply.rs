//! Assembles the model's turn from the endpoint's stream.

use sayso_core::limits;
use serde_json::value::RawValue;

use super::conversation::ToolCall;
use crate::json::{Object, too_deep};

/// Maximum size of one turn's text in bytes.
const WORDS: usize = limits::RAW;
/// Maximum size of one call's arguments in bytes.
const ARGUMENTS: usize = 64 * 1024;
/// Maximum number of calls in one turn.
const CALLS: usize = 32;

/// An unfinished turn of the model. It is not saved: an interrupted turn is requested again.
#[derive(Debug, Default)]
pub(super) struct Reply {
    /// The text so far.
    pub(super) words: String,
    calls: Vec<Piece>,
    /// Whether text arrived after a tool call.
    pub(super) words_after_call: bool,
    /// Whether the endpoint reported the end of the turn.
    pub(super) finished: bool,
    /// The error that the endpoint reported.
    pub(super) fault: Option<String>,
}

#[derive(Debug, Default)]
struct Piece {
    index: u64,
    id: String,
    name: String,
    arguments: String,
}

impl Reply {
    /// Whether no data has arrived yet.
    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty() && self.calls.is_empty() && self.fault.is_none() && !self.finished
    }

    /// Adds one event of the stream and returns the new text.
    pub(super) fn add_event(&mut self, data: &str) -> Option<String> {
        if data.trim() == "[DONE]" {
            self.finished = true;
            return None;
        }
        self.read(data, "delta")
    }

    /// Adds a reply that was not streamed.
    pub(super) fn add_whole_reply(&mut self, body: &str) -> Option<String> {
        self.read(body, "message")
    }

    fn read(&mut self, data: &str, part: &str) -> Option<String> {
        let event = Object::parse(data).filter(|_| !too_deep(data))?;
        if let Some(fault) = event.get("error") {
            self.fault = Some(error_words(fault));
            return None;
        }
        let choices = event.list("choices")?;
        let choice = choices.first().and_then(|choice| Object::of(choice))?;
        self.finished |= choice.non_blank_text("finish_reason").is_some();
        let delta = choice.object(part)?;
        for call in delta.list("tool_calls").unwrap_or_default() {
            self.call(call);
        }
        let words = delta.text("content").filter(|words| !words.is_empty())?;
        self.words_after_call |= !self.calls.is_empty() && !words.trim().is_empty();
        if self.words.len() + words.len() > WORDS {
            self.fault = Some(format!("its turn is longer than {WORDS} bytes"));
            return None;
        }
        self.words.push_str(&words);
        Some(words)
    }

    fn call(&mut self, raw: &RawValue) {
        let Some(call) = Object::of(raw) else { return };
        // Some endpoints send no index. Then every piece with a name starts a new call.
        let index = call.number("index").map(|index| index as u64);
        let function = call.object("function");
        let text = |name: &str| function.as_ref().and_then(|function| function.text(name)).unwrap_or_default();
        let name = text("name");
        let known = match index {
            Some(index) => self.calls.iter_mut().position(|piece| piece.index == index),
            None if name.is_empty() => self.calls.len().checked_sub(1),
            None => None,
        };
        let at = known.unwrap_or_else(|| {
            let index = index.unwrap_or(self.calls.len() as u64);
            self.calls.push(Piece { index, ..Piece::default() });
            self.calls.len() - 1
        });
        if self.calls.len() > CALLS {
            self.fault = Some(format!("it called more than {CALLS} tools at once"));
            self.calls.truncate(CALLS);
            return;
        }
        let Some(piece) = self.calls.get_mut(at) else { return };
        if piece.id.is_empty() {
            limits::head(&call.text("id").unwrap_or_default(), limits::NAME).clone_into(&mut piece.id);
        }
        if piece.name.len() + name.len() <= limits::NAME {
            piece.name.push_str(&name);
        }
        let arguments = text("arguments");
        if piece.arguments.len() + arguments.len() > ARGUMENTS {
            self.fault = Some(format!("the arguments of a call are longer than {ARGUMENTS} bytes"));
            return;
        }
        piece.arguments.push_str(&arguments);
    }

    /// The text, if any, and the calls. Ids that are missing or `taken` are replaced.
    pub(super) fn into_parts(self, turn: u64, taken: impl Fn(&str) -> bool) -> (Option<String>, Vec<ToolCall>) {
        let mut calls: Vec<ToolCall> = Vec::with_capacity(self.calls.len());
        for (at, piece) in self.calls.into_iter().enumerate() {
            let used = piece.id.is_empty() || taken(&piece.id) || calls.iter().any(|call| call.id == piece.id);
            let id = if used { format!("call_{turn}_{at}") } else { piece.id };
            calls.push(ToolCall::new(id, piece.name, piece.arguments));
        }
        (Some(self.words).filter(|words| !words.trim().is_empty()), calls)
    }
}

/// The error message of an endpoint, as one line.
pub(super) fn error_words(raw: &RawValue) -> String {
    let said = Object::of(raw).and_then(|error| error.non_blank_text("message")).or_else(|| crate::json::text(raw));
    limits::head(&said.unwrap_or_else(|| raw.get().to_owned()), 500).to_owned()
}

/// The error message in the body of a failed request.
pub(super) fn body_words(body: &str) -> String {
    let said = Object::parse(body).and_then(|body| body.get("error").map(error_words).or_else(|| body.non_blank_text("message")));
    let said = said.unwrap_or_else(|| body.trim().to_owned());
    limits::head(&said, 500).to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn piece(delta: &serde_json::Value) -> String {
        json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] }).to_string()
    }

    #[test]
    fn streamed_text_and_calls_are_assembled() {
        let mut reply = Reply::default();
        assert!(reply.is_empty());
        assert_eq!(reply.add_event(&piece(&json!({ "role": "assistant", "content": "Hel" }))).as_deref(), Some("Hel"));
        assert_eq!(reply.add_event(&piece(&json!({ "content": "lo" }))).as_deref(), Some("lo"));
        let begin = json!({ "tool_calls": [{ "index": 0, "id": "c1", "type": "function", "function": { "name": "question", "arguments": "{\"a\"" } }] });
        assert_eq!(reply.add_event(&piece(&begin)), None);
        reply.add_event(&piece(&json!({ "tool_calls": [{ "index": 0, "function": { "arguments": ":1}" } }] })));
        reply.add_event(&json!({ "choices": [{ "delta": {}, "finish_reason": "tool_calls" }] }).to_string());
        assert!(reply.finished && !reply.words_after_call);
        let (words, calls) = reply.into_parts(1, |_| false);
        assert_eq!(words.as_deref(), Some("Hello"));
        assert_eq!(calls, [ToolCall::new("c1".into(), "question".into(), "{\"a\":1}".into())]);
    }

    #[test]
    fn calls_without_index_or_id_stay_separate() {
        let mut reply = Reply::default();
        for _ in 0..2 {
            reply.add_event(&piece(&json!({ "tool_calls": [{ "function": { "name": "question", "arguments": "{}" } }] })));
        }
        reply.add_event(&piece(&json!({ "content": "after" })));
        assert!(reply.words_after_call);
        let (_, calls) = reply.into_parts(7, |_| false);
        assert_eq!(calls.iter().map(|call| call.id.as_str()).collect::<Vec<_>>(), ["call_7_0", "call_7_1"]);
        let mut again = Reply::default();
        again.add_event(&piece(&json!({ "tool_calls": [{ "index": 0, "id": "c1", "function": { "name": "question" } }] })));
        assert_eq!(again.into_parts(8, |id| id == "c1").1[0].id, "call_8_0", "an id that was there before is replaced");
    }

    #[test]
    fn invalid_events_are_ignored_and_errors_are_kept() {
        let mut reply = Reply::default();
        for data in [
            "",
            "{",
            "null",
            "[]",
            "7",
            r#"{"choices":[]}"#,
            r#"{"choices":[7]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[7]}}]}"#,
        ] {
            assert_eq!(reply.add_event(data), None);
        }
        assert!(reply.is_empty());
        reply.add_event(r#"{"error":{"message":"out of memory","code":500}}"#);
        assert_eq!(reply.fault.as_deref(), Some("out of memory"));
        let mut long = Reply::default();
        let call =
            json!({ "tool_calls": [{ "index": 0, "function": { "name": "question", "arguments": "x".repeat(ARGUMENTS + 1) } }] });
        long.add_event(&piece(&call));
        assert!(long.fault.is_some());
        assert_eq!(body_words(r#"{"error":{"message":"no such model"}}"#), "no such model");
        assert_eq!(body_words("<html>"), "<html>");
    }

    #[test]
    fn unstreamed_reply_is_parsed() {
        let mut reply = Reply::default();
        let body = json!({ "choices": [{ "message": { "role": "assistant", "content": "Hi" }, "finish_reason": "stop" }] });
        assert_eq!(reply.add_whole_reply(&body.to_string()).as_deref(), Some("Hi"));
        assert!(reply.finished);
    }
}
