//! Replays a recorded conversation: the host's lines become the commands that make the translator write them, and
//! Claude's lines become inputs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sayso_agents::claude::ClaudeTranslator;
use sayso_agents::translator::{Command, DecidedBy, Exit, Input, NewAsk, Output, Saved, Translator};
use sayso_core::ask::{Answers, AskBody, Decision, validate_answers};
use sayso_core::raw::Raw;
use sayso_core::texts;
use serde_json::Value;

use super::{ask_id, prompt, sent, session, start};
use crate::player::{self, Entry, Player, RecordedReply, entries};

/// All recordings by name.
pub(super) fn all() -> BTreeMap<String, Vec<Entry>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/claude");
    let mut files: Vec<(String, PathBuf)> = Vec::new();
    for (folder, prefix) in [(root.clone(), ""), (root.join("v2.1.197"), "v2.1.197-")] {
        for file in std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()) {
            if file.extension().is_some_and(|extension| extension == "jsonl") {
                files.push((format!("{prefix}{}", file.file_stem().unwrap().to_str().unwrap()), file));
            }
        }
    }
    files.into_iter().map(|(name, file)| (name, entries(&std::fs::read_to_string(file).unwrap()))).collect()
}

/// A translator that replays a recording.
pub(super) struct ClaudePlayer {
    pub(super) claude: ClaudeTranslator,
    /// The pending asks, as the server would keep them.
    pub(super) open: Vec<NewAsk>,
    stderr: String,
    lives: u32,
}

impl Player for ClaudePlayer {
    fn new() -> Self {
        Self { claude: ClaudeTranslator::attached(session()), open: Vec::new(), stderr: String::new(), lives: 0 }
    }

    fn play(&mut self, entry: &Entry) -> (Vec<Output>, RecordedReply) {
        let said = |outputs| (outputs, RecordedReply::Else);
        match entry.dir.as_str() {
            "out" => said(self.handle(Input::Line(entry.text.clone()))),
            "stderr" => {
                self.stderr.push_str(entry.msg["line"].as_str().unwrap());
                said(Vec::new())
            }
            "in" => match entry.msg["type"].as_str() {
                Some("user") => said(self.handle(Input::Command(prompt(entry.msg["message"]["content"].as_str().unwrap())))),
                Some("control_request") if entry.msg["request"]["subtype"] == "interrupt" => {
                    said(self.handle(Input::Command(Command::Interrupt { session: session() })))
                }
                Some("control_response") => self.response(&entry.msg["response"]),
                _ => said(Vec::new()),
            },
            "note" => said(self.note(&entry.msg)),
            _ => said(Vec::new()),
        }
    }

    fn save(&self) -> Saved {
        self.claude.save()
    }

    fn restore(&mut self, saved: &Saved) {
        self.claude = ClaudeTranslator::restore(saved).unwrap();
    }
}

impl ClaudePlayer {
    fn note(&mut self, note: &Value) -> Vec<Output> {
        let words = note["note"].as_str().unwrap_or_default();
        if note.get("argv").is_some() {
            self.lives += 1;
            return if self.lives > 1 { self.handle(Input::Command(start(None))) } else { Vec::new() };
        }
        let code = words
            .strip_prefix("exit code ")
            .or_else(|| Some(words.strip_prefix("process ended after ")?.split_once(" with ")?.1));
        let Some(code) = code else { return Vec::new() };
        let code: i32 = code.parse().unwrap();
        let message = std::mem::take(&mut self.stderr);
        let exit = Exit { code: (code >= 0).then_some(code), signal: (code < 0).then_some(-code), message };
        self.handle(Input::Exited(exit))
    }

    /// Decides the ask as the recorded response did, and compares the translator's response with it.
    fn response(&mut self, response: &Value) -> (Vec<Output>, RecordedReply) {
        let id = response["request_id"].as_str().unwrap();
        let Some(at) = self.open.iter().position(|ask| ask.native_id == id) else { return (Vec::new(), RecordedReply::NotOurs) };
        let Some((decision, by)) = decision(&self.open[at], &response["response"]) else {
            return (Vec::new(), RecordedReply::NotOurs);
        };
        let ask = self.open.remove(at);
        let native_id = ask.native_id.clone();
        let outcome = Command::Outcome { session: session(), ask: ask_id(), native_id, decision, raw: ask.raw, by };
        let outputs = self.handle(Input::Command(outcome));
        assert_eq!(sent(&outputs)[0], serde_json::json!({"type":"control_response","response":response}));
        (outputs, RecordedReply::Same)
    }

    pub(super) fn handle(&mut self, input: Input) -> Vec<Output> {
        player::handle(&mut self.claude, &mut self.open, input)
    }
}

/// The decision and its source that lead to a recorded response, if any.
fn decision(ask: &NewAsk, response: &Value) -> Option<(Decision, DecidedBy)> {
    let request: Value = serde_json::from_str(ask.raw.as_ref().unwrap().as_str()).unwrap();
    let text = |value: &Value| value.as_str().map(str::to_owned);
    if let AskBody::Question { questions } = &ask.body {
        let answered =
            |answers: Answers, note| Some(Decision::Answered { answers: validate_answers(questions, &answers).ok()?, note });
        if let Some(action) = response["action"].as_str() {
            let entry = |value: &Value| text(value).unwrap_or_else(|| value.to_string());
            let content = |key: &str| match &response["content"][key] {
                Value::Null => Vec::new(),
                Value::Array(list) => list.iter().map(entry).collect(),
                one => vec![entry(one)],
            };
            // A form without fields has one yes-or-no field.
            let yes = questions[0].key == "confirm" && response["content"] == serde_json::json!({});
            let answers =
                questions.iter().map(|question| if yes { vec!["true".to_owned()] } else { content(&question.key) }).collect();
            return match action {
                "accept" => answered(answers, None).map(|decision| (decision, DecidedBy::Person)),
                other => {
                    Some((Decision::Rejected { message: texts::REJECTED.to_owned(), stop: other == "cancel" }, DecidedBy::Person))
                }
            };
        }
        if response["behavior"] == "deny" {
            let stop = response["interrupt"] == true;
            return Some((Decision::Rejected { message: text(&response["message"])?, stop }, DecidedBy::Person));
        }
        let given = &response["updatedInput"];
        if given["questions"] != request["input"]["questions"] {
            return None;
        }
        if let Some(words) = text(&given["response"]).filter(|_| questions.len() > 1) {
            return answered(vec![vec![words]; questions.len()], None).map(|decision| (decision, DecidedBy::Typed));
        }
        let keys = given["answers"].as_object()?.keys();
        if !keys.into_iter().all(|key| questions.iter().any(|question| question.text == *key)) {
            return None;
        }
        let entries = questions.iter().map(|question| match (text(&given["answers"][&question.text]), question.multiple()) {
            (Some(answer), true) => answer.split(", ").map(str::to_owned).collect(),
            (Some(answer), false) => vec![answer],
            (None, _) => Vec::new(),
        });
        let note = match given.get("annotations") {
            Some(annotations) => Some(text(&annotations[&questions[0].text]["notes"])?),
            None => None,
        };
        return answered(entries.collect(), note).map(|decision| (decision, DecidedBy::Person));
    }
    if response["action"] == "accept" {
        return Some((Decision::Approved { choice: None, input: None }, DecidedBy::Person));
    }
    if response["behavior"] == "deny" {
        return Some((
            Decision::Denied { message: text(&response["message"])?, stop: response["interrupt"] == true },
            DecidedBy::Person,
        ));
    }
    let given = response.get("updatedInput")?;
    let input = (*given != request["input"]).then(|| Raw::of(given));
    let choice = match response.get("updatedPermissions").and_then(Value::as_array).map(Vec::as_slice) {
        None => None,
        Some([only]) if only["mode"] == "acceptEdits" && request["tool_name"] == "ExitPlanMode" => {
            Some("accept-edits".to_owned())
        }
        Some([only]) => {
            let suggested = request["permission_suggestions"].as_array()?;
            Some(format!("suggestion-{}", suggested.iter().position(|suggestion| suggestion == only)?))
        }
        Some(_) => return None,
    };
    Some((Decision::Approved { choice, input }, DecidedBy::Person))
}
