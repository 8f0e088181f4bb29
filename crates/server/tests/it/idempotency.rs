//! A request that is repeated with the same key and body has one effect and gets the same response.

use serde_json::{Value, json};

use crate::world::{World, approval, id, question};

#[tokio::test]
async fn repeated_open_returns_the_same_ask() {
    let world = World::start().await;
    let first = world.admin.keyed("/v1/asks", "k", question()).await.expect(201);
    assert_eq!(world.admin.keyed("/v1/asks", "k", question()).await.expect(201), first);
    world.admin.keyed("/v1/asks", "k", approval()).await.problem(422, "idempotency_key_reused");
    // A key belongs to its token.
    let agent = world.role("agent").await;
    let other = agent.keyed("/v1/asks", "k", approval()).await.expect(201);
    assert_ne!(id(&other), id(&first));
    assert_eq!(world.admin.get("/v1/asks").await.expect(200)["data"].as_array().unwrap().len(), 2);
    for bad in ["", &"k".repeat(256)] {
        world.admin.keyed("/v1/asks", bad, question()).await.problem(422, "invalid_request");
    }
}

#[tokio::test]
async fn repeated_decision_returns_the_same_response() {
    let world = World::start().await;
    for (wanted, verb, body, other) in [
        (question(), "answer", json!({ "answers": [["SQLite"]] }), json!({ "answers": [["PostgreSQL"]] })),
        (question(), "reject", json!({}), json!({ "message": "no" })),
        (approval(), "approve", json!({}), json!({ "choice": null })),
        (approval(), "deny", json!({}), json!({ "message": "no" })),
    ] {
        let ask = id(&world.open_ask(wanted).await);
        let path = format!("/v1/asks/{ask}/{verb}");
        let first = world.admin.keyed(&path, "k", body.clone()).await.expect(200);
        let again = world.admin.keyed(&path, "k", body.clone()).await.expect(200);
        assert_eq!(again["outcome"], first["outcome"], "{verb}");
        world.admin.keyed(&path, "k", other).await.problem(422, "idempotency_key_reused");
        world.admin.keyed(&path, "another", body).await.problem(409, "ask_already_resolved");
    }
}

#[tokio::test]
async fn repeated_start_and_message_take_effect_once() {
    let world = World::start().await;
    let new = json!({ "agent": "mock", "prompt": "hello" });
    let first = world.admin.keyed("/v1/sessions", "k", new.clone()).await.expect(201);
    assert_eq!(id(&world.admin.keyed("/v1/sessions", "k", new).await.expect(201)), id(&first));
    let path = format!("/v1/sessions/{}/messages", id(&first));
    let said = world.admin.keyed(&path, "k", json!({ "text": "once" })).await.expect(202);
    assert_eq!(world.admin.keyed(&path, "k", json!({ "text": "once" })).await.expect(202), said);
    world.admin.keyed(&path, "k", json!({ "text": "twice" })).await.problem(422, "idempotency_key_reused");
    let mut watch = world.server.watch().await.unwrap();
    world.admin.post(&path, json!({ "text": "last" })).await.expect(202);
    watch
        .until("the echo", |event| event.event.data_json().contains("\"last\"") && event.event.data_json().contains("assistant"))
        .await
        .unwrap();
    let transcript = world.admin.get(&format!("/v1/sessions/{}/transcript", id(&first))).await.expect(200);
    let said: Vec<&str> = transcript["data"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|b| b["role"] == "user")
        .filter_map(|b| b["text"].as_str())
        .collect();
    assert_eq!(said, ["hello", "once", "last"]);
}

#[tokio::test]
async fn idempotency_keys_survive_a_restart() {
    let mut world = World::start().await;
    let ask = id(&world.admin.keyed("/v1/asks", "open", question()).await.expect(201));
    let path = format!("/v1/asks/{ask}/answer");
    let first = world.admin.keyed(&path, "answer", json!({ "answers": [["SQLite"]] })).await.expect(200);
    world.server.restart().await.unwrap();
    assert_eq!(id(&world.admin.keyed("/v1/asks", "open", question()).await.expect(201)), ask);
    let again = world.admin.keyed(&path, "answer", json!({ "answers": [["SQLite"]] })).await.expect(200);
    assert_eq!(again["outcome"], first["outcome"]);
    world.admin.keyed(&path, "answer", json!({ "answers": [["PostgreSQL"]] })).await.problem(422, "idempotency_key_reused");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_requests_with_one_key_take_effect_once() {
    let world = World::start().await;
    for round in 0..20 {
        let calls = (0..5).map(|_| {
            let admin = world.admin.clone();
            tokio::spawn(async move { admin.keyed("/v1/asks", &format!("open-{round}"), question()).await.expect(201) })
        });
        let opened = all(calls.collect()).await;
        assert!(opened.windows(2).all(|pair| pair[0] == pair[1]));
        let path = format!("/v1/asks/{}/answer", id(&opened[0]));
        let calls = (0..5).map(|_| {
            let (admin, path) = (world.admin.clone(), path.clone());
            tokio::spawn(async move {
                admin.keyed(&path, &format!("answer-{round}"), json!({ "answers": [["mine"]] })).await.expect(200)
            })
        });
        let answered = all(calls.collect()).await;
        assert!(answered.windows(2).all(|pair| pair[0]["outcome"] == pair[1]["outcome"]));
    }
    assert_eq!(world.admin.get("/v1/asks").await.expect(200)["data"].as_array().unwrap().len(), 20);
}

async fn all(calls: Vec<tokio::task::JoinHandle<Value>>) -> Vec<Value> {
    let mut results = Vec::new();
    for call in calls {
        results.push(call.await.unwrap());
    }
    results
}

/// These calls have no ask to look up, so only the key prevents a second effect.
#[tokio::test]
async fn repeated_tokens_grants_and_codes_are_created_once() {
    let world = World::start().await;
    let new = json!({ "role": "viewer", "actor": "screen" });
    world.admin.keyed("/v1/tokens", "k", new.clone()).await.expect(201);
    world.admin.keyed("/v1/tokens", "k", new).await;
    let tokens = world.admin.get("/v1/tokens").await.expect(200);
    let screens = tokens["data"].as_array().unwrap().iter().filter(|token| token["actor"] == "screen").count();
    assert_eq!(screens, 1, "one token, however often it is asked for");
    let grant = json!({ "run": ["cargo test *"], "for": "1h" });
    world.admin.keyed("/v1/policy/grants", "k", grant.clone()).await.expect(201);
    world.admin.keyed("/v1/policy/grants", "k", grant).await;
    assert_eq!(world.admin.get("/v1/policy").await.expect(200)["grants"].as_array().unwrap().len(), 1);
}

/// Clients of the compatibility routes retry too.
#[tokio::test]
async fn compatibility_routes_accept_idempotency_keys() {
    let world = World::start().await;
    let (agent, ask) = world.start_ask("question").await;
    let path = format!("/v1/sessions/{}/questions/{}/reply", agent.session(), id(&ask));
    let reply = json!({ "answers": [["SQLite"]] });
    world.admin.keyed(&path, "k", reply.clone()).await.expect(204);
    world.admin.keyed(&path, "k", reply).await.expect(204);
    let (agent, ask) = world.start_ask("question").await;
    let path = format!("/v1/sessions/{}/submit-answers", agent.session());
    let submit = json!({ "toolCallId": ask["toolCallId"], "answers": { "0": "SQLite" } });
    world.admin.keyed(&path, "k", submit.clone()).await.expect(200);
    world.admin.keyed(&path, "k", submit).await.expect(200);
}
