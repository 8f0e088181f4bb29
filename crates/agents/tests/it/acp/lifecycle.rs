//! The lifecycle of a session: start, mode and model, interrupts, exit, and resumption.

use sayso_core::ask::{AskBody, TypedAnswers};

use super::*;

fn initialized(capabilities: Value) -> Value {
    json!({ "protocolVersion": 1, "agentCapabilities": capabilities, "authMethods": [
        { "id": "login", "name": "Log in", "description": "Run `agent login`" }, { "id": "key" }] })
}

pub(super) fn question(host: &mut Host, id: Value) {
    host.request(
        id,
        "_sandboxagent/session/request_question",
        json!({ "sessionId": "s1", "prompt": "Which?", "options": ["a", "b"] }),
    );
}

pub(super) fn permission(host: &mut Host, id: Value, call: &str) {
    let options = json!([{ "optionId": "y", "name": "Yes", "kind": "allow_once" }, { "optionId": "n", "name": "No", "kind": "reject_once" }]);
    let call =
        json!({ "toolCallId": call, "title": "rm -rf build", "kind": "execute", "rawInput": { "command": "rm -rf build" } });
    host.request(id, "session/request_permission", json!({ "sessionId": "s1", "toolCall": call, "options": options }));
}

#[test]
fn session_runs_from_start_to_close() {
    let mut host = Host::new();
    host.command(start_in(Some("hello"), "plan", Some("opus"), true));
    host.reply(initialized(json!({ "sessionCapabilities": { "close": {} } })));
    let modes = json!({ "currentModeId": "default", "availableModes": [{ "id": "default" }, { "id": "plan" }] });
    let model = json!({ "id": "model", "category": "model", "type": "select", "currentValue": "default", "options": [{ "value": "default" }, { "value": "opus" }] });
    host.reply(json!({ "sessionId": "s1", "modes": modes, "configOptions": [model] }));
    host.reply(json!({})).reply(json!({ "configOptions": [] }));
    host.update(json!({ "sessionUpdate": "current_mode_update", "currentModeId": "plan" }));
    host.update(json!({ "sessionUpdate": "agent_thought_chunk", "content": { "type": "text", "text": "hm" } }));
    host.update(json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": "Hello " } }));
    host.update(json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "image", "data": "" } }));
    host.update(json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": "you." } }));
    host.update(json!({ "sessionUpdate": "current_mode_update", "currentModeId": "default" }));
    host.update(
        json!({ "sessionUpdate": "notice", "severity": "warning", "title": "Rate limit", "description": "Wait a moment" }),
    );
    host.update(json!({ "sessionUpdate": "something_new", "x": 1 }));
    host.reply(json!({ "stopReason": "max_tokens" }));
    host.command(prompt("more")).reply(json!({ "stopReason": "refusal" }));
    host.command(close()).command(close()).exit(Some(0), None, "");
    host.command(prompt("too late"));
    insta::assert_snapshot!(host.log);
}

#[test]
fn mode_and_model_change_in_a_running_session() {
    let configure = |mode: &str, model: &str| Command::Configure {
        session: session(),
        permission_mode: Some(mode.to_owned()),
        model: Some(model.to_owned()),
    };
    let calls = |host: &mut Host| {
        let request = host.take_request();
        (request["method"].clone(), request["params"].clone())
    };
    let mut host = Host::new();
    host.command(start_in(None, "default", None, true)).reply(initialized(json!({}))).reply(json!({ "sessionId": "s1" }));
    host.command(configure("plan", "opus"));
    assert_eq!(calls(&mut host), (json!("session/set_mode"), json!({ "sessionId": "s1", "modeId": "plan" })));
    assert_eq!(calls(&mut host), (json!("session/set_model"), json!({ "sessionId": "s1", "modelId": "opus" })));

    // Agents with config options instead of modes and models are configured through the options.
    let option =
        |id: &str| json!({ "id": id, "category": id, "type": "select", "currentValue": "a", "options": [{ "value": "a" }] });
    let options = json!([option("mode"), option("model")]);
    let mut host = Host::new();
    host.command(start_in(None, "", None, true)).reply(initialized(json!({})));
    host.reply(json!({ "sessionId": "s1", "configOptions": options }));
    host.command(configure("b", "c"));
    let set = |id: &str, value: &str| {
        (json!("session/set_config_option"), json!({ "sessionId": "s1", "configId": id, "value": value }))
    };
    assert_eq!([calls(&mut host), calls(&mut host)], [set("mode", "b"), set("model", "c")]);
}

#[test]
fn session_without_questions_does_not_advertise_them() {
    let mut host = Host::new();
    host.command(start_in(None, "default", None, false));
    let capabilities = host.take_request()["params"]["clientCapabilities"].clone();
    assert_eq!(
        capabilities,
        json!({ "fs": { "readTextFile": false, "writeTextFile": false }, "terminal": false, "elicitation": { "url": {} } })
    );
}

#[test]
fn unsupported_mode_or_model_is_reported() {
    let settle = |mode: &str, model: Option<&str>, session: Value| {
        let mut host = Host::new();
        host.command(start_in(None, mode, model, true)).reply(initialized(json!({}))).reply(session);
        host.log.rsplit("--\n").next().unwrap().to_owned()
    };
    let modes = json!({ "currentModeId": "read-only", "availableModes": [{ "id": "read-only" }, { "id": "auto" }] });
    let session = json!({ "sessionId": "s1", "modes": modes, "models": { "currentModelId": "m", "availableModels": [{ "modelId": "m" }, { "modelId": "n" }] } });
    assert_eq!(settle("default", Some("m"), session.clone()), "turn ended\n");
    let told = settle("acceptEdits", Some("z"), session.clone());
    assert_eq!(
        told,
        "notice: The agent has no permission mode `acceptEdits`. It stays in `read-only`.\nnotice: The agent offers no model `z`. It stays with `m`.\nturn ended\n"
    );
    assert!(
        settle("auto", Some("n"), session)
            .contains("\"method\":\"session/set_model\",\"params\":{\"modelId\":\"n\",\"sessionId\":\"s1\"}")
    );
    let option = json!({ "id": "mode", "category": "mode", "currentValue": "build", "options": [{ "name": "group", "options": [{ "value": "plan" }] }] });
    let sent = settle("plan", None, json!({ "sessionId": "s1", "configOptions": [option] }));
    assert_eq!(
        sent,
        "> {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"session/set_config_option\",\"params\":{\"configId\":\"mode\",\"sessionId\":\"s1\",\"value\":\"plan\"}}\n"
    );
    let mut host = Host::new();
    host.command(start_in(Some("go"), "auto", None, true)).reply(initialized(json!({})));
    host.reply(json!({ "sessionId": "s1", "modes": { "currentModeId": "x", "availableModes": [{ "id": "auto" }] } }));
    host.fail(-32602, "not today");
    assert!(host.log.contains("notice: The agent did not change to `auto`: not today (-32602)\nturn started\n"), "{}", host.log);
}

#[test]
fn missing_sign_in_is_reported_with_instructions() {
    let mut host = Host::new();
    host.command(start(Some("go"))).reply(initialized(json!({}))).fail(-32000, "Authentication required");
    insta::assert_snapshot!(host.log.rsplit("--\n").next().unwrap());
    host.exit(None, Some(15), "");
    assert!(host.log.ends_with("--\n"), "the end was told already");
    // The prompt was not lost: it is sent when the session is started again.
    host.command(start(None)).reply(initialized(json!({}))).reply(json!({ "sessionId": "s2" }));
    assert_eq!(host.take_request()["params"]["prompt"][0]["text"], "go");
    host.sent.clear();
    let mut host = Host::working();
    host.message(json!({ "jsonrpc": "2.0", "id": 2, "error": { "code": -32000, "message": "expired" } }));
    assert!(host.log.starts_with("error: The agent failed: you are not signed in to it (expired)."), "{}", host.log);
    assert!(host.log.ends_with("turn ended\n"));
}

#[test]
fn failed_start_ends_the_session() {
    for (answer, reason) in [
        (json!({ "protocolVersion": 2 }), "the agent speaks version 2 of the protocol, Sayso speaks version 1"),
        (json!({ "protocolVersion": "1" }), "the agent speaks version \"1\" of the protocol, Sayso speaks version 1"),
    ] {
        let mut host = Host::new();
        host.command(start(None)).reply(answer);
        assert!(host.log.ends_with(&format!("stop\nended: {reason} failed=true resumable=false\n")), "{}", host.log);
    }
    let mut host = Host::new();
    host.command(start(None)).reply(json!({})).reply(json!({}));
    assert!(
        host.log.ends_with("stop\nended: the agent opened a session without an id failed=true resumable=false\n"),
        "{}",
        host.log
    );
    let mut host = Host::new();
    host.command(start(None)).fail(-32603, "");
    assert!(host.log.contains("error: The agent did not open a session: it gave no reason (-32603).\n"), "{}", host.log);
}

/// A session whose agent was started again.
fn resumed(capabilities: &Value) -> Host {
    let mut host = Host::new();
    host.command(start(Some("one")))
        .reply(initialized(capabilities.clone()))
        .reply(json!({ "sessionId": "s1" }))
        .reply(json!({ "stopReason": "end_turn" }));
    host.exit(None, Some(9), "killed");
    assert!(host.log.contains("ended: the agent was ended by signal 9 (killed): killed failed=true"), "{}", host.log);
    host.command(start(None)).command(prompt("two"));
    host.reply(initialized(capabilities.clone()));
    host
}

#[test]
fn session_is_resumed_with_the_methods_of_the_agent() {
    let mut host = resumed(&json!({ "loadSession": true, "sessionCapabilities": { "resume": {} } }));
    let request = host.take_request();
    assert_eq!(
        (request["method"].as_str(), &request["params"]),
        (Some("session/resume"), &json!({ "cwd": "/project", "mcpServers": [], "sessionId": "s1" }))
    );
    host.message(json!({ "jsonrpc": "2.0", "id": request["id"], "result": {} }));
    assert_eq!(host.take_request()["params"], json!({ "sessionId": "s1", "prompt": [{ "type": "text", "text": "two" }] }));

    let mut host = resumed(&json!({ "loadSession": true, "sessionCapabilities": { "resume": null } }));
    host.log.clear();
    host.update(json!({ "sessionUpdate": "user_message_chunk", "content": { "type": "text", "text": "one" } }));
    host.update(json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": "past" } }));
    host.update(json!({ "sessionUpdate": "tool_call", "toolCallId": "t", "title": "old" }));
    assert_eq!(host.log, "", "repeated messages are not shown again");
    assert_eq!(host.sent[0]["method"], "session/load");
    host.reply(json!({}));
    host.update(json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": "now" } }));
    assert!(host.log.ends_with("delta msg-1 \"now\"\n"), "{}", host.log);

    // Unknown session: load fails, then a new session is created.
    let mut host = resumed(&json!({ "loadSession": true, "sessionCapabilities": { "resume": {} } }));
    host.fail(-32002, "Resource not found");
    assert_eq!(host.sent[0]["method"], "session/load");
    host.fail(-32002, "Resource not found");
    assert_eq!(
        (&host.sent[0]["method"], &host.sent[0]["params"]),
        (&json!("session/new"), &json!({ "cwd": "/project", "mcpServers": [] }))
    );
    host.reply(json!({ "sessionId": "s2" }));
    assert_eq!(host.take_request()["params"]["sessionId"], "s2");

    let host = resumed(&json!({}));
    assert!(
        host.log.contains("notice: The agent cannot resume its session. It starts a new one without the earlier conversation.\n")
    );
    assert_eq!(host.sent[0]["method"], "session/new");
}

#[test]
fn process_exit_ends_the_session_with_a_reason() {
    let ended = |host: &mut Host, code, signal, message: &str| {
        host.log.clear();
        host.exit(code, signal, message);
        host.log.clone()
    };
    let mut host = Host::new();
    host.command(start(None));
    let told = ended(&mut host, None, None, "No such file or directory: claude-agent-acp");
    assert_eq!(
        told,
        "ended: the agent could not be started: No such file or directory: claude-agent-acp failed=true resumable=false\n"
    );
    assert_eq!(ended(&mut Host::ready(), Some(0), None, ""), "ended: the agent ended failed=false resumable=false\n");
    assert_eq!(ended(&mut Host::working(), Some(0), None, ""), "ended: the agent ended failed=true resumable=false\n");
    assert_eq!(
        ended(&mut Host::working(), None, None, ""),
        "ended: the agent ended, and its exit status is unknown failed=true resumable=false\n"
    );
    let mut host = Host::working();
    host.update(json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": "I was" } }));
    question(&mut host, json!(1));
    host.update(json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": "half" } }));
    let told = ended(&mut host, Some(3), None, &format!("{}\nthe last words", "x".repeat(5000)));
    assert!(told.starts_with("message msg-2 Assistant: half\nended: the agent ended with exit code 3: xxx"), "{told}");
    assert!(told.ends_with("the last words failed=true resumable=false\n") && told.len() < 2200);
    host.decide(answered(&[&["a"]]));
    assert!(host.log.ends_with("undeliverable: The agent no longer waits for it.\n"));
    host.command(prompt("hello?"));
    assert!(host.log.ends_with("error: The agent is not running; the message was not sent. Resume the session first.\n"));
    host.exit(Some(1), None, "again").line("{}");
    assert!(host.log.ends_with("--\n--\n"));
}

#[test]
fn interrupt_answers_all_requests_in_one_batch() {
    let mut host = Host::working();
    permission(&mut host, json!(0), "t1");
    question(&mut host, json!("q"));
    host.request(
        json!(1),
        "elicitation/create",
        json!({ "mode": "url", "sessionId": "child-7", "elicitationId": "e", "url": "https://example.com" }),
    );
    assert_eq!(host.asks[2].subagent.as_deref(), Some("child-7"));
    host.log.clear();
    host.command(interrupt());
    // Requests that crossed the interrupt are answered immediately and not shown.
    permission(&mut host, json!(2), "t2");
    host.message(json!({ "jsonrpc": "2.0", "method": "$/cancel_request", "params": { "requestId": 0 } }));
    host.command(prompt("something else"));
    host.message(json!({ "jsonrpc": "2.0", "id": 2, "result": { "stopReason": "cancelled" } }));
    insta::assert_snapshot!(host.log);
    let mut idle = Host::ready();
    idle.command(interrupt());
    assert_eq!(idle.log, "");
}

#[test]
fn interrupt_during_start_drops_queued_messages() {
    let mut host = Host::new();
    host.command(start(Some("go"))).command(interrupt()).reply(initialized(json!({}))).reply(json!({ "sessionId": "s1" }));
    assert!(host.log.contains("notice: The agent is still starting; queued messages will not be sent.\n"));
    assert!(host.log.ends_with("--\nturn ended\n") && host.sent.is_empty(), "{}", host.log);
}

#[test]
fn request_cancelled_by_the_agent_is_withdrawn() {
    let mut host = Host::working();
    question(&mut host, json!("7"));
    permission(&mut host, json!(7), "t1");
    host.message(json!({ "jsonrpc": "2.0", "method": "$/cancel_request", "params": { "requestId": 7 } }));
    assert_eq!(*host.result(), json!({ "outcome": { "outcome": "cancelled" } }));
    assert!(host.log.ends_with("withdrawn 7: The agent withdrew it.\n"), "the type of the id counts: {}", host.log);
    host.message(json!({ "jsonrpc": "2.0", "method": "$/cancel_request", "params": { "requestId": "\u{37}" } }));
    assert_eq!(host.result()["code"], -32800);
    assert!(host.log.ends_with("withdrawn \"7\": The agent withdrew it.\n"));
}

#[test]
fn subagent_messages_stay_separate() {
    let mut host = Host::working();
    let chunk = |session: &str, text: &str| json!({ "jsonrpc": "2.0", "method": "session/update", "params": { "sessionId": session, "update": { "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } } } });
    host.message(chunk("s1", "main "))
        .message(chunk("kid", "child "))
        .message(chunk("s1", "thread"))
        .message(chunk("kid", "thread"));
    permission(&mut host, json!(0), "t1");
    assert!(host.log.contains("message msg-1 Assistant: main thread\ntool "), "{}", host.log);
    let call = json!({ "sessionUpdate": "tool_call", "toolCallId": "k1", "title": "Read a", "name": "Read", "rawInput": {} });
    host.message(json!({ "jsonrpc": "2.0", "method": "session/update", "params": { "sessionId": "kid", "update": call } }));
    assert!(
        host.log.ends_with("message msg-2 Assistant of kid: child thread\ntool k1 Read of kid Running {} -\n"),
        "{}",
        host.log
    );
    host.message(json!({ "jsonrpc": "2.0", "id": 2, "result": { "stopReason": "end_turn" } }));
    assert!(host.log.ends_with("turn ended\n"), "{}", host.log);
    // Asks that arrive after the end of their turn stay open.
    host.decide(approved());
    assert_eq!(host.result()["outcome"]["optionId"], "y");
}

#[test]
fn long_message_is_split() {
    let mut host = Host::working();
    let piece = "x".repeat(300 * 1024);
    for _ in 0..7 {
        host.update(json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": piece } }));
        assert!(host.translator.save().state.as_str().len() < (1 << 20) + 4096);
    }
    host.message(json!({ "jsonrpc": "2.0", "id": 2, "result": { "stopReason": "end_turn" } }));
    let whole: usize = host.log.lines().filter(|line| line.starts_with("message ")).map(|line| line.matches('x').count()).sum();
    assert_eq!(whole, 7 * piece.len(), "nothing is lost");
    for n in 0..3 {
        host.update(
            json!({ "sessionUpdate": "agent_message_chunk", "messageId": n, "content": { "type": "text", "text": "a" } }),
        );
        host.update(json!({ "sessionUpdate": "agent_message_chunk", "messageId": format!("m{n}"), "content": { "type": "text", "text": "b" } }));
    }
    assert!(host.log.contains("Assistant: b\n"), "another id is another message");
}

#[test]
fn earlier_tool_call_completes_the_request() {
    let mut host = Host::working();
    host.update(json!({ "sessionUpdate": "tool_call", "toolCallId": "t1", "title": "Edit", "kind": "edit", "name": "Edit", "rawInput": { "file_path": "/a" },
        "content": [{ "type": "diff", "path": "/a", "oldText": "1\n", "newText": "2\n" }] }));
    let options = json!([{ "optionId": "y", "name": "Yes", "kind": "allow_once" }]);
    host.request(
        json!(0),
        "session/request_permission",
        json!({ "sessionId": "s1", "toolCall": { "toolCallId": "t1" }, "options": options }),
    );
    let AskBody::Approval(approval) = &host.asks[0].body else { panic!() };
    assert_eq!(approval.input.as_str(), r#"{"file_path":"/a"}"#);
    let shown = serde_json::to_value(&approval.preview).unwrap();
    assert_eq!(shown["files"][0]["diff"], "--- /a\n+++ /a\n@@ -1,1 +1,1 @@\n-1\n+2\n");
    host.decide(denied("not there"));
    host.message(json!({ "jsonrpc": "2.0", "id": 2, "result": { "stopReason": "end_turn" } }));
    assert_eq!(host.sent.last().unwrap()["params"]["prompt"][0]["text"], "I did not allow `Edit`: not there");
}

#[test]
fn commands_for_another_session_are_refused() {
    let mut host = Host::ready();
    let other = SessionId::new(Time::from_millis(0), [9; 10]);
    host.command(Command::Prompt { session: other, text: "hi".to_owned() });
    assert_eq!(host.log, "");
    let ask = AskId::new(Time::from_millis(0), [2; 10]);
    host.command(Command::Outcome {
        session: other,
        ask,
        native_id: "0".to_owned(),
        decision: approved(),
        raw: None,
        by: DecidedBy::Person,
    });
    assert_eq!(host.log, "undeliverable: The agent does not have this session.\n");
}

#[test]
fn unknown_state_version_is_not_restored() {
    let mut saved = Host::working().translator.save();
    assert!(AcpTranslator::restore(&saved).is_some());
    saved.version += 1;
    assert!(AcpTranslator::restore(&saved).is_none());
    saved.version -= 1;
    saved.state = Raw::of(&"nonsense");
    assert!(AcpTranslator::restore(&saved).is_none());
}

#[test]
fn capabilities_match_the_profile() {
    use sayso_agents::acp::{CAPABILITIES, Profile, capabilities};
    assert_eq!(capabilities(Profile::default()), CAPABILITIES);
    assert!(capabilities(Profile::Claude).questions && capabilities(Profile::Claude).elicitation);
    assert!(!capabilities(Profile::Gemini).questions && capabilities(Profile::Gemini).approvals);
    assert!(capabilities(Profile::Qwen).questions && !capabilities(Profile::Qwen).elicitation);
    assert!(!capabilities(Profile::Amp).questions && !capabilities(Profile::Amp).approvals && capabilities(Profile::Amp).resume);
    assert_eq!(capabilities(Profile::Claude).typed, TypedAnswers::OwnText);
}
