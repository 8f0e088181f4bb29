//! The lifecycle of a session, from the first start to the last exit.

use sayso_agents::codex::CodexTranslator;
use sayso_agents::translator::{AgentEvent, Command, DecidedBy, Exit, Input, Output, Saved, Translator};
use sayso_core::ask::Decision;
use sayso_core::time::Time;
use sayso_core::{limits, texts};
use serde_json::{Value, json};

use super::{
    ask_id, command, events, find_ask, handle_message, outcome, prompt, question, run, sent, session, start, turn_completed,
    working,
};

fn exit(codex: &mut CodexTranslator, code: Option<i32>) -> Vec<Output> {
    codex.handle(Time::from_millis(0), Input::Exited(Exit { code, signal: None, message: String::new() }))
}

fn thread(id: &Value) -> Value {
    json!({"id": id, "result": {"thread": {"id": "t-1"}, "model": "gpt-5.5"}})
}

/// A session that accepted its first prompt.
fn started() -> (CodexTranslator, Vec<Value>) {
    let mut codex = CodexTranslator::new();
    let outputs = command(&mut codex, start(Some("go")));
    assert!(matches!(&outputs[0], Output::Launch(launch) if launch.directory == "/project"));
    let mut lines = sent(&outputs);
    assert_eq!(lines.len(), 1);
    lines.extend(sent(&handle_message(&mut codex, &json!({"id": lines[0]["id"], "result": {"userAgent": "codex"}}))));
    lines.extend(sent(&handle_message(&mut codex, &thread(&lines[2]["id"]))));
    (codex, lines)
}

#[test]
fn start_initializes_opens_a_thread_and_prompts() {
    let (mut codex, lines) = started();
    let methods: Vec<&str> = lines.iter().map(|line| line["method"].as_str().unwrap()).collect();
    assert_eq!(methods, ["initialize", "initialized", "thread/start", "turn/start"]);
    assert_eq!(lines[2]["params"], json!({"cwd": "/project", "approvalsReviewer": "user"}));
    let input = json!([{"type": "text", "text": "go", "text_elements": []}]);
    assert_eq!(lines[3]["params"], json!({"threadId": "t-1", "input": input}));

    // Messages before the turn has an id are queued, and then sent to the turn.
    assert!(sent(&command(&mut codex, prompt("and this"))).is_empty());
    let lines = sent(&handle_message(&mut codex, &json!({"id": lines[3]["id"], "result": {"turn": {"id": "u-1"}}})));
    assert_eq!((lines[0]["method"].as_str(), &lines[0]["params"]["expectedTurnId"]), (Some("turn/steer"), &json!("u-1")));
    assert_eq!(events(&handle_message(&mut codex, &turn_completed("completed"))), [&AgentEvent::TurnEnded]);
    let lines = sent(&command(&mut codex, prompt("next")));
    assert_eq!(lines[0]["method"], "turn/start");
}

#[test]
fn plan_mode_is_sent_with_every_turn() {
    let mut codex = CodexTranslator::new();
    let plan = match start(Some("go")) {
        Command::Start { session, project, prompt, model, questions, .. } => {
            Command::Start { session, project, prompt, permission_mode: "plan".to_owned(), model, questions }
        }
        other => other,
    };
    let lines = sent(&command(&mut codex, plan));
    let lines = sent(&handle_message(&mut codex, &json!({"id": lines[0]["id"], "result": {}})));
    let lines = sent(&handle_message(&mut codex, &thread(&lines[1]["id"])));
    let settings = json!({"model": "gpt-5.5", "reasoning_effort": null, "developer_instructions": null});
    assert_eq!(lines[0]["params"]["collaborationMode"], json!({"mode": "plan", "settings": settings}));
}

#[test]
fn interrupt_ends_the_turn_and_withdraws_its_asks() {
    let mut codex = working();
    handle_message(&mut codex, &question(0));
    let lines = sent(&command(&mut codex, Command::Interrupt { session: session() }));
    assert_eq!(
        (lines[0]["method"].as_str(), &lines[0]["params"]),
        (Some("turn/interrupt"), &json!({"threadId": "t-1", "turnId": "u-1"}))
    );
    // Requests that crossed the interrupt are rejected immediately.
    assert_eq!(sent(&handle_message(&mut codex, &run(1, "ls"))), [json!({"id": 1, "result": {"decision": "decline"}})]);
    let outputs = handle_message(&mut codex, &turn_completed("interrupted"));
    let withdrawn = AgentEvent::AskWithdrawn { native_id: "0".to_owned(), reason: texts::WITHDRAWN_INTERRUPTED.to_owned() };
    assert_eq!(events(&outputs), [&withdrawn, &AgentEvent::TurnEnded]);
    let resolved = json!({"method": "serverRequest/resolved", "params": {"threadId": "t-1", "requestId": 0}});
    assert!(handle_message(&mut codex, &resolved).is_empty());
}

#[test]
fn interrupt_before_the_turn_id_is_sent_once_known() {
    let (mut codex, lines) = started();
    assert!(sent(&command(&mut codex, Command::Interrupt { session: session() })).is_empty());
    let lines = sent(&handle_message(&mut codex, &json!({"id": lines[3]["id"], "result": {"turn": {"id": "u-1"}}})));
    assert_eq!(lines[0]["method"], "turn/interrupt");
    let failed = json!({"id": lines[0]["id"], "error": {"code": -32600, "message": "no active turn to interrupt"}});
    assert!(matches!(events(&handle_message(&mut codex, &failed)).as_slice(), [AgentEvent::Error(_)]));
}

#[test]
fn session_with_a_turn_is_resumed_in_its_thread() {
    let mut codex = working();
    handle_message(&mut codex, &question(0));
    let outputs = exit(&mut codex, Some(1));
    assert!(matches!(events(&outputs).as_slice(), [AgentEvent::Ended { failed: true, resumable: true, .. }]), "{outputs:?}");
    let lines = sent(&command(&mut codex, start(Some("go on"))));
    let lines = sent(&handle_message(&mut codex, &json!({"id": lines[0]["id"], "result": {}})));
    assert_eq!(lines[1]["method"], "thread/resume");
    assert_eq!((&lines[1]["params"]["threadId"], &lines[1]["params"]["excludeTurns"]), (&json!("t-1"), &json!(true)));
    let unknown = json!({"id": lines[1]["id"], "error": {"code": -32600, "message": "no rollout found"}});
    let outputs = handle_message(&mut codex, &unknown);
    assert!(matches!(events(&outputs).last(), Some(AgentEvent::Ended { failed: true, resumable: false, .. })), "{outputs:?}");
    assert!(outputs.contains(&Output::Stop));
}

#[test]
fn session_without_a_turn_is_not_resumed() {
    let mut codex = CodexTranslator::new();
    command(&mut codex, start(None));
    let outputs = exit(&mut codex, None);
    let [AgentEvent::Ended { reason, failed: true, resumable: false }] = events(&outputs)[..] else { panic!("{outputs:?}") };
    assert!(reason.contains("npm install -g @openai/codex"), "{reason}");
    assert!(matches!(events(&command(&mut codex, prompt("go"))).as_slice(), [AgentEvent::Error(_)]));
}

#[test]
fn close_withdraws_all_asks() {
    let mut codex = working();
    let ask = find_ask(&handle_message(&mut codex, &run(0, "ls")));
    let outputs = command(&mut codex, Command::Close { session: session() });
    assert_eq!(sent(&outputs)[0]["method"], "turn/interrupt");
    assert!(outputs.contains(&Output::Stop));
    let reason = texts::WITHDRAWN_CLOSED.to_owned();
    assert_eq!(events(&outputs)[0], &AgentEvent::AskWithdrawn { native_id: "0".to_owned(), reason });
    assert!(handle_message(&mut codex, &run(1, "ls")).is_empty() && exit(&mut codex, Some(0)).is_empty());
    let late = command(&mut codex, outcome(&ask, Decision::Approved { choice: None, input: None }, DecidedBy::Person));
    assert!(matches!(late.as_slice(), [Output::Undeliverable { .. }]));
}

#[test]
fn failed_turn_reports_its_error() {
    let mut codex = working();
    let turn = json!({"id": "u-1", "status": "failed", "error": {"message": "no quota"}});
    let outputs = handle_message(&mut codex, &json!({"method": "turn/completed", "params": {"threadId": "t-1", "turn": turn}}));
    assert_eq!(events(&outputs), [&AgentEvent::Error("Codex: no quota".to_owned()), &AgentEvent::TurnEnded]);
}

#[test]
fn unknown_and_oversized_requests_are_refused() {
    let mut codex = working();
    let call = json!({"method": "item/tool/call", "id": 7, "params": {"threadId": "t-1", "tool": "x"}});
    let outputs = handle_message(&mut codex, &call);
    assert_eq!(sent(&outputs)[0]["error"]["code"], -32601);
    assert_eq!(events(&outputs).len(), 1);
    assert!(events(&handle_message(&mut codex, &json!({"method": "item/tool/call", "id": 8}))).is_empty(), "it is told once");

    let outputs = handle_message(&mut codex, &run(1, &"x".repeat(limits::RAW)));
    assert!(sent(&outputs)[0]["error"]["message"].as_str().unwrap().contains("the limit is"));
    for id in 0..limits::PENDING {
        find_ask(&handle_message(&mut codex, &run(100 + id as u64, "ls")));
    }
    let outputs = handle_message(&mut codex, &run(1000, "ls"));
    assert!(sent(&outputs)[0]["error"]["message"].as_str().unwrap().contains("pending asks"));

    let line = "x".repeat(limits::LINE + 1);
    let outputs = codex.handle(Time::from_millis(0), Input::Line(line));
    assert!(matches!(events(&outputs).as_slice(), [AgentEvent::Error(_)]));
}

#[test]
fn state_of_another_version_is_not_restored() {
    let saved = working().save();
    assert!(CodexTranslator::restore(&saved).is_some());
    assert!(CodexTranslator::restore(&Saved { version: saved.version + 1, ..saved }).is_none());
    let other = Command::Outcome {
        session: sayso_core::id::SessionId::new(Time::from_millis(1), [9; 10]),
        ask: ask_id(),
        native_id: "0".to_owned(),
        decision: Decision::Approved { choice: None, input: None },
        raw: None,
        by: DecidedBy::Person,
    };
    assert!(matches!(command(&mut working(), other).as_slice(), [Output::Undeliverable { .. }]));
}
