//! Chats with a model, over real HTTP on both sides.

use std::time::Duration;

use sayso_client::api::event::FeedEvent;
use sayso_client::api::session::NewSession;
use sayso_testkit::ScriptedAgent;
use sayso_testkit::models::{MessagePart, MockModel, ModelBlock, ModelReply, ModelRequest, ModelRole, ModelScript, ModelTurn};
use serde_json::{Value, json};

use crate::world::{World, id};

struct Talk {
    world: World,
    model: MockModel,
    agent: ScriptedAgent,
}

fn asks(change: impl FnOnce(&mut Value)) -> ModelTurn {
    let mut input =
        json!({ "header": "Database", "question": "Which?", "options": [{ "label": "SQLite" }, { "label": "Postgres" }] });
    change(&mut input);
    vec![ModelBlock::text("Let me ask."), ModelBlock::call("c1", "question", input)]
}

fn done_turn() -> ModelTurn {
    vec![ModelBlock::text("Done.")]
}

/// Returns the messages of a request as pairs of role and text.
fn request_messages(request: &ModelRequest) -> Vec<(ModelRole, String)> {
    let words = |part: &MessagePart| match part {
        MessagePart::Text(text) => text.clone(),
        MessagePart::ToolCall { name, .. } => format!("<{name}>"),
        MessagePart::ToolResult(result) => format!("={}", result.id),
        MessagePart::Other(other) => other.to_string(),
    };
    request.messages.iter().map(|message| (message.role, message.parts.iter().map(words).collect::<Vec<_>>().join(""))).collect()
}

impl Talk {
    async fn begin(script: ModelScript) -> Self {
        let model = MockModel::start(script).await.unwrap();
        let config = format!(
            "[agents.talk]\nprotocol = \"openai\"\nbase_url = \"{}/v1\"\nmodel = \"small\"\nsystem = \"Be brief.\"\n",
            model.url()
        );
        let world = World::with(|setup| setup.config = Some(config)).await;
        let new = NewSession { agent: "talk".to_owned(), prompt: Some("Set it up".to_owned()), ..NewSession::default() };
        let agent = ScriptedAgent::with(&world.server.client(), &new).await.unwrap();
        Self { world, model, agent }
    }

    async fn blocks(&self) -> Vec<Value> {
        let transcript = self.world.admin.get(&format!("/v1/sessions/{}/transcript", self.agent.session())).await.expect(200);
        transcript["data"].as_array().unwrap().clone()
    }

    async fn send_message(&self, text: &str) -> Value {
        let path = format!("/v1/sessions/{}/messages", self.agent.session());
        self.world.admin.post(&path, json!({ "text": text })).await.expect(202)
    }

    async fn idle(&mut self) {
        let is_idle = |event: &FeedEvent| event.name() == "session.status" && event.event.data_json().contains("\"idle\"");
        self.agent.watch().until("the end of the turn", is_idle).await.unwrap();
    }

    fn last_request(&self) -> Vec<(ModelRole, String)> {
        request_messages(&self.model.records().last().unwrap().request)
    }
}

/// The model asks, the person picks one option, the model continues. The label is sent, because options have no other value.
#[tokio::test]
async fn model_continues_with_the_answer() {
    let mut talk = Talk::begin(ModelScript::turns([asks(|_| {}), done_turn()])).await;
    let ask = talk.agent.asks().await.unwrap();
    assert_eq!((ask.questions[0].header.as_deref(), ask.context.as_deref()), (Some("Database"), Some("Let me ask.")));
    let block = talk.blocks().await.pop().unwrap();
    assert_eq!(
        (&block["type"], &block["status"], &block["extra"]["needsUserAction"]),
        (&json!("action"), &json!("pending"), &json!(true))
    );
    talk.world.admin.answer(&ask.id, json!([["Postgres"]])).await.expect(200);
    assert_eq!(talk.agent.finished().await.unwrap(), "Done.");
    let user = |text: &str| (ModelRole::User, text.to_owned());
    let wanted = [user("Set it up"), (ModelRole::Assistant, "Let me ask.<question>".to_owned()), user("=c1"), user("Postgres")];
    assert_eq!(talk.last_request(), wanted);
    let blocks = talk.blocks().await;
    let shape: Vec<&str> = blocks.iter().map(|block| block["role"].as_str().or(block["type"].as_str()).unwrap()).collect();
    assert_eq!(shape, ["user", "assistant", "action", "user", "assistant"]);
    assert_eq!((&blocks[2]["status"], &blocks[2]["extra"]["answerText"]), (&json!("success"), &json!("Postgres")));
    assert_eq!(talk.world.ask(&ask.id).await["delivery"], "delivered");
}

/// Any message answers a question of a model, even if `custom` is false.
#[tokio::test]
async fn typed_message_answers_the_question_of_a_model() {
    let mut talk = Talk::begin(ModelScript::turns([asks(|it| it["custom"] = json!(false)), done_turn()])).await;
    let ask = talk.agent.asks().await.unwrap();
    talk.world.admin.answer(&ask.id, json!([["neither"]])).await.problem(422, "invalid_answers");
    let accepted = talk.send_message("neither, wait").await;
    assert_eq!(id(&accepted["answered"]), ask.id);
    assert_eq!(talk.agent.finished().await.unwrap(), "Done.");
    assert_eq!(talk.last_request().last().unwrap().1, "neither, wait");
    let blocks = talk.blocks().await;
    let block = blocks.iter().find(|block| block["type"] == "action").unwrap();
    assert_eq!(block["extra"]["answerMessageId"], accepted["messageId"]);
    assert_eq!(blocks.iter().filter(|block| block["role"] == "user").count(), 2, "nothing else is inserted");
}

/// A rejection inserts no message, and the model generates nothing until the person sends one.
#[tokio::test]
async fn rejected_question_waits_for_the_next_message() {
    let mut talk = Talk::begin(ModelScript::turns([asks(|_| {}), done_turn()])).await;
    let ask = talk.agent.asks().await.unwrap();
    talk.world.admin.post(&format!("/v1/asks/{}/reject", ask.id), json!({})).await.expect(200);
    talk.idle().await;
    assert_eq!(talk.model.records().len(), 1);
    let blocks = talk.blocks().await;
    let block = blocks.last().unwrap();
    assert_eq!((&block["status"], &block["extra"]["questionResolution"]), (&json!("denied"), &json!("rejected")));
    talk.send_message("Use SQLite").await;
    assert_eq!(talk.agent.finished().await.unwrap(), "Done.");
    assert_eq!(talk.last_request()[2..].iter().map(|said| said.1.as_str()).collect::<Vec<_>>(), ["=c1", "Use SQLite"]);
}

/// A pending question survives a restart and holds no request open.
#[tokio::test]
async fn question_of_a_model_survives_a_restart() {
    let mut talk = Talk::begin(ModelScript::turns([asks(|_| {}), done_turn()])).await;
    let ask = talk.agent.asks().await.unwrap();
    talk.world.server.restart().await.unwrap();
    assert_eq!(talk.model.records().len(), 1, "nothing is asked again");
    talk.world.admin.answer(&ask.id, json!([["SQLite"]])).await.expect(200);
    assert_eq!(talk.agent.finished().await.unwrap(), "Done.");
    assert_eq!((talk.model.records().len(), talk.last_request().len()), (2, 4));
}

/// A conversation that waits for a person has no task; the answer starts one.
#[tokio::test]
async fn waiting_conversation_ends_its_task_until_the_answer() {
    let mut talk = Talk::begin(ModelScript::turns([asks(|_| {}), done_turn()])).await;
    let ask = talk.agent.asks().await.unwrap();
    let asleep = async {
        while !talk.world.admin.get("/metrics").await.text.contains("\nsayso_connections_awake 0\n") {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    };
    sayso_testkit::within("the connection to sleep", asleep).await.unwrap();
    talk.world.admin.answer(&ask.id, json!([["SQLite"]])).await.expect(200);
    assert_eq!(talk.agent.finished().await.unwrap(), "Done.");
    assert_eq!((talk.model.records().len(), talk.last_request().len()), (2, 4));
}

/// The transcript and the model get the error, and no ask is opened.
#[tokio::test]
async fn invalid_tool_calls_are_refused_and_shown() {
    let twice = vec![ModelBlock::call("c1", "question", json!({})), ModelBlock::call("c2", "rm", json!({}))];
    let bad = vec![ModelBlock::call("c3", "question", json!({ "question": "Which?", "options": [] }))];
    let mut talk = Talk::begin(ModelScript::turns([twice, bad, done_turn()])).await;
    assert_eq!(talk.agent.finished().await.unwrap(), "Done.");
    let blocks = talk.blocks().await;
    let text = serde_json::to_string(&blocks).unwrap();
    assert!(text.contains("only tool call of its turn") && text.contains("`options` has 0 entries"), "{text}");
    assert!(blocks.iter().all(|block| block["type"] != "action" || block["action_type"] != "question_request"), "{text}");
    let results: Vec<String> = talk.model.tool_results().into_iter().map(|result| result.text).collect();
    assert!(results.iter().all(|result| result.starts_with("Error: ")), "{results:?}");
}

#[tokio::test]
async fn failing_endpoint_is_retried_and_then_reported() {
    let script = |request: &ModelRequest| match request.last_user_text() {
        Some("Set it up") => ModelReply::Fail { status: 400, message: "no such model".to_owned() },
        _ => ModelReply::text("Back again."),
    };
    let mut talk = Talk::begin(ModelScript::choose(script)).await;
    let failed = talk.agent.watch().event("error").await.unwrap();
    let failed = failed.event.data_json();
    assert!(failed.contains("returned 400: no such model"), "{failed}");
    talk.idle().await;
    talk.send_message("Try again").await;
    assert_eq!(talk.agent.finished().await.unwrap(), "Back again.");
    assert_eq!(talk.last_request().iter().map(|said| said.1.as_str()).collect::<Vec<_>>(), ["Set it up", "Try again"]);
}

#[tokio::test]
async fn interrupt_stops_the_stream_and_keeps_its_text() {
    let mut talk = Talk::begin(ModelScript::choose(|request| match request.last_user_text() {
        Some("Set it up") => ModelReply::text("Ready."),
        Some("Tell me") => ModelReply::Hang(vec![ModelBlock::text("Half a sentence")]),
        _ => ModelReply::text("Done."),
    }))
    .await;
    // Clients that are already connected receive streamed text.
    assert_eq!(talk.agent.finished().await.unwrap(), "Ready.");
    talk.send_message("Tell me").await;
    talk.agent.watch().until("the first words", |event| event.name() == "message.delta").await.unwrap();
    talk.world.admin.poke(&format!("/v1/sessions/{}/interrupt", talk.agent.session())).await.expect(200);
    assert_eq!(talk.agent.finished().await.unwrap(), "Half a sentence");
    talk.send_message("Go on").await;
    assert_eq!(talk.agent.finished().await.unwrap(), "Done.");
    assert_eq!(talk.last_request()[3], (ModelRole::Assistant, "Half a sentence".to_owned()));
}

#[tokio::test]
async fn invalid_configuration_is_refused_with_its_position() {
    for (lines, part) in [
        ("protocol = \"openai\"", "needs base_url and model"),
        ("protocol = \"openai\"\nmodel = \"m\"\nbase_url = \"ftp://x\"", "base_url must look like"),
        ("protocol = \"openai\"\nmodel = \"m\"\nbase_url = \"http://x\"\ncommand = \"x\"", "cannot have command or args"),
        (
            "protocol = \"openai\"\nmodel = \"m\"\nbase_url = \"http://x\"\napi_key_env = \"PATHS\"",
            "does not look like the name of a key",
        ),
        ("command = \"x\"\nsystem = \"y\"", "system is for"),
    ] {
        let config = format!("[agents.talk]\n{lines}\n");
        let refused = sayso_testkit::TestServer::with(|setup| setup.config = Some(config)).await.unwrap_err();
        assert!(format!("{refused:#}").contains(part), "{refused:#}");
    }
}
