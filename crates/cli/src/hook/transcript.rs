//! What Claude Code wrote down of the conversation: what the person wanted, and what Claude said last.
//! Only the ends of the file are read, whatever its size.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};

use sayso_core::limits;
use serde_json::Value;

/// Bytes that are read at each end.
const END: u64 = 256 * 1024;

/// The last words of the agent in this turn.
pub(super) fn last_words(path: &str) -> Option<String> {
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(END))).ok()?;
    let mut bytes = Vec::new();
    file.take(END).read_to_end(&mut bytes).ok()?;
    last_in(&String::from_utf8_lossy(&bytes))
}

fn last_in(text: &str) -> Option<String> {
    for entry in text.lines().rev().filter_map(entry) {
        match entry["type"].as_str() {
            Some("assistant") => {
                let said = words(&entry["message"]["content"]);
                if !said.is_empty() {
                    return Some(limits::tail(&said, limits::CONTEXT).to_owned());
                }
            }
            // The turn began here, and nothing was said in it.
            Some("user") if prompt(&entry).is_some() => return None,
            _ => {}
        }
    }
    None
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
        assert_eq!(last_words(&path).as_deref(), Some("I looked."));
        assert_eq!(first_prompt(&path).as_deref(), Some("fix the tests\nplease"));
        writeln!(file, r#"{{"type":"user","message":{{"content":[{{"type":"text","text":"next"}}]}}}}"#).unwrap();
        assert_eq!(last_words(&path), None, "a new turn");
        assert_eq!(last_words("/not/there"), None);
    }

    #[test]
    fn a_large_file_costs_no_more_than_a_small_one() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        for _ in 0..40 {
            writeln!(file, r#"{{"type":"progress","data":"{}"}}"#, "x".repeat(100_000)).unwrap();
        }
        let long = "é".repeat(limits::CONTEXT);
        writeln!(file, r#"{{"type":"assistant","message":{{"content":[{{"type":"text","text":"{long} end"}}]}}}}"#).unwrap();
        let found = last_words(file.path().to_str().unwrap()).unwrap();
        assert!(found.len() <= limits::CONTEXT && found.ends_with("é end"));
        assert_eq!(first_prompt(file.path().to_str().unwrap()), None);
    }
}
