//! Typed messages: when they answer an ask, and when they do not.

use serde_json::json;

use crate::world::{World, id};

// No second message is inserted.
#[tokio::test]
async fn message_answers_the_only_pending_question() {
    let world = World::start().await;
    let (mut agent, ask) = world.start_ask("question").await;
    let path = format!("/v1/sessions/{}/messages", agent.session());
    let accepted = world.admin.post(&path, json!({ "text": "something else entirely" })).await.expect(202);
    assert_eq!(id(&accepted["answered"]), id(&ask));
    assert_eq!(accepted["answered"]["outcome"]["answers"], json!([["something else entirely"]]));
    assert_eq!(accepted["answered"]["outcome"]["by"]["kind"], "message");
    assert_eq!(agent.finished().await.unwrap(), "You answered: something else entirely.");
    let transcript = world.admin.get(&format!("/v1/sessions/{}/transcript", agent.session())).await.expect(200);
    let block = transcript["data"].as_array().unwrap().iter().find(|block| block["type"] == "action").unwrap().clone();
    assert_eq!(block["extra"]["answerMessageId"], accepted["messageId"]);
    let said = transcript["data"].as_array().unwrap().iter().filter(|block| block["role"] == "user").count();
    assert_eq!(said, 2, "the prompt and the answer");
}

#[tokio::test]
async fn message_without_pending_asks_is_a_prompt() {
    let world = World::start().await;
    let mut agent = world.agent("hello").await;
    agent.finished().await.unwrap();
    let path = format!("/v1/sessions/{}/messages", agent.session());
    let accepted = world.admin.post(&path, json!({ "text": "and again" })).await.expect(202);
    assert_eq!(accepted["answered"], json!(null));
    assert_eq!(agent.finished().await.unwrap(), "and again");
}

#[tokio::test]
async fn message_answers_several_questions_if_the_agent_accepts_one_reply() {
    let world = World::start().await;
    let (mut agent, ask) = world.start_ask("questions").await;
    let path = format!("/v1/sessions/{}/messages", agent.session());
    let accepted = world.admin.post(&path, json!({ "text": "as you like" })).await.expect(202);
    assert_eq!(id(&accepted["answered"]), id(&ask));
    assert!(agent.finished().await.unwrap().contains("as you like"));
}

// A message never answers a secret, an approval, a plan exit, a link, or one of several pending asks.
#[tokio::test]
async fn message_never_decides_approvals_or_links() {
    let world = World::start().await;
    for prompt in ["secret", "approve", "plan", "link", "form", "parallel"] {
        let (mut agent, ask) = world.start_ask(prompt).await;
        if prompt == "parallel" {
            agent.asks().await.unwrap();
            agent.asks().await.unwrap();
        }
        let before = world.session(agent.session()).await;
        let path = format!("/v1/sessions/{}/messages", agent.session());
        let refused = world.admin.post(&path, json!({ "text": "yes" })).await.problem(409, "ask_pending");
        let pending: Vec<_> = before["asks"].as_array().unwrap().iter().map(id).collect();
        assert_eq!(refused["asks"], json!(pending), "{prompt}");
        assert_eq!(world.ask(&id(&ask)).await, ask, "{prompt}");
        world.admin.post(&path, json!({ "text": "yes", "ifPending": "refuse" })).await.problem(409, "ask_pending");
        // On request, the message waits until the ask is decided.
        let accepted = world.admin.post(&path, json!({ "text": "later", "ifPending": "queue" })).await.expect(202);
        assert_eq!(accepted["answered"], json!(null));
        assert_eq!(world.ask(&id(&ask)).await["status"], "pending", "{prompt}");
    }
}

#[tokio::test]
async fn queued_message_is_delivered_after_the_turn() {
    let world = World::start().await;
    let (mut agent, ask) = world.start_ask("approve").await;
    let path = format!("/v1/sessions/{}/messages", agent.session());
    world.admin.post(&path, json!({ "text": "then this", "ifPending": "queue" })).await.expect(202);
    world.admin.post(&format!("/v1/asks/{}/approve", id(&ask)), json!({})).await.expect(200);
    agent
        .watch()
        .until("the echo", |event| event.event.data_json().contains("then this") && event.event.data_json().contains("assistant"))
        .await
        .unwrap();
}

#[tokio::test]
async fn empty_and_oversized_messages_are_refused() {
    let world = World::start().await;
    let (agent, ask) = world.start_ask("question").await;
    let path = format!("/v1/sessions/{}/messages", agent.session());
    for wrong in [
        json!({ "text": "" }),
        json!({ "text": "  \n" }),
        json!({}),
        json!({ "text": "x", "ifPending": "maybe" }),
        json!({ "text": 1 }),
    ] {
        world.admin.post(&path, wrong).await.problem(422, "invalid_request");
    }
    world.admin.post(&path, json!({ "text": "x".repeat(1024 * 1024 + 1) })).await.problem(422, "limit_exceeded");
    assert_eq!(world.ask(&id(&ask)).await, ask);
}

/// A message that is too long to be an answer is neither used as one nor lost.
#[tokio::test]
async fn message_that_is_an_invalid_answer_is_refused() {
    let world = World::start().await;
    let (agent, ask) = world.start_ask("question").await;
    let path = format!("/v1/sessions/{}/messages", agent.session());
    let refused = world.admin.post(&path, json!({ "text": "x".repeat(70_000) })).await.problem(409, "ask_pending");
    assert_eq!(refused["asks"], json!([id(&ask)]));
    assert_eq!(world.ask(&id(&ask)).await, ask);
}
