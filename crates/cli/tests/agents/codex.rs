//! The real Codex, hosted through its app server.

use anyhow::{Context as _, Result};
use sayso_client::api::ask::{ActionKind, ApproveRequest, Ask, AskStatus, Delivery, NoRequest};
use sayso_client::api::session::{IfPending, NewSession, SessionStatus};
use sayso_testkit::agents::installed;
use sayso_testkit::models::{ModelBlock, ModelReply, ModelScript, ModelTurn};
use serde_json::{Value, json};

use crate::claude::kill_agent;
use crate::world::World;

const DATABASE: &str = "Which database should we use?";

/// A command outside of the sandbox, for which Codex asks.
fn run(id: &str, command: &str) -> ModelTurn {
    let input = json!({ "cmd": command, "sandbox_permissions": "require_escalated", "justification": "make a file" });
    vec![ModelBlock::text("A file is needed."), ModelBlock::call(id, "exec_command", input)]
}

fn patch(id: &str) -> ModelTurn {
    vec![ModelBlock::call(id, "apply_patch", json!("*** Begin Patch\n*** Add File: new.txt\n+hello\n*** End Patch\n"))]
}

fn question(id: &str, text: &str, labels: [&str; 2]) -> Value {
    let option = |label: &str| json!({ "label": label, "description": format!("the {label} one") });
    json!({ "id": id, "header": "Choose", "question": text, "options": labels.map(option) })
}

fn ask(questions: &[Value]) -> ModelTurn {
    vec![ModelBlock::call("call_q", "request_user_input", json!({ "questions": questions }))]
}

fn which_database() -> ModelTurn {
    ask(&[question("db", DATABASE, ["SQLite", "PostgreSQL"])])
}

fn script(turn: ModelTurn) -> ModelScript {
    ModelScript::turns([turn, vec![ModelBlock::text("Done.")]])
}

async fn received(world: &World, id: &str) -> Result<String> {
    Ok(world.model.result_of(id).await?.text)
}

fn exists(world: &World, name: &str) -> bool {
    world.home.project().join(name).exists()
}

async fn denied(world: &World, ask: &Ask) -> Result<Ask> {
    Ok(world.client.deny(&ask.id, &NoRequest::default()).await?)
}

#[tokio::test]
async fn approved_command_runs() -> Result<()> {
    let world = World::new(script(run("call_1", "touch a.txt"))).await?;
    let mut agent = world.start("codex", "make a file").await?;
    let asked = agent.asks().await?;
    let approval = asked.approval.as_ref().context("an approval")?;
    assert_eq!((approval.action, approval.title.as_str()), (ActionKind::Run, "touch a.txt"));
    assert_eq!((approval.reason.as_deref(), asked.context.as_deref()), (Some("make a file"), Some("A file is needed.")));
    assert!(serde_json::to_string(&approval.preview)?.contains("touch a.txt"));
    assert!(!exists(&world, "a.txt"));
    world.approve(&asked).await?;
    let told = received(&world, "call_1").await?;
    assert!(told.contains("Process exited with code 0"), "{told}");
    assert!(exists(&world, "a.txt"));
    assert_eq!(agent.finished().await?, "Done.");
    assert_eq!(world.client.ask(&asked.id).await?.delivery, Some(Delivery::Confirmed));
    world.close().await
}

#[tokio::test]
async fn denial_reason_reaches_the_model_in_the_same_turn() -> Result<()> {
    let world = World::new(script(run("call_1", "touch a.txt"))).await?;
    let mut agent = world.start("codex", "make a file").await?;
    let asked = agent.asks().await?;
    world.deny(&asked, "Use the folder out.", false).await?;
    let told = received(&world, "call_1").await?;
    assert!(told.contains("rejected by user"), "{told}");
    let words = "I did not allow `touch a.txt`: Use the folder out.";
    world.model.wait_for("the reason", |record| record.request.last_user_text() == Some(words)).await?;
    agent.finished().await?;
    assert!(!exists(&world, "a.txt"));
    assert_eq!(world.client.ask(&asked.id).await?.delivery, Some(Delivery::Confirmed));
    world.close().await
}

#[tokio::test]
async fn denial_with_stop_ends_the_turn_and_the_session_continues() -> Result<()> {
    let turns = [run("call_1", "touch a.txt"), vec![ModelBlock::text("Here again.")]];
    let world = World::new(ModelScript::turns(turns)).await?;
    let mut agent = world.start("codex", "make a file").await?;
    let asked = agent.asks().await?;
    world.deny(&asked, "Enough.", true).await?;
    agent.finished().await?;
    assert_eq!(world.client.session(agent.session()).await?.status, SessionStatus::Idle);
    assert_eq!(world.model.records().len(), 1, "the model was not called again");
    world.client.message(agent.session(), "go on", IfPending::Refuse).await?;
    world.model.wait_for("the next prompt", |record| record.request.last_user_text() == Some("go on")).await?;
    assert_eq!(agent.finished().await?, "Here again.");
    assert!(!exists(&world, "a.txt"));
    world.close().await
}

#[tokio::test]
async fn codex_continues_after_a_denial_by_a_rule() -> Result<()> {
    let policy =
        "[[rules]]\nname = \"files\"\ndo = \"allow\"\nrun = [\"touch *\"]\n[[rules]]\ndo = \"deny\"\nrun = [\"mkdir *\"]\n";
    let turns = [run("call_1", "touch a.txt"), run("call_2", "mkdir b"), vec![ModelBlock::text("Done.")]];
    let world = World::with_policy(ModelScript::turns(turns), policy).await?;
    let mut agent = world.start("codex", "make files").await?;
    assert_eq!(agent.finished().await?, "Done.");
    let told = received(&world, "call_1").await?;
    assert!(told.contains("Process exited with code 0"), "{told}");
    let told = received(&world, "call_2").await?;
    assert!(told.contains("rejected by user"), "{told}");
    assert!(exists(&world, "a.txt") && !exists(&world, "b"));
    assert_eq!(world.model.last_user_text().as_deref(), Some("make files"), "no message is sent in the person's name");
    world.close().await
}

#[tokio::test]
async fn always_allows_only_the_rule_that_codex_proposed() -> Result<()> {
    let turns = [
        run("call_1", "touch a.txt"),
        run("call_2", "touch a.txt"),
        run("call_3", "touch b.txt"),
        vec![ModelBlock::text("Done.")],
    ];
    let world = World::new(ModelScript::turns(turns)).await?;
    let mut agent = world.start("codex", "make files").await?;
    let asked = agent.asks().await?;
    let choices = &asked.approval.as_ref().context("an approval")?.choices;
    let rule = choices.iter().find(|choice| choice.label.contains("begins with `touch a.txt`"));
    let rule = rule.with_context(|| format!("{choices:?}"))?;
    world.client.approve(&asked.id, &ApproveRequest { choice: Some(rule.id.clone()), ..ApproveRequest::default() }).await?;
    // The same command is not asked again, but another one is.
    let asked = agent.asks().await?;
    assert_eq!(asked.approval.as_ref().context("an approval")?.title, "touch b.txt");
    let rules = std::fs::read_to_string(world.home.path().join(".codex/rules/default.rules"))?;
    assert!(rules.contains(r#"pattern=["touch", "a.txt"]"#), "{rules}");
    denied(&world, &asked).await?;
    assert_eq!(agent.finished().await?, "Done.");
    world.close().await
}

#[tokio::test]
async fn patch_is_shown_as_a_diff_and_applied_when_approved() -> Result<()> {
    let turns = [patch("call_1"), patch("call_2"), vec![ModelBlock::text("Done.")]];
    let world = World::new(ModelScript::after_results(turns)).await?;
    let mut agent = world.start("codex", "make a file").await?;
    let asked = agent.asks().await?;
    let approval = asked.approval.as_ref().context("an approval")?;
    assert_eq!(approval.action, ActionKind::Edit);
    let preview = serde_json::to_value(&approval.preview)?;
    assert_eq!(preview["files"][0]["diff"], "@@ -0,0 +1,1 @@ a new file\n+hello\n", "{preview}");
    world.deny(&asked, "Not yet.", false).await?;
    let told = received(&world, "call_1").await?;
    assert!(told.contains("rejected by user"), "{told}");
    assert!(!exists(&world, "new.txt"));
    let asked = agent.asks().await?;
    world.approve(&asked).await?;
    let told = received(&world, "call_2").await?;
    assert!(told.contains("Success. Updated the following files"), "{told}");
    assert_eq!(agent.finished().await?, "Done.");
    assert_eq!(std::fs::read_to_string(world.home.project().join("new.txt"))?, "hello\n");
    world.close().await
}

#[tokio::test]
async fn answer_reaches_the_model() -> Result<()> {
    let world = World::new(script(which_database())).await?;
    let mut agent = world.start("codex", "set up a database").await?;
    let asked = agent.asks().await?;
    assert_eq!((asked.questions[0].text.as_str(), asked.questions[0].custom), (DATABASE, true));
    world.answer(&asked, &[&["PostgreSQL"]]).await?;
    assert_eq!(received(&world, "call_q").await?, r#"{"answers":{"db":{"answers":["PostgreSQL"]}}}"#);
    assert_eq!(agent.finished().await?, "Done.");
    assert_eq!(world.client.ask(&asked.id).await?.delivery, Some(Delivery::Confirmed));
    world.close().await
}

#[tokio::test]
async fn free_text_answers_and_a_rejection_reach_the_model() -> Result<()> {
    let questions = [question("db", DATABASE, ["SQLite", "PostgreSQL"]), question("name", "What name?", ["alpha", "beta"])];
    let world = World::new(ModelScript::turns([ask(&questions), which_database(), vec![ModelBlock::text("Done.")]])).await?;
    let mut agent = world.start("codex", "set it up").await?;
    let asked = agent.asks().await?;
    world.answer(&asked, &[&["SQLite"], &["call it \"gamma\""]]).await?;
    let told: Value = serde_json::from_str(&received(&world, "call_q").await?)?;
    assert_eq!(told, json!({"answers": {"db": {"answers": ["SQLite"]}, "name": {"answers": ["call it \"gamma\""]}}}));
    let asked = agent.asks().await?;
    world.deny(&asked, "Decide yourself.", false).await?;
    assert_eq!(agent.finished().await?, "Done.");
    let told = world.model.tool_results().pop().context("a second result")?.text;
    assert_eq!(told, r#"{"answers":{"db":{"answers":["Decide yourself."]}}}"#);
    world.close().await
}

#[tokio::test]
async fn question_in_plan_mode_is_answered() -> Result<()> {
    let world = World::new(script(which_database())).await?;
    let plan = |new: &mut NewSession| new.permission_mode = Some("plan".to_owned());
    let mut agent = world.start_with("codex", "plan a database", plan).await?;
    let asked = agent.asks().await?;
    world.answer(&asked, &[&["SQLite"]]).await?;
    assert_eq!(received(&world, "call_q").await?, r#"{"answers":{"db":{"answers":["SQLite"]}}}"#);
    agent.finished().await?;
    let planning = |text: &str| text.contains("Plan Mode");
    assert!(world.model.records().iter().any(|record| planning(&record.request.body.to_string())), "Codex is in plan mode");
    world.close().await
}

#[tokio::test]
async fn question_tool_is_disabled_when_the_policy_rejects_questions() -> Result<()> {
    let world = World::new(script(which_database())).await?;
    let reject = |new: &mut NewSession| new.policy = serde_json::from_value(json!({ "questions": "reject" })).ok();
    let mut agent = world.start_with("codex", "set up a database", reject).await?;
    agent.finished().await?;
    let tools = |at: usize| world.model.records()[at].request.tools.clone();
    assert!(!tools(0).iter().any(|tool| tool == "request_user_input"), "{:?}", tools(0));
    assert!(world.client.pending_asks().await?.data.is_empty());
    world.close().await?;

    let world = World::new(script(vec![ModelBlock::text("Done.")])).await?;
    world.start("codex", "hello").await?.finished().await?;
    let tools = world.model.records()[0].request.tools.clone();
    assert!(tools.iter().any(|tool| tool == "request_user_input"), "{tools:?}");
    world.close().await
}

/// The newest models have a tool that asks without waiting. The answer is sent as a message, in the current turn or in
/// a new one.
#[tokio::test]
async fn answer_to_a_non_blocking_question_is_sent_as_a_message() -> Result<()> {
    let questions = json!([{ "title": DATABASE, "options": ["SQLite", "PostgreSQL"] }, { "title": "What name?" }]);
    let call = vec![ModelBlock::call("call_q", "request_user_input_async", json!({ "questions": questions }))];
    let world =
        World::new(ModelScript::turns([call, vec![ModelBlock::text("I go on.")], vec![ModelBlock::text("Thanks.")]])).await?;
    let newest = |new: &mut NewSession| new.model = Some("gpt-6.1-sol".to_owned());
    let mut agent = world.start_with("codex", "set up a database", newest).await?;
    let asked = agent.asks().await?;
    assert!(!asked.blocking && asked.questions[0].custom && asked.questions.len() == 2);
    assert_eq!(received(&world, "call_q").await?, r#"{"accepted":true}"#);
    assert_eq!(agent.finished().await?, "I go on.");
    assert_eq!(world.client.ask(&asked.id).await?.status, AskStatus::Pending, "the question stays pending after the turn");
    world.answer(&asked, &[&["SQLite"], &["payments"]]).await?;
    let words = format!("{DATABASE} SQLite\nWhat name? payments");
    world.model.wait_for("the answer", |record| record.request.last_user_text() == Some(words.as_str())).await?;
    assert_eq!(agent.finished().await?, "Thanks.");
    world.close().await
}

/// An MCP server on standard input and output whose tools ask: `deploy` with a form, `sign_in` with a link. Each tool
/// returns the response that it received.
const ASKING_SERVER: &str = r#"
const say = message => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
const schema = { type: "object", properties: { env: { type: "string", enum: ["staging", "prod"] },
    count: { type: "integer", minimum: 1, maximum: 5 } }, required: ["env"] };
const asks = {
    deploy: { mode: "form", message: "Where should I deploy?", requestedSchema: schema },
    sign_in: { mode: "url", message: "Sign in please", url: "https://example.test/login", elicitationId: "e-1" },
};
const calls = new Map();
require("readline").createInterface({ input: process.stdin }).on("line", line => {
    const { id, method, params, result } = JSON.parse(line);
    if (method === "initialize") {
        say({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "demo", version: "1" } } });
    } else if (method === "tools/list") {
        const tool = name => ({ name, description: name, inputSchema: { type: "object", properties: {} }, annotations: { readOnlyHint: true } });
        const plain = { name: "plain", description: "says that it ran", inputSchema: { type: "object", properties: {} } };
        say({ id, result: { tools: [...Object.keys(asks).map(tool), plain] } });
    } else if (method === "tools/call" && params.name === "plain") {
        say({ id, result: { content: [{ type: "text", text: "plain ran" }] } });
    } else if (method === "tools/call") {
        calls.set("ask-" + id, id);
        say({ id: "ask-" + id, method: "elicitation/create", params: asks[params.name] });
    } else if (method === undefined && calls.has(id)) {
        say({ id: calls.get(id), result: { content: [{ type: "text", text: JSON.stringify(result) }] } });
    } else if (id !== undefined) {
        say({ id, result: {} });
    }
});
"#;

/// A world whose Codex uses that MCP server.
async fn with_asking_server(script: ModelScript) -> Result<World> {
    let world = World::new(script).await?;
    let program = world.home.path().join("asking.js");
    std::fs::write(&program, ASKING_SERVER)?;
    configure(&world, &format!("[mcp_servers.demo]\ncommand = {:?}\nargs = [{program:?}]\n", installed().node))?;
    Ok(world)
}

/// Appends to the configuration of Codex.
fn configure(world: &World, more: &str) -> Result<()> {
    let config = world.home.path().join(".codex/config.toml");
    std::fs::write(&config, format!("{}\n{more}", std::fs::read_to_string(&config)?))?;
    Ok(())
}

#[tokio::test]
async fn request_for_more_access_is_approved_or_denied() -> Result<()> {
    let call = |id: &str| {
        let wanted = json!({ "file_system": { "write": ["/var/out"] }, "network": { "enabled": true } });
        vec![ModelBlock::call(id, "request_permissions", json!({ "reason": "build output", "permissions": wanted }))]
    };
    let world = World::new(ModelScript::turns([call("call_1"), call("call_2"), vec![ModelBlock::text("Done.")]])).await?;
    configure(&world, "[features]\nrequest_permissions_tool = true\n")?;
    let mut agent = world.start("codex", "build it").await?;
    let asked = agent.asks().await?;
    let approval = asked.approval.as_ref().context("an approval")?;
    assert_eq!(approval.title, "Grant more access: use the network, write /var/out");
    denied(&world, &asked).await?;
    let told = received(&world, "call_1").await?;
    assert!(!told.contains("/var/out") && told.contains("permissions"), "{told}");
    let asked = agent.asks().await?;
    world.approve(&asked).await?;
    let told = received(&world, "call_2").await?;
    assert!(told.contains("/var/out") && told.contains(r#""scope":"turn""#), "{told}");
    assert_eq!(agent.finished().await?, "Done.");
    world.close().await
}

#[tokio::test]
async fn form_and_link_of_an_mcp_server_are_answered() -> Result<()> {
    let call = |id: &str, tool: &str| vec![ModelBlock::call(id, format!("mcp__demo__{tool}"), json!({}))];
    let turns = [call("call_1", "deploy"), call("call_2", "deploy"), call("call_3", "sign_in"), vec![ModelBlock::text("Done.")]];
    let world = with_asking_server(ModelScript::turns(turns)).await?;
    let mut agent = world.start("codex", "deploy it").await?;
    let asked = agent.asks().await?;
    let keys: Vec<&str> = asked.questions.iter().filter_map(|question| question.key.as_deref()).collect();
    assert_eq!(keys, ["count", "env"], "{asked:?}");
    assert!(world.answer(&asked, &[&["9"], &["prod"]]).await.is_err(), "Codex does not validate, Sayso does");
    world.answer(&asked, &[&["2"], &["staging"]]).await?;
    let told = received(&world, "call_1").await?;
    assert!(told.contains("accept") && told.contains("staging") && told.contains('2'), "{told}");
    let asked = agent.asks().await?;
    world.client.reject(&asked.id, &NoRequest::default()).await?;
    let told = received(&world, "call_2").await?;
    assert!(told.contains("decline"), "{told}");
    let asked = agent.asks().await?;
    assert_eq!(asked.link.as_ref().context("a link")?.url, "https://example.test/login");
    world.approve(&asked).await?;
    let told = received(&world, "call_3").await?;
    assert!(told.contains("accept"), "{told}");
    assert_eq!(agent.finished().await?, "Done.");
    world.close().await
}

#[tokio::test]
async fn mcp_tool_call_needs_an_approval() -> Result<()> {
    let call = |id: &str| vec![ModelBlock::call(id, "mcp__demo__plain", json!({}))];
    let world = with_asking_server(ModelScript::turns([call("call_1"), call("call_2"), vec![ModelBlock::text("Done.")]])).await?;
    let mut agent = world.start("codex", "use it").await?;
    let asked = agent.asks().await?;
    let approval = asked.approval.as_ref().context("an approval")?;
    assert_eq!((approval.action, approval.tool.as_str()), (ActionKind::Mcp, "mcp__demo__plain"));
    denied(&world, &asked).await?;
    let told = received(&world, "call_1").await?;
    assert!(told.contains("rejected"), "{told}");
    let asked = agent.asks().await?;
    world.approve(&asked).await?;
    let told = received(&world, "call_2").await?;
    assert!(told.contains("plain ran"), "{told}");
    assert_eq!(agent.finished().await?, "Done.");
    world.close().await
}

#[tokio::test]
async fn interrupt_withdraws_pending_asks_and_the_session_continues() -> Result<()> {
    let world = World::new(script(run("call_1", "touch a.txt"))).await?;
    let mut agent = world.start("codex", "make a file").await?;
    let asked = agent.asks().await?;
    world.client.interrupt(agent.session()).await?;
    agent.watch().until("the withdrawal", |event| event.name() == "approval.resolved").await?;
    assert_eq!(world.client.ask(&asked.id).await?.status, AskStatus::Withdrawn);
    assert!(world.approve(&asked).await.is_err());
    agent.watch().until("the end of the turn", |event| event.event.data_json().contains("idle")).await?;
    world.client.message(agent.session(), "go on", IfPending::Refuse).await?;
    let record = world.model.wait_for("the next prompt", |record| record.request.last_user_text() == Some("go on")).await?;
    assert!(record.request.body.to_string().contains("aborted by user"), "the model sees that the turn was stopped");
    assert!(!exists(&world, "a.txt"));
    world.close().await
}

#[tokio::test]
async fn parallel_sessions_receive_their_own_answers() -> Result<()> {
    let world = World::new(ModelScript::by_word([
        ("first", vec![run("call_1", "touch a.txt"), vec![ModelBlock::text("One done.")]]),
        ("second", vec![run("call_2", "touch b.txt"), vec![ModelBlock::text("Two done.")]]),
    ]))
    .await?;
    // Codex creates its database at its first start, which must not happen twice at the same time.
    let mut one = world.start("codex", "first").await?;
    let of_one = one.asks().await?;
    let mut two = world.start("codex", "second").await?;
    let of_two = two.asks().await?;
    assert_eq!(of_one.approval.as_ref().context("an approval")?.title, "touch a.txt");
    denied(&world, &of_two).await?;
    world.approve(&of_one).await?;
    assert_eq!((one.finished().await?, two.finished().await?), ("One done.".to_owned(), "Two done.".to_owned()));
    assert!(exists(&world, "a.txt") && !exists(&world, "b.txt"));
    world.close().await
}

#[tokio::test]
async fn answer_and_approval_reach_codex_after_a_server_kill() -> Result<()> {
    let mut world =
        World::new(ModelScript::turns([which_database(), run("call_1", "touch a.txt"), vec![ModelBlock::text("Done.")]])).await?;
    let mut agent = world.start("codex", "set up a database").await?;
    let asked = agent.asks().await?;
    world.server.kill9().await?;
    world.server.start_again().await?;
    world.answer(&asked, &[&["PostgreSQL"]]).await?;
    assert_eq!(received(&world, "call_q").await?, r#"{"answers":{"db":{"answers":["PostgreSQL"]}}}"#);
    let asked = agent.asks().await?;
    world.server.kill9().await?;
    world.server.start_again().await?;
    world.approve(&asked).await?;
    let told = received(&world, "call_1").await?;
    assert!(told.contains("Process exited with code 0"), "{told}");
    assert_eq!(agent.finished().await?, "Done.");
    world.close().await
}

#[tokio::test]
async fn question_is_parked_and_approval_withdrawn_when_codex_dies() -> Result<()> {
    let world = World::new(ModelScript::by_word([
        ("file", vec![run("call_1", "touch a.txt")]),
        ("database", vec![which_database()]),
        ("PostgreSQL", vec![vec![ModelBlock::text("Thanks.")]]),
    ]))
    .await?;
    let mut agent = world.start("codex", "make a file").await?;
    let approval = agent.asks().await?;
    kill_agent(&world)?;
    agent.watch().until("the withdrawal", |event| event.name() == "approval.resolved").await?;
    assert_eq!(world.client.ask(&approval.id).await?.status, AskStatus::Withdrawn);
    assert!(world.approve(&approval).await.is_err());

    let mut agent = world.start("codex", "set up a database").await?;
    let asked = agent.asks().await?;
    kill_agent(&world)?;
    agent.watch().until("the question to be parked", |event| event.name() == "ask.parked").await?;
    let session = world.client.session(agent.session()).await?;
    assert!(session.status == SessionStatus::Failed && session.resumable, "{session:?}");
    world.answer(&asked, &[&["PostgreSQL"]]).await?;
    let said = |text: &str| text.contains(DATABASE) && text.contains("PostgreSQL");
    let record = world.model.wait_for("the follow-up", |record| record.request.last_user_text().is_some_and(said)).await?;
    assert!(record.request.body.to_string().contains("set up a database"), "the conversation is the same");
    world.becomes(&asked, "delivered", |ask| ask.delivery == Some(Delivery::Delivered)).await?;
    assert!(!exists(&world, "a.txt"));
    world.close().await
}

#[tokio::test]
async fn model_error_is_reported_and_the_session_continues() -> Result<()> {
    let world = World::new(ModelScript::choose(|request| match request.last_user_text() {
        Some("go on") => ModelReply::text("Here again."),
        _ => ModelReply::Fail { status: 400, message: "the model is unwell".to_owned() },
    }))
    .await?;
    let mut agent = world.start("codex", "hello").await?;
    let error = agent.watch().until("the error", |event| event.name() == "error").await?;
    assert!(error.event.data_json().contains("the model is unwell"), "{}", error.event.data_json());
    agent.watch().until("the end of the turn", |event| event.event.data_json().contains("idle")).await?;
    world.client.message(agent.session(), "go on", IfPending::Refuse).await?;
    assert_eq!(agent.finished().await?, "Here again.");
    world.close().await
}
