//! Real agents that speak ACP: claude-agent-acp and Gemini CLI.

use anyhow::{Context as _, Result};
use sayso_client::api::ask::{ActionKind, AskStatus, Delivery};
use sayso_client::api::session::{IfPending, SessionStatus};
use sayso_testkit::models::{ModelBlock, ModelScript, ModelTurn};
use serde_json::json;

use crate::world::World;

const DATABASE: &str = "Which database should we use?";

fn which_database() -> ModelTurn {
    let options =
        [json!({ "label": "SQLite", "description": "a file" }), json!({ "label": "PostgreSQL", "description": "a server" })];
    let question = json!({ "question": DATABASE, "header": "Database", "multiSelect": false, "options": options });
    vec![ModelBlock::text("I need to know."), ModelBlock::call("toolu_q", "AskUserQuestion", json!({ "questions": [question] }))]
}

fn bash(id: &str, command: &str) -> ModelTurn {
    vec![ModelBlock::call(id, "Bash", json!({ "command": command, "description": "make a file" }))]
}

fn script(turn: ModelTurn) -> ModelScript {
    ModelScript::turns([turn, vec![ModelBlock::text("Done.")]])
}

#[tokio::test]
async fn claude_acp_receives_an_answer() -> Result<()> {
    let world = World::new(script(which_database())).await?;
    let mut agent = world.start("claude-acp", "set up a database").await?;
    let asked = agent.asks().await?;
    assert_eq!((asked.questions.len(), asked.questions[0].text.as_str()), (1, DATABASE));
    assert!(asked.questions[0].custom, "the free-text field is part of the question");
    world.answer(&asked, &[&["PostgreSQL"]]).await?;
    let told = world.model.result_of("toolu_q").await?;
    assert!(!told.is_error && told.text.contains(&format!("\"{DATABASE}\"=\"PostgreSQL\"")), "{told:?}");
    assert_eq!(agent.finished().await?, "Done.");
    assert_eq!(world.client.ask(&asked.id).await?.delivery, Some(Delivery::Confirmed));
    world.close().await
}

#[tokio::test]
async fn claude_acp_receives_free_text_and_a_rejection() -> Result<()> {
    let world = World::new(script(which_database())).await?;
    let mut agent = world.start("claude-acp", "set up a database").await?;
    let asked = agent.asks().await?;
    world.answer(&asked, &[&["DuckDB please"]]).await?;
    let told = world.model.result_of("toolu_q").await?;
    assert!(told.text.contains("DuckDB please"), "{told:?}");
    agent.finished().await?;
    world.close().await?;

    let world = World::new(script(which_database())).await?;
    let mut agent = world.start("claude-acp", "set up a database").await?;
    let asked = agent.asks().await?;
    world.client.reject(&asked.id, &sayso_client::api::ask::NoRequest::default()).await?;
    let told = world.model.result_of("toolu_q").await?;
    assert!(!told.is_error && told.text.contains("did not answer"), "{told:?}");
    assert_eq!(agent.finished().await?, "Done.");
    world.close().await
}

#[tokio::test]
async fn claude_acp_runs_only_approved_commands() -> Result<()> {
    let turns = [bash("toolu_1", "touch a.txt"), bash("toolu_2", "touch b.txt"), vec![ModelBlock::text("Done.")]];
    let world = World::new(ModelScript::turns(turns)).await?;
    let mut agent = world.start("claude-acp", "make files").await?;
    let asked = agent.asks().await?;
    let approval = asked.approval.as_ref().context("an approval")?;
    assert_eq!(approval.action, ActionKind::Run);
    assert!(serde_json::to_string(&approval.preview)?.contains("touch a.txt"));
    world.approve(&asked).await?;
    let asked = agent.asks().await?;
    world.client.deny(&asked.id, &sayso_client::api::ask::NoRequest::default()).await?;
    agent.finished().await?;
    let told = world.model.result_of("toolu_2").await?;
    assert!(told.is_error && told.text.contains("refused permission"), "{told:?}");
    assert!(world.home.project().join("a.txt").exists() && !world.home.project().join("b.txt").exists());
    world.close().await
}

#[tokio::test]
async fn claude_acp_session_continues_after_an_interrupt() -> Result<()> {
    let world = World::new(script(which_database())).await?;
    let mut agent = world.start("claude-acp", "set up a database").await?;
    let asked = agent.asks().await?;
    world.client.interrupt(agent.session()).await?;
    agent.watch().until("the withdrawal", |event| event.name() == "question.resolved").await?;
    assert_eq!(world.client.ask(&asked.id).await?.status, AskStatus::Withdrawn);
    agent.watch().until("the end of the turn", |event| event.event.data_json().contains("idle")).await?;
    assert_eq!(world.client.session(agent.session()).await?.status, SessionStatus::Idle);
    world.client.message(agent.session(), "go on", IfPending::Refuse).await?;
    world.model.wait_for("the next prompt", |record| record.request.last_user_text() == Some("go on")).await?;
    world.close().await
}

#[tokio::test]
async fn claude_acp_receives_an_answer_after_a_server_kill() -> Result<()> {
    let mut world = World::new(script(which_database())).await?;
    let mut agent = world.start("claude-acp", "set up a database").await?;
    let asked = agent.asks().await?;
    world.server.kill9().await?;
    world.server.start_again().await?;
    world.answer(&asked, &[&["SQLite"]]).await?;
    let told = world.model.result_of("toolu_q").await?;
    assert!(told.text.contains("SQLite"), "{told:?}");
    assert_eq!(agent.finished().await?, "Done.");
    world.close().await
}

#[tokio::test]
async fn gemini_runs_only_approved_commands() -> Result<()> {
    let call = |id: &str, command: &str| {
        vec![ModelBlock::call(id, "run_shell_command", json!({ "command": command, "description": "make a file" }))]
    };
    let turns = [call("call_1", "touch a.txt"), call("call_2", "touch b.txt"), vec![ModelBlock::text("Done.")]];
    let world = World::new(ModelScript::turns(turns)).await?;
    let mut agent = world.start("gemini", "make files").await?;
    let asked = agent.asks().await?;
    let approval = asked.approval.as_ref().context("an approval")?;
    assert_eq!(approval.action, ActionKind::Run);
    assert!(serde_json::to_string(&approval)?.contains("touch a.txt"));
    world.approve(&asked).await?;
    // Gemini's first option allows everything for the session. If Sayso had chosen it, there would be no second ask.
    let asked = agent.asks().await?;
    world.client.deny(&asked.id, &sayso_client::api::ask::NoRequest::default()).await?;
    assert_eq!(agent.finished().await?, "Done.");
    let results: String = world.model.tool_results().iter().map(|result| result.text.clone()).collect();
    assert!(results.contains("canceled by the user"), "{results}");
    assert!(world.home.project().join("a.txt").exists() && !world.home.project().join("b.txt").exists());
    world.close().await
}
