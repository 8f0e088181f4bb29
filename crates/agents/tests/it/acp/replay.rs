//! Replays recordings of real agents: their lines are parsed, and the recorded answers are given again.

use std::fs;
use std::path::Path;

use sayso_core::ask::Decision;
use sayso_core::texts;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::*;

struct Recording {
    name: String,
    messages: Vec<Recorded>,
}

struct Recorded {
    /// Whether the host sent the line.
    ours: bool,
    /// The raw line, because the order of fields matters.
    text: String,
    message: Value,
}

fn recordings() -> Vec<Recording> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/acp");
    let mut found: Vec<Recording> = fs::read_dir(folder).unwrap().map(|entry| read(&entry.unwrap().path())).collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

fn read(path: &Path) -> Recording {
    #[derive(Deserialize)]
    struct Record<'a> {
        dir: &'a str,
        #[serde(borrow)]
        msg: &'a RawValue,
    }
    /// One recording is of the HTTP transport, which wraps the messages.
    #[derive(Deserialize)]
    struct Wrapped<'a> {
        #[serde(borrow, alias = "data")]
        body: Option<&'a RawValue>,
    }
    let text = fs::read_to_string(path).unwrap();
    let records = text.lines().map(|line| serde_json::from_str::<Record<'_>>(line).unwrap());
    let records = records.filter(|record| record.dir == "in" || record.dir == "out");
    let messages = records.map(|record| {
        let wrapped: Wrapped<'_> = serde_json::from_str(record.msg.get()).unwrap();
        let text = wrapped.body.unwrap_or(record.msg).get().to_owned();
        Recorded { ours: record.dir == "in", message: serde_json::from_str(&text).unwrap(), text }
    });
    let messages = messages.filter(|recorded| recorded.message.get("jsonrpc").is_some()).collect();
    Recording { name: path.file_stem().unwrap().to_str().unwrap().to_owned(), messages }
}

fn recording(name: &str) -> Recording {
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/acp/{name}.jsonl")))
}

/// Parses everything that each agent wrote, with a translator that attached late and never answers.
#[test]
fn every_recording_is_parsed() {
    let all = recordings();
    assert_eq!(all.len(), 34);
    for recording in all {
        let mut host = Host::attached();
        for recorded in recording.messages.iter().filter(|recorded| !recorded.ours) {
            host.line(&recorded.text);
        }
        assert!(!host.log.contains("error: "), "{}", host.log);
        while host.log.contains("--\n--\n") {
            host.log = host.log.replace("--\n--\n", "--\n");
        }
        insta::with_settings!({ snapshot_suffix => recording.name.clone(), omit_expression => true }, {
            insta::assert_snapshot!("recorded", host.log);
        });
    }
}

/// Replays a recording: feeds the agent's lines to a translator, gives the same decisions as the recorded host, and
/// compares the lines that both sent.
fn play(name: &str, decisions: &[Decision]) -> Host {
    let mut host = Host::new();
    host.command(start(None));
    // Maps the translator's request ids to the recorded ones.
    let mut ids: Vec<(Value, Value)> = Vec::new();
    let mut decisions = decisions.iter();
    for Recorded { ours, text, message: recorded } in recording(name).messages {
        if !ours && recorded.get("method").is_some() {
            host.line(&text);
            continue;
        }
        if !ours {
            let mut message = recorded;
            let (_, id) = ids.iter().find(|(id, _)| *id == message["id"]).unwrap();
            message["id"] = id.clone();
            host.message(message);
            continue;
        }
        // The recorded host did not set a mode.
        while host.sent.iter().any(|line| line["method"] == "session/set_mode") {
            assert_eq!(host.sent[0]["params"]["modeId"], "default");
            host.reply(json!({}));
        }
        match recorded["method"].as_str() {
            Some("initialize") => {}
            Some("session/new") => {}
            Some("session/prompt") => {
                host.command(prompt(recorded["params"]["prompt"][0]["text"].as_str().unwrap()));
            }
            Some("session/cancel" | "$/cancel_request") => {
                host.command(interrupt());
            }
            Some("session/close") => {
                host.command(close());
            }
            Some(method) => panic!("{method}"),
            None if host.sent.iter().any(|line| line["id"] == recorded["id"] && line.get("method").is_none()) => {}
            None => {
                host.decide(decisions.next().unwrap().clone());
            }
        }
        let sent = if host.sent.is_empty() { panic!("nothing was sent for {recorded}") } else { host.sent.remove(0) };
        match recorded["method"].as_str() {
            Some("initialize") => assert_eq!(sent["params"]["protocolVersion"], recorded["params"]["protocolVersion"]),
            Some("session/new") => assert_eq!(sent["params"]["cwd"], recorded["params"]["cwd"]),
            Some("$/cancel_request") => assert_eq!(sent["method"], "session/cancel"),
            Some(_) => assert_eq!((&sent["method"], &sent["params"]), (&recorded["method"], &recorded["params"])),
            None => assert_eq!(sent, recorded),
        }
        if let Some(id) = recorded.get("id").filter(|_| recorded.get("method").is_some()) {
            ids.push((id.clone(), sent["id"].clone()));
        }
    }
    assert!(decisions.next().is_none(), "{name}");
    host
}

fn stopped() -> Decision {
    Decision::Rejected { message: "stop".to_owned(), stop: true }
}

fn withdrawn() -> Decision {
    Decision::Withdrawn { reason: "no longer needed".to_owned() }
}

#[test]
fn claude_responses_match_the_recording() {
    for (name, decision) in [
        ("claude-question-accept", answered(&[&["Postgres"]])),
        ("claude-question-custom", answered(&[&["DuckDB please"]])),
        ("claude-question-decline", rejected(texts::REJECTED)),
        ("claude-question-cancel", withdrawn()),
        ("claude-perm-allow-once", approved()),
        ("claude-perm-write", approved()),
        ("claude-perm-reject-once", denied(texts::DENIED)),
        ("claude-perm-cancelled", withdrawn()),
        ("claude-perm-allow-always", Decision::Approved { choice: Some("allow-with-updates".to_owned()), input: None }),
    ] {
        let host = play(name, &[decision]);
        assert!(host.log.contains("delivery confirmed"), "{name}\n{}", host.log);
        assert!(host.log.trim_end_matches("--\n").ends_with("turn ended\n"), "{name}\n{}", host.log);
    }
    play("claude-question-nocap", &[]);
    play("claude-mcp-elicit-form", &[approved(), answered(&[&["prod"], &["3"], &["true"]])]);
}

#[test]
fn claude_interrupt_matches_the_recording() {
    for name in ["claude-question-session-cancel", "claude-perm-session-cancel"] {
        let host = play(name, &[]);
        assert!(host.log.contains("withdrawn 0: The turn was interrupted."), "{}", host.log);
        assert!(host.sent.is_empty(), "the agent's own `$/cancel_request` is not answered twice: {:?}", host.sent);
    }
    let host = play("claude-question-cancel-request", &[]);
    assert_eq!(host.sent, [json!({ "jsonrpc": "2.0", "id": 0, "result": { "action": "cancel" } })]);
}

#[test]
fn gemini_options_are_selected_by_kind() {
    play("gemini-perm-allow-once", &[approved()]);
    play("gemini-perm-write", &[approved()]);
    play("gemini-perm-reject-once", &[denied(texts::DENIED)]);
    play("gemini-perm-cancelled", &[withdrawn()]);
    play("gemini-question", &[]);
}

#[test]
fn qwen_answers_are_sent_with_the_outcome() {
    let host = play("qwen-question", &[answered(&[&["Postgres"]])]);
    assert!(host.log.contains("notice: The agent asked for `craft/drainMidTurnQueue`"), "{}", host.log);
}

#[test]
fn opencode_and_codex_responses_match_the_recording() {
    play("opencode-perm-allow-once", &[approved()]);
    play("opencode-perm-cancelled", &[withdrawn()]);
    play("opencode-question", &[]);
    play("codex-command-accept", &[approved()]);
    play("codex-command-cancelled", &[withdrawn()]);
    play("codex-question", &[]);
    play("codex-mcp-elicitation", &[]);
}

#[test]
fn reference_sdk_responses_match_the_recording() {
    play("rust-mock-host", &[approved(), answered(&[&["a"]]), answered(&[&["option-a"]])]);
    play("rust-mock-http", &[answered(&[&["option-a"]]), answered(&[&["b"]])]);
}

/// A stopped question also cancels the turn. Claude then withdraws the question itself.
#[test]
fn stopped_question_cancels_the_turn() {
    let recorded = recording("claude-question-session-cancel");
    let mut host = Host::attached();
    for Recorded { text, message, .. } in recorded.messages.iter().filter(|recorded| !recorded.ours) {
        host.line(text);
        if message["method"] == "elicitation/create" {
            host.decide(stopped());
            let sent: Vec<&Value> = host.sent.iter().filter(|line| line["method"] != "session/prompt").collect();
            assert_eq!(sent[0]["result"], json!({ "action": "cancel" }));
            assert_eq!(sent[1]["method"], "session/cancel");
        }
    }
    assert!(host.log.trim_end_matches("--\n").ends_with("turn ended\n"), "{}", host.log);
}

/// Every line of the recorded agents.
pub(super) fn lines_of_agents() -> Vec<String> {
    recordings()
        .into_iter()
        .flat_map(|recording| recording.messages)
        .filter(|recorded| !recorded.ours)
        .map(|recorded| recorded.text)
        .collect()
}
