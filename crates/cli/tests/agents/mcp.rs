//! The real Claude Code with Sayso as its MCP server, over standard input and output and over HTTP.

use std::process::Stdio;

use anyhow::{Context as _, Result};
use sayso_client::api::ask::AskStatus;
use sayso_client::api::token::{NewToken, Role};
use sayso_testkit::agents::installed;
use sayso_testkit::models::{ModelBlock, ModelScript, ModelTurn};
use sayso_testkit::{sayso_bin, within};
use serde_json::{Value, json};
use tokio::process::{Child, Command};

use crate::world::World;

const DATABASE: &str = "Which database should we use?";

fn question() -> Value {
    let options = json!([{ "label": "SQLite", "description": "a file" }, { "label": "PostgreSQL", "description": "a server" }]);
    json!([{ "question": DATABASE, "header": "Database", "multiSelect": false, "options": options }])
}

fn script(turn: ModelTurn) -> ModelScript {
    ModelScript::turns([turn, vec![ModelBlock::text("Done.")]])
}

/// The transport between Claude Code and Sayso.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Stdio,
    Http,
}

/// Starts `claude -p` with Sayso as an MCP server and with these arguments.
async fn claude(world: &World, way: Way, arguments: &[&str]) -> Result<Child> {
    let new = NewToken::new(Role::Agent, "mcp");
    let token = world.client.create_token(&new).await?.token.context("a token")?;
    let server = match way {
        Way::Stdio => json!({
            "type": "stdio", "command": sayso_bin()?, "args": ["mcp"],
            "env": { "SAYSO_URL": world.server.url(), "SAYSO_AGENT_TOKEN": token },
        }),
        Way::Http => json!({
            "type": "http", "url": format!("{}/mcp", world.server.url()),
            "headers": { "Authorization": format!("Bearer {token}") },
        }),
    };
    let config = world.home.path().join("mcp.json");
    std::fs::write(&config, json!({ "mcpServers": { "sayso": server } }).to_string())?;
    let mut command = Command::new(&installed().claude);
    command.env_clear().envs(world.home.claude(world.model.url())).current_dir(world.home.project());
    command.args(["-p", "do it", "--output-format", "json", "--strict-mcp-config", "--mcp-config"]).arg(config).args(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit()).kill_on_drop(true);
    Ok(command.spawn()?)
}

async fn ended(child: Child) -> Result<Value> {
    let said = within("Claude Code to end", async { Ok(child.wait_with_output().await?) }).await?;
    serde_json::from_slice(&said.stdout).with_context(|| String::from_utf8_lossy(&said.stdout).into_owned())
}

#[tokio::test]
async fn answer_to_ask_user_reaches_the_model() -> Result<()> {
    for way in [Way::Stdio, Way::Http] {
        let turn = vec![ModelBlock::call("toolu_q", "mcp__sayso__ask_user", json!({ "questions": question() }))];
        let world = World::new(script(turn)).await?;
        let child = claude(&world, way, &["--allowedTools", "mcp__sayso__ask_user"]).await?;
        let ask = world.pending().await?;
        assert_eq!((ask.agent.as_str(), ask.questions[0].text.as_str()), ("claude", DATABASE));
        if way == Way::Stdio {
            assert_eq!(ask.project.as_deref(), world.home.project().canonicalize()?.to_str());
        }
        world.answer(&ask, &[&["PostgreSQL"]]).await?;
        let told = world.model.result_of("toolu_q").await?;
        let said: Value = serde_json::from_str(&told.text)?;
        assert_eq!((told.is_error, said), (false, json!({ "status": "answered", "answers": [["PostgreSQL"]] })));
        assert_eq!(ended(child).await?["result"], "Done.");
        // The first request to the model already lists the tool.
        let records = world.model.records();
        let asked = records.iter().find(|record| record.request.last_user_text() == Some("do it")).context("a first request")?;
        assert!(asked.request.tools.iter().any(|tool| tool == "mcp__sayso__ask_user"), "{:?}", asked.request.tools);
        world.close().await?;
    }
    Ok(())
}

#[tokio::test]
async fn rejection_reaches_the_model_after_a_server_restart() -> Result<()> {
    let turn = vec![ModelBlock::call("toolu_q", "mcp__sayso__ask_user", json!({ "questions": question() }))];
    let mut world = World::new(script(turn)).await?;
    let child = claude(&world, Way::Stdio, &["--allowedTools", "mcp__sayso__ask_user"]).await?;
    let ask = world.pending().await?;
    world.server.kill9().await?;
    world.server.start_again().await?;
    world.deny(&ask, "Decide yourself.", false).await?;
    let told = world.model.result_of("toolu_q").await?;
    assert!(told.is_error && told.text.contains("Decide yourself."), "{told:?}");
    assert_eq!(ended(child).await?["result"], "Done.");
    world.close().await
}

const PROMPT_TOOL: [&str; 2] = ["--permission-prompt-tool", "mcp__sayso__approve"];

#[tokio::test]
async fn permission_prompt_tool_approves_edits_and_denies() -> Result<()> {
    for way in [Way::Stdio, Way::Http] {
        let bash = |id: &str, command: &str| {
            vec![ModelBlock::call(id, "Bash", json!({ "command": command, "description": "make a file" }))]
        };
        let turns = [bash("toolu_1", "touch a.txt"), bash("toolu_2", "touch b.txt"), bash("toolu_3", "touch c.txt")];
        let world = World::new(ModelScript::turns(turns.into_iter().chain([vec![ModelBlock::text("Done.")]]))).await?;
        let child = claude(&world, way, &PROMPT_TOOL).await?;
        let ask = world.pending().await?;
        let approval = ask.approval.as_ref().context("an approval")?;
        assert_eq!((approval.command.as_deref(), ask.tool_call_id.as_str()), (Some("touch a.txt"), "toolu_1"));
        world.approve(&ask).await?;
        world.model.result_of("toolu_1").await?;
        let ask = world.pending().await?;
        let input = json!({ "command": "touch changed.txt", "description": "make a file" });
        world
            .client
            .approve(&ask.id, &sayso_client::api::ask::ApproveRequest { input: Some(input), ..Default::default() })
            .await?;
        world.model.result_of("toolu_2").await?;
        let ask = world.pending().await?;
        world.deny(&ask, "Not this one.", false).await?;
        let told = world.model.result_of("toolu_3").await?;
        assert!(told.is_error && told.text.contains("Not this one."), "{told:?}");
        assert_eq!(ended(child).await?["result"], "Done.");
        let there = |name: &str| world.home.project().join(name).exists();
        assert_eq!([there("a.txt"), there("b.txt"), there("changed.txt"), there("c.txt")], [true, false, true, false]);
        world.close().await?;
    }
    Ok(())
}

#[tokio::test]
async fn permission_prompt_tool_answers_questions_and_stops_the_turn() -> Result<()> {
    let turns = [
        vec![ModelBlock::call("toolu_q", "AskUserQuestion", json!({ "questions": question() }))],
        vec![ModelBlock::call("toolu_1", "Bash", json!({ "command": "touch a.txt", "description": "make a file" }))],
        vec![ModelBlock::text("Never said.")],
    ];
    let world = World::new(ModelScript::turns(turns)).await?;
    let child = claude(&world, Way::Stdio, &PROMPT_TOOL).await?;
    let ask = world.pending().await?;
    assert_eq!(ask.questions[0].text, DATABASE);
    world.answer(&ask, &[&["SQLite"]]).await?;
    let told = world.model.result_of("toolu_q").await?;
    assert!(told.text.contains(&format!("\"{DATABASE}\"=\"SQLite\"")), "{told:?}");
    let ask = world.pending().await?;
    world.deny(&ask, "Enough.", true).await?;
    let said = within("Claude Code to end", async { Ok(child.wait_with_output().await?) }).await?;
    assert!(!said.status.success() && !String::from_utf8_lossy(&said.stdout).contains("Never said."));
    assert_eq!(world.client.ask(&ask.id).await?.status, AskStatus::Denied);
    assert!(!world.home.project().join("a.txt").exists());
    world.close().await
}
