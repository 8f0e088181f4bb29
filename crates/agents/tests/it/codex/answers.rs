//! The response to a decision, and the other messages of its batch.

use sayso_agents::codex::CodexTranslator;
use sayso_agents::translator::{AgentEvent, Command, DecidedBy, Output};
use sayso_core::ask::{AskBody, Decision, Delivery};
use sayso_core::raw::Raw;
use sayso_core::texts;
use serde_json::{Value, json};

use super::{
    ask_id, command, events, find_ask, handle_message, outcome, question, request, run, sent, session, turn_completed, working,
};

fn denied(message: &str, stop: bool) -> Decision {
    Decision::Denied { message: message.to_owned(), stop }
}

fn rejected(message: &str, stop: bool) -> Decision {
    Decision::Rejected { message: message.to_owned(), stop }
}

fn answered(answers: &[&[&str]]) -> Decision {
    let answers = answers.iter().map(|entries| entries.iter().map(|entry| (*entry).to_owned()).collect()).collect();
    Decision::Answered { answers, note: None }
}

/// The lines that are sent for this decision about this request.
fn decided(codex: &mut CodexTranslator, asks: &Value, decision: Decision, by: DecidedBy) -> (Vec<Output>, Vec<Value>) {
    let ask = find_ask(&handle_message(codex, asks));
    let outputs = command(codex, outcome(&ask, decision, by));
    let lines = sent(&outputs);
    (outputs, lines)
}

fn words(line: &Value) -> &str {
    line["params"]["input"][0]["text"].as_str().unwrap()
}

#[test]
fn reason_follows_a_decline_in_the_same_batch() {
    let mut codex = working();
    let (outputs, lines) = decided(&mut codex, &run(0, "touch a"), denied("use mkdir", false), DecidedBy::Person);
    assert_eq!(lines[0], json!({"id": 0, "result": {"decision": "decline"}}));
    assert_eq!(lines[1]["method"], "turn/steer");
    assert_eq!((&lines[1]["params"]["threadId"], &lines[1]["params"]["expectedTurnId"]), (&json!("t-1"), &json!("u-1")));
    assert_eq!((words(&lines[1]), lines.len()), ("I did not allow `touch a`: use mkdir", 2));
    assert!(events(&outputs).iter().any(|event| matches!(event, AgentEvent::Message { .. })), "people see it too");
    // If the turn has ended when the text arrives, the text starts the next turn.
    let refused = json!({"id": lines[1]["id"], "error": {"code": -32600, "message": "no active turn to steer"}});
    assert_eq!(sent(&handle_message(&mut codex, &refused)), Vec::<Value>::new());
    let lines = sent(&handle_message(&mut codex, &turn_completed("completed")));
    assert_eq!((lines[0]["method"].as_str(), words(&lines[0])), (Some("turn/start"), "I did not allow `touch a`: use mkdir"));
}

#[test]
fn only_a_stop_by_a_person_ends_the_turn() {
    let decision = |decision: Decision, by: DecidedBy| decided(&mut working(), &run(0, "touch a"), decision, by).1;
    let declined = [json!({"id": 0, "result": {"decision": "decline"}})];
    assert_eq!(decision(denied(texts::DENIED, false), DecidedBy::Person), declined);
    assert_eq!(decision(denied(texts::DENIED_BY_POLICY, false), DecidedBy::Automatic), declined);
    assert_eq!(decision(denied("Tool approval timed out after 1 minute", true), DecidedBy::Automatic), declined);
    assert_eq!(decision(Decision::Withdrawn { reason: "x".to_owned() }, DecidedBy::Automatic), declined);
    assert_eq!(decision(denied("enough", true), DecidedBy::Person), [json!({"id": 0, "result": {"decision": "cancel"}})]);
    // Other pending requests end with their turn.
    let mut codex = working();
    handle_message(&mut codex, &run(0, "touch a"));
    decided(&mut codex, &run(1, "touch b"), denied("enough", true), DecidedBy::Person);
    let outputs = handle_message(&mut codex, &turn_completed("interrupted"));
    let withdrawn = AgentEvent::AskWithdrawn { native_id: "0".to_owned(), reason: texts::WITHDRAWN_INTERRUPTED.to_owned() };
    assert_eq!(events(&outputs), [&withdrawn, &AgentEvent::TurnEnded]);
}

#[test]
fn approval_sends_exactly_the_offered_decision() {
    let yes = |choice: Option<&str>| {
        let approved = Decision::Approved { choice: choice.map(str::to_owned), input: None };
        let (outputs, lines) = decided(&mut working(), &run(0, "touch a"), approved, DecidedBy::Person);
        (lines[0]["result"]["decision"].clone(), outputs.iter().any(|output| matches!(output, Output::Undeliverable { .. })))
    };
    assert_eq!(yes(None), (json!("accept"), false));
    assert_eq!(yes(Some("session")), (json!("acceptForSession"), false));
    assert_eq!(yes(Some("rule")), (json!({"acceptWithExecpolicyAmendment": {"execpolicy_amendment": ["touch"]}}), false));
    assert_eq!(yes(Some("always")), (json!("decline"), true), "a choice that was not offered does not approve");
    let edited = Decision::Approved { choice: None, input: Some(Raw::of(&json!({"command": "rm -rf /"}))) };
    let (_, lines) = decided(&mut working(), &run(0, "touch a"), edited, DecidedBy::Person);
    assert_eq!(lines[0]["result"]["decision"], "decline", "Codex takes no other command than its own");
    let (_, lines) = decided(&mut working(), &run(0, "touch a"), answered(&[&["yes"]]), DecidedBy::Person);
    assert_eq!(lines[0]["result"]["decision"], "decline");
}

#[test]
fn patch_approval_shows_the_diff_of_its_item() {
    let mut codex = working();
    let changes = json!([{"path": "/project/new.txt", "kind": {"type": "add"}, "diff": "hello\n"}]);
    let item = json!({"type": "fileChange", "id": "call_0", "changes": changes, "status": "inProgress"});
    handle_message(&mut codex, &json!({"method": "item/started", "params": {"threadId": "t-1", "turnId": "u-1", "item": item}}));
    let ask = find_ask(&handle_message(&mut codex, &request(0, "item/fileChange/requestApproval", &json!({"reason": null}))));
    let AskBody::Approval(approval) = &ask.body else { panic!() };
    assert!(format!("{:?}", approval.preview).contains("+hello"));
    let session = Decision::Approved { choice: Some("session".to_owned()), input: None };
    let lines = sent(&command(&mut codex, outcome(&ask, session, DecidedBy::Person)));
    assert_eq!(lines, [json!({"id": 0, "result": {"decision": "acceptForSession"}})]);
    // An interrupted item has no end of its own.
    let outputs = handle_message(&mut codex, &turn_completed("interrupted"));
    assert!(
        events(&outputs).iter().any(|event| matches!(event, AgentEvent::Tool { tool_call_id, .. } if tool_call_id == "call_0"))
    );
}

#[test]
fn extra_access_is_granted_denied_or_interrupted() {
    let asks = request(0, "item/permissions/requestApproval", &json!({"permissions": {"network": {"enabled": true}}}));
    let decide = |decision: Decision| decided(&mut working(), &asks, decision, DecidedBy::Person).1;
    let given = json!({"permissions": {"network": {"enabled": true}}, "scope": "turn"});
    assert_eq!(decide(Decision::Approved { choice: None, input: None }), [json!({"id": 0, "result": given})]);
    let nothing = json!({"id": 0, "result": {"permissions": {}, "scope": "turn"}});
    assert_eq!(decide(denied(texts::DENIED, false)), std::slice::from_ref(&nothing));
    let stopped = decide(denied("no", true));
    assert_eq!((&stopped[0], &stopped[1]["method"]), (&nothing, &json!("turn/interrupt")));
    assert_eq!(stopped[1]["params"], json!({"threadId": "t-1", "turnId": "u-1"}));
}

#[test]
fn rejection_of_a_question_is_sent_as_its_answer() {
    let decide = |decision: Decision, by: DecidedBy| decided(&mut working(), &question(0), decision, by).1;
    let said = |words: &str| [json!({"id": 0, "result": {"answers": {"db": {"answers": [words]}}}})];
    assert_eq!(decide(answered(&[&["SQLite"]]), DecidedBy::Person), said("SQLite"));
    assert_eq!(decide(rejected("Decide yourself.", false), DecidedBy::Person), said("Decide yourself."));
    let late = "User did not respond within 10 minutes";
    assert_eq!(decide(rejected(late, false), DecidedBy::Automatic), said(late));
    assert_eq!(decide(rejected(late, true), DecidedBy::Automatic), said(late));
    let stopped = decide(rejected("Enough.", true), DecidedBy::Person);
    assert_eq!((&stopped[0]["result"], &stopped[1]["method"]), (&json!({"answers": {}}), &json!("turn/interrupt")));
}

#[test]
fn mcp_form_and_link_are_answered() {
    let schema =
        json!({"type": "object", "properties": {"env": {"type": "string", "enum": ["staging", "prod"]}}, "required": ["env"]});
    let form = json!({"serverName": "demo", "mode": "form", "message": "Where?", "requestedSchema": schema});
    let form = request(0, "mcpServer/elicitation/request", &form);
    let decide = |decision: Decision| decided(&mut working(), &form, decision, DecidedBy::Person).1;
    let reply = |action: &str, content: Value| json!({"id": 0, "result": {"action": action, "content": content, "_meta": null}});
    assert_eq!(decide(answered(&[&["prod"]])), [reply("accept", json!({"env": "prod"}))]);
    assert_eq!(decide(rejected(texts::REJECTED, false)), [reply("decline", Value::Null)]);
    let told = decide(rejected("ask me later", false));
    assert_eq!((&told[0], words(&told[1])), (&reply("decline", Value::Null), "I did not answer: ask me later"));
    let stopped = decide(rejected("", true));
    assert_eq!((&stopped[0], &stopped[1]["method"]), (&reply("cancel", Value::Null), &json!("turn/interrupt")));

    let link =
        json!({"serverName": "demo", "mode": "url", "message": "Sign in", "url": "https://a.test/x", "elicitationId": "e"});
    let link = request(0, "mcpServer/elicitation/request", &link);
    let yes = Decision::Approved { choice: None, input: None };
    assert_eq!(decided(&mut working(), &link, yes, DecidedBy::Person).1, [reply("accept", Value::Null)]);
    for wrong in [json!({"mode": "url", "url": "javascript:1"}), json!({"mode": "openai/form"}), json!({"mode": "form"})] {
        let lines = sent(&handle_message(&mut working(), &request(0, "mcpServer/elicitation/request", &wrong)));
        assert!(lines[0]["error"]["message"].as_str().unwrap().contains("Sayso refused"), "{wrong}");
    }
}

fn in_words(id: &str) -> Value {
    let questions =
        json!([{"title": "Which database?", "options": ["Postgres", "SQLite"]}, {"title": "What name?", "options": null}]);
    let item =
        json!({"type": "agentMessage", "id": id, "text": "Which database? …", "delivery": "async", "questions": questions});
    json!({"method": "item/completed", "params": {"threadId": "t-1", "turnId": "u-1", "item": item}})
}

#[test]
fn non_blocking_question_is_answered_by_a_message() {
    // During a turn, the answer is sent to the turn.
    let mut codex = working();
    let ask = find_ask(&handle_message(&mut codex, &in_words("q")));
    assert!(!ask.blocking && ask.body.questions().len() == 2);
    assert!(handle_message(&mut codex, &in_words("q")).is_empty(), "told twice, it is one ask");
    let lines = sent(&command(&mut codex, outcome(&ask, answered(&[&["SQLite"], &["payments"]]), DecidedBy::Person)));
    let said = "Which database? SQLite\nWhat name? payments";
    assert_eq!((lines[0]["method"].as_str(), words(&lines[0])), (Some("turn/steer"), said));

    // The question outlives the turn, and the answer starts the next turn.
    let ask = find_ask(&handle_message(&mut codex, &in_words("q2")));
    assert_eq!(events(&handle_message(&mut codex, &turn_completed("completed"))), [&AgentEvent::TurnEnded]);
    let outputs = command(&mut codex, outcome(&ask, answered(&[&["SQLite"], &["payments"]]), DecidedBy::Person));
    let lines = sent(&outputs);
    assert_eq!((lines[0]["method"].as_str(), words(&lines[0])), (Some("turn/start"), said));
    assert_eq!(events(&outputs), [&AgentEvent::TurnStarted]);
}

#[test]
fn rejection_of_a_non_blocking_question_sends_only_words_of_a_person() {
    let decide = |decision: Decision, by: DecidedBy| decided(&mut working(), &in_words("q"), decision, by).1;
    assert_eq!(decide(rejected(texts::REJECTED, false), DecidedBy::Person), Vec::<Value>::new());
    assert_eq!(decide(rejected("No one is here", false), DecidedBy::Automatic), Vec::<Value>::new());
    let told = decide(rejected("later", false), DecidedBy::Person);
    assert_eq!(words(&told[0]), "I did not answer: later");
    assert_eq!(decide(rejected("stop", true), DecidedBy::Person)[0]["method"], "turn/interrupt");
}

#[test]
fn request_answered_elsewhere_is_withdrawn() {
    let resolved = |id: u64| json!({"method": "serverRequest/resolved", "params": {"threadId": "t-1", "requestId": id}});
    let mut codex = working();
    let ask = find_ask(&handle_message(&mut codex, &run(0, "touch a")));
    let outputs = handle_message(&mut codex, &resolved(0));
    let withdrawn = AgentEvent::AskWithdrawn { native_id: "0".to_owned(), reason: "It was answered elsewhere.".to_owned() };
    assert_eq!(events(&outputs), [&withdrawn]);
    let late = command(&mut codex, outcome(&ask, Decision::Approved { choice: None, input: None }, DecidedBy::Person));
    assert!(matches!(late.as_slice(), [Output::Undeliverable { .. }]), "{late:?}");

    // The same notification confirms an answer from Sayso.
    let (_, lines) = decided(&mut codex, &run(1, "touch b"), denied(texts::DENIED, false), DecidedBy::Person);
    assert_eq!(lines.len(), 1);
    let confirmed = AgentEvent::AskDelivery { ask: ask_id(), delivery: Delivery::Confirmed };
    assert_eq!(events(&handle_message(&mut codex, &resolved(1))), [&confirmed]);
    assert!(handle_message(&mut codex, &resolved(1)).is_empty());
}

#[test]
fn outcome_never_reaches_another_request_with_the_same_id() {
    let mut codex = working();
    let ask = find_ask(&handle_message(&mut codex, &run(0, "touch a")));
    handle_message(&mut codex, &turn_completed("completed"));
    handle_message(&mut codex, &run(0, "rm -rf /"));
    let late = command(&mut codex, outcome(&ask, Decision::Approved { choice: None, input: None }, DecidedBy::Person));
    assert!(matches!(late.as_slice(), [Output::Undeliverable { .. }]), "{late:?}");
}

#[test]
fn subagent_events_and_answers_use_its_own_thread() {
    let mut codex = working();
    let thread = json!({"id": "t-2", "agentNickname": "Ada"});
    handle_message(&mut codex, &json!({"method": "thread/started", "params": {"thread": thread}}));
    let mut asks = run(0, "touch a");
    asks["params"]["threadId"] = json!("t-2");
    asks["params"]["turnId"] = json!("u-2");
    let ask = find_ask(&handle_message(&mut codex, &asks));
    assert_eq!(ask.subagent.as_deref(), Some("Ada"));
    let lines = sent(&command(&mut codex, outcome(&ask, denied("not you", false), DecidedBy::Person)));
    assert_eq!((&lines[1]["params"]["threadId"], &lines[1]["params"]["expectedTurnId"]), (&json!("t-2"), &json!("u-2")));
    // The end of the sub-agent's turn is not the end of the session's turn.
    let over = json!({"method": "turn/completed", "params": {"threadId": "t-2", "turn": {"id": "u-2", "status": "completed"}}});
    assert!(handle_message(&mut codex, &over).is_empty());
    let lines = sent(&command(&mut codex, Command::Interrupt { session: session() }));
    assert_eq!(lines[0]["params"]["turnId"], "u-1");
}
