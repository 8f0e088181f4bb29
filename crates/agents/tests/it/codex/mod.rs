//! Codex: replayed recordings in both directions, the session lifecycle, and mutated lines.

mod answers;
mod attached;
mod lifecycle;
mod mutations;
mod recording;
mod replay;

use sayso_agents::codex::CodexTranslator;
use sayso_agents::translator::{AgentEvent, Command, DecidedBy, Input, NewAsk, Output, Translator};
use sayso_core::ask::Decision;
use sayso_core::time::Time;
use serde_json::{Value, json};

use crate::common::{ask_id, prompt, session, start};

fn outcome(ask: &NewAsk, decision: Decision, by: DecidedBy) -> Command {
    let (native_id, raw) = (ask.native_id.clone(), ask.raw.clone());
    Command::Outcome { session: session(), ask: ask_id(), native_id, decision, raw, by }
}

fn command(codex: &mut CodexTranslator, command: Command) -> Vec<Output> {
    codex.handle(Time::from_millis(0), Input::Command(command))
}

fn handle_message(codex: &mut CodexTranslator, message: &Value) -> Vec<Output> {
    codex.handle(Time::from_millis(0), Input::Line(message.to_string()))
}

fn events(outputs: &[Output]) -> Vec<&AgentEvent> {
    let events = outputs.iter().filter_map(|output| match output {
        Output::Event { event, .. } => Some(event),
        _ => None,
    });
    events.collect()
}

/// The lines among outputs, as JSON without the version. They must form at most one batch.
fn sent(outputs: &[Output]) -> Vec<Value> {
    let batches: Vec<&Vec<String>> = outputs
        .iter()
        .filter_map(|output| match output {
            Output::Lines(lines) => Some(lines),
            _ => None,
        })
        .collect();
    assert!(batches.len() <= 1, "{batches:?}");
    let read = |line: &String| {
        assert!(!line.contains(['\n', '\r']), "{line}");
        let mut message: Value = serde_json::from_str(line).unwrap();
        assert_eq!(message.as_object_mut().unwrap().remove("jsonrpc"), Some(json!("2.0")));
        message
    };
    batches.into_iter().flatten().map(read).collect()
}

/// The single ask among outputs.
fn find_ask(outputs: &[Output]) -> NewAsk {
    let mut asks = events(outputs).into_iter().filter_map(|event| match event {
        AgentEvent::AskOpened(ask) => Some((**ask).clone()),
        _ => None,
    });
    let ask = asks.next().unwrap_or_else(|| panic!("no ask in {outputs:?}"));
    assert!(asks.next().is_none());
    ask
}

/// A session whose turn `u-1` runs in the thread `t-1`.
fn working() -> CodexTranslator {
    let mut codex = CodexTranslator::attached(session());
    let started = json!({"method": "turn/started", "params": {"threadId": "t-1", "turn": {"id": "u-1"}}});
    assert_eq!(events(&handle_message(&mut codex, &started)), [&AgentEvent::TurnStarted]);
    codex
}

/// A request in that turn.
fn request(id: u64, method: &str, params: &Value) -> Value {
    let mut all = json!({"threadId": "t-1", "turnId": "u-1", "itemId": format!("call_{id}")});
    for (name, value) in params.as_object().unwrap() {
        all[name] = value.clone();
    }
    json!({"method": method, "id": id, "params": all})
}

fn run(id: u64, line: &str) -> Value {
    let params = json!({"kind": "command", "command": line, "cwd": "/project", "proposedExecpolicyAmendment": ["touch"]});
    request(id, "item/commandExecution/requestApproval", &params)
}

fn question(id: u64) -> Value {
    let options = json!([{"label": "Postgres", "description": "big"}, {"label": "SQLite", "description": "small"}]);
    let questions =
        json!([{"id": "db", "header": "Database", "question": "Which?", "isOther": true, "isSecret": false, "options": options}]);
    request(id, "item/tool/requestUserInput", &json!({"questions": questions, "isBlocking": true}))
}

fn turn_completed(status: &str) -> Value {
    json!({"method": "turn/completed", "params": {"threadId": "t-1", "turn": {"id": "u-1", "status": status, "error": null}}})
}
