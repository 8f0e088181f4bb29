//! MCP clients for tests: the official Rust client, over HTTP in both eras of the protocol, and over stdin and stdout
//! of a program; the official TypeScript clients and conformance suite; and a proxy that adds a token for them.

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
    /// Without `initialize` and sessions, since 2026-07-28.
    Stateless,
}

impl Era {
    pub const BOTH: [Self; 2] = [Self::Sessions, Self::Stateless];

    fn lifecycle(self) -> ClientLifecycleMode {
        match self {
            Self::Sessions => ClientLifecycleMode::Initialize,
            Self::Stateless => ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] },
        }
    }
}

/// The notifications that a client receives.
#[derive(Debug, Clone)]
struct McpListener {
    name: String,
    progress: Arc<Mutex<Vec<ProgressNotificationParam>>>,
}

impl ClientHandler for McpListener {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(ClientCapabilities::default(), Implementation::new(self.name.clone(), "1.0.0"))
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).push(progress);
    }
}

/// A connected client. It disconnects when it is dropped.
#[derive(Debug)]
pub struct McpClient {
    running: RunningService<RoleClient, McpListener>,
    progress: Arc<Mutex<Vec<ProgressNotificationParam>>>,
    child: Option<Child>,
}

/// A call without a reply.
#[derive(Debug)]
pub struct McpCall(RequestHandle<RoleClient>);

impl McpClient {
    /// Connects over HTTP with this client name.
    ///
    /// # Errors
    /// If the server refuses the connection.
    pub async fn http(url: &str, token: &str, era: Era, name: &str) -> Result<Self> {
        let config = StreamableHttpClientTransportConfig::with_uri(format!("{url}/mcp")).auth_header(token);
        let http = sayso_net::client(url).pool_max_idle_per_host(0).build()?;
        let (ears, progress) = listener(name);
        let transport = StreamableHttpClientTransport::with_client(http, config);
        let running =
            within("the MCP server", async { Ok(ears.serve_with_lifecycle(transport, era.lifecycle()).await?) }).await?;
        Ok(Self { running, progress, child: None })
    }

    /// Starts a program and connects to its stdin and stdout.
    ///
    /// # Errors
    /// If the program does not start or does not speak MCP.
    pub async fn stdio(mut command: Command, era: Era, name: &str) -> Result<Self> {
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().context("the MCP server does not start")?;
        let pipes = (child.stdout.take().context("no stdout")?, child.stdin.take().context("no stdin")?);
        let (ears, progress) = listener(name);
        let running = within("the MCP server", async { Ok(ears.serve_with_lifecycle(pipes, era.lifecycle()).await?) }).await?;
        Ok(Self { running, progress, child: Some(child) })
    }

    /// Lists the tools.
    ///
    /// # Errors
    /// If the server refuses the request.
    pub async fn tools(&self) -> Result<Vec<Tool>> {
        Ok(self.running.list_all_tools().await?)
    }

    /// Calls a tool without waiting for its result.
    ///
    /// # Errors
    /// If the connection is closed.
    pub async fn start(&self, tool: &str, arguments: Value) -> Result<McpCall> {
        let Value::Object(arguments) = arguments else { anyhow::bail!("arguments must be an object") };
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let options = PeerRequestOptions::no_options();
        Ok(McpCall(self.running.send_cancellable_request(CallToolRequest::new(params).into(), options).await?))
    }

    /// Calls a tool and waits for its result.
    ///
    /// # Errors
    /// If the call fails at the protocol level or times out.
    pub async fn call(&self, tool: &str, arguments: Value) -> Result<CallToolResult> {
        let call = self.start(tool, arguments).await?;
        within("the result of a tool", call.result()).await
    }

    /// The progress notifications so far.
    #[must_use]
    pub fn progress(&self) -> Vec<ProgressNotificationParam> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Kills the program without a shutdown.
    ///
    /// # Errors
    /// If the client is not connected to a program.
    pub async fn kill(mut self) -> Result<()> {
        self.child.as_mut().context("it is no program")?.kill().await?;
        Ok(())
    }

    /// Disconnects.
    ///
    /// # Errors
    /// If the program does not exit.
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
    /// If the call fails at the protocol level.
    pub async fn result(self) -> Result<CallToolResult> {
        match self.0.await_response().await? {
            ServerResult::CallToolResult(result) => Ok(result),
            other => anyhow::bail!("no result of a tool: {other:?}"),
        }
    }

    /// Cancels the call.
    ///
    /// # Errors
    /// If the connection is closed.
    pub async fn cancel(self) -> Result<()> {
        Ok(self.0.cancel(None).await?)
    }
}

/// The text of a result.
///
/// # Panics
/// If the result has no text.
#[must_use]
pub fn text(result: &CallToolResult) -> &str {
    match result.content.first().and_then(|block| block.as_text()) {
        Some(text) => &text.text,
        None => panic!("no text in {result:?}"),
    }
}

fn listener(name: &str) -> (McpListener, Arc<Mutex<Vec<ProgressNotificationParam>>>) {
    let progress = Arc::default();
    (McpListener { name: name.to_owned(), progress: Arc::clone(&progress) }, progress)
}
