//! What Claude Code wrote down of the conversation: what the person wanted, and what Claude said last.
//! Only the ends of the file are read, whatever its size.
//!
//! The lines of a file are not in the order in which things happened: what was said first in a new session may be
//! written before what it answers. Their times are.

use std::collections::HashSet;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};

use sayso_core::limits;
use serde_json::Value;

/// Bytes that are read at each end.
const END: u64 = 256 * 1024;

/// What is known of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HookTranscript {
    /// What the person wanted first.
    pub(super) first_prompt: Option<String>,
    /// The last words of the agent in this turn.
    pub(super) last_words: Option<String>,
    /// Whether it is written down as far as the agent has come: it begins with something from the person, and there
    /// is a call without a result.
    pub(super) is_whole: bool,
}

/// Reads what is written of a conversation; nothing if there is no file.
pub(super) fn read(path: &str) -> Option<HookTranscript> {
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    let start = entries(&part(&mut file, 0)?);
    // A long one has begun, whatever its beginning is.
    if length > END {
        let end = entries(&part(&mut file, length - END)?);
        return Some(conversation(&start, &end, true));
    }
    let begins = |entry: &Value| entry["type"] == "user" && results(entry).next().is_none();
    Some(conversation(&start, &start, start.iter().any(begins)))
}

/// At most `END` bytes from here on.
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

/// The last words of the turn in which a conversation ends, and whether a call waits for its result.
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
            // The turn began here, and nothing was said in it.
            break;
        }
        done.extend(results(entry));
    }
    (None, has_call)
}

/// What was said in the main thread, in the order of its times.
fn entries(bytes: &[u8]) -> Vec<Value> {
    let mut entries: Vec<Value> = String::from_utf8_lossy(bytes).lines().filter_map(entry).collect();
    entries.sort_by(|a, b| a["timestamp"].as_str().cmp(&b["timestamp"].as_str()));
    entries
}

/// One line, if somebody says something in the main thread.
fn entry(line: &str) -> Option<Value> {
    // Most lines are large and of no interest.
    if !line.contains("\"assistant\"") && !line.contains("\"user\"") {
        return None;
    }
    let entry: Value = serde_json::from_str(line).ok()?;
    let is_said = entry["type"] == "assistant" || entry["type"] == "user";
    (is_said && entry["isSidechain"] != true).then_some(entry)
}

/// What the person wrote, if this is it: not a tool's result, and not what Claude Code adds itself.
fn prompt(entry: &Value) -> Option<String> {
    if entry["type"] != "user" || entry["isMeta"] == true {
        return None;
    }
    let written = words(entry);
    (!written.is_empty() && !written.starts_with('<')).then_some(written)
}

/// The calls whose results these are.
fn results(entry: &Value) -> impl Iterator<Item = &str> {
    blocks(entry).iter().filter_map(|block| block["tool_use_id"].as_str())
}

fn blocks(entry: &Value) -> &[Value] {
    entry["message"]["content"].as_array().map_or(&[], Vec::as_slice)
}

/// The text of a message: it is a string, or blocks of which some are text.
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
    fn the_last_words_of_the_turn_and_the_first_prompt_are_found() {
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
    fn lines_count_in_the_order_of_their_times() {
        let words = r#"{"type":"assistant","timestamp":"2026-11-16T12:52:42.617Z","message":{"content":[{"type":"text","text":"I need to know."}]}}"#;
        let call =
            r#"{"type":"assistant","timestamp":"2026-11-16T12:52:42.619Z","message":{"content":[{"type":"tool_use","id":"a"}]}}"#;
        let prompt = r#"{"type":"user","timestamp":"2026-11-16T12:52:41.996Z","message":{"content":"set up a database"}}"#;
        let (mut file, path) = written(&[words, call]);
        assert!(!read(&path).unwrap().is_whole, "what the person wanted is not written yet");
        writeln!(file, "{prompt}").unwrap();
        let known = read(&path).unwrap();
        assert_eq!(known.first_prompt.as_deref(), Some("set up a database"));
        assert_eq!((known.last_words.as_deref(), known.is_whole), (Some("I need to know."), true));
    }

    #[test]
    fn of_several_calls_one_may_have_its_result() {
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
    fn a_large_file_costs_no_more_than_a_small_one() {
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
