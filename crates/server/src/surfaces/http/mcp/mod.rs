//! `/mcp`: both protocol versions over HTTP, for tokens that may open asks.

mod local_asks;

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use sayso_api::error::ErrorCode;
use sayso_core::id::TokenId;
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::auth::Permission;
use crate::surfaces::http::body::{BodyLimits, read_body};
use crate::surfaces::http::sse::StillAllowed;
use crate::surfaces::http::{ApiError, Authorized, MAX_BODY};
use crate::surfaces::mcp::{CallerGone, Tools};
use local_asks::LocalAsks;

/// The maximum number of client sessions of the older protocol version. A waiting call holds one.
const SESSIONS: usize = 4_096;
/// A session without messages for this long ends.
const SILENT: Duration = Duration::from_secs(86_400);

const SESSION: &str = "mcp-session-id";

/// What `/mcp` keeps between calls.
#[derive(Debug)]
pub(crate) struct McpSessions {
    sessions: Arc<LocalSessionManager>,
    /// The token of each session. A leaked session id is useless with another token.
    owners: Mutex<HashMap<String, TokenId>>,
}

impl Default for McpSessions {
    fn default() -> Self {
        let mut sessions = LocalSessionManager::default();
        // The library's default would end calls after five minutes of waiting.
        sessions.session_config.keep_alive = Some(SILENT);
        Self { sessions: Arc::new(sessions), owners: Mutex::default() }
    }
}

impl McpSessions {
    fn owners(&self) -> std::sync::MutexGuard<'_, HashMap<String, TokenId>> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes entries of sessions that have ended, and returns whether there is room for another one.
    async fn has_room(&self) -> bool {
        if self.owners().len() < SESSIONS {
            return true;
        }
        let alive = self.sessions.sessions.read().await;
        let mut owners = self.owners();
        owners.retain(|id, _| alive.contains_key(id.as_str()));
        owners.len() < SESSIONS
    }
}

fn session_of(headers: &HeaderMap) -> Option<String> {
    headers.get(SESSION)?.to_str().ok().map(str::to_owned)
}

fn service(app: &Arc<App>) -> StreamableHttpService<Tools<LocalAsks>, LocalSessionManager> {
    // The gate has already checked hosts and origins, for this route as for every other.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(MAX_BODY)
        .with_cancellation_token(app.runtime.stopping.clone());
    let tools = Tools::new(LocalAsks::new(Arc::clone(app)));
    StreamableHttpService::new(move || Ok(tools.clone()), Arc::clone(&app.mcp.sessions), config)
}

/// The handler of the route.
pub(crate) fn route(app: &Arc<App>) -> axum::routing::MethodRouter<Arc<App>> {
    let service = service(app);
    axum::routing::any(move |State(app): State<Arc<App>>, authorized: Authorized, request: Request| {
        let service = service.clone();
        async move { serve(&app, &service, authorized, request).await.unwrap_or_else(IntoResponse::into_response) }
    })
}

async fn serve(
    app: &Arc<App>,
    service: &StreamableHttpService<Tools<LocalAsks>, LocalSessionManager>,
    authorized: Authorized,
    request: Request,
) -> Result<Response, ApiError> {
    let token = authorized.may(Permission::Open)?.token;
    let session = session_of(request.headers());
    if let Some(session) = &session
        && app.mcp.owners().get(session).is_some_and(|owner| *owner != token)
    {
        return Err(ApiError::not_found("no such MCP session"));
    }
    if session.is_none() && !app.mcp.has_room().await {
        let busy = "too many MCP sessions are open; close some of them";
        return Err(ApiError::new(StatusCode::SERVICE_UNAVAILABLE, ErrorCode::LimitExceeded, busy));
    }
    let (parts, body) = request.into_parts();
    let mut request = Request::from_parts(parts, Body::from(read_body(body, BodyLimits::CALLER).await?));
    let gone = CancellationToken::new();
    let ends = request.method() == Method::DELETE;
    // A tool call ends by itself, with an explanation for the model.
    let allowed = (request.method() == Method::GET).then(|| authorized.still_allowed(app));
    request.extensions_mut().insert(authorized);
    request.extensions_mut().insert(CallerGone(gone.clone()));
    let guard = gone.drop_guard();
    let (parts, body) = service.handle(request).await.into_parts();
    match (session, session_of(&parts.headers)) {
        (Some(session), _) if ends => {
            app.mcp.owners().remove(&session);
        }
        (None, Some(new)) => {
            app.mcp.owners().insert(new, token);
        }
        (Some(_), _) | (None, None) => {}
    }
    Ok(Response::from_parts(parts, Body::new(HeldReply { body, allowed, _guard: guard })))
}

/// A response body that signals when it is dropped, so that the work for it can stop.
struct HeldReply<B> {
    body: B,
    /// The token check of a stream that only the server ends.
    allowed: Option<StillAllowed>,
    _guard: tokio_util::sync::DropGuard,
}

impl<B: HttpBody<Data = Bytes> + Unpin> HttpBody for HeldReply<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        if self.allowed.as_mut().is_some_and(|allowed| allowed.poll_end(cx).is_ready()) {
            return Poll::Ready(None);
        }
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
