//! The MCP tools over HTTP, in both versions of the protocol.

use std::time::Duration;

use reqwest::header::HeaderMap;
use sayso_api::ask::{AnswerRequest, Ask, AskStatus, NoRequest, Reach};
use sayso_api::token::Role;
use sayso_testkit::mcp::{Era, McpClient, text};
use sayso_testkit::{TestServer, within};
use serde_json::{Value, json};

use crate::world::World;

fn database_question() -> Value {
    let options = json!([{ "label": "SQLite", "description": "a file" }, { "label": "PostgreSQL" }]);
    json!({ "questions": [{ "question": "Which database?", "header": "Database", "options": options }] })
}

/// A token for agents.
async fn agent_token(server: &TestServer) -> String {
    let new = sayso_api::token::NewToken::new(Role::Agent, "ci");
    server.client().create_token(&new).await.unwrap().token.unwrap()
}

async fn connect(server: &TestServer, token: &str, era: Era) -> McpClient {
    McpClient::http(&server.url(), token, era, "claude-code").await.unwrap()
}

/// Waits until an ask is pending, and returns it.
async fn pending(server: &TestServer) -> Ask {
    let client = server.client();
    let mut watch = server.watch().await.unwrap();
    loop {
        if let Some(ask) = client.pending_asks().await.unwrap().data.pop() {
            return ask;
        }
        watch.until("an ask", |event| event.name().ends_with(".requested")).await.unwrap();
    }
}

async fn answer(server: &TestServer, ask: &Ask, entry: &str) {
    let answer = AnswerRequest { answers: vec![vec![entry.to_owned()]], note: None };
    server.client().answer(&ask.id, &answer).await.unwrap();
}

/// Waits until the ask has this reachability.
async fn until_reach(server: &TestServer, id: &str, reach: Reach) {
    let mut watch = server.watch().await.unwrap();
    while server.client().ask(id).await.unwrap().reach != Some(reach) {
        watch.until("another reach", |event| event.name() == "ask.parked").await.unwrap();
    }
}

#[tokio::test]
async fn answer_is_returned_in_both_protocol_versions() {
    let server = TestServer::start().await.unwrap();
    let token = agent_token(&server).await;
    for era in Era::BOTH {
        let client = connect(&server, &token, era).await;
        let names: Vec<String> = client.tools().await.unwrap().iter().map(|tool| tool.name.to_string()).collect();
        assert_eq!(names, ["ask_user", "get_answer", "notify_user", "approve"]);
        let call = client.start("ask_user", database_question()).await.unwrap();
        let ask = pending(&server).await;
        assert_eq!((ask.agent.as_str(), ask.questions[0].text.as_str()), ("claude", "Which database?"));
        assert_eq!(ask.questions[0].header.as_deref(), Some("Database"));
        answer(&server, &ask, "PostgreSQL").await;
        let result = within("the answer", call.result()).await.unwrap();
        assert_eq!(result.structured_content, Some(json!({ "status": "answered", "answers": [["PostgreSQL"]] })));
        assert_eq!(serde_json::from_str::<Value>(text(&result)).unwrap(), result.structured_content.clone().unwrap());
        let told = client.progress();
        assert_eq!(told.first().map(|told| told.progress), Some(1.0), "it is told at once that we wait: {told:?}");
        assert_eq!(server.client().ask(&ask.id).await.unwrap().delivery, Some(sayso_api::ask::Delivery::Delivered));
        client.close().await.unwrap();
    }
}

#[tokio::test]
async fn answers_include_several_questions_choices_and_free_text() {
    let server = TestServer::start().await.unwrap();
    let client = connect(&server, &agent_token(&server).await, Era::Stateless).await;
    let questions = json!({ "questions": [
        { "question": "Which?", "options": ["A", "B", "C"], "multiSelect": true },
        { "question": "Why?" },
    ], "context": "It is about the shop." });
    let call = client.start("ask_user", questions).await.unwrap();
    let ask = pending(&server).await;
    assert!(ask.questions[0].multiple && ask.context.as_deref() == Some("It is about the shop."));
    let answers = vec![vec!["A".to_owned(), "own words".to_owned()], vec!["because".to_owned()]];
    let answer = AnswerRequest { answers, note: Some("hurry".to_owned()) };
    server.client().answer(&ask.id, &answer).await.unwrap();
    let result = within("the answer", call.result()).await.unwrap();
    let wanted = json!({ "status": "answered", "answers": [["A", "own words"], ["because"]], "note": "hurry" });
    assert_eq!(result.structured_content, Some(wanted));
}

#[tokio::test]
async fn rejection_timeout_and_withdrawal_read_differently() {
    let (world, clock) = World::timeless("[questions]\ntimeout = \"10m\"\non_timeout = \"reject\"\n").await;
    let server = &world.server;
    let client = connect(server, &agent_token(server).await, Era::Sessions).await;
    let mut said = Vec::new();
    for end in ["reject", "stop", "nobody", "withdraw"] {
        let call = client.start("ask_user", database_question()).await.unwrap();
        let ask = pending(server).await;
        match end {
            "reject" => drop(server.client().reject(&ask.id, &NoRequest::default()).await.unwrap()),
            "stop" => {
                let no = NoRequest { message: Some("Enough.".to_owned()), stop: true };
                drop(server.client().reject(&ask.id, &no).await.unwrap());
            }
            "nobody" => clock.advance(Duration::from_secs(600)),
            _ => server.client().withdraw(&ask.id).await.unwrap(),
        }
        let result = within("the end", call.result()).await.unwrap();
        assert_eq!(result.is_error, Some(true));
        said.push(text(&result).to_owned());
    }
    assert!(said[0].contains("declined to answer"), "{said:?}");
    assert!(said[1].starts_with("Enough.") && said[1].contains("stop here"), "{said:?}");
    assert_eq!(said[2], "User did not respond within 10 minutes");
    assert!(said[3].contains("withdrawn"), "{said:?}");
}

#[tokio::test]
async fn rule_answers_a_tool_call_at_once() {
    let policy = "[[rules]]\nname = \"db\"\ndo = \"answer\"\nheader = \"database\"\nanswer = [\"SQLite\"]\n";
    let world = World::with_policy(policy).await;
    let client = connect(&world.server, &agent_token(&world.server).await, Era::Stateless).await;
    let result = client.call("ask_user", database_question()).await.unwrap();
    assert_eq!(result.structured_content, Some(json!({ "status": "answered", "answers": [["SQLite"]] })));
}

#[tokio::test]
async fn repeated_call_after_cancel_finds_the_same_ask() {
    let (world, clock) = World::timeless("").await;
    let server = &world.server;
    let token = agent_token(server).await;
    for era in Era::BOTH {
        let client = connect(server, &token, era).await;
        let call = client.start("ask_user", database_question()).await.unwrap();
        let first = pending(server).await;
        assert_eq!(first.reach, Some(Reach::Live));
        call.cancel().await.unwrap();
        // The fake clock can advance before the server has processed the disconnect, so repeat.
        while server.client().ask(&first.id).await.unwrap().reach != Some(Reach::Parked) {
            clock.advance(Duration::from_secs(1));
            tokio::task::yield_now().await;
        }
        let again = client.start("ask_user", database_question()).await.unwrap();
        until_reach(server, &first.id, Reach::Live).await;
        assert_eq!(pending(server).await.id, first.id, "it is the same ask");
        // Other content is another ask.
        let other = client.start("ask_user", json!({ "questions": [{ "question": "Another?" }] })).await.unwrap();
        let mut watch = server.watch().await.unwrap();
        while server.client().pending_asks().await.unwrap().data.len() < 2 {
            watch.until("the other", |event| event.name() == "question.requested").await.unwrap();
        }
        answer(server, &first, "SQLite").await;
        let result = within("the answer", again.result()).await.unwrap();
        assert_eq!(result.structured_content.unwrap()["answers"], json!([["SQLite"]]));
        let second = pending(server).await;
        answer(server, &second, "yes").await;
        within("the other answer", other.result()).await.unwrap();
        // Both outcomes were collected, so the same content opens a new ask.
        let third = client.start("ask_user", database_question()).await.unwrap();
        let new = pending(server).await;
        assert_ne!(new.id, first.id);
        answer(server, &new, "SQLite").await;
        within("the third answer", third.result()).await.unwrap();
    }
}

#[tokio::test]
async fn answer_given_between_two_calls_is_returned() {
    let server = TestServer::start().await.unwrap();
    let token = agent_token(&server).await;
    for era in Era::BOTH {
        let client = McpClient::http(&server.url(), &token, era, &format!("agent-{era:?}")).await.unwrap();
        let call = client.start("ask_user", database_question()).await.unwrap();
        let ask = pending(&server).await;
        drop(call);
        // The connection breaks without a message.
        drop(client);
        until_reach(&server, &ask.id, Reach::Parked).await;
        answer(&server, &ask, "SQLite").await;
        if era == Era::Stateless {
            let client = McpClient::http(&server.url(), &token, era, &format!("agent-{era:?}")).await.unwrap();
            let result = client.call("ask_user", database_question()).await.unwrap();
            assert_eq!(result.structured_content.unwrap()["answers"], json!([["SQLite"]]), "the question is not asked again");
        }
    }
    assert!(server.client().pending_asks().await.unwrap().data.is_empty());
}

#[tokio::test]
async fn ask_is_withdrawn_after_ten_minutes_without_a_caller() {
    let (world, clock) = World::timeless("").await;
    let server = &world.server;
    let client = connect(server, &agent_token(server).await, Era::Stateless).await;
    let call = client.start("ask_user", database_question()).await.unwrap();
    let ask = pending(server).await;
    call.cancel().await.unwrap();
    while server.client().ask(&ask.id).await.unwrap().status == AskStatus::Pending {
        clock.advance(Duration::from_secs(30));
        tokio::task::yield_now().await;
    }
    let ended = server.client().ask(&ask.id).await.unwrap();
    assert_eq!(ended.status, AskStatus::Withdrawn);
    assert_eq!(ended.outcome.unwrap().message.as_deref(), Some("The agent no longer waits for it."));
}

#[tokio::test]
async fn client_with_a_short_timeout_continues_with_an_id() {
    let server = TestServer::start().await.unwrap();
    let token = agent_token(&server).await;
    let http = sayso_testkit::http();
    // Without a progress token, and with a header that sets the client's timeout.
    let call = |name: &str, arguments: Value, wait: &str| {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "tiny", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({ "name": name, "arguments": arguments, "_meta": meta });
        http.post(format!("{}/mcp", server.url()))
            .bearer_auth(&token)
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "tools/call")
            .header("mcp-name", name)
            .header("x-sayso-wait", wait)
            .json(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }))
    };
    let result = async |request: reqwest::RequestBuilder| -> Value {
        let body = request.send().await.unwrap().text().await.unwrap();
        let line = body.lines().find_map(|line| line.strip_prefix("data: ").filter(|data| data.contains("result")));
        serde_json::from_str::<Value>(line.unwrap_or(&body)).unwrap()["result"]["structuredContent"].clone()
    };
    let first = result(call("ask_user", database_question(), "1ms")).await;
    assert_eq!(first["status"], "pending");
    let id = first["id"].as_str().unwrap().to_owned();
    assert_eq!(result(call("get_answer", json!({ "id": id }), "30s")).await["status"], "pending", "0 only looks");
    assert_eq!(result(call("get_answer", json!({ "id": id, "wait": 30 }), "1ms")).await["status"], "pending");
    let waiting = tokio::spawn(call("get_answer", json!({ "id": id, "wait": 30 }), "30s").send());
    let ask = pending(&server).await;
    assert_eq!(ask.id, id);
    answer(&server, &ask, "SQLite").await;
    let body = within("the answer", async { Ok(waiting.await??.text().await?) }).await.unwrap();
    assert!(body.contains("answered") && body.contains("SQLite"), "{body}");
}

#[tokio::test]
async fn invalid_arguments_are_explained_and_open_no_ask() {
    let server = TestServer::start().await.unwrap();
    let client = connect(&server, &agent_token(&server).await, Era::Stateless).await;
    let long = "x".repeat(9 * 1024);
    let many: Vec<Value> = (0..65).map(|n| json!({ "label": n.to_string() })).collect();
    for (tool, arguments, why) in [
        ("ask_user", json!({}), "missing field `questions`"),
        ("ask_user", json!({ "questions": "which?" }), "invalid type"),
        ("ask_user", json!({ "questions": [] }), "no question"),
        ("ask_user", json!({ "questions": vec![json!({ "question": "a" }); 17] }), "the limit is 16"),
        ("ask_user", json!({ "questions": [{ "question": "a", "options": many }] }), "the limit is 64"),
        ("ask_user", json!({ "questions": [{ "question": long }] }), "the limit is 8192"),
        ("get_answer", json!({ "id": "ask_0" }), "no such ask"),
        ("get_answer", json!({ "id": "ask_019a8b6c4e1f7c3e9d2a5b8f00c14f2a", "wait": 1 }), "no such ask"),
        ("get_answer", json!({ "id": 7 }), "invalid type"),
        ("get_answer", json!({ "id": "ask_0", "wait": -1 }), "0 or more"),
        ("notify_user", json!({ "text": " " }), "text is empty"),
        ("notify_user", json!({ "text": "x".repeat(9 * 1024) }), "the limit is 8192"),
    ] {
        let result = client.call(tool, arguments.clone()).await.unwrap();
        assert_eq!(result.is_error, Some(true), "{tool} {why}");
        assert!(text(&result).contains(why), "{tool}: {}", text(&result));
    }
    let unknown = format!("{:#}", client.call("answer", json!({})).await.unwrap_err());
    assert!(unknown.contains("there is no tool `answer`"), "{unknown}");
    assert!(server.client().pending_asks().await.unwrap().data.is_empty());
}

#[tokio::test]
async fn tools_require_the_agent_or_admin_role() {
    let world = World::start().await;
    let server = &world.server;
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    for (token, status) in [("", 401), ("nonsense", 401)] {
        let reply = world.http(token).post("/mcp", ping.clone()).await;
        assert_eq!(reply.status, status);
    }
    for role in ["viewer", "answerer"] {
        assert_eq!(world.role(role).await.post("/mcp", ping.clone()).await.status, 403, "{role}");
    }
    let admin = connect(server, server.token(), Era::Stateless).await;
    assert_eq!(admin.tools().await.unwrap().len(), 4);
    // Hosts and origins are checked as on every other route.
    let http = sayso_testkit::http();
    for (name, value, status) in [("host", "evil.test", 421), ("origin", "http://evil.test", 403)] {
        let request = http.post(format!("{}/mcp", server.url())).bearer_auth(server.token()).header(name, value).json(&ping);
        assert_eq!(request.send().await.unwrap().status().as_u16(), status, "{name}");
    }
}

#[tokio::test]
async fn mcp_session_belongs_to_the_token_that_created_it() {
    let server = TestServer::start().await.unwrap();
    let (mine, theirs) = (agent_token(&server).await, agent_token(&server).await);
    let http = sayso_testkit::http();
    let post = |token: &str, session: Option<&str>, body: Value| {
        let mut headers = HeaderMap::new();
        headers.insert("accept", "application/json, text/event-stream".parse().unwrap());
        if let Some(session) = session {
            headers.insert("mcp-session-id", session.parse().unwrap());
        }
        http.post(format!("{}/mcp", server.url())).bearer_auth(token).headers(headers).json(&body).send()
    };
    let info = json!({ "name": "a", "version": "1" });
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info });
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello });
    let made = post(&mine, None, hello).await.unwrap();
    let session = made.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    drop(made);
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(post(&mine, Some(&session), ready).await.unwrap().status().as_u16(), 202);
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    assert_eq!(post(&theirs, Some(&session), list.clone()).await.unwrap().status().as_u16(), 404);
    assert_eq!(post(&mine, Some(&session), list).await.unwrap().status().as_u16(), 200);
}

#[tokio::test]
async fn revoked_token_does_not_get_the_answer() {
    let world = World::start().await;
    let server = &world.server;
    let made = world.admin.post("/v1/tokens", json!({ "role": "agent", "actor": "gone" })).await.expect(201);
    let client = connect(server, made["token"].as_str().unwrap(), Era::Stateless).await;
    let call = client.start("ask_user", database_question()).await.unwrap();
    let ask = pending(server).await;
    server.client().revoke_token(made["id"].as_str().unwrap()).await.unwrap();
    answer(server, &ask, "SQLite").await;
    let result = within("the end", call.result()).await.unwrap();
    assert!(result.is_error == Some(true) && text(&result).contains("no longer valid"), "{result:?}");
}

fn decided(result: &rmcp::model::CallToolResult) -> Value {
    assert_eq!(result.structured_content, None, "Claude Code reads the text");
    serde_json::from_str(text(result)).unwrap()
}

#[tokio::test]
async fn approve_returns_the_format_of_claude_code() {
    let server = TestServer::start().await.unwrap();
    let client = connect(&server, &agent_token(&server).await, Era::Stateless).await;
    let bash = json!({ "tool_name": "Bash", "input": { "command": "make deploy" }, "tool_use_id": "toolu_1" });
    let call = client.start("approve", bash.clone()).await.unwrap();
    let ask = pending(&server).await;
    assert_eq!((ask.approval.as_ref().unwrap().command.as_deref(), ask.tool_call_id.as_str()), (Some("make deploy"), "toolu_1"));
    server.client().approve(&ask.id, &Default::default()).await.unwrap();
    let said = decided(&within("the yes", call.result()).await.unwrap());
    assert_eq!(said, json!({ "behavior": "allow", "updatedInput": { "command": "make deploy" } }));

    let call = client.start("approve", bash.clone()).await.unwrap();
    let ask = pending(&server).await;
    server.client().deny(&ask.id, &NoRequest { message: Some("Not today.".to_owned()), stop: true }).await.unwrap();
    let said = decided(&within("the no", call.result()).await.unwrap());
    assert_eq!(said, json!({ "behavior": "deny", "message": "Not today.", "interrupt": true }));

    let questions = json!([{ "question": "Which?", "options": [{ "label": "A" }, { "label": "B" }], "multiSelect": false }]);
    let asked = json!({ "tool_name": "AskUserQuestion", "input": { "questions": questions }, "tool_use_id": "toolu_2" });
    let call = client.start("approve", asked).await.unwrap();
    let ask = pending(&server).await;
    answer(&server, &ask, "B").await;
    let said = decided(&within("the answer", call.result()).await.unwrap());
    assert_eq!((&said["behavior"], &said["updatedInput"]["answers"]), (&json!("allow"), &json!({ "Which?": "B" })));

    for wrong in
        [json!({}), json!({ "tool_name": "Bash" }), json!({ "tool_name": "Bash", "input": "ls" }), json!({ "tool_name": 1 })]
    {
        let said = decided(&client.call("approve", wrong).await.unwrap());
        assert_eq!(said["behavior"], "deny");
    }
    // An approval whose caller has stopped waiting cannot be given.
    let call = client.start("approve", bash).await.unwrap();
    let ask = pending(&server).await;
    call.cancel().await.unwrap();
    within("the withdrawal", async { Ok(server.client().wait_for_outcome(&ask.id).await?) }).await.unwrap();
    assert_eq!(server.client().ask(&ask.id).await.unwrap().status, AskStatus::Withdrawn);
}

#[tokio::test]
async fn one_approval_never_answers_two_equal_calls() {
    let server = TestServer::start().await.unwrap();
    let client = connect(&server, &agent_token(&server).await, Era::Stateless).await;
    let mut watch = server.watch().await.unwrap();
    // Without a tool call id, equal calls cannot be distinguished.
    let bash = json!({ "tool_name": "Bash", "input": { "command": "make deploy" } });
    let calls = [client.start("approve", bash.clone()).await.unwrap(), client.start("approve", bash).await.unwrap()];
    for _ in &calls {
        watch.until("an approval", |event| event.name() == "approval.requested").await.unwrap();
    }
    let pending = server.client().pending_asks().await.unwrap().data;
    assert_eq!(pending.len(), 2);
    server.client().approve(&pending[0].id, &Default::default()).await.unwrap();
    server.client().deny(&pending[1].id, &NoRequest::default()).await.unwrap();
    let mut said = Vec::new();
    for call in calls {
        said.push(decided(&within("the decision", call.result()).await.unwrap())["behavior"].clone());
    }
    said.sort_by_key(Value::to_string);
    assert_eq!(said, [json!("allow"), json!("deny")]);
}

#[tokio::test]
async fn notify_user_sends_a_notice_and_returns() {
    let server = TestServer::start().await.unwrap();
    let client = connect(&server, &agent_token(&server).await, Era::Stateless).await;
    let mut watch = server.watch().await.unwrap();
    let result = client.call("notify_user", json!({ "text": "The tests pass." })).await.unwrap();
    assert_eq!(result.is_error, Some(false));
    let event = watch.until("the notice", |event| event.name() == "notice").await.unwrap();
    let said: Value = serde_json::from_str(&event.event.data_json()).unwrap();
    assert_eq!(said, json!({ "agent": "claude", "text": "The tests pass." }));
    assert!(server.client().pending_asks().await.unwrap().data.is_empty());
}
