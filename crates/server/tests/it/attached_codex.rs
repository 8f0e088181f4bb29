//! The daemon that the Codex terminals of a person share: its asks can be answered in Sayso.

use sayso_api::ask::Delivery;
use sayso_testkit::{FakeCodex, reaches, within};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::world::{World, id};

const PROJECT: &str = "/developer/project";

struct Theirs {
    codex: FakeCodex,
    dir: TempDir,
}

/// A daemon with one thread, and a server that listens to it.
async fn listening() -> (World, Theirs) {
    let (world, dir) = (World::start().await, TempDir::with_prefix("sayso-codex-").unwrap());
    let codex = FakeCodex::start(&dir.path().join("daemon.sock")).unwrap();
    codex.has_thread("thread-1", PROJECT, "Make a file");
    let attached = world.admin.post("/v1/attachments", json!({ "agent": "codex", "place": codex.socket() })).await.expect(201);
    assert_eq!((&attached["state"], &attached["version"]), (&json!("connected"), &json!("0.166.0")));
    let can = &attached["capabilities"];
    assert_eq!((&can["questions"], &can["elicitation"], &can["plans"]), (&json!(true), &json!(true), &json!(false)));
    codex.wait_for_subscriber("thread-1").await.unwrap();
    (world, Theirs { codex, dir })
}

/// Waits until this many asks are pending.
async fn waiting(world: &World, many: usize) -> Vec<Value> {
    let asks = async {
        loop {
            let asks = world.admin.get("/v1/asks?status=pending").await.expect(200)["data"].as_array().unwrap().clone();
            if asks.len() == many {
                return Ok(asks);
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    within("the asks", asks).await.unwrap()
}

#[tokio::test]
async fn ask_of_a_terminal_is_answered_in_sayso() {
    let (world, Theirs { codex, dir: _dir }) = listening().await;
    codex.wants_to_run("thread-1", "touch a.txt");
    let ask = waiting(&world, 1).await.remove(0);
    assert_eq!((&ask["agent"], &ask["title"], &ask["project"]), (&json!("codex"), &json!("Make a file"), &json!(PROJECT)));
    let session = world.session(ask["sessionId"].as_str().unwrap()).await;
    assert_eq!((&session["external"], &session["nativeId"]), (&json!(true), &json!("thread-1")));
    world.admin.poke(&format!("/v1/asks/{}/approve", id(&ask))).await.expect(200);
    let answers = codex.answers(1).await.unwrap();
    assert_eq!((&answers[0]["id"], &answers[0]["result"]), (&json!(0), &json!({ "decision": "accept" })));
    reaches(&world.server.client(), &id(&ask), Delivery::Confirmed).await.unwrap();

    // The answer has no field for a reason, so it is sent as a message in the turn.
    codex.wants_to_run("thread-1", "touch b.txt");
    let ask = waiting(&world, 1).await.remove(0);
    world.admin.post(&format!("/v1/asks/{}/deny", id(&ask)), json!({ "message": "not in this project" })).await.expect(200);
    assert_eq!(codex.answers(2).await.unwrap()[1]["result"], json!({ "decision": "decline" }));
    let steered = codex.client_messages(1, |said| said["method"] == "turn/steer").await.unwrap();
    assert!(steered[0].to_string().contains("not in this project"), "{steered:?}");
}

#[tokio::test]
async fn ask_answered_in_the_terminal_is_withdrawn() {
    let (world, Theirs { codex, dir: _dir }) = listening().await;
    let request = codex.wants_to_run("thread-1", "touch a.txt");
    let ask = waiting(&world, 1).await.remove(0);
    codex.answered_elsewhere(request);
    let over = world.outcome(&id(&ask)).await;
    assert_eq!((&over["status"], &over["outcome"]["message"]), (&json!("withdrawn"), &json!("It was answered elsewhere.")));
    world.admin.poke(&format!("/v1/asks/{}/approve", id(&ask))).await.problem(409, "ask_already_resolved");
    assert_eq!(codex.answers(0).await.unwrap(), Vec::<Value>::new(), "nothing was sent");
}

#[tokio::test]
async fn new_terminal_is_followed_from_its_first_turn() {
    let (world, Theirs { codex, dir: _dir }) = listening().await;
    codex.has_thread("thread-2", "/developer/else", "Another one");
    codex.set_busy("thread-2");
    codex.wait_for_subscriber("thread-2").await.unwrap();
    let changes = json!([{ "path": "/developer/else/new.txt", "kind": { "type": "add" }, "diff": "hello\n" }]);
    let item = json!({ "type": "fileChange", "id": "call_p", "changes": changes, "status": "inProgress" });
    codex.tell("thread-2", "item/started", json!({ "threadId": "thread-2", "turnId": "turn-1", "item": item }));
    codex.asks("thread-2", "item/fileChange/requestApproval", json!({ "itemId": "call_p", "reason": null }));
    let question = json!({ "id": "db", "header": "Database", "question": "Which database?", "isOther": true, "isSecret": false,
        "options": [{ "label": "SQLite", "description": "small" }] });
    codex.asks(
        "thread-1",
        "item/tool/requestUserInput",
        json!({ "itemId": "call_q", "questions": [question], "isBlocking": true }),
    );
    let asks = waiting(&world, 2).await;
    let patch = asks.iter().find(|ask| ask["kind"] == "approval").unwrap();
    assert_eq!(patch["title"], "Another one");
    assert!(patch["approval"].to_string().contains("new.txt"), "the change is shown with it: {patch}");
    let question = asks.iter().find(|ask| ask["kind"] == "question").unwrap();
    assert_ne!(question["sessionId"], patch["sessionId"]);
    world.admin.answer(&id(question), json!([["SQLite"]])).await.expect(200);
    let answers = codex.answers(1).await.unwrap();
    assert_eq!(answers[0]["result"], json!({ "answers": { "db": { "answers": ["SQLite"] } } }));
}

#[tokio::test]
async fn unknown_requests_are_left_to_the_terminal() {
    let (world, Theirs { codex, dir: _dir }) = listening().await;
    codex.asks("thread-1", "item/tool/call", json!({ "callId": "call_d", "tool": "mine", "arguments": {} }));
    codex.asks("thread-1", "mcpServer/elicitation/request", json!({ "serverName": "demo", "mode": "openai/new" }));
    codex.asks("thread-1", "attestation/generate", json!({}));
    codex.wants_to_run("thread-1", "touch a.txt");
    let ask = waiting(&world, 1).await.remove(0);
    world.admin.poke(&format!("/v1/asks/{}/approve", id(&ask))).await.expect(200);
    let answers = codex.answers(1).await.unwrap();
    assert_eq!((answers.len(), &answers[0]["id"]), (1, &json!(3)), "nothing else was answered: {answers:?}");
}

#[tokio::test]
async fn asks_are_withdrawn_when_the_daemon_exits_and_the_next_one_is_found() {
    let (world, Theirs { codex, dir }) = listening().await;
    codex.wants_to_run("thread-1", "touch a.txt");
    let ask = waiting(&world, 1).await.remove(0);
    let socket = codex.socket();
    drop(codex);
    let over = world.outcome(&id(&ask)).await;
    assert_eq!(
        (&over["status"], &over["outcome"]["message"]),
        (&json!("withdrawn"), &json!(format!("Codex at {socket} is gone.")))
    );

    // The new daemon reuses the request numbers of the previous one.
    let codex = FakeCodex::start(&dir.path().join("daemon.sock")).unwrap();
    codex.has_thread("thread-1", PROJECT, "Make a file");
    codex.wants_to_run("thread-1", "touch other.txt");
    let next = waiting(&world, 1).await.remove(0);
    assert_eq!(next["sessionId"], ask["sessionId"], "it is the same conversation");
    assert!(next["approval"].to_string().contains("other.txt"), "{next}");
    world.admin.poke(&format!("/v1/asks/{}/approve", id(&next))).await.expect(200);
    assert_eq!(codex.answers(1).await.unwrap()[0]["result"], json!({ "decision": "accept" }));
}

#[tokio::test]
async fn pending_request_is_asked_once_after_a_restart() {
    let (mut world, Theirs { codex, dir: _dir }) = listening().await;
    codex.wants_to_run("thread-1", "touch a.txt");
    let ask = waiting(&world, 1).await.remove(0);
    world.server.restart().await.unwrap();
    codex.client_messages(2, |said| said["method"] == "thread/resume" && said["params"]["threadId"] == "thread-1").await.unwrap();
    assert_eq!(waiting(&world, 1).await[0]["id"], ask["id"]);
    world.admin.poke(&format!("/v1/asks/{}/approve", id(&ask))).await.expect(200);
    assert_eq!(codex.answers(1).await.unwrap().len(), 1);
}

#[tokio::test]
async fn attaching_without_a_daemon_is_refused_with_a_reason() {
    let (world, dir) = (World::start().await, TempDir::with_prefix("sayso-codex-").unwrap());
    let socket = dir.path().join("daemon.sock").display().to_string();
    let new = json!({ "agent": "codex", "place": socket });
    let problem = world.admin.post("/v1/attachments", new).await.problem(422, "agent_unreachable");
    assert!(problem["detail"].as_str().unwrap().starts_with(&format!("Codex does not listen at {socket}: ")), "{problem}");
    let new = json!({ "agent": "codex", "place": "daemon.sock" });
    world.admin.post("/v1/attachments", new).await.problem(422, "invalid_request");
}
