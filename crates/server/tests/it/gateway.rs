//! The gateway dialect.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{Stream, World, id, question};

async fn submit(world: &World, session: &str, call: &Value, answers: Value) -> crate::world::Reply {
    world.admin.post(&format!("/v1/sessions/{session}/submit-answers"), json!({ "toolCallId": call, "answers": answers })).await
}

/// The next event of this type.
async fn until(stream: &mut Stream, kind: &str) -> Value {
    stream.until(kind).await["data"].clone()
}

#[tokio::test]
async fn answers_are_matched_by_position() {
    let world = World::start().await;
    let (mut agent, ask) = world.start_ask("question").await;
    let done = submit(&world, agent.session(), &ask["toolCallId"], json!({ "0": "SQLite" })).await.expect(200);
    assert_eq!(done, json!({ "ok": true }));
    assert_eq!(agent.finished().await.unwrap(), "You answered: SQLite.");
    assert_eq!(world.ask(&id(&ask)).await["outcome"]["by"]["via"], "gateway");
}

// A JSON array is parsed only for a multiple-choice question. Any other text stays text, even if it looks like JSON.
#[tokio::test]
async fn arrays_are_accepted_only_for_multiple_choices() {
    let world = World::start().await;
    for (answers, expected) in [
        (
            json!({ "0": "SQLite", "1": "[\"Auth\",\"Billing\"]", "2": "none" }),
            json!([["SQLite"], ["Auth", "Billing"], ["none"]]),
        ),
        (json!({ "0": "SQLite", "1": "Auth", "2": "none" }), json!([["SQLite"], ["Auth"], ["none"]])),
        (json!({ "0": "SQLite", "1": "[\"Auth\",\"my own\"]", "2": "none" }), json!([["SQLite"], ["Auth", "my own"], ["none"]])),
        (json!({ "0": "[\"SQLite\"]", "1": "[Auth]", "2": "[\"x\"]" }), json!([["[\"SQLite\"]"], ["[Auth]"], ["[\"x\"]"]])),
        (json!({ "0": "{\"a\":1}", "1": "{\"a\":1}", "2": "null" }), json!([["{\"a\":1}"], ["{\"a\":1}"], ["null"]])),
        (json!({ "0": "7", "1": "7", "2": "true" }), json!([["7"], ["7"], ["true"]])),
    ] {
        let (agent, ask) = world.start_ask("questions").await;
        submit(&world, agent.session(), &ask["toolCallId"], answers.clone()).await.expect(200);
        assert_eq!(world.ask(&id(&ask)).await["outcome"]["answers"], expected, "{answers}");
    }
}

// A missing required key is refused with 422 and the ask stays pending; optional keys may be missing.
#[tokio::test]
async fn every_required_question_needs_its_key() {
    let world = World::start().await;
    let (agent, ask) = world.start_ask("questions").await;
    for missing in
        [json!({}), json!({ "0": "SQLite" }), json!({ "0": "SQLite", "2": "x" }), json!({ "0": "SQLite", "1": "[]", "2": "x" })]
    {
        let refused = submit(&world, agent.session(), &ask["toolCallId"], missing).await.problem(422, "invalid_answers");
        assert_eq!(refused["error"], refused["detail"]);
    }
    assert_eq!(world.ask(&id(&ask)).await, ask);
    let (mut agent, ask) = world.start_ask("form").await;
    submit(&world, agent.session(), &ask["toolCallId"], json!({ "0": "shop", "1": "80", "2": "no" })).await.expect(200);
    assert_eq!(agent.finished().await.unwrap(), "You answered: [Name] shop; [Port] 80; [Public] false; [Region] nothing.");
}

#[tokio::test]
async fn missing_fields_are_named() {
    let world = World::start().await;
    let (agent, ask) = world.start_ask("question").await;
    let sid = agent.session();
    for wrong in [
        json!({}),
        json!({ "toolCallId": "call-1" }),
        json!({ "answers": { "0": "SQLite" } }),
        json!({ "toolCallId": "", "answers": {} }),
        json!({ "toolCallId": null, "answers": null }),
    ] {
        let refused =
            world.admin.post(&format!("/v1/sessions/{sid}/submit-answers"), wrong).await.problem(400, "malformed_request");
        assert_eq!(refused["error"], "toolCallId and answers are required");
    }
    for broken in ["", "{", "[]", "{\"toolCallId\":\"call-1\",\"answers\":[\"SQLite\"]}", "{\"toolCallId\":7,\"answers\":{}}"] {
        let refused = world.admin.raw(&format!("/v1/sessions/{sid}/submit-answers"), broken).await;
        assert_eq!(refused.status, 400, "{broken}: {}", refused.text);
        assert!(refused.json()["error"].is_string());
    }
    for verb in ["approve", "deny"] {
        let refused = world.admin.post(&format!("/v1/sessions/{sid}/{verb}"), json!({})).await.problem(400, "malformed_request");
        assert_eq!(refused["error"], refused["detail"]);
    }
    assert_eq!(world.ask(&id(&ask)).await, ask);
}

// Unknown ids, asks of another kind and of other sessions are 404; a resolved ask is 409 with the winner.
#[tokio::test]
async fn answer_without_a_pending_question_is_refused() {
    let world = World::start().await;
    let (agent, ask) = world.start_ask("question").await;
    let (tool_agent, tool) = world.start_ask("approve").await;
    let sid = agent.session();
    for (session, call) in
        [(sid, json!("call-99")), (sid, tool["id"].clone()), (tool_agent.session(), tool["toolCallId"].clone())]
    {
        let refused = submit(&world, session, &call, json!({ "0": "SQLite" })).await.problem(404, "ask_not_found");
        assert_eq!(refused["error"], "No pending question");
    }
    for verb in ["approve", "deny"] {
        let refused = world.admin.post(&format!("/v1/sessions/{sid}/{verb}"), json!({ "toolCallId": ask["toolCallId"] })).await;
        assert_eq!((refused.status, refused.json()["code"].as_str()), (404, Some("ask_not_found")));
    }
    assert_eq!(world.ask(&id(&ask)).await, ask);
    assert_eq!(world.ask(&id(&tool)).await, tool);
    submit(&world, sid, &ask["toolCallId"], json!({ "0": "SQLite" })).await.expect(200);
    // A late answer gets the winner, even if it is invalid.
    for late in [json!({ "0": "PostgreSQL" }), json!({})] {
        let late = submit(&world, sid, &ask["toolCallId"], late).await.problem(409, "ask_already_resolved");
        assert_eq!((&late["outcome"]["status"], &late["own"]), (&json!("answered"), &json!(true)));
    }
}

#[tokio::test]
async fn tool_call_is_approved_or_denied() {
    let world = World::start().await;
    for (prompt, verb, words) in [
        ("approve", "approve", "Approved: cargo test --workspace"),
        ("approve", "deny", "Denied: User denied tool execution"),
        ("plan", "approve", "Approved: the plan"),
    ] {
        let (mut agent, ask) = world.start_ask(prompt).await;
        let path = format!("/v1/sessions/{}/{verb}", agent.session());
        let body = json!({ "toolCallId": ask["toolCallId"] });
        assert_eq!(world.admin.post(&path, body.clone()).await.expect(200), json!({ "ok": true }));
        assert_eq!(agent.finished().await.unwrap(), words);
        world.admin.post(&path, body).await.problem(409, "ask_already_resolved");
    }
}

// An ask without a tool call is addressed by its own id.
#[tokio::test]
async fn every_ask_has_a_tool_call_id() {
    let world = World::start().await;
    let mut agent = world.agent("hello").await;
    agent.finished().await.unwrap();
    let mut wanted = question();
    wanted["sessionId"] = json!(agent.session());
    let ask = world.open_ask(wanted).await;
    assert_eq!(ask["toolCallId"], ask["id"]);
    submit(&world, agent.session(), &ask["toolCallId"], json!({ "0": "SQLite" })).await.expect(200);
    assert_eq!(world.ask(&id(&ask)).await["status"], "answered");
}

#[tokio::test]
async fn stream_sends_type_and_data() {
    let world = World::start().await;
    let mut agent = world.agent("hello").await;
    agent.finished().await.unwrap();
    let sid = agent.session().to_owned();
    let mut stream = world.admin.stream(&format!("/v1/sessions/{sid}/stream"), None).await;
    let (fields, first) = stream.event().await;
    assert_eq!(first, json!({ "type": "session_status", "data": { "sessionId": sid, "status": "idle" } }));
    assert!(!fields.contains_key("event"), "the type is in the data");
    let say = |text: &str| {
        let (path, admin, text) = (format!("/v1/sessions/{sid}/messages"), world.admin.clone(), text.to_owned());
        async move { admin.post(&path, json!({ "text": text })).await.expect(202) }
    };
    say("questions").await;
    let mut before = BTreeSet::new();
    let prompt = loop {
        let (_, event) = stream.event().await;
        match event["type"].as_str().unwrap() {
            "question_prompt" => break event["data"].clone(),
            "text_delta" => assert!(event["data"]["text"].is_string()),
            "session_status" => assert_eq!(event["data"]["status"], "running"),
            other => panic!("{other}"),
        }
        before.insert(event["type"].as_str().unwrap().to_owned());
    };
    assert_eq!(before.into_iter().collect::<Vec<_>>(), ["session_status", "text_delta"]);
    assert_eq!(
        prompt,
        json!({ "toolCallId": "call-1", "questions": [
            { "header": "Database", "question": "Which database should this feature use?", "multiSelect": false, "options": [
                { "label": "SQLite", "description": "lightweight, file-based" }, { "label": "PostgreSQL", "description": "full-featured" } ] },
            { "header": "Areas", "question": "Which areas should the tests cover?", "multiSelect": true, "options": [
                { "label": "Auth", "description": "login and tokens" }, { "label": "Billing", "description": "invoices and refunds" },
                { "label": "Search", "description": "the index" } ] },
            { "header": "Notes", "question": "What else should I know?", "multiSelect": false, "options": [] },
        ] })
    );
    submit(&world, &sid, &prompt["toolCallId"], json!({ "0": "SQLite", "1": "Auth", "2": "no" })).await.expect(200);
    assert_eq!(until(&mut stream, "done").await, json!({ "sessionId": sid }));

    say("approve").await;
    let started = until(&mut stream, "tool_call_start").await;
    assert_eq!(started, json!({ "toolCallId": "call-2", "toolName": "Bash" }));
    let delta = until(&mut stream, "tool_call_delta").await;
    assert_eq!(delta["toolCallId"], "call-2");
    assert_eq!(
        serde_json::from_str::<Value>(delta["input"].as_str().unwrap()).unwrap(),
        json!({ "command": "cargo test --workspace" })
    );
    assert_eq!(until(&mut stream, "tool_call_end").await, json!({ "toolCallId": "call-2" }));
    let required = until(&mut stream, "approval_required").await;
    assert_eq!((&required["toolCallId"], &required["toolName"]), (&json!("call-2"), &json!("Bash")));
    let input: Value = serde_json::from_str(required["input"].as_str().unwrap()).unwrap();
    assert_eq!(input, json!({ "command": "cargo test --workspace" }), "the input is JSON as text");
    world.admin.post(&format!("/v1/sessions/{sid}/approve"), json!({ "toolCallId": "call-2" })).await.expect(200);
    let result = until(&mut stream, "tool_result").await;
    assert_eq!(
        result,
        json!({ "toolCallId": "call-2", "toolName": "Bash", "result": "test result: ok. 12 passed; 0 failed", "status": "complete" })
    );
    until(&mut stream, "done").await;
    // The last of the ten event names is the error event.
    for n in 0..20 {
        let path = format!("/v1/sessions/{sid}/messages");
        let text = if n == 0 { "approve" } else { "one more" };
        world.admin.post(&path, json!({ "text": text, "ifPending": "queue" })).await.expect(202);
    }
    assert!(until(&mut stream, "error").await["message"].as_str().unwrap().contains("already queued"));
}

#[tokio::test]
async fn settings_change_of_an_idle_session_sends_no_done() {
    let world = World::start().await;
    let mut agent = world.agent("hello").await;
    agent.finished().await.unwrap();
    let session = format!("/v1/sessions/{}", agent.session());
    let since = world.session(agent.session()).await["seq"].as_i64().unwrap();
    let mut stream = world.admin.stream(&format!("{session}/stream"), None).await;
    let idle = json!({ "type": "session_status", "data": { "sessionId": agent.session(), "status": "idle" } });
    assert_eq!(stream.event().await.1, idle);
    let plan = json!({ "permissionMode": "plan" });
    world.admin.call(&Method::PATCH, &session, Some(&plan)).await.expect(202);
    world.admin.stream(&format!("{session}/events?since={since}"), None).await.until("session.status").await;
    world.admin.post(&format!("{session}/messages"), json!({ "text": "questions" })).await.expect(202);
    let mut before = BTreeSet::new();
    loop {
        let (_, event) = stream.event().await;
        match event["type"].as_str().unwrap() {
            "question_prompt" => break,
            "session_status" => before.insert(event["data"]["status"].as_str().unwrap().to_owned()),
            other => before.insert(other.to_owned()),
        };
    }
    assert_eq!(before.into_iter().collect::<Vec<_>>(), ["running", "text_delta"]);
}

// A client that connects late first receives every pending ask once.
#[tokio::test]
async fn stream_starts_with_pending_asks() {
    let world = World::start().await;
    let mut agent = world.agent("parallel").await;
    let mut calls = Vec::new();
    for _ in 0..3 {
        calls.push(agent.asks().await.unwrap().tool_call_id);
    }
    let path = format!("/v1/sessions/{}/stream", agent.session());
    let mut stream = world.admin.stream(&path, None).await;
    let mut first = Vec::new();
    for _ in 0..4 {
        let (_, data) = stream.event().await;
        first.push((
            data["type"].as_str().unwrap().to_owned(),
            data["data"]["toolCallId"].as_str().unwrap_or_default().to_owned(),
        ));
    }
    let expected: Vec<(String, String)> = [
        ("session_status", ""),
        ("question_prompt", &calls[0]),
        ("approval_required", &calls[1]),
        ("question_prompt", &calls[2]),
    ]
    .map(|(kind, call)| (kind.to_owned(), call.to_owned()))
    .to_vec();
    assert_eq!(first, expected);
    // New events follow; none is repeated.
    world.admin.post(&format!("/v1/sessions/{}/deny", agent.session()), json!({ "toolCallId": calls[1] })).await.expect(200);
    let (_, next) = stream.event().await;
    assert_ne!(next["type"], "approval_required", "{next}");
    submit(&world, agent.session(), &json!(calls[0]), json!({ "0": "SQLite" })).await.expect(200);
    submit(&world, agent.session(), &json!(calls[2]), json!({ "0": "nextest" })).await.expect(200);
    until(&mut stream, "done").await;
    let mut later = world.admin.stream(&path, None).await;
    let (_, status) = later.event().await;
    assert_eq!(status["data"]["status"], "idle");
}
