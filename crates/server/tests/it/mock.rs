//! Every kind of ask, from the agent to a person and back.

use sayso_testkit::ScriptedAgent;
use serde_json::{Value, json};

use crate::world::{World, id};

/// Answers an ask through the native API and returns the agent's last message.
async fn decided(world: &World, agent: &mut ScriptedAgent, ask: &Value, verb: &str, body: Value) -> (Value, String) {
    let reply = world.admin.post(&format!("/v1/asks/{}/{verb}", id(ask)), body).await.expect(200);
    let words = agent.finished().await.unwrap();
    (reply, words)
}

#[tokio::test]
async fn mock_asks_a_question() {
    let world = World::start().await;
    let (mut agent, ask) = world.start_ask("please ask me a Question").await;
    let session = agent.session().to_owned();
    for (field, value) in [
        ("kind", json!("question")),
        ("status", json!("pending")),
        ("reach", json!("live")),
        ("agent", json!("mock")),
        ("sessionId", json!(session)),
        ("title", json!("please ask me a Question")),
        ("toolCallId", json!("call-1")),
        ("context", json!("I can add this feature. One thing is open.")),
        ("blocking", json!(true)),
        ("deadlineAt", Value::Null),
        ("onTimeout", Value::Null),
        ("labels", json!({})),
    ] {
        assert_eq!(ask[field], value, "{field}");
    }
    assert_eq!(
        ask["questions"],
        json!([{
            "key": "0", "header": "Database", "text": "Which database should this feature use?", "input": "choice",
            "multiple": false, "custom": true, "required": true,
            "options": [
                { "value": "SQLite", "label": "SQLite", "description": "lightweight, file-based", "recommended": false },
                { "value": "PostgreSQL", "label": "PostgreSQL", "description": "full-featured", "recommended": false },
            ],
        }])
    );
    let (answered, words) = decided(&world, &mut agent, &ask, "answer", json!({ "answers": [["SQLite"]], "note": null })).await;
    assert_eq!(answered["status"], "answered");
    assert_eq!(answered["delivery"], "queued");
    assert_eq!(answered["outcome"]["answers"], json!([["SQLite"]]));
    assert_eq!(answered["outcome"]["by"]["kind"], "person");
    assert_eq!(answered["outcome"]["by"]["via"], "http");
    assert!(answered["outcome"]["at"].is_string());
    assert_eq!(words, "You answered: SQLite.");
    assert_eq!(world.ask(&id(&ask)).await["delivery"], "delivered");
    assert_eq!(world.session(&session).await["status"], "idle");
}

// One ask with three questions, in this order.
#[tokio::test]
async fn mock_asks_several_questions() {
    let world = World::start().await;
    let (mut agent, ask) = world.start_ask("questions, not a question").await;
    let shapes: Vec<_> =
        ask["questions"].as_array().unwrap().iter().map(|q| (q["input"].clone(), q["multiple"].clone())).collect();
    assert_eq!(shapes, [(json!("choice"), json!(false)), (json!("choice"), json!(true)), (json!("text"), json!(false))]);
    let answers = json!([["PostgreSQL"], ["my own", "Auth", "Billing"], ["be quick"]]);
    let (answered, words) = decided(&world, &mut agent, &ask, "answer", json!({ "answers": answers })).await;
    assert_eq!(answered["outcome"]["answers"], json!([["PostgreSQL"], ["Auth", "Billing", "my own"], ["be quick"]]));
    assert_eq!(words, "You answered: [Database] PostgreSQL; [Areas] Auth, Billing, my own; [Notes] be quick.");
}

#[tokio::test]
async fn mock_requests_an_approval() {
    let world = World::start().await;
    let (mut agent, ask) = world.start_ask("approve").await;
    assert_eq!(ask["kind"], "approval");
    assert_eq!(ask["approval"]["tool"], "Bash");
    assert_eq!(ask["approval"]["action"], "run");
    assert_eq!(ask["approval"]["command"], "cargo test --workspace");
    assert_eq!(ask["approval"]["input"], json!({ "command": "cargo test --workspace" }));
    assert_eq!(ask["approval"]["preview"]["type"], "command");
    assert_eq!(ask["approval"]["choices"], json!([{ "id": "always", "label": "Always allow cargo test (mock, this session)" }]));
    let (approved, words) = decided(&world, &mut agent, &ask, "approve", json!({})).await;
    assert_eq!(approved["status"], "approved");
    assert_eq!(words, "Approved: cargo test --workspace");

    let (mut agent, ask) = world.start_ask("approve").await;
    let (denied, words) = decided(&world, &mut agent, &ask, "deny", json!({})).await;
    assert_eq!(denied["outcome"]["message"], "User denied tool execution");
    assert_eq!(words, "Denied: User denied tool execution");

    let (mut agent, ask) = world.start_ask("approve").await;
    let (_, words) = decided(&world, &mut agent, &ask, "deny", json!({ "message": "not on a Friday" })).await;
    assert_eq!(words, "Denied: not on a Friday");

    let (mut agent, ask) = world.start_ask("approve").await;
    let (approved, words) = decided(&world, &mut agent, &ask, "approve", json!({ "choice": "always" })).await;
    assert_eq!(approved["outcome"]["choice"], "always");
    assert_eq!(words, "Approved (always): cargo test --workspace");

    let (mut agent, ask) = world.start_ask("approve").await;
    let (_, words) = decided(&world, &mut agent, &ask, "approve", json!({ "input": { "command": "cargo check" } })).await;
    assert_eq!(words, "Approved with another input: cargo check");
}

#[tokio::test]
async fn mock_proposes_a_plan() {
    let world = World::start().await;
    let (mut agent, ask) = world.start_ask("plan").await;
    assert_eq!(
        (&ask["kind"], &ask["approval"]["action"], &ask["approval"]["tool"]),
        (&json!("approval"), &json!("plan"), &json!("ExitPlanMode"))
    );
    assert!(ask["approval"]["preview"]["text"].as_str().unwrap().starts_with("# Add a health check"));
    let (_, words) = decided(&world, &mut agent, &ask, "approve", json!({})).await;
    assert_eq!(words, "Approved: the plan");
}

#[tokio::test]
async fn mock_sends_a_form() {
    let world = World::start().await;
    let (mut agent, ask) = world.start_ask("form").await;
    let keys: Vec<_> = ask["questions"].as_array().unwrap().iter().map(|q| (q["key"].clone(), q["required"].clone())).collect();
    let required = |key: &str, required: bool| (json!(key), json!(required));
    assert_eq!(keys, [required("name", true), required("port", true), required("public", true), required("region", false)]);
    let wrong =
        world.admin.answer(&id(&ask), json!([["shop"], ["65536"], ["perhaps"], ["mars"]])).await.problem(422, "invalid_answers");
    let reasons: Vec<_> = wrong["problems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| (p["index"].clone(), p["key"].clone(), p["reason"].clone()))
        .collect();
    assert_eq!(
        reasons,
        [
            (json!(1), json!("port"), json!("must be between 1 and 65535")),
            (json!(2), json!("public"), json!("takes yes or no")),
            (json!(3), json!("region"), json!("entry 1 is not one of the options")),
        ]
    );
    assert_eq!(world.ask(&id(&ask)).await, ask);
    let (_, words) = decided(&world, &mut agent, &ask, "answer", json!({ "answers": [["shop"], ["8080"], ["Yes"], []] })).await;
    assert_eq!(words, "You answered: [Name] shop; [Port] 8080; [Public] true; [Region] nothing.");
}

#[tokio::test]
async fn mock_asks_for_a_secret() {
    let world = World::start().await;
    let (mut agent, ask) = world.start_ask("secret").await;
    assert_eq!(ask["questions"][0]["secret"], true);
    let (answered, words) = decided(&world, &mut agent, &ask, "answer", json!({ "answers": [["hunter2!"]] })).await;
    assert_eq!(answered["outcome"]["answers"], json!([{ "secret": true }]));
    assert_eq!(words, "I received a secret of 8 characters.");
}

#[tokio::test]
async fn mock_sends_a_link() {
    let world = World::start().await;
    let (mut agent, ask) = world.start_ask("link").await;
    assert_eq!(ask["kind"], "link");
    assert_eq!(ask["link"]["url"], "https://example.com/device?code=MOCK-1234");
    let (opened, words) = decided(&world, &mut agent, &ask, "approve", json!({})).await;
    assert_eq!(opened["status"], "approved");
    assert_eq!(words, "Opened: https://example.com/device?code=MOCK-1234");

    let (mut agent, ask) = world.start_ask("link").await;
    let (_, words) = decided(&world, &mut agent, &ask, "deny", json!({})).await;
    assert_eq!(words, "Denied: The user did not open the link");
}

#[tokio::test]
async fn mock_opens_asks_in_parallel() {
    let world = World::start().await;
    let mut agent = world.agent("parallel").await;
    let mut asks = Vec::new();
    for _ in 0..3 {
        asks.push(agent.asks().await.unwrap());
    }
    let session = world.session(agent.session()).await;
    assert_eq!((&session["status"], &session["pending"]), (&json!("waiting"), &json!(3)));
    // Decides the last ask first, because the order does not matter.
    world.admin.answer(&asks[2].id, json!([["nextest"]])).await.expect(200);
    world.admin.post(&format!("/v1/asks/{}/approve", asks[1].id), json!({})).await.expect(200);
    world.admin.post(&format!("/v1/asks/{}/reject", asks[0].id), json!({ "message": "no database" })).await.expect(200);
    let words = agent.finished().await.unwrap();
    assert_eq!(words, "Rejected: no database\nApproved: cargo test --workspace\nYou answered: nextest.");
}

// An ask that the agent cancels is withdrawn, and later answers get 409.
#[tokio::test]
async fn mock_withdraws_its_ask() {
    let world = World::start().await;
    let (mut agent, ask) = world.start_ask("withdraw").await;
    let withdrawn = agent.watch().about("question.resolved", &id(&ask)).await.unwrap();
    let data: Value = serde_json::from_str(&withdrawn.event.data_json()).unwrap();
    assert_eq!(data["status"], "withdrawn");
    assert_eq!(data["outcome"]["by"]["kind"], "agent");
    assert_eq!(data["question"]["status"], "rejected");
    assert_eq!(data["question"]["reason"], "The agent no longer needs an answer.");
    assert_eq!(agent.finished().await.unwrap(), "Withdrawn: The agent no longer needs an answer.");
    let late = world.admin.answer(&id(&ask), json!([["SQLite"]])).await.problem(409, "ask_already_resolved");
    assert_eq!((&late["outcome"]["status"], &late["own"]), (&json!("withdrawn"), &json!(false)));
}

#[tokio::test]
async fn mock_streams_slowly_and_echoes_other_prompts() {
    let world = World::start().await;
    let mut agent = world.agent("slow").await;
    let first = agent.watch().event("message.delta").await.unwrap();
    assert_eq!(first.seq, None, "live only");
    assert!(agent.finished().await.unwrap().starts_with("This message streams slowly"));
    let delta: Value = serde_json::from_str(&first.event.data_json()).unwrap();
    let transcript = world.admin.get(&format!("/v1/sessions/{}/transcript", agent.session())).await.expect(200);
    assert_eq!(transcript["data"].as_array().unwrap().last().unwrap()["id"], delta["messageId"], "one id, streamed and whole");
    let mut agent = world.agent("Fix the tests, please").await;
    assert_eq!(agent.finished().await.unwrap(), "Fix the tests, please");
    assert!(
        world.admin.get(&format!("/v1/asks?session={}", agent.session())).await.expect(200)["data"]
            .as_array()
            .unwrap()
            .is_empty()
    );
}

// The mode decides approvals. Questions are asked in every mode except dontAsk.
#[tokio::test]
async fn mock_supports_permission_modes() {
    let world = World::start().await;
    let start = |mode: &str, prompt: &str| {
        let new = json!({ "agent": "mock", "prompt": prompt, "permissionMode": mode, "model": "small" });
        let new: sayso_client::api::session::NewSession = serde_json::from_value(new).unwrap();
        let client = world.server.client();
        async move { ScriptedAgent::with(&client, &new).await.unwrap() }
    };
    let mut agent = start("bypassPermissions", "approve").await;
    assert_eq!(agent.finished().await.unwrap(), "Ran without asking (bypassPermissions): cargo test --workspace");
    let session = world.session(agent.session()).await;
    assert_eq!((&session["permissionMode"], &session["model"]), (&json!("bypassPermissions"), &json!("small")));
    let mut agent = start("bypassPermissions", "question").await;
    assert_eq!(agent.asks().await.unwrap().questions.len(), 1);
    let mut agent = start("default", "approve").await;
    assert!(agent.asks().await.unwrap().approval.is_some());
    let mut agent = start("dontAsk", "question").await;
    assert!(agent.finished().await.unwrap().contains("dontAsk"));
}

#[tokio::test]
async fn agent_list_contains_capabilities() {
    let world = World::start().await;
    let agents = world.admin.get("/v1/agents").await.expect(200);
    let agents = agents["data"].as_array().unwrap();
    let named = |name: &str| agents.iter().find(|agent| agent["name"] == name).unwrap_or_else(|| panic!("no {name}: {agents:?}"));
    assert_eq!(
        *named("mock"),
        json!({ "name": "mock", "protocol": "mock", "installed": true, "capabilities": {
            "questions": true, "approvals": true, "plans": true, "elicitation": true,
            "resume": true, "survivesRestart": true, "messageAnswersSets": true, "changeSettings": true,
        } })
    );
    assert_eq!(named("claude")["capabilities"]["questions"], true);
    assert_eq!(named("gemini")["capabilities"]["questions"], false, "it never asks over ACP");
    assert_eq!((&named("claude")["protocol"], &named("qwen")["protocol"]), (&json!("claude"), &json!("acp")));
    assert_eq!(named("codex")["protocol"], "codex");
    assert_eq!(named("amp")["protocol"], "acp");
    assert_eq!(named("amp")["capabilities"]["questions"], false, "its adapter sends no questions");
    assert_eq!(named("amp")["capabilities"]["approvals"], false, "its adapter sends no permission requests");
    assert_eq!(named("codex")["capabilities"]["plans"], false, "its plans are messages");
}

#[tokio::test]
async fn denial_with_stop_ends_the_turn() {
    let world = World::start().await;
    let (mut agent, ask) = world.start_ask("question 5 times").await;
    let (_, words) = decided(&world, &mut agent, &ask, "reject", json!({ "message": "enough", "stop": true })).await;
    assert_eq!(words, "Rejected: enough");
}
