//! Reads Claude Code's transcript for the first prompt of the person and the latest text of Claude. Reads only the two
//! ends of the file, whatever its size.
//!
//! Lines are not always in order: in a new session, a reply may be written before its prompt. The timestamps give the
//! order.

use std::collections::HashSet;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};

use sayso_core::limits;
use serde_json::Value;

/// Bytes that are read at each end of the file.
const END: u64 = 256 * 1024;

/// Facts about a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HookTranscript {
    pub(super) first_prompt: Option<String>,
    /// Latest text of the agent in this turn.
    pub(super) last_words: Option<String>,
    /// True if the transcript is complete up to the current call: it contains a prompt and a call without a result.
    pub(super) is_whole: bool,
}

/// Reads a transcript; `None` if there is no file.
pub(super) fn read(path: &str) -> Option<HookTranscript> {
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    let start = entries(&part(&mut file, 0)?);
    // Only the end of a long file is needed to know that it is complete.
    if length > END {
        let end = entries(&part(&mut file, length - END)?);
        return Some(conversation(&start, &end, true));
    }
    let begins = |entry: &Value| entry["type"] == "user" && results(entry).next().is_none();
    Some(conversation(&start, &start, start.iter().any(begins)))
}

/// Reads at most `END` bytes from this position.
fn part(file: &mut File, from: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(from)).ok()?;
    file.take(END).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn conversation(start: &[Value], end: &[Value], has_begun: bool) -> HookTranscript {
    let (last_words, has_call) = turn(end);
    let first_prompt = start.iter().find_map(prompt).map(|prompt| limits::head(&prompt, limits::TEXT).to_owned());
    HookTranscript { first_prompt, last_words, is_whole: has_begun && has_call }
}

/// Returns the latest text of the last turn, and whether a call has no result yet.
fn turn(entries: &[Value]) -> (Option<String>, bool) {
    let mut done = HashSet::new();
    let mut has_call = false;
    for entry in entries.iter().rev() {
        if entry["type"] == "assistant" {
            let waits = |block: &Value| block["type"] == "tool_use" && !block["id"].as_str().is_some_and(|id| done.contains(id));
            has_call |= blocks(entry).iter().any(waits);
            let said = words(entry);
            if !said.is_empty() {
                return (Some(limits::tail(&said, limits::CONTEXT).to_owned()), has_call);
            }
        } else if prompt(entry).is_some() {
            // The turn starts here and contains no text.
            break;
        }
        done.extend(results(entry));
    }
    (None, has_call)
}

/// Parses the messages of the main thread and sorts them by time.
fn entries(bytes: &[u8]) -> Vec<Value> {
    let mut entries: Vec<Value> = String::from_utf8_lossy(bytes).lines().filter_map(entry).collect();
    entries.sort_by(|a, b| a["timestamp"].as_str().cmp(&b["timestamp"].as_str()));
    entries
}

/// Parses one line, if it is a message of the main thread.
fn entry(line: &str) -> Option<Value> {
    // Most lines are large and not needed, so they are not parsed.
    if !line.contains("\"assistant\"") && !line.contains("\"user\"") {
        return None;
    }
    let entry: Value = serde_json::from_str(line).ok()?;
    let is_said = entry["type"] == "assistant" || entry["type"] == "user";
    (is_said && entry["isSidechain"] != true).then_some(entry)
}

/// Returns the text that the person wrote; `None` for results of tools and for messages that Claude Code adds.
fn prompt(entry: &Value) -> Option<String> {
    if entry["type"] != "user" || entry["isMeta"] == true {
        return None;
    }
    let written = words(entry);
    (!written.is_empty() && !written.starts_with('<')).then_some(written)
}

/// Returns the ids of the calls whose results a message contains.
fn results(entry: &Value) -> impl Iterator<Item = &str> {
    blocks(entry).iter().filter_map(|block| block["tool_use_id"].as_str())
}

fn blocks(entry: &Value) -> &[Value] {
    entry["message"]["content"].as_array().map_or(&[], Vec::as_slice)
}

/// Returns the text of a message, which is a string or a list of blocks.
fn words(entry: &Value) -> String {
    if let Some(text) = entry["message"]["content"].as_str() {
        return text.trim().to_owned();
    }
    let texts = blocks(entry).iter().filter(|block| block["type"] == "text").filter_map(|block| block["text"].as_str());
    texts.collect::<Vec<_>>().join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    const LINES: [&str; 9] = [
        r#"{"type":"summary","summary":"x"}"#,
        r#"{"type":"user","isMeta":true,"message":{"content":"Caveat"}}"#,
        r#"{"type":"user","message":{"content":"<command-name>/clear</command-name>"}}"#,
        r#"{"type":"user","message":{"content":"fix the tests\nplease"}}"#,
        r#"{"type":"assistant","message":{"content":[{"type":"text","text":"I looked. "}]}}"#,
        r#"{"type":"assistant","isSidechain":true,"message":{"content":[{"type":"text","text":"helper"}]}}"#,
        r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":"r"}]}}"#,
        r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"b","name":"Bash"}]}}"#,
        "{broken \"user\"",
    ];

    fn written<L: AsRef<str>>(lines: &[L]) -> (tempfile::NamedTempFile, String) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        for line in lines {
            writeln!(file, "{}", line.as_ref()).unwrap();
        }
        let path = file.path().to_str().unwrap().to_owned();
        (file, path)
    }

    #[test]
    fn transcript_yields_first_prompt_and_latest_text_of_the_turn() {
        let (mut file, path) = written(&LINES);
        let first_prompt = Some("fix the tests\nplease".to_owned());
        let mut known = HookTranscript { first_prompt, last_words: Some("I looked.".into()), is_whole: true };
        assert_eq!(read(&path), Some(known.clone()));
        writeln!(file, r#"{{"type":"user","message":{{"content":[{{"type":"text","text":"next"}}]}}}}"#).unwrap();
        (known.last_words, known.is_whole) = (None, false);
        assert_eq!(read(&path), Some(known), "a new turn");
        assert_eq!(read("/not/there"), None);
    }

    #[test]
    fn lines_are_ordered_by_timestamp() {
        let words = r#"{"type":"assistant","timestamp":"2026-11-16T12:52:42.617Z","message":{"content":[{"type":"text","text":"I need to know."}]}}"#;
        let call =
            r#"{"type":"assistant","timestamp":"2026-11-16T12:52:42.619Z","message":{"content":[{"type":"tool_use","id":"a"}]}}"#;
        let prompt = r#"{"type":"user","timestamp":"2026-11-16T12:52:41.996Z","message":{"content":"set up a database"}}"#;
        let (mut file, path) = written(&[words, call]);
        assert!(!read(&path).unwrap().is_whole, "the prompt is not written yet");
        writeln!(file, "{prompt}").unwrap();
        let known = read(&path).unwrap();
        assert_eq!(known.first_prompt.as_deref(), Some("set up a database"));
        assert_eq!((known.last_words.as_deref(), known.is_whole), (Some("I need to know."), true));
    }

    #[test]
    fn transcript_is_complete_while_any_call_lacks_a_result() {
        let prompt = r#"{"type":"user","message":{"content":"go"}}"#;
        let calls = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"a"},{"type":"tool_use","id":"b"}]}}"#;
        let result =
            |id: &str| format!(r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"{id}"}}]}}}}"#);
        let whole = |lines: &[&str]| read(&written(lines).1).unwrap().is_whole;
        assert!(!whole(&[prompt]));
        assert!(whole(&[prompt, calls]));
        assert!(whole(&[prompt, calls, &result("a")]));
        assert!(!whole(&[prompt, calls, &result("a"), &result("b")]));
    }

    #[test]
    fn only_the_ends_of_a_large_file_are_read() {
        let long = "é".repeat(limits::CONTEXT);
        let mut lines = vec![format!(r#"{{"type":"progress","data":"{}"}}"#, "x".repeat(100_000)); 40];
        lines.push(format!(r#"{{"type":"assistant","message":{{"content":[{{"type":"text","text":"{long} end"}}]}}}}"#));
        lines.push(r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"a"}]}}"#.to_owned());
        let (_file, path) = written(&lines);
        let known = read(&path).unwrap();
        assert!(known.is_whole);
        let said = known.last_words.unwrap();
        assert!(said.len() <= limits::CONTEXT && said.ends_with("é end"));
        assert_eq!(known.first_prompt, None);
    }
}
