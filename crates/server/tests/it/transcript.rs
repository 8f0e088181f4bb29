//! Blocks of questions in a transcript, in the shape that chat clients know.

use serde_json::{Value, json};

use crate::world::{World, id};

async fn blocks(world: &World, session: &str) -> Vec<Value> {
    world.admin.get(&format!("/v1/sessions/{session}/transcript")).await.expect(200)["data"].as_array().unwrap().clone()
}

async fn action(world: &World, session: &str) -> Value {
    blocks(world, session).await.into_iter().find(|block| block["type"] == "action").unwrap()
}

#[tokio::test]
async fn question_is_an_action_block() {
    let world = World::start().await;
    let (mut agent, ask) = world.start_ask("question").await;
    let pending = action(&world, agent.session()).await;
    assert_eq!(
        (&pending["type"], &pending["action_type"], &pending["status"]),
        (&json!("action"), &json!("question_request"), &json!("pending"))
    );
    assert_eq!(
        pending["extra"],
        json!({
            "needsUserAction": true,
            "questionHeader": "Database",
            "questionText": "Which database should this feature use?",
            "questionOptions": [{ "label": "SQLite", "description": "lightweight, file-based" }, { "label": "PostgreSQL", "description": "full-featured" }],
            "questionMultiple": false,
            "questionCustom": true,
            "questionResolution": "asked",
        })
    );
    world.admin.answer(&id(&ask), json!([["PostgreSQL"]])).await.expect(200);
    agent.finished().await.unwrap();
    let replied = action(&world, agent.session()).await;
    assert_eq!(replied["status"], "success");
    let extra = &replied["extra"];
    assert_eq!(
        (&extra["needsUserAction"], &extra["questionResolution"], &extra["answerText"]),
        (&json!(false), &json!("replied"), &json!("PostgreSQL"))
    );
    assert_eq!(extra.get("answerMessageId"), None, "no message answered it");
}

// Rejected and withdrawn asks are shown as denied; withdrawn ones with their reason.
#[tokio::test]
async fn rejected_and_withdrawn_questions_show_as_denied() {
    let world = World::start().await;
    let (agent, ask) = world.start_ask("question").await;
    world.admin.post(&format!("/v1/asks/{}/reject", id(&ask)), json!({ "message": "not now" })).await.expect(200);
    let block = action(&world, agent.session()).await;
    assert_eq!(
        (&block["status"], &block["extra"]["questionResolution"], &block["extra"]["needsUserAction"]),
        (&json!("denied"), &json!("rejected"), &json!(false))
    );
    assert_eq!(block["extra"].get("answerText"), None);
    let (agent, ask) = world.start_ask("question").await;
    world.admin.poke(&format!("/v1/sessions/{}/interrupt", agent.session())).await.expect(200);
    world.outcome(&id(&ask)).await;
    let block = action(&world, agent.session()).await;
    assert_eq!(
        (&block["status"], &block["extra"]["questionResolution"], &block["extra"]["reason"]),
        (&json!("denied"), &json!("rejected"), &json!("The turn was interrupted."))
    );
}

#[tokio::test]
async fn answer_block_names_the_message() {
    let world = World::start().await;
    let (mut agent, _ask) = world.start_ask("question").await;
    let path = format!("/v1/sessions/{}/messages", agent.session());
    let accepted = world.admin.post(&path, json!({ "text": "neither of them" })).await.expect(202);
    agent.finished().await.unwrap();
    let extra = action(&world, agent.session()).await["extra"].clone();
    assert_eq!((&extra["answerText"], &extra["answerMessageId"]), (&json!("neither of them"), &accepted["messageId"]));
    let message = blocks(&world, agent.session()).await.into_iter().find(|block| block["id"] == accepted["messageId"]).unwrap();
    assert_eq!(
        (&message["type"], &message["role"], &message["text"]),
        (&json!("message"), &json!("user"), &json!("neither of them"))
    );
}

// Asks with several questions, and kinds that a client may not know.
#[tokio::test]
async fn approvals_and_links_are_blocks() {
    let world = World::start().await;
    let (agent, _) = world.start_ask("questions").await;
    let extra = action(&world, agent.session()).await["extra"].clone();
    assert_eq!(extra["questionText"].as_str().unwrap().lines().count(), 3);
    for (prompt, kind) in [("approve", "approval_request"), ("plan", "approval_request"), ("link", "link_request")] {
        let (agent, ask) = world.start_ask(prompt).await;
        let block = action(&world, agent.session()).await;
        assert_eq!(
            (&block["action_type"], &block["status"], &block["extra"]["needsUserAction"]),
            (&json!(kind), &json!("pending"), &json!(true))
        );
        assert_eq!(block["ask"]["id"], ask["id"], "the block contains the whole ask");
    }
}

#[tokio::test]
async fn secret_answer_is_not_in_its_block() {
    let world = World::start().await;
    let (mut agent, ask) = world.start_ask("secret").await;
    world.admin.answer(&id(&ask), json!([["hunter2-hunter2"]])).await.expect(200);
    agent.finished().await.unwrap();
    let text = world.admin.get(&format!("/v1/sessions/{}/transcript", agent.session())).await.text;
    assert!(!text.contains("hunter2-hunter2"), "{text}");
}

/// Every block occurs once and in order, also with pages and after a restart.
#[tokio::test]
async fn transcript_has_the_order_of_events() {
    let mut world = World::start().await;
    let mut agent = world.agent("parallel").await;
    let session = agent.session().to_owned();
    let mut asks = Vec::new();
    for _ in 0..3 {
        asks.push(agent.asks().await.unwrap().id);
    }
    world.admin.answer(&asks[0], json!([["SQLite"]])).await.expect(200);
    world.admin.post(&format!("/v1/asks/{}/approve", asks[1]), json!({})).await.expect(200);
    world.admin.answer(&asks[2], json!([["nextest"]])).await.expect(200);
    agent.finished().await.unwrap();
    let whole = blocks(&world, &session).await;
    let kinds: Vec<String> = whole
        .iter()
        .map(|block| match block["type"].as_str().unwrap() {
            "message" => block["role"].as_str().unwrap().to_owned(),
            "action" => block["action_type"].as_str().unwrap().to_owned(),
            other => other.to_owned(),
        })
        .collect();
    assert_eq!(kinds, ["user", "assistant", "question_request", "tool", "approval_request", "question_request", "assistant"]);
    let tool = whole.iter().find(|block| block["type"] == "tool").unwrap();
    assert_eq!((&tool["name"], &tool["status"], &tool["toolCallId"]), (&json!("Bash"), &json!("complete"), &json!("call-2")));
    world.server.restart().await.unwrap();
    let mut pages = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = world.admin.get(&format!("/v1/sessions/{session}/transcript?limit=2{cursor}")).await.expect(200);
        pages.extend(page["data"].as_array().unwrap().clone());
        match page["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(pages, whole);
    world.admin.get(&format!("/v1/sessions/{session}/transcript?limit=0")).await.problem(422, "invalid_request");
}
