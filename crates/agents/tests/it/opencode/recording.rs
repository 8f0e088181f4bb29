//! Replays recorded conversations: OpenCode's events become inputs, and the host's answers become the outcomes that
//! make the translator send the same calls.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use sayso_agents::opencode::OpenCodeTranslator;
use sayso_agents::translator::{AgentEvent, DecidedBy, HttpReply, Input, NewAsk};
use sayso_core::ask::{Answers, AskBody, Decision, validate_answers};
use sayso_core::texts;
use serde_json::{Value, json};

use super::{Host, outcome, session};

/// All recordings by name.
pub(super) fn all() -> BTreeMap<String, Vec<Value>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/opencode");
    let mut all = BTreeMap::new();
    for file in std::fs::read_dir(root).unwrap().map(|file| file.unwrap().path()) {
        if file.extension().is_some_and(|extension| extension == "jsonl") {
            let text = std::fs::read_to_string(&file).unwrap();
            let entries = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            all.insert(file.file_stem().unwrap().to_str().unwrap().to_owned(), entries);
        }
    }
    all
}

/// The decision that leads to a recorded call, if any.
fn decision(ask: &NewAsk, path: &str, body: &Value) -> Option<Decision> {
    if body.get("extra").is_some() {
        return None;
    }
    match &ask.body {
        AskBody::Question { questions } => {
            if path.ends_with("/reject") {
                return Some(Decision::Rejected { message: texts::REJECTED.to_owned(), stop: false });
            }
            let answers: Answers = serde_json::from_value(body["answers"].clone()).ok()?;
            Some(Decision::Answered { answers: validate_answers(questions, &answers).ok()?, note: None })
        }
        AskBody::Approval(_) => match (body["reply"].as_str()?, body["message"].as_str()) {
            ("once", _) => Some(Decision::Approved { choice: None, input: None }),
            ("reject", Some(message)) => Some(Decision::Denied { message: message.to_owned(), stop: false }),
            _ => None,
        },
        AskBody::Link(_) => None,
    }
}

/// Replays a recording. Returns the asks, and how many answers were identical to the host's.
fn play(entries: &[Value]) -> (Vec<NewAsk>, usize) {
    let mut host = Host { opencode: OpenCodeTranslator::attached(session()), now: 0 };
    let (mut open, mut asked, mut same): (Vec<NewAsk>, Vec<NewAsk>, usize) = (Vec::new(), Vec::new(), 0);
    let mut sent: Option<(String, u64)> = None;
    for entry in entries {
        host.now = entry["t"].as_i64().unwrap_or(host.now);
        let path = entry["path"].as_str().unwrap_or_default();
        let led = match entry["dir"].as_str() {
            Some("sse") => host.input(Input::StreamEvent(entry["data"].to_string())),
            Some("req") => {
                let id = path.split('/').nth(2).unwrap_or_default();
                let Some(at) = open.iter().position(|ask| ask.native_id == id) else { continue };
                let Some(decision) = decision(&open[at], path, &entry["body"]) else { continue };
                let led = host.command(outcome(&open.remove(at), decision, DecidedBy::Person));
                let call = led.calls.first().unwrap();
                assert_eq!(call.path.split('?').next(), path.split('?').next());
                if !path.ends_with("/reject") {
                    assert_eq!(serde_json::from_str::<Value>(call.body.as_ref().unwrap().as_str()).unwrap(), entry["body"]);
                }
                same += 1;
                sent = Some((format!("POST {path}"), call.id));
                led
            }
            Some("res") => match sent.take_if(|(path, _)| entry["for"] == path.as_str()) {
                Some((_, id)) => {
                    let status = entry["status"].as_u64().and_then(|status| u16::try_from(status).ok());
                    host.input(Input::HttpReply(HttpReply { id, status, body: entry["body"].to_string() }))
                }
                None => continue,
            },
            _ => continue,
        };
        for event in led.events {
            match event {
                AgentEvent::AskOpened(ask) => {
                    assert_eq!(ask.body.check_limits(), Ok(()));
                    open.push((*ask).clone());
                    asked.push(*ask);
                }
                AgentEvent::AskWithdrawn { native_id, .. } => {
                    let before = open.len();
                    open.retain(|ask| ask.native_id != native_id);
                    assert_eq!(open.len() + 1, before, "only open asks are withdrawn");
                }
                AgentEvent::AskDelivery { delivery, .. } => {
                    // The host sent one answer to the wrong directory, and one twice.
                    let arrived = entry["status"] != 404;
                    assert_eq!(delivery == sayso_core::ask::Delivery::Confirmed, arrived, "{entry} led to {delivery:?}");
                }
                _ => {}
            }
        }
    }
    (asked, same)
}

#[test]
fn recorded_requests_open_one_ask_and_answers_match() {
    let (mut asks, mut answers) = (0, 0);
    for (name, entries) in all() {
        let (asked, same) = play(&entries);
        let told = entries
            .iter()
            .filter(|entry| entry["dir"] == "sse")
            .map(|entry| if entry["data"]["payload"].is_object() { &entry["data"]["payload"] } else { &entry["data"] });
        let told = told.filter(|event| event["type"] == "question.asked" || event["type"] == "permission.asked");
        // A request without questions is answered immediately.
        let told = told.filter(|event| event["properties"]["questions"] != json!([]));
        let wanted: BTreeSet<String> = told.map(|event| event["properties"]["id"].as_str().unwrap().to_owned()).collect();
        assert_eq!(asked.iter().map(|ask| ask.native_id.clone()).collect::<BTreeSet<_>>(), wanted, "{name}");
        assert_eq!(asked.len(), wanted.len(), "{name}");
        asks += asked.len();
        answers += same;
    }
    assert!(asks > 40 && answers > 25, "only {asks} asks and {answers} answers were found");
}

#[test]
fn recordings_produce_the_snapshotted_events() {
    let mut log = String::new();
    for name in [
        "03_several_questions",
        "20_permission_once",
        "25_permission_external_directory",
        "38_subagent_permission",
        "56b_plan_exit_empty_answer",
        "57_doom_loop",
    ] {
        let (asked, _) = play(&all()[name]);
        log.push_str(&format!("{name}\n"));
        for ask in asked {
            let by = ask.subagent.map(|name| format!(" by {name}")).unwrap_or_default();
            log.push_str(&format!("  {}{by}\n", ask.tool_call_id.unwrap_or_default()));
            match ask.body {
                AskBody::Question { questions } => {
                    questions.iter().for_each(|question| log.push_str(&format!("    {question:?}\n")))
                }
                AskBody::Approval(asked) => log.push_str(&format!(
                    "    {} {:?} {:?}\n    {}\n    {:?}\n    {:?}\n",
                    asked.tool,
                    asked.action,
                    asked.title,
                    asked.input.as_str(),
                    asked.preview,
                    asked.choices
                )),
                AskBody::Link(link) => panic!("{link:?}"),
            }
        }
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots/opencode");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("asks", log));
}
