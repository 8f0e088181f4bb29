//! Replays a recorded conversation: the host's lines become the commands that make the translator write them, and
//! Codex's lines become inputs.

use std::collections::BTreeMap;
use std::path::Path;

use sayso_agents::codex::CodexTranslator;
use sayso_agents::translator::{Command, DecidedBy, Exit, Input, NewAsk, Output, Saved, Translator};
use sayso_core::ask::{Answers, AskBody, Decision, validate_answers};
use sayso_core::texts;
use serde_json::Value;

use super::{outcome, prompt, sent, session, start};
use crate::player::{self, Entry, Player, RecordedReply, entries};

/// All recordings by name.
pub(super) fn all() -> BTreeMap<String, Vec<Entry>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/codex");
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let recordings = files.filter(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    let read = |file: std::path::PathBuf| {
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        (name, entries(&std::fs::read_to_string(file).unwrap()))
    };
    recordings.map(read).collect()
}

/// A translator that replays a recording.
pub(super) struct CodexPlayer {
    pub(super) codex: CodexTranslator,
    /// The pending asks, as the server would keep them.
    pub(super) open: Vec<NewAsk>,
}

impl Player for CodexPlayer {
    fn new() -> Self {
        Self { codex: CodexTranslator::attached(session()), open: Vec::new() }
    }

    fn play(&mut self, entry: &Entry) -> (Vec<Output>, RecordedReply) {
        let said = |outputs| (outputs, RecordedReply::Else);
        let words = || entry.msg["params"]["input"][0]["text"].as_str().unwrap();
        match (entry.dir.as_str(), entry.msg["method"].as_str()) {
            ("out", _) => said(self.handle(Input::Line(entry.text.clone()))),
            ("in", Some("turn/start" | "turn/steer")) => said(self.handle(Input::Command(prompt(words())))),
            ("in", Some("turn/interrupt")) => said(self.handle(Input::Command(Command::Interrupt { session: session() }))),
            ("in", None) => self.response(&entry.msg),
            // The only note says that the process was killed; the next line is from a new process.
            ("note", _) => {
                let mut outputs = self.handle(Input::Exited(Exit { code: None, signal: Some(9), message: String::new() }));
                outputs.extend(self.handle(Input::Command(start(None))));
                said(outputs)
            }
            _ => said(Vec::new()),
        }
    }

    fn save(&self) -> Saved {
        self.codex.save()
    }

    fn restore(&mut self, saved: &Saved) {
        self.codex = CodexTranslator::restore(saved).unwrap();
    }
}

impl CodexPlayer {
    /// Decides the ask as the recorded response did, and compares the translator's response with it.
    fn response(&mut self, response: &Value) -> (Vec<Output>, RecordedReply) {
        let id = response["id"].to_string();
        let Some(at) = self.open.iter().position(|ask| ask.native_id == id) else { return (Vec::new(), RecordedReply::NotOurs) };
        let Some(decision) = decision(&self.open[at], &response["result"]) else { return (Vec::new(), RecordedReply::NotOurs) };
        let ask = self.open.remove(at);
        let outputs = self.handle(Input::Command(outcome(&ask, decision, DecidedBy::Person)));
        let same = sent(&outputs)[0] == *response;
        (outputs, if same { RecordedReply::Same } else { RecordedReply::Else })
    }

    pub(super) fn handle(&mut self, input: Input) -> Vec<Output> {
        player::handle(&mut self.codex, &mut self.open, input)
    }
}

/// The decision that leads to a recorded result, if any.
fn decision(ask: &NewAsk, result: &Value) -> Option<Decision> {
    let approved = |choice: Option<&str>| Some(Decision::Approved { choice: choice.map(str::to_owned), input: None });
    let no = |stop: bool| match &ask.body {
        AskBody::Question { .. } => Some(Decision::Rejected { message: texts::REJECTED.to_owned(), stop }),
        AskBody::Approval(_) | AskBody::Link(_) => Some(Decision::Denied { message: texts::DENIED.to_owned(), stop }),
    };
    match result["decision"].as_str() {
        Some("accept") => return approved(None),
        Some("acceptForSession") => return approved(Some("session")),
        Some("decline") => return no(false),
        Some("cancel") => return no(true),
        _ => {}
    }
    if let Some(granted) = result.get("permissions") {
        return if *granted == serde_json::json!({}) { no(false) } else { approved(None) };
    }
    let questions = ask.body.questions();
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let answered =
        |answers: Answers| Some(Decision::Answered { answers: validate_answers(questions, &answers).ok()?, note: None });
    match (result["action"].as_str(), &ask.body) {
        (Some("accept"), AskBody::Approval(_)) => return approved(result["_meta"]["persist"].as_str()),
        (Some("accept"), AskBody::Link(_)) => return approved(None),
        (Some("accept"), AskBody::Question { .. }) => {
            let content = |key: &str| result["content"].get(key).map(|value| vec![text(value)]).unwrap_or_default();
            return answered(questions.iter().map(|question| content(&question.key)).collect());
        }
        (Some(other), _) => return no(other == "cancel"),
        (None, _) => {}
    }
    let given = result.get("answers")?;
    if *given == serde_json::json!({}) {
        return no(false);
    }
    let entries = |key: &str| given[key]["answers"].as_array().map(|list| list.iter().map(text).collect()).unwrap_or_default();
    answered(questions.iter().map(|question| entries(&question.key)).collect())
}
