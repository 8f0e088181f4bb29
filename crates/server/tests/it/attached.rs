//! Attached servers: their asks can be answered in Sayso or at the server, the first answer wins on both sides, and unreachable
//! servers are reported.

use std::os::unix::fs::PermissionsExt as _;

use sayso_api::ask::Delivery;
use sayso_testkit::{FakeOpenCode, ReplyMode, reaches, within};
use serde_json::{Value, json};

use crate::world::{World, id};

const PROJECT: &str = "/developer/project";

/// An OpenCode server of a person with one session, and a Sayso server that is attached to it.
async fn listening() -> (World, FakeOpenCode) {
    let (world, theirs) = (World::start().await, FakeOpenCode::start().await.unwrap());
    theirs.has_session("ses_root", None, PROJECT, "Set up a database");
    attach(&world, &theirs).await;
    (world, theirs)
}

async fn attach(world: &World, theirs: &FakeOpenCode) -> Value {
    let attached = world.admin.post("/v1/attachments", json!({ "agent": "opencode", "place": theirs.url() })).await.expect(201);
    theirs.wait_for_subscriber().await.unwrap();
    attached
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

/// Waits until the only attachment is in this state.
async fn attachment_in_state(world: &World, state: &str) -> Value {
    let found = async {
        loop {
            let agents = world.admin.get("/v1/agents").await.expect(200);
            let agent = agents["data"].as_array().unwrap().iter().find(|agent| agent["name"] == "opencode").unwrap().clone();
            if agent["attached"][0]["state"] == state {
                return Ok(agent["attached"][0].clone());
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    within(state, found).await.unwrap()
}

// A pending ask does not block other asks.
#[tokio::test]
async fn ask_of_an_attached_server_is_answered_in_sayso() {
    let (world, theirs) = listening().await;
    let attached = attachment_in_state(&world, "connected").await;
    assert_eq!((&attached["place"], &attached["version"]), (&json!(theirs.url()), &json!("1.18.33")));
    let can = &attached["capabilities"];
    assert_eq!((&can["questions"], &can["approvals"], &can["resume"]), (&json!(true), &json!(true), &json!(false)));

    theirs.asks("que_1", "ses_root");
    let ask = waiting(&world, 1).await.remove(0);
    assert_eq!(
        (&ask["agent"], &ask["title"], &ask["project"]),
        (&json!("opencode"), &json!("Set up a database"), &json!(PROJECT))
    );
    let session = world.session(ask["sessionId"].as_str().unwrap()).await;
    assert_eq!((&session["external"], &session["nativeId"]), (&json!(true), &json!("ses_root")));
    theirs.wants_to_run("per_1", "ses_root", "touch a");
    let asks = waiting(&world, 2).await;
    assert_eq!(asks[0]["sessionId"], asks[1]["sessionId"]);

    world.admin.answer(&id(&ask), json!([["PostgreSQL"]])).await.expect(200);
    assert_eq!(theirs.calls(1).await.unwrap(), [("/question/que_1/reply".to_owned(), json!({ "answers": [["PostgreSQL"]] }))]);
    let approval = asks.iter().find(|ask| ask["kind"] == "approval").unwrap();
    world.admin.post(&format!("/v1/asks/{}/deny", id(approval)), json!({ "message": "not now" })).await.expect(200);
    let calls = theirs.calls(2).await.unwrap();
    assert_eq!(calls[1], ("/permission/per_1/reply".to_owned(), json!({ "reply": "reject", "message": "not now" })));
    reaches(&world.server.client(), &id(&ask), Delivery::Confirmed).await.unwrap();

    // People send messages to this session where it runs, not through Sayso.
    let session = ask["sessionId"].as_str().unwrap();
    let message = world.admin.post(&format!("/v1/sessions/{session}/messages"), json!({ "text": "hi" })).await;
    message.problem(409, "external_session");
}

// The agent continues after a denial; only an interrupt ends the turn.
#[tokio::test]
async fn rejection_continues_the_turn_and_stop_ends_it() {
    let (world, theirs) = listening().await;
    theirs.asks("que_1", "ses_root");
    let ask = waiting(&world, 1).await.remove(0);
    world.admin.poke(&format!("/v1/asks/{}/reject", id(&ask))).await.expect(200);
    let (path, body) = theirs.calls(1).await.unwrap().remove(0);
    assert_eq!(path, "/question/que_1/reply", "what OpenCode calls a rejection would end the turn");
    assert!(body["answers"][0][0].as_str().unwrap().contains("declined"), "{body}");

    theirs.asks("que_2", "ses_root");
    let ask = waiting(&world, 1).await.remove(0);
    world.admin.post(&format!("/v1/asks/{}/reject", id(&ask)), json!({ "stop": true })).await.expect(200);
    let calls: Vec<String> = theirs.calls(3).await.unwrap().into_iter().map(|(path, _)| path).collect();
    assert_eq!(calls[1..], ["/question/que_2/reject", "/session/ses_root/abort"]);
}

// A failed delivery does not close the event stream.
#[tokio::test]
async fn ask_answered_at_the_attached_server_is_withdrawn() {
    let (world, theirs) = listening().await;
    theirs.asks("que_1", "ses_root");
    let ask = waiting(&world, 1).await.remove(0);
    theirs.answered_elsewhere("que_1", "ses_root");
    let over = world.outcome(&id(&ask)).await;
    assert_eq!((&over["status"], &over["outcome"]["message"]), (&json!("withdrawn"), &json!("It was answered elsewhere.")));
    world.admin.answer(&id(&ask), json!([["SQLite"]])).await.problem(409, "ask_already_resolved");
    assert_eq!(theirs.calls(0).await.unwrap(), [], "nothing was sent");

    theirs.asks("que_2", "ses_root");
    let next = waiting(&world, 1).await.remove(0);
    assert_eq!(next["sessionId"], ask["sessionId"]);
    world.admin.answer(&id(&next), json!([["SQLite"]])).await.expect(200);
    assert_eq!(theirs.calls(1).await.unwrap().len(), 1);
}

// Asks belong to their session; asks of a sub-agent belong to its root session.
#[tokio::test]
async fn every_conversation_of_an_attached_server_becomes_a_session() {
    let (world, theirs) = listening().await;
    theirs.has_session("ses_other", None, "/developer/else", "Another one");
    theirs.has_session("ses_child", Some("ses_root"), PROJECT, "explore the code");
    theirs.has_session("ses_grandchild", Some("ses_child"), PROJECT, "read a file");
    theirs.asks("que_1", "ses_other");
    theirs.set_busy("ses_root");
    theirs.set_busy("ses_child");
    theirs.asks("que_2", "ses_grandchild");
    let asks = waiting(&world, 2).await;
    let of = |native: &str| asks.iter().find(|ask| ask["title"] == native).cloned().unwrap();
    let (other, root) = (of("Another one"), of("Set up a database"));
    assert_eq!((&other["project"], &root["project"]), (&json!("/developer/else"), &json!(PROJECT)));
    assert_eq!((&root["subagent"], &other["subagent"]), (&json!("read a file"), &Value::Null));
    assert_eq!(world.session(root["sessionId"].as_str().unwrap()).await["nativeId"], "ses_root");
    world.admin.answer(&id(&root), json!([["SQLite"]])).await.expect(200);
    assert_eq!(theirs.calls(1).await.unwrap()[0].0, "/question/que_2/reply");
    assert_eq!(waiting(&world, 1).await[0]["sessionId"], other["sessionId"]);
}

// Polling recovers asks whose events were lost, without duplicates.
#[tokio::test]
async fn interrupted_event_stream_loses_and_repeats_no_ask() {
    let world = World::start().await;
    let theirs = FakeOpenCode::start().await.unwrap();
    theirs.has_session("ses_root", None, PROJECT, "Set up a database");
    theirs.ask_without_event("que_1", "ses_root");
    attach(&world, &theirs).await;
    let first = waiting(&world, 1).await.remove(0);
    theirs.cut();
    theirs.ask_without_event("que_2", "ses_root");
    theirs.wait_for_subscriber().await.unwrap();
    let asks = waiting(&world, 2).await;
    assert!(asks.iter().any(|ask| ask["id"] == first["id"]), "{asks:?}");
    for ask in &asks {
        world.admin.answer(&id(ask), json!([["SQLite"]])).await.expect(200);
    }
    assert_eq!(theirs.calls(2).await.unwrap().len(), 2, "each once");
}

#[tokio::test]
async fn approval_is_sent_only_to_a_working_session() {
    let (world, theirs) = listening().await;
    theirs.wants_to_run("per_1", "ses_root", "touch a");
    let ask = waiting(&world, 1).await.remove(0);
    theirs.set_idle("ses_root");
    let over = world.outcome(&id(&ask)).await;
    assert_eq!(over["status"], "withdrawn");
    let calls = theirs.calls(1).await.unwrap();
    assert_eq!(calls, [("/permission/per_1/reply".to_owned(), json!({ "reply": "reject" }))], "nothing is left to say yes to");
}

#[tokio::test]
async fn asks_are_withdrawn_when_the_attached_server_disappears_and_return_with_it() {
    let (world, theirs) = listening().await;
    theirs.asks("que_1", "ses_root");
    let ask = waiting(&world, 1).await.remove(0);
    let address = theirs.address();
    drop(theirs);
    let over = world.outcome(&id(&ask)).await;
    assert_eq!(
        (&over["status"], &over["outcome"]["message"]),
        (&json!("withdrawn"), &json!(format!("OpenCode at http://{address} is gone.")))
    );
    let gone = attachment_in_state(&world, "unreachable").await;
    assert!(gone["problem"].as_str().unwrap().starts_with(&format!("OpenCode does not answer at http://{address}: ")), "{gone}");

    // A new server at the same address has new requests, and may have the same sessions.
    let theirs = FakeOpenCode::start_at(address).await.unwrap();
    theirs.has_session("ses_root", None, PROJECT, "Set up a database");
    theirs.ask_without_event("que_9", "ses_root");
    let next = waiting(&world, 1).await.remove(0);
    assert_eq!(next["sessionId"], ask["sessionId"], "it is the same conversation");
    world.admin.answer(&id(&next), json!([["SQLite"]])).await.expect(200);
    assert_eq!(theirs.calls(1).await.unwrap()[0].0, "/question/que_9/reply");
    attachment_in_state(&world, "connected").await;
}

#[tokio::test]
async fn attaching_to_another_service_is_refused_with_a_reason() {
    let world = World::start().await;
    let theirs = FakeOpenCode::start().await.unwrap();
    let new = json!({ "agent": "opencode", "place": theirs.url() });
    for (mood, words) in [
        (ReplyMode::Page, "it replied with status 200: a web page"),
        (ReplyMode::Status(401), "rejected the password (status 401)"),
        (ReplyMode::Status(404), "it replied with status 404"),
        (ReplyMode::Status(500), "it replied with status 500"),
    ] {
        theirs.set_reply_mode(mood.clone());
        let problem = world.admin.post("/v1/attachments", new.clone()).await.problem(422, "agent_unreachable");
        assert!(problem["detail"].as_str().unwrap().contains(words), "{mood:?}: {problem}");
    }
    drop(theirs);
    let problem = world.admin.post("/v1/attachments", new).await.problem(422, "agent_unreachable");
    assert!(problem["detail"].as_str().unwrap().starts_with("OpenCode does not answer at "), "{problem}");
    for (place, words) in [
        ("127.0.0.1:4096", "is not an address"),
        ("ftp://127.0.0.1", "is not the address of a server"),
        ("http://a:b@127.0.0.1:1", "must not contain a password"),
    ] {
        let new = json!({ "agent": "opencode", "place": place });
        let problem = world.admin.post("/v1/attachments", new).await.problem(422, "invalid_request");
        assert!(problem["detail"].as_str().unwrap().contains(words), "{problem}");
    }
    let new = json!({ "agent": "mock", "place": "http://127.0.0.1:1" });
    world.admin.post("/v1/attachments", new).await.problem(422, "invalid_request");
    let agents = world.admin.get("/v1/agents").await.expect(200);
    assert!(agents["data"].as_array().unwrap().iter().all(|agent| agent["attached"].is_null()), "{agents}");
}

#[tokio::test]
async fn password_is_stored_privately_and_never_returned() {
    let world = World::start().await;
    let theirs = FakeOpenCode::start().await.unwrap();
    // opencode:correct horse
    theirs.set_reply_mode(ReplyMode::Password("b3BlbmNvZGU6Y29ycmVjdCBob3JzZQ==".to_owned()));
    let new = |password: &str| json!({ "agent": "opencode", "place": theirs.url(), "password": password });
    world.admin.post("/v1/attachments", new("wrong")).await.problem(422, "agent_unreachable");
    let reply = world.admin.post("/v1/attachments", new("correct horse")).await;
    let attached = reply.expect(201);
    assert_eq!(attached["state"], "connected");
    assert!(!reply.text.contains("correct horse"));
    assert!(!world.admin.get("/v1/agents").await.text.contains("correct horse"));
    let dir = world.server.data_dir().join("attached");
    let files: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(files.len(), 1, "what was wrong was forgotten: {files:?}");
    let mode = std::fs::metadata(&files[0]).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    world.admin.delete(&format!("/v1/attachments/{}", id(&attached))).await.expect(204);
    assert!(!files[0].exists());
}

#[tokio::test]
async fn detaching_ends_sessions_in_sayso_only() {
    let (world, theirs) = listening().await;
    theirs.asks("que_1", "ses_root");
    let ask = waiting(&world, 1).await.remove(0);
    let attached = attachment_in_state(&world, "connected").await;
    let path = format!("/v1/attachments/{}", id(&attached));
    world.admin.delete(&path).await.expect(204);
    world.admin.delete(&path).await.problem(404, "not_found");
    let over = world.ask(&id(&ask)).await;
    assert_eq!(over["status"], "withdrawn");
    assert_eq!(world.session(ask["sessionId"].as_str().unwrap()).await["status"], "ended");
    assert_eq!(theirs.calls(0).await.unwrap(), [], "nothing was sent");

    // A new connection finds the asks that are still pending.
    attach(&world, &theirs).await;
    waiting(&world, 1).await;
}

#[tokio::test]
async fn attachment_and_its_pending_asks_survive_a_restart() {
    let (mut world, theirs) = listening().await;
    theirs.asks("que_1", "ses_root");
    let ask = waiting(&world, 1).await.remove(0);
    world.server.restart().await.unwrap();
    theirs.wait_for_subscriber().await.unwrap();
    assert_eq!(waiting(&world, 1).await[0]["id"], ask["id"]);
    world.admin.answer(&id(&ask), json!([["SQLite"]])).await.expect(200);
    assert_eq!(theirs.calls(1).await.unwrap()[0].0, "/question/que_1/reply");
}

#[tokio::test]
async fn closed_session_reopens_with_the_next_ask() {
    let (world, theirs) = listening().await;
    theirs.asks("que_1", "ses_root");
    let ask = waiting(&world, 1).await.remove(0);
    let session = ask["sessionId"].as_str().unwrap();
    world.admin.delete(&format!("/v1/sessions/{session}")).await.expect(200);
    assert_eq!(world.outcome(&id(&ask)).await["status"], "withdrawn");
    theirs.answered_elsewhere("que_1", "ses_root");
    theirs.asks("que_2", "ses_root");
    let next = waiting(&world, 1).await.remove(0);
    assert_eq!(next["sessionId"], session);
    assert_eq!(world.session(session).await["status"], "waiting");
}
