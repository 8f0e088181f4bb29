//! Tests of the conversation: lines, events and results as inputs, lines and calls as outputs.

mod asks;

use sayso_api::ask::Ask;
use sayso_api::error::ErrorCode;
use sayso_api::session::{MessageAccepted, Session, Transcript};
use serde_json::{Value, json};

use super::{Conversation, Heard, Input, Output, Refusal, Reply, SessionCall, Setting, To, Verdict};

const S: &str = "ses_1";

/// Converts outputs to JSON: messages unchanged, calls by their name.
fn to_json(outputs: Vec<Output>) -> Vec<Value> {
    let shown = |output| match output {
        Output::Send(frame) => serde_json::from_str(&frame.line).unwrap(),
        Output::Call(call) => json!({ "call": format!("{call:?}") }),
        Output::Follow { session, since } => json!({ "follow": session, "since": since }),
    };
    outputs.into_iter().map(shown).collect()
}

fn line(conversation: &mut Conversation, message: &Value) -> Vec<Output> {
    conversation.handle(Input::Line { text: &message.to_string(), session: None })
}

fn request(conversation: &mut Conversation, id: u64, method: &str, params: Value) -> Vec<Output> {
    line(conversation, &json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
}

fn event(conversation: &mut Conversation, seq: i64, kind: &'static str, data: &Value) -> Vec<Output> {
    let mut data = data.clone();
    if kind.starts_with("message.") {
        data["at"] = json!("1970-01-01T00:00:00Z");
    }
    let event = json!({ "seq": seq, "at": "1970-01-01T00:00:00Z", "type": kind, "data": data });
    conversation.handle(Input::Heard { session: S, what: Heard::Event(serde_json::from_value(event).unwrap()) })
}

fn status(conversation: &mut Conversation, seq: i64, status: &str) -> Vec<Output> {
    event(conversation, seq, "session.status", &json!({ "status": status }))
}

fn session(status: &str, asks: &[Value]) -> Reply {
    let session: Session = serde_json::from_value(json!({
        "id": S, "agent": "mock", "title": "", "cwd": "/p", "status": status, "permissionMode": "default", "labels": {},
        "createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-01T00:00:00Z", "pending": asks.len(), "seq": 7,
        "resumable": true, "asks": asks,
    }))
    .unwrap();
    Reply::Session(Box::new(session))
}

fn finish_call(conversation: &mut Conversation, reply: Reply) -> Vec<Output> {
    conversation.handle(Input::Done(Ok(reply)))
}

fn refused(conversation: &mut Conversation, code: ErrorCode) -> Vec<Output> {
    conversation.handle(Input::Done(Err(Refusal { code: Some(code), message: "no".to_owned() })))
}

/// A client with these capabilities, and a session that accepts a prompt.
fn talking(capabilities: Value) -> Conversation {
    let mut conversation = Conversation::new(Setting { agent: Some("mock".to_owned()), environment: None });
    request(&mut conversation, 1, "initialize", json!({ "protocolVersion": 1, "clientCapabilities": capabilities }));
    request(&mut conversation, 2, "session/new", json!({ "cwd": "/p", "mcpServers": [] }));
    finish_call(&mut conversation, session("running", &[]));
    finish_call(&mut conversation, session("idle", &[]));
    conversation
}

fn ask(more: Value) -> Value {
    let mut ask = json!({
        "id": "ask_1", "sessionId": S, "agent": "mock", "kind": "question", "status": "pending", "reach": "live",
        "toolCallId": "call_1", "title": "", "blocking": true, "openedAt": "2026-01-01T00:00:00Z", "labels": {},
    });
    for (key, value) in more.as_object().unwrap() {
        ask[key] = value.clone();
    }
    serde_json::from_value::<Ask>(ask.clone()).unwrap();
    ask
}

fn database(custom: bool) -> Value {
    json!({ "key": "db", "header": "Database", "text": "Which database?", "custom": custom,
            "options": [{ "value": "lite", "label": "SQLite" }, { "value": "pg", "label": "PostgreSQL" }] })
}

fn question() -> Value {
    ask(json!({ "questions": [database(false)] }))
}

fn several() -> Value {
    let areas = json!({ "key": "areas", "text": "Which areas?", "multiple": true, "custom": false, "options": [{ "label": "API" }, { "label": "UI" }] });
    let notes = json!({ "key": "db_custom", "text": "Notes?", "input": "text", "required": false });
    ask(json!({ "questions": [database(true), areas, notes] }))
}

fn approval() -> Value {
    ask(json!({ "kind": "approval", "approval": {
        "tool": "Bash", "action": "run", "command": "make", "title": "make", "input": { "command": "make" },
        "preview": { "type": "command", "command": "make", "cwd": "/p" }, "choices": [{ "id": "allow", "label": "Always" }],
    } }))
}

/// Returns the only message that these outputs send.
fn sent(outputs: Vec<Output>) -> Value {
    let [only] = <[Output; 1]>::try_from(outputs).unwrap();
    to_json(vec![only]).remove(0)
}

/// Returns the verdict that this response to request `id` produces.
fn verdict(conversation: &mut Conversation, id: u64, result: Value) -> Verdict {
    match line(conversation, &json!({ "jsonrpc": "2.0", "id": id, "result": result })).pop() {
        Some(Output::Call(SessionCall::Decide { ask, verdict })) if ask == "ask_1" => verdict,
        other => panic!("{other:?}"),
    }
}

const ALL: &str = r#"{"elicitation":{"form":{},"url":{}},"extensions":{"sessionRequestQuestion":true}}"#;

fn all() -> Value {
    serde_json::from_str(ALL).unwrap()
}

#[test]
fn client_must_initialize_first() {
    let mut conversation = Conversation::new(Setting::default());
    assert_eq!(sent(request(&mut conversation, 1, "session/new", json!({ "cwd": "/p" })))["error"]["code"], -32600);
    let said = sent(request(&mut conversation, 2, "initialize", json!({ "protocolVersion": 1 })));
    let result = &said["result"];
    assert_eq!((&result["protocolVersion"], &result["agentCapabilities"]["loadSession"]), (&json!(1), &json!(true)));
    assert_eq!(result["extensions"]["sessionRequestQuestion"], true);
    assert_eq!(result["_meta"]["extensions"]["sessionRequestQuestion"], true);
}

#[test]
fn new_session_is_reported_when_it_accepts_a_prompt() {
    let mut conversation = Conversation::new(Setting { agent: Some("mock".to_owned()), environment: None });
    request(&mut conversation, 1, "initialize", json!({}));
    let made = request(&mut conversation, 2, "session/new", json!({ "cwd": "/p" }));
    assert!(matches!(&made[..], [Output::Call(SessionCall::Create(new))] if new.agent == "mock"));
    assert_eq!(
        finish_call(&mut conversation, session("running", &[])),
        [Output::Call(SessionCall::Look { session: S.to_owned() })]
    );
    assert_eq!(to_json(finish_call(&mut conversation, session("running", &[]))), [json!({ "follow": S, "since": 7 })]);
    assert_eq!(sent(status(&mut conversation, 8, "idle"))["result"], json!({ "sessionId": S }));

    request(&mut conversation, 3, "session/new", json!({ "cwd": "/p" }));
    assert_eq!(sent(refused(&mut conversation, ErrorCode::UnknownAgent))["error"]["data"]["code"], "unknown_agent");
}

#[test]
fn failed_start_is_reported_as_an_error() {
    let mut conversation = Conversation::new(Setting { agent: Some("mock".to_owned()), environment: None });
    request(&mut conversation, 1, "initialize", json!({}));
    request(&mut conversation, 2, "session/new", json!({ "cwd": "/p" }));
    finish_call(&mut conversation, session("running", &[]));
    finish_call(&mut conversation, session("running", &[]));
    let failed = event(&mut conversation, 8, "session.ended", &json!({ "status": "failed", "reason": "log in first" }));
    assert_eq!(sent(failed)["error"]["message"], "log in first");
}

/// Sends a prompt and lets it appear in the events. The turn runs afterwards.
fn prompted(conversation: &mut Conversation, id: u64) {
    let prompt = json!([{ "type": "text", "text": "hello" }]);
    request(conversation, id, "session/prompt", json!({ "sessionId": S, "prompt": prompt }));
    assert!(conversation.is_sending());
    let accepted = MessageAccepted { message_id: "b1".to_owned(), answered: None };
    assert_eq!(finish_call(conversation, Reply::Said(Box::new(accepted))), []);
}

fn user_message() -> Value {
    json!({ "id": "b1", "at": "1970-01-01T00:00:00Z", "type": "message", "role": "user", "text": "hello" })
}

#[test]
fn turn_ends_when_the_session_becomes_idle() {
    let mut conversation = talking(json!({}));
    prompted(&mut conversation, 3);
    // These events belong to the earlier turn.
    assert_eq!(status(&mut conversation, 8, "idle"), []);
    assert_eq!(event(&mut conversation, 9, "message.completed", &user_message()), []);
    assert_eq!(status(&mut conversation, 10, "idle"), []);
    assert_eq!(status(&mut conversation, 11, "running"), []);
    let said = event(&mut conversation, 12, "message.completed", &json!({ "id": "b2", "role": "assistant", "text": "hello" }));
    let update = json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": "hello" } });
    assert_eq!(sent(said)["params"], json!({ "sessionId": S, "update": update }));
    let other =
        event(&mut conversation, 13, "message.completed", &json!({ "id": "b3", "role": "user", "text": "from the inbox" }));
    assert_eq!(sent(other)["params"]["update"]["sessionUpdate"], "user_message_chunk");
    assert_eq!(conversation.running(), [S]);
    let over = sent(status(&mut conversation, 14, "idle"));
    assert_eq!((&over["id"], &over["result"]["stopReason"]), (&json!(3), &json!("end_turn")));
    assert!(conversation.running().is_empty());
}

#[test]
fn cancelled_turn_has_the_stop_reason_cancelled() {
    for cancel in [
        json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": S } }),
        json!({ "jsonrpc": "2.0", "method": "$/cancel_request", "params": { "requestId": 3 } }),
    ] {
        let mut conversation = talking(json!({}));
        prompted(&mut conversation, 3);
        event(&mut conversation, 9, "message.completed", &user_message());
        status(&mut conversation, 10, "running");
        assert_eq!(line(&mut conversation, &cancel), [Output::Call(SessionCall::Interrupt { session: S.to_owned() })]);
        finish_call(&mut conversation, session("running", &[]));
        assert_eq!(sent(status(&mut conversation, 11, "idle"))["result"]["stopReason"], "cancelled");
        // The next turn is not affected.
        prompted(&mut conversation, 4);
        event(&mut conversation, 12, "message.completed", &user_message());
        status(&mut conversation, 13, "running");
        assert_eq!(sent(status(&mut conversation, 14, "idle"))["result"]["stopReason"], "end_turn");
    }
}

#[test]
fn prompt_resumes_an_ended_session() {
    let mut conversation = talking(json!({}));
    event(&mut conversation, 8, "session.ended", &json!({ "status": "ended", "resumable": true }));
    let prompt = json!({ "sessionId": S, "prompt": [{ "type": "text", "text": "hello" }] });
    let resumed = request(&mut conversation, 3, "session/prompt", prompt.clone());
    assert_eq!(resumed, [Output::Call(SessionCall::Resume { session: S.to_owned() })]);
    finish_call(&mut conversation, session("running", &[]));
    assert_eq!(status(&mut conversation, 9, "running"), []);
    let said = status(&mut conversation, 10, "idle");
    assert_eq!(said, [Output::Call(SessionCall::Message { session: S.to_owned(), text: "hello".to_owned() })]);
    refused(&mut conversation, ErrorCode::AskPending);

    event(&mut conversation, 11, "session.ended", &json!({ "status": "ended", "resumable": false }));
    assert_eq!(sent(request(&mut conversation, 4, "session/prompt", prompt))["error"]["message"], "the session has ended");
}

#[test]
fn loaded_session_replays_its_transcript_and_pending_asks() {
    let mut conversation = Conversation::new(Setting::default());
    request(&mut conversation, 1, "initialize", json!({ "clientCapabilities": all() }));
    request(&mut conversation, 2, "session/load", json!({ "sessionId": S, "cwd": "/p", "mcpServers": [] }));
    finish_call(&mut conversation, session("waiting", &[question()]));
    let page = |data: Value, next: Option<&str>, seq| {
        let data = serde_json::from_value(data).unwrap();
        Reply::Transcript(Transcript { data, next_cursor: next.map(str::to_owned), seq, truncated: false })
    };
    let first = page(json!([user_message(), { "type": "later", "x": 1 }]), Some("1"), 8);
    let outputs = to_json(finish_call(&mut conversation, first));
    assert_eq!(outputs[0]["params"]["update"]["sessionUpdate"], "user_message_chunk");
    let ask = json!({ "type": "action", "status": "pending", "ask": question() });
    let outputs = to_json(finish_call(&mut conversation, page(json!([ask]), None, 9)));
    assert_eq!(outputs[0], json!({ "follow": S, "since": 7 }));
    assert_eq!(outputs[1], json!({ "jsonrpc": "2.0", "id": 2, "result": {} }));
    assert_eq!(outputs[2]["method"], "_sandboxagent/session/request_question");
    // Blocks that the transcript contained are not sent again; later events are.
    assert_eq!(event(&mut conversation, 8, "message.completed", &user_message()), []);
    assert_eq!(event(&mut conversation, 9, "question.requested", &question()), []);
    assert_eq!(event(&mut conversation, 10, "message.completed", &user_message()).len(), 1);

    request(&mut conversation, 3, "session/load", json!({ "sessionId": "ses_2" }));
    let unknown = sent(refused(&mut conversation, ErrorCode::SessionNotFound));
    assert_eq!((&unknown["error"]["code"], &unknown["error"]["data"]["code"]), (&json!(-32002), &json!("session_not_found")));
}

#[test]
fn after_a_gap_the_client_is_asked_what_is_pending_now() {
    let mut conversation = talking(all());
    event(&mut conversation, 8, "question.requested", &question());
    let outputs = conversation.handle(Input::Heard { session: S, what: Heard::Gap });
    assert_eq!(outputs, [Output::Call(SessionCall::Look { session: S.to_owned() })]);
    let mut other = approval();
    other["id"] = json!("ask_2");
    let outputs = to_json(finish_call(&mut conversation, session("waiting", &[other])));
    assert_eq!(
        (&outputs[0]["method"], &outputs[1]["method"]),
        (&json!("$/cancel_request"), &json!("session/request_permission"))
    );
}

#[test]
fn turn_that_ended_during_a_gap_is_finished() {
    let mut conversation = talking(all());
    prompted(&mut conversation, 3);
    assert_eq!(conversation.running(), [S], "the agent has it, or soon will");
    conversation.handle(Input::Heard { session: S, what: Heard::Gap });
    assert_eq!(sent(finish_call(&mut conversation, session("idle", &[])))["result"]["stopReason"], "end_turn");
}

#[test]
fn invisible_session_ends_its_waiting_requests() {
    let mut conversation = talking(all());
    prompted(&mut conversation, 3);
    event(&mut conversation, 8, "question.requested", &question());
    let outputs = to_json(conversation.handle(Input::Heard { session: S, what: Heard::Over("revoked".to_owned()) }));
    assert_eq!(outputs[0]["method"], "$/cancel_request");
    assert_eq!((&outputs[1]["id"], &outputs[1]["error"]["message"]), (&json!(3), &json!("revoked")));
    let prompt = json!({ "sessionId": S, "prompt": [{ "type": "text", "text": "hello" }] });
    assert_eq!(sent(request(&mut conversation, 4, "session/prompt", prompt))["error"]["code"], -32002);
}

#[test]
fn malformed_requests_are_refused_individually() {
    let mut conversation = talking(json!({}));
    let mut code = |text: &str| sent(conversation.handle(Input::Line { text, session: None }))["error"]["code"].clone();
    for (text, wanted) in [
        ("nonsense", -32700),
        ("\u{fffd}", -32700),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"initialize"}]"#, -32600),
        (r#"{"id":1}"#, -32600),
        (r#"{"id":{},"method":"initialize"}"#, -32600),
        (r#"{"id":1,"method":"session/close","params":{}}"#, -32601),
        (r#"{"id":1,"method":"session/new"}"#, -32602),
        (r#"{"id":1,"method":"session/new","params":[1]}"#, -32602),
        (r#"{"id":1,"method":"session/prompt","params":{"prompt":[]}}"#, -32602),
        (r#"{"id":1,"method":"session/prompt","params":{"sessionId":"ses_1","prompt":[{"type":"image"}]}}"#, -32602),
        (r#"{"id":1,"method":"session/prompt","params":{"sessionId":"ses_9","prompt":[{"type":"text","text":"x"}]}}"#, -32002),
        (r#"{"id":1,"method":"session/load","params":{"sessionId":7}}"#, -32602),
    ] {
        assert_eq!(code(text), wanted, "{text}");
    }
    for ignored in [
        r#"{"method":"session/cancel"}"#,
        r#"{"method":"session/cancel","params":{"sessionId":"ses_9"}}"#,
        r#"{"method":"$/cancel_request","params":{"requestId":99}}"#,
        r#"{"method":"_anything"}"#,
    ] {
        assert_eq!(conversation.handle(Input::Line { text: ignored, session: None }), [], "{ignored}");
    }
}

/// docs/acp.md lists every method and capability of this surface.
#[test]
fn acp_page_lists_every_method_and_capability() {
    let page = include_str!("../../../../../../docs/acp.md");
    let spoken = [
        "initialize",
        "session/new",
        "session/load",
        "session/resume",
        "session/list",
        "session/prompt",
        "session/cancel",
        "$/cancel_request",
        "session/request_permission",
        "elicitation/create",
        "_sandboxagent/session/request_question",
    ];
    let mut conversation = Conversation::new(Setting::default());
    let met = sent(request(&mut conversation, 1, "initialize", json!({})));
    let capabilities = &met["result"]["agentCapabilities"];
    let listed = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let named =
        [listed(&capabilities["sessionCapabilities"]), listed(&met["result"]["extensions"]), vec!["loadSession".to_owned()]];
    for name in spoken.into_iter().map(str::to_owned).chain(named.concat()) {
        assert!(page.contains(&name), "docs/acp.md does not name {name}");
    }
}
