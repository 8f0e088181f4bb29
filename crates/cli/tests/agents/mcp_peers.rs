//! The MCP server tested with the official TypeScript clients and the official conformance suite.

use std::time::Duration;

use anyhow::{Context as _, Result};
use sayso_client::api::ask::{AnswerRequest, Ask};
use sayso_client::api::token::{NewToken, Role};
use sayso_testkit::agents::require_isolation;
use sayso_testkit::mcp::{McpProxy, peers};
use sayso_testkit::{TestServer, Watch};
use serde_json::{Value, json};

async fn agent_token(server: &TestServer) -> Result<String> {
    let new = NewToken::new(Role::Agent, "mcp");
    server.client().create_token(&new).await?.token.context("a token")
}

async fn pending(server: &TestServer) -> Result<Ask> {
    let mut watch = Watch::start(&server.client()).await?;
    loop {
        if let Some(ask) = server.client().pending_asks().await?.data.pop() {
            return Ok(ask);
        }
        watch.until("an ask", |event| event.name() == "question.requested").await?;
    }
}

/// Asks with an official client. The person answers after this time.
async fn asked_and_answered(who: &str, after: Duration) -> Result<Value> {
    require_isolation();
    let server = TestServer::start().await?;
    let token = agent_token(&server).await?;
    let questions = json!({ "questions": [{ "question": "Which database?", "options": [{ "label": "SQLite" }] }] });
    let url = format!("{}/mcp", server.url());
    let client = peers().client(who, &url, &token, "ask_user", &questions)?.spawn()?;
    let ask = pending(&server).await?;
    assert_eq!(ask.agent, format!("ts-{who}"));
    tokio::time::sleep(after).await;
    let answer = AnswerRequest { answers: vec![vec!["SQLite".to_owned()]], note: None };
    server.client().answer(&ask.id, &answer).await?;
    let said = client.wait_with_output().await?;
    let said: Value = serde_json::from_slice(&said.stdout).context("the client printed no result")?;
    assert_eq!(said["result"]["structuredContent"], json!({ "status": "answered", "answers": [["SQLite"]] }), "{said}");
    Ok(said)
}

#[tokio::test]
async fn older_library_receives_an_answer_in_a_session() -> Result<()> {
    let said = asked_and_answered("sdk", Duration::ZERO).await?;
    assert!(said["session"].is_string() && said["heard"][0] == 1, "{said}");
    Ok(())
}

#[tokio::test]
async fn newer_library_receives_an_answer_without_a_session() -> Result<()> {
    let said = asked_and_answered("client", Duration::ZERO).await?;
    assert!(said["session"].is_null() && said["heard"][0] == 1, "{said}");
    Ok(())
}

#[tokio::test]
async fn progress_keeps_clients_waiting_beyond_their_timeout() -> Result<()> {
    let (older, newer) =
        tokio::join!(asked_and_answered("sdk", Duration::from_secs(185)), asked_and_answered("client", Duration::from_secs(185)));
    for said in [older?, newer?] {
        let heard = said["heard"].as_array().context("progress")?;
        assert!(heard.len() >= 12, "every 15 seconds: {heard:?}");
    }
    Ok(())
}

/// These scenarios need tools of a test server and are expected to fail.
const FIXTURES: &[&str] = &["test_missing_capability", "test_streaming_elicitation", "test_logging_tool"];

#[tokio::test]
async fn official_conformance_suite_passes() -> Result<()> {
    require_isolation();
    let server = TestServer::start().await?;
    let proxy = McpProxy::start(&server.url(), &agent_token(&server).await?).await?;
    let mut wrong = Vec::new();
    for scenario in [
        "server-initialize",
        "server-session-lifecycle",
        "ping",
        "tools-list",
        "dns-rebinding-protection",
        "caching",
        "http-header-validation",
        "server-sse-multiple-streams",
        "server-sse-polling",
        "server-stateless",
    ] {
        let checks = peers().conformance(&proxy.url(), scenario).await?;
        assert!(checks.iter().any(|check| check.status == "SUCCESS"), "{scenario}: {checks:?}");
        let failed = checks.into_iter().filter(|check| check.status == "FAILURE");
        wrong.extend(
            failed.filter(|check| !FIXTURES.iter().any(|tool| check.error.contains(tool))).map(|check| (scenario, check)),
        );
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    Ok(())
}
