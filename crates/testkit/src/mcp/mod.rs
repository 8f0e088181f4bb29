//! An MCP client for tests: the official Rust one, over HTTP in both eras of the protocol, and on the standard input
//! and output of a program; the official TypeScript clients and conformance suite, and a proxy that lets them in.

mod peers;
mod proxy;

pub use peers::{ConformanceCheck, Peers, peers};
pub use proxy::McpProxy;

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, Implementation,
    ProgressNotificationParam, ProtocolVersion, ServerResult, Tool,
};
use rmcp::service::{NotificationContext, PeerRequestOptions, RequestHandle, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt as _, RoleClient};
use serde_json::Value;
use tokio::process::{Child, Command};

use crate::watch::within;

/// The two eras of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// With `initialize` and sessions, up to 2025-11-25.
    Sessions,
    /// Without either, from 2026-07-28 on.
    Stateless,
}

impl Era {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::Sessions, Self::Stateless];

    fn lifecycle(self) -> ClientLifecycleMode {
        match self {
            Self::Sessions => ClientLifecycleMode::Initialize,
            Self::Stateless => ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] },
        }
    }
}

/// What a client hears beside results.
#[derive(Debug, Clone)]
struct Ears {
    name: String,
    progress: Arc<Mutex<Vec<ProgressNotificationParam>>>,
}

impl ClientHandler for Ears {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(ClientCapabilities::default(), Implementation::new(self.name.clone(), "1.0.0"))
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).push(progress);
    }
}

/// A client that is connected. It hangs up when this is dropped.
#[derive(Debug)]
pub struct McpClient {
    running: RunningService<RoleClient, Ears>,
    progress: Arc<Mutex<Vec<ProgressNotificationParam>>>,
    child: Option<Child>,
}

/// A call that was not answered yet.
#[derive(Debug)]
pub struct McpCall(RequestHandle<RoleClient>);

impl McpClient {
    /// Connects over HTTP under this name.
    ///
    /// # Errors
    /// When the server does not take it.
    pub async fn http(url: &str, token: &str, era: Era, name: &str) -> Result<Self> {
        let config = StreamableHttpClientTransportConfig::with_uri(format!("{url}/mcp")).auth_header(token);
        let http = sayso_net::client(url).pool_max_idle_per_host(0).build()?;
        let (ears, progress) = ears(name);
        let transport = StreamableHttpClientTransport::with_client(http, config);
        let running =
            within("the MCP server", async { Ok(ears.serve_with_lifecycle(transport, era.lifecycle()).await?) }).await?;
        Ok(Self { running, progress, child: None })
    }

    /// Starts a program and speaks with it.
    ///
    /// # Errors
    /// When it does not start or does not speak MCP.
    pub async fn stdio(mut command: Command, era: Era, name: &str) -> Result<Self> {
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().context("the MCP server does not start")?;
        let pipes = (child.stdout.take().context("no stdout")?, child.stdin.take().context("no stdin")?);
        let (ears, progress) = ears(name);
        let running = within("the MCP server", async { Ok(ears.serve_with_lifecycle(pipes, era.lifecycle()).await?) }).await?;
        Ok(Self { running, progress, child: Some(child) })
    }

    /// The tools that are offered.
    ///
    /// # Errors
    /// When the server says no.
    pub async fn tools(&self) -> Result<Vec<Tool>> {
        Ok(self.running.list_all_tools().await?)
    }

    /// Calls a tool and does not wait.
    ///
    /// # Errors
    /// When the connection is gone.
    pub async fn start(&self, tool: &str, arguments: Value) -> Result<McpCall> {
        let Value::Object(arguments) = arguments else { anyhow::bail!("arguments are an object") };
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let options = PeerRequestOptions::no_options();
        Ok(McpCall(self.running.send_cancellable_request(CallToolRequest::new(params).into(), options).await?))
    }

    /// Calls a tool.
    ///
    /// # Errors
    /// When the protocol says no, or nothing comes in time.
    pub async fn call(&self, tool: &str, arguments: Value) -> Result<CallToolResult> {
        let call = self.start(tool, arguments).await?;
        within("the result of a tool", call.result()).await
    }

    /// What was told of progress so far.
    #[must_use]
    pub fn progress(&self) -> Vec<ProgressNotificationParam> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Kills the program without a word.
    ///
    /// # Errors
    /// When there is none.
    pub async fn kill(mut self) -> Result<()> {
        self.child.as_mut().context("it is no program")?.kill().await?;
        Ok(())
    }

    /// Hangs up.
    ///
    /// # Errors
    /// When the other side does not end.
    pub async fn close(mut self) -> Result<()> {
        self.running.close().await?;
        if let Some(child) = &mut self.child {
            within("the MCP server to end", async { Ok(child.wait().await?) }).await?;
        }
        Ok(())
    }
}

impl McpCall {
    /// Waits for the result.
    ///
    /// # Errors
    /// When the protocol says no.
    pub async fn result(self) -> Result<CallToolResult> {
        match self.0.await_response().await? {
            ServerResult::CallToolResult(result) => Ok(result),
            other => anyhow::bail!("no result of a tool: {other:?}"),
        }
    }

    /// Says that it is no longer wanted.
    ///
    /// # Errors
    /// When the connection is gone.
    pub async fn cancel(self) -> Result<()> {
        Ok(self.0.cancel(None).await?)
    }
}

/// The text of a result.
///
/// # Panics
/// When it has none.
#[must_use]
pub fn text(result: &CallToolResult) -> &str {
    match result.content.first().and_then(|block| block.as_text()) {
        Some(text) => &text.text,
        None => panic!("no text in {result:?}"),
    }
}

fn ears(name: &str) -> (Ears, Arc<Mutex<Vec<ProgressNotificationParam>>>) {
    let progress = Arc::default();
    (Ears { name: name.to_owned(), progress: Arc::clone(&progress) }, progress)
}
