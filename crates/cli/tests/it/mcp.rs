//! `sayso mcp`: the tools on standard input and output, while the server restarts.

use anyhow::{Context as _, Result};
use sayso_client::Client;
use sayso_client::api::ask::{AnswerRequest, Ask, AskStatus, Reach};
use sayso_client::api::token::{NewToken, Role};
use sayso_testkit::mcp::{Era, McpClient, text};
use sayso_testkit::{ServerProcess, Watch, within};
use serde_json::{Value, json};
use tempfile::TempDir;

fn database_question() -> Value {
    json!({ "questions": [{ "question": "Which database?", "options": ["SQLite", "PostgreSQL"] }] })
}

/// A server, and a token for agents.
struct World {
    server: ServerProcess,
    client: Client,
    token: String,
    _dir: TempDir,
}

impl World {
    async fn new() -> Result<Self> {
        let dir = TempDir::with_prefix("sayso-mcp-")?;
        let server = ServerProcess::start(dir.path()).await?;
        let client = server.client()?;
        let new = NewToken::new(Role::Agent, "mcp");
        let token = client.create_token(&new).await?.token.context("a token")?;
        Ok(Self { server, client, token, _dir: dir })
    }

    async fn connect(&self, era: Era) -> Result<McpClient> {
        let mut command = self.server.command()?;
        command.arg("mcp").env("SAYSO_AGENT_TOKEN", &self.token).current_dir(self.server.project());
        McpClient::stdio(command, era, "codex-mcp-client").await
    }

    /// Waits for a pending ask.
    async fn pending(&self) -> Result<Ask> {
        let mut watch = Watch::start(&self.client).await?;
        loop {
            if let Some(ask) = self.client.pending_asks().await?.data.pop() {
                return Ok(ask);
            }
            watch.until("an ask", |event| event.name().ends_with(".requested")).await?;
        }
    }

    async fn answer(&self, ask: &Ask, entry: &str) -> Result<()> {
        self.client.answer(&ask.id, &AnswerRequest { answers: vec![vec![entry.to_owned()]], note: None }).await?;
        Ok(())
    }
}

#[tokio::test]
async fn answer_returns_to_the_call_and_the_session_is_known() -> Result<()> {
    let world = World::new().await?;
    for era in Era::BOTH {
        let agent = world.connect(era).await?;
        let call = agent.start("ask_user", database_question()).await?;
        let ask = world.pending().await?;
        assert_eq!(ask.agent, "codex");
        let project = world.server.project().canonicalize()?;
        assert_eq!(ask.project.as_deref(), project.to_str());
        let session = world.client.session(ask.session_id.as_deref().context("a session")?).await?;
        assert!(session.external && session.native_id.is_some_and(|id| id.starts_with("mcp-")));
        world.answer(&ask, "PostgreSQL").await?;
        let result = within("the answer", call.result()).await?;
        assert_eq!(result.structured_content, Some(json!({ "status": "answered", "answers": [["PostgreSQL"]] })));
        let told = agent.progress();
        assert_eq!(told.first().and_then(|told| told.message.as_deref()), Some("Waiting for a person"));
        agent.close().await?;
    }
    Ok(())
}

#[tokio::test]
async fn waiting_call_survives_server_kill_and_restart() -> Result<()> {
    let mut world = World::new().await?;
    let agent = world.connect(Era::Stateless).await?;
    let call = agent.start("ask_user", database_question()).await?;
    let ask = world.pending().await?;
    world.server.kill9().await?;
    world.server.start_again().await?;
    assert_eq!(world.client.ask(&ask.id).await?.status, AskStatus::Pending);
    world.server.terminate().await?;
    world.server.start_again().await?;
    world.answer(&ask, "SQLite").await?;
    let result = within("the answer", call.result()).await?;
    assert_eq!(result.structured_content.context("content")?["answers"], json!([["SQLite"]]));
    assert_eq!(world.client.pending_asks().await?.data.len(), 0, "no ask was opened twice");

    // The same for an ask that is opened while no server is running.
    world.server.terminate().await?;
    let call = agent.start("ask_user", json!({ "questions": [{ "question": "Still there?" }] })).await?;
    world.server.start_again().await?;
    let ask = world.pending().await?;
    world.answer(&ask, "yes").await?;
    let result = within("the answer", call.result()).await?;
    assert_eq!(result.structured_content.context("content")?["answers"], json!([["yes"]]));
    agent.close().await
}

#[tokio::test]
async fn restarted_process_finds_its_question_again() -> Result<()> {
    let world = World::new().await?;
    let agent = world.connect(Era::Sessions).await?;
    let call = agent.start("ask_user", database_question()).await?;
    let first = world.pending().await?;
    agent.kill().await?;
    drop(call);
    let mut watch = Watch::start(&world.client).await?;
    while world.client.ask(&first.id).await?.reach != Some(Reach::Parked) {
        watch.until("the parking", |event| event.name() == "ask.parked").await?;
    }
    let agent = world.connect(Era::Sessions).await?;
    let call = agent.start("ask_user", database_question()).await?;
    watch.until("the return", |event| event.name() == "ask.parked" && event.event.data_json().contains("live")).await?;
    assert_eq!(world.pending().await?.id, first.id);
    world.answer(&first, "SQLite").await?;
    let result = within("the answer", call.result()).await?;
    assert_eq!(result.structured_content.context("content")?["answers"], json!([["SQLite"]]));
    agent.close().await
}

#[tokio::test]
async fn approval_is_withdrawn_when_its_agent_ends() -> Result<()> {
    let world = World::new().await?;
    let agent = world.connect(Era::Stateless).await?;
    let bash = json!({ "tool_name": "Bash", "input": { "command": "make deploy" }, "tool_use_id": "toolu_1" });
    let call = agent.start("approve", bash).await?;
    let ask = world.pending().await?;
    drop(call);
    agent.close().await?;
    let ended = within("the withdrawal", async { Ok(world.client.wait_for_outcome(&ask.id).await?) }).await?;
    assert_eq!(ended.status, AskStatus::Withdrawn);
    Ok(())
}

#[tokio::test]
async fn agent_token_file_is_found() -> Result<()> {
    let world = World::new().await?;
    let file = world.server.data_dir().join("agent-token");
    std::fs::write(&file, format!("{}\n", world.token))?;
    for named in [None, Some(&file)] {
        let mut command = world.server.command()?;
        command.arg("mcp").env("CLAUDECODE", "1");
        if let Some(file) = named {
            command.arg("--token-file").arg(file).env("SAYSO_AGENT_TOKEN", "another");
        }
        let agent = McpClient::stdio(command, Era::Stateless, "claude-code").await?;
        let call = agent.start("ask_user", database_question()).await?;
        let ask = world.pending().await?;
        world.answer(&ask, "SQLite").await?;
        assert_eq!(within("the answer", call.result()).await?.is_error, Some(false));
        agent.close().await?;
    }
    Ok(())
}

#[tokio::test]
async fn missing_token_error_explains_how_to_create_one() -> Result<()> {
    let world = World::new().await?;
    let mut command = world.server.command()?;
    command.arg("mcp").env("CLAUDECODE", "1");
    let agent = McpClient::stdio(command, Era::Stateless, "claude-code").await?;
    assert_eq!(agent.tools().await?.len(), 4);
    let result = agent.call("ask_user", database_question()).await?;
    assert!(result.is_error == Some(true) && text(&result).contains("no token for you"), "{result:?}");
    let result = agent.call("approve", json!({ "tool_name": "Bash", "input": {} })).await?;
    assert_eq!(serde_json::from_str::<Value>(text(&result))?["behavior"], "deny");
    agent.close().await
}
