//! What Claude Code wrote down of the conversation: what the person wanted, and what Claude said last.
//! Only the ends of the file are read, whatever its size.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};

use sayso_core::limits;
use serde_json::Value;

/// Bytes that are read at each end.
const END: u64 = 256 * 1024;

/// The end of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct End {
    /// The last words of the agent in this turn.
    pub(super) last_words: Option<String>,
    /// Whether a call is the last thing in it: then it is written down as far as the agent has come.
    pub(super) has_call: bool,
}

/// Reads the end of a conversation; nothing if there is no file.
pub(super) fn end(path: &str) -> Option<End> {
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(END))).ok()?;
    let mut bytes = Vec::new();
    file.take(END).read_to_end(&mut bytes).ok()?;
    Some(end_in(&String::from_utf8_lossy(&bytes)))
}

fn end_in(text: &str) -> End {
    let entries = text.lines().rev().filter_map(entry).filter(|entry| entry["type"] == "assistant" || entry["type"] == "user");
    let mut end = End { last_words: None, has_call: false };
    let mut is_last = true;
    for entry in entries {
        if entry["type"] == "assistant" {
            let content = &entry["message"]["content"];
            let calls = |blocks: &Vec<Value>| blocks.iter().any(|block| block["type"] == "tool_use");
            end.has_call |= is_last && content.as_array().is_some_and(calls);
            let said = words(content);
            if !said.is_empty() {
                end.last_words = Some(limits::tail(&said, limits::CONTEXT).to_owned());
                return end;
            }
        } else if prompt(&entry).is_some() {
            // The turn began here, and nothing was said in it.
            return end;
        }
        is_last = false;
    }
    end
}

/// What the person wanted first.
pub(super) fn first_prompt(path: &str) -> Option<String> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(END).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let found = text.lines().filter_map(entry).find_map(|entry| prompt(&entry));
    found.map(|prompt| limits::head(&prompt, limits::TEXT).to_owned())
}

/// One line of the main thread.
fn entry(line: &str) -> Option<Value> {
    // Most lines are large and of no interest.
    if !line.contains("\"assistant\"") && !line.contains("\"user\"") {
        return None;
    }
    let entry: Value = serde_json::from_str(line).ok()?;
    (entry["isSidechain"] != true).then_some(entry)
}

/// What the person wrote, if this is it: not a tool's result, and not what Claude Code adds itself.
fn prompt(entry: &Value) -> Option<String> {
    if entry["type"] != "user" || entry["isMeta"] == true {
        return None;
    }
    let written = words(&entry["message"]["content"]);
    (!written.is_empty() && !written.starts_with('<')).then_some(written)
}

/// The text of a message: it is a string, or blocks of which some are text.
fn words(content: &Value) -> String {
    match content {
        Value::String(text) => text.trim().to_owned(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter(|block| block["type"] == "text").filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join("\n").trim().to_owned()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    const LINES: &str = concat!(
        r#"{"type":"summary","summary":"x"}"#,
        "\n",
        r#"{"type":"user","isMeta":true,"message":{"content":"Caveat"}}"#,
        "\n",
        r#"{"type":"user","message":{"content":"<command-name>/clear</command-name>"}}"#,
        "\n",
        r#"{"type":"user","message":{"content":"fix the tests\nplease"}}"#,
        "\n",
        r#"{"type":"assistant","message":{"content":[{"type":"text","text":"I looked. "}]}}"#,
        "\n",
        r#"{"type":"assistant","isSidechain":true,"message":{"content":[{"type":"text","text":"helper"}]}}"#,
        "\n",
        r#"{"type":"user","message":{"content":[{"type":"tool_result","content":"r"}]}}"#,
        "\n",
        r#"{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash"}]}}"#,
        "\n{broken \"user\"\n"
    );

    #[test]
    fn the_last_words_of_the_turn_and_the_first_prompt_are_found() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(LINES.as_bytes()).unwrap();
        let path = file.path().to_str().unwrap().to_owned();
        assert_eq!(end(&path), Some(End { last_words: Some("I looked.".into()), has_call: true }));
        assert_eq!(first_prompt(&path).as_deref(), Some("fix the tests\nplease"));
        writeln!(file, r#"{{"type":"user","message":{{"content":[{{"type":"text","text":"next"}}]}}}}"#).unwrap();
        assert_eq!(end(&path), Some(End { last_words: None, has_call: false }), "a new turn");
        assert_eq!(end("/not/there"), None);
    }

    #[test]
    fn a_large_file_costs_no_more_than_a_small_one() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        for _ in 0..40 {
            writeln!(file, r#"{{"type":"progress","data":"{}"}}"#, "x".repeat(100_000)).unwrap();
        }
        let long = "é".repeat(limits::CONTEXT);
        writeln!(file, r#"{{"type":"assistant","message":{{"content":[{{"type":"text","text":"{long} end"}}]}}}}"#).unwrap();
        let found = end(file.path().to_str().unwrap()).and_then(|end| end.last_words).unwrap();
        assert!(found.len() <= limits::CONTEXT && found.ends_with("é end"));
        assert_eq!(first_prompt(file.path().to_str().unwrap()), None);
    }
}
