//! Each real agent with the mock model: what a person answers reaches the agent's model. The server's tests with real
//! agents depend on this.
//!
//! These tests need isolation from the network (`scripts/isolated.sh`), so a plain `cargo test` does not run them:
//!
//! ```text
//! scripts/agents.sh
//! scripts/isolated.sh cargo test --offline --package sayso-testkit --test agents
//! ```

mod claude;
mod claude_acp;
mod gemini;

use anyhow::{Context as _, Result};
use sayso_testkit::agents::{Home, Host, Installed, installed, require_isolation};
use sayso_testkit::models::{MockModel, ModelScript};
use serde_json::{Value, json};

/// The common setup of all tests here.
async fn set_up(script: ModelScript) -> Result<(&'static Installed, MockModel, Home)> {
    require_isolation();
    Ok((installed(), MockModel::start(script).await?, Home::new()?))
}

/// The input of Claude's question tool.
fn which_database() -> Value {
    json!({"questions": [{
        "question": "Which database should we use?", "header": "Database", "multiSelect": false,
        "options": [{"label": "SQLite", "description": "a file"}, {"label": "PostgreSQL", "description": "a server"}],
    }]})
}

/// Calls a method of an ACP agent and returns its result.
async fn call(agent: &mut Host, id: u64, method: &str, params: Value) -> Result<Value> {
    agent.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await?;
    let reply = agent.until(method, |message| message["id"] == id && message.get("method").is_none()).await?;
    anyhow::ensure!(reply.get("error").is_none(), "{method} failed: {reply}");
    Ok(reply["result"].clone())
}

/// Opens an ACP session in a directory, as a host that supports forms.
async fn open_session(agent: &mut Host, home: &Home) -> Result<String> {
    let capabilities = json!({"elicitation": {"form": {}, "url": {}}});
    let client = json!({"name": "sayso-testkit", "version": "0.1.0"});
    let hello = json!({"protocolVersion": 1, "clientCapabilities": capabilities, "clientInfo": client});
    let welcome = call(agent, 0, "initialize", hello).await?;
    assert_eq!(welcome["protocolVersion"], 1);
    let session = call(agent, 1, "session/new", json!({"cwd": home.project(), "mcpServers": []})).await?;
    Ok(session["sessionId"].as_str().context("a session has an id")?.to_owned())
}

/// Prompts an ACP agent and returns its first request.
async fn prompt(agent: &mut Host, session: &str, text: &str, method: &str) -> Result<Value> {
    let params = json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]});
    agent.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "session/prompt", "params": params})).await?;
    agent.until(method, |message| message["method"] == method).await
}

/// Answers a request of an ACP agent and waits for the end of its turn.
async fn answer(agent: &mut Host, request: &Value, result: Value) -> Result<()> {
    agent.send(&json!({"jsonrpc": "2.0", "id": request["id"], "result": result})).await?;
    let end = agent.until("the end of the turn", |message| message["id"] == 2 && message.get("method").is_none()).await?;
    assert_eq!(end["result"]["stopReason"], "end_turn", "{end}");
    Ok(())
}
