//! A proxy for programs that cannot send a token.

use std::net::{Ipv4Addr, SocketAddr};

use anyhow::Result;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// Forwards all requests to a server with a token added. The host and origin headers stay unchanged. It stops when it
/// is dropped.
#[derive(Debug)]
pub struct McpProxy {
    address: SocketAddr,
    task: JoinHandle<()>,
}

#[derive(Debug, Clone)]
struct ProxyTarget {
    url: String,
    token: String,
    http: reqwest::Client,
}

impl McpProxy {
    /// Starts a proxy for the server at this URL.
    ///
    /// # Errors
    /// If no port is available.
    pub async fn start(url: &str, token: &str) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let http = sayso_net::client(url).build()?;
        let target = ProxyTarget { url: url.to_owned(), token: token.to_owned(), http };
        let router = Router::new().fallback(pass).with_state(target);
        let task = tokio::spawn(async move {
            // Serves until the task is aborted.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { address, task })
    }

    /// The URL of the MCP server through the proxy.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }
}

impl Drop for McpProxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn pass(State(target): State<ProxyTarget>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    let mut call = target.http.request(parts.method, format!("{}{path}", target.url));
    for (name, value) in &parts.headers {
        if name != "content-length" && name != "connection" && name != "transfer-encoding" {
            call = call.header(name, value);
        }
    }
    let Ok(bytes) = axum::body::to_bytes(body, usize::MAX).await else { return StatusCode::BAD_REQUEST.into_response() };
    match call.bearer_auth(&target.token).body(bytes).send().await {
        Ok(reply) => {
            let mut response = Response::builder().status(reply.status());
            for (name, value) in reply.headers() {
                if name != "transfer-encoding" && name != "connection" {
                    response = response.header(name, value);
                }
            }
            response.body(Body::from_stream(reply.bytes_stream())).unwrap_or_else(|_| StatusCode::BAD_GATEWAY.into_response())
        }
        Err(_) => StatusCode::BAD_GATEWAY.into_response(),
    }
}
