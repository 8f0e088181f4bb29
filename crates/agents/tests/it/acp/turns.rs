//! Outcomes, reasons and prompts that are sent to the agent during a turn.

use sayso_core::texts;

use super::lifecycle::{permission, question};
use super::*;

#[test]
fn outcome_reaches_only_its_own_request() {
    let mut host = Host::working();
    permission(&mut host, json!(0), "t1");
    let first = host.asks[0].clone();
    host.message(json!({ "jsonrpc": "2.0", "method": "$/cancel_request", "params": { "requestId": 0 } }));
    // The agent restarts its ids at 0 for a different request.
    permission(&mut host, json!(0), "t2");
    host.sent.clear();
    host.command(outcome("0", approved(), first.raw));
    assert!(host.log.ends_with("undeliverable: The agent no longer waits for it.\n") && host.sent.is_empty(), "{}", host.log);
    host.decide(approved());
    assert_eq!(host.sent.len(), 1);
    host.decide(approved());
    assert!(host.log.ends_with("undeliverable: The agent no longer waits for it.\n") && host.sent.len() == 1);
    let mut host = Host::working();
    permission(&mut host, json!(0), "t1");
    host.command(outcome("0", approved(), None));
    assert_eq!(*host.result(), json!({ "outcome": { "outcome": "cancelled" } }), "an unreadable request is not approved");
    assert!(host.log.ends_with("undeliverable: The request can no longer be read, so it was cancelled.\n"));
}

#[test]
fn tool_call_progress_confirms_an_outcome() {
    for status in ["in_progress", "completed", "failed"] {
        let mut host = Host::working();
        permission(&mut host, json!(0), "t1");
        host.update(json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "in_progress" }));
        assert!(!host.log.contains("delivery"), "nothing was decided yet");
        host.decide(approved());
        host.update(json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t1", "title": "x" }));
        host.update(json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "pending" }));
        host.update(json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t2", "status": status }));
        assert!(!host.log.contains("delivery"));
        host.update(json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": status }));
        host.update(json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": status }));
        assert_eq!(host.log.matches("delivery confirmed").count(), 1, "{}", host.log);
    }
}

#[test]
fn reason_of_a_person_follows_as_the_next_prompt() {
    let mut host = Host::working();
    permission(&mut host, json!(0), "t1");
    host.decide(denied("move it to /tmp instead"));
    permission(&mut host, json!(1), "t2");
    host.decide(denied("move it to /tmp instead"));
    permission(&mut host, json!(2), "t3");
    host.decide_automatically(denied(&texts::approval_timed_out(std::time::Duration::from_secs(600))));
    permission(&mut host, json!(3), "t4");
    host.decide_automatically(denied("by rule: use pnpm"));
    host.command(prompt("and then the tests"));
    assert_eq!(host.sent.iter().filter(|line| line["method"] == "session/prompt").count(), 0, "not while the turn runs");
    host.log.clear();
    let id = 2;
    host.message(json!({ "jsonrpc": "2.0", "id": id, "result": { "stopReason": "end_turn" } }));
    insta::assert_snapshot!(host.log);
    host.reply(json!({ "stopReason": "end_turn" }));
    assert_eq!(host.take_request()["params"]["prompt"][0]["text"], "and then the tests");
    // In the follow-up turn, the same words do not start another turn, because a script may send them.
    let mut host = Host::working();
    for _ in 0..3 {
        permission(&mut host, json!(0), "t1");
        host.decide(denied("use pnpm"));
        let id =
            host.sent.iter().rev().find(|line| line["method"] == "session/prompt").map_or(json!(2), |line| line["id"].clone());
        host.message(json!({ "jsonrpc": "2.0", "id": id, "result": { "stopReason": "end_turn" } }));
    }
    assert_eq!(host.log.matches("turn started").count(), 1, "{}", host.log);
}

#[test]
fn stop_rejects_and_ends_the_turn() {
    let mut host = Host::working();
    permission(&mut host, json!(0), "t1");
    question(&mut host, json!(1));
    let first = host.asks[0].clone();
    host.command(outcome("0", Decision::Denied { message: "stop it".to_owned(), stop: true }, first.raw));
    assert_eq!(host.sent[0]["result"]["outcome"]["optionId"], "n");
    assert_eq!((&host.sent[1]["method"], &host.sent[2]["error"]["code"]), (&json!("session/cancel"), &json!(-32800)));
    assert!(host.log.contains("withdrawn 1: The turn was interrupted."));
    host.message(json!({ "jsonrpc": "2.0", "id": 2, "result": { "stopReason": "cancelled" } }));
    assert!(host.log.ends_with("turn ended\n"), "no words follow a stop: {}", host.log);
}

#[test]
fn note_without_a_field_follows_as_the_next_prompt() {
    let mut host = Host::working();
    question(&mut host, json!(0));
    host.decide(Decision::Answered { answers: vec![vec!["a".to_owned()]], note: Some("but small".to_owned()) });
    host.message(json!({ "jsonrpc": "2.0", "id": 2, "result": { "stopReason": "end_turn" } }));
    assert_eq!(host.sent.last().unwrap()["params"]["prompt"][0]["text"], "but small");
}

#[test]
fn prompts_are_queued_during_a_turn() {
    let mut host = Host::working();
    for n in 0..17 {
        host.command(prompt(&n.to_string()));
    }
    assert!(host.log.ends_with("error: 16 messages are already queued; this one was not sent.\n"));
    host.message(json!({ "jsonrpc": "2.0", "id": 2, "result": { "stopReason": "end_turn" } }));
    for n in 0..16 {
        assert_eq!(host.sent.last().unwrap()["params"]["prompt"][0]["text"], n.to_string());
        host.reply(json!({ "stopReason": "end_turn" }));
    }
    assert!(host.sent.is_empty() && host.log.ends_with("turn ended\n"));
}

#[test]
fn close_withdraws_open_asks() {
    let mut host = Host::working();
    question(&mut host, json!(0));
    host.log.clear();
    host.command(close());
    let lines: Vec<&str> = host.log.lines().collect();
    assert!(lines[0].contains("session/cancel") && lines[1].contains("-32800"), "{}", host.log);
    assert_eq!(lines[2..], ["withdrawn 0: The session was closed.", "stop", "ended: closed failed=false resumable=false"]);
    host.decide(answered(&[&["a"]]));
    assert!(host.log.ends_with("undeliverable: The agent no longer waits for it.\n"));
}
