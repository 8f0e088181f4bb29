//! `/acp`: the Agent Client Protocol over HTTP. The client posts its messages one by one and reads ours from streams of
//! server-sent events, one for the connection and one for each session.

mod local_sessions;
mod streams;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use sayso_agents::json_rpc::{self, Message};
use sayso_api::error::ErrorCode;
use sayso_core::id::TokenId;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use local_sessions::LocalSessions;
use streams::{NoStream, Streams};

use crate::app::App;
use crate::auth::Permission;
use crate::entropy;
use crate::surfaces::acp::{Conversation, Input, Line, Output, Setting, no_message, serve};
use crate::surfaces::http::body::{BodyLimits, read_body};
use crate::surfaces::http::{ApiError, Authorized};

/// The maximum number of connected clients.
const CONNECTIONS: usize = 1_024;
/// The maximum number of unprocessed messages of one client.
const LINES: usize = 16;
/// How long a message may wait for room in the queue.
const PATIENCE: Duration = Duration::from_secs(10);

const CONNECTION: HeaderName = HeaderName::from_static("acp-connection-id");
const SESSION: HeaderName = HeaderName::from_static("acp-session-id");

/// All connected clients.
#[derive(Debug, Default)]
pub(crate) struct AcpConnections {
    connections: Mutex<HashMap<String, AcpConnection>>,
}

/// One connected client. Its task ends when `leave` is cancelled.
#[derive(Debug, Clone)]
struct AcpConnection {
    /// The token of the client. A leaked connection id is useless with another token.
    owner: TokenId,
    lines: mpsc::Sender<Line>,
    streams: Arc<Streams>,
    leave: CancellationToken,
}

impl AcpConnections {
    fn connections(&self) -> MutexGuard<'_, HashMap<String, AcpConnection>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the connection that the headers name, if it belongs to this caller.
    fn find(&self, headers: &HeaderMap, authorized: &Authorized) -> Result<(String, AcpConnection), ApiError> {
        let id = value(headers, &CONNECTION).ok_or_else(|| ApiError::malformed("the header Acp-Connection-Id is missing"))?;
        let found = self.connections().get(id).filter(|found| found.owner == authorized.caller.token).cloned();
        let found = found.ok_or_else(|| ApiError::not_found("no such ACP connection; begin with initialize"))?;
        found.streams.seen();
        Ok((id.to_owned(), found))
    }
}

fn value<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok()).filter(|value| !value.is_empty())
}

/// The handlers of the route.
pub(crate) fn route() -> MethodRouter<Arc<App>> {
    get(listen).post(post_message).delete(leave)
}

async fn post_message(State(app): State<Arc<App>>, authorized: Authorized, request: Request) -> Result<Response, ApiError> {
    authorized.may(Permission::Answer)?;
    let (parts, body) = request.into_parts();
    let json = value(&parts.headers, &header::CONTENT_TYPE).is_some_and(|kind| kind.starts_with("application/json"));
    if !json {
        let detail = "send messages as application/json";
        return Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, ErrorCode::MalformedRequest, detail));
    }
    let body = read_body(body, BodyLimits::CALLER).await?;
    let text = String::from_utf8(body.to_vec()).map_err(|_| ApiError::malformed("the body is not UTF-8"))?;
    let begins = match json_rpc::read(&text) {
        Ok(Message::Request { method, .. }) => method == "initialize",
        Ok(Message::Notification { .. } | Message::Response { .. }) => false,
        // Malformed messages do not reach a connection.
        Err(unreadable) => {
            let kind = [(header::CONTENT_TYPE, "application/json")];
            return Ok((StatusCode::BAD_REQUEST, kind, no_message(&unreadable, &text)).into_response());
        }
    };
    if begins {
        return begin(&app, authorized, &text);
    }
    let (_, connection) = app.acp.find(&parts.headers, &authorized)?;
    let session = value(&parts.headers, &SESSION).map(str::to_owned);
    match connection.lines.send_timeout(Line { text, session }, PATIENCE).await {
        Ok(()) => Ok(StatusCode::ACCEPTED.into_response()),
        Err(mpsc::error::SendTimeoutError::Closed(_)) => Err(ApiError::not_found("the ACP connection has ended")),
        Err(mpsc::error::SendTimeoutError::Timeout(_)) => {
            let busy = "the connection is busy: read its streams, and send the message again";
            Err(ApiError::new(StatusCode::SERVICE_UNAVAILABLE, ErrorCode::LimitExceeded, busy))
        }
    }
}

/// Handles `initialize`, which creates the connection.
fn begin(app: &Arc<App>, authorized: Authorized, text: &str) -> Result<Response, ApiError> {
    let mut conversation = Conversation::new(Setting { agent: app.services.default_agent(), environment: None });
    let said = conversation.handle(Input::Line { text, session: None }).into_iter().find_map(|output| match output {
        Output::Send(frame) => Some(frame.line),
        Output::Call(_) | Output::Follow { .. } => None,
    });
    let (lines, mut inbox) = mpsc::channel(LINES);
    let (streams, leave) = (Streams::new(), app.runtime.stopping.child_token());
    let connection = AcpConnection { owner: authorized.caller.token, lines, streams: Arc::clone(&streams), leave: leave.clone() };
    let id = entropy::secret("");
    {
        let mut connections = app.acp.connections();
        if connections.len() >= CONNECTIONS {
            let busy = "too many ACP clients are connected; disconnect some of them";
            return Err(ApiError::new(StatusCode::SERVICE_UNAVAILABLE, ErrorCode::LimitExceeded, busy));
        }
        connections.insert(id.clone(), connection);
    }
    // The task ends when the client disconnects, its token is revoked or the server stops.
    let (app, own) = (Arc::clone(app), id.clone());
    tokio::spawn(async move {
        let revoked = authorized.caller.revoked();
        let sessions = LocalSessions::new(Arc::clone(&app), authorized);
        let gone = async {
            tokio::select! {
                () = streams.abandoned() => {}
                () = revoked => streams.end(),
            }
            leave.cancel();
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = serve(&mut conversation, &sessions, &mut inbox, &streams, &leave) => {}
            () = gone => {}
        }
        app.acp.connections().remove(&own);
        streams.end();
    });
    let reply = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    Ok(with_id((reply, said.unwrap_or_default()).into_response(), &id))
}

fn with_id(mut response: Response, id: &str) -> Response {
    if let Ok(id) = HeaderValue::from_str(id) {
        response.headers_mut().insert(CONNECTION, id);
    }
    response
}

async fn listen(State(app): State<Arc<App>>, authorized: Authorized, headers: HeaderMap) -> Result<Response, ApiError> {
    authorized.may(Permission::Answer)?;
    if !value(&headers, &header::ACCEPT).is_some_and(|accepted| accepted.contains("text/event-stream")) {
        let detail = "streams have the type text/event-stream; accept that type";
        return Err(ApiError::new(StatusCode::NOT_ACCEPTABLE, ErrorCode::InvalidRequest, detail));
    }
    let (id, connection) = app.acp.find(&headers, &authorized)?;
    let session = value(&headers, &SESSION);
    let body = connection.streams.open(session, authorized.still_allowed(&app)).map_err(|none| match none {
        NoStream::Busy => {
            ApiError::new(StatusCode::CONFLICT, ErrorCode::InvalidRequest, "this stream is already open; close it first")
        }
        NoStream::TooMany => ApiError::not_found("too many streams; use another connection for more sessions"),
    })?;
    let kind = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    let mut response = with_id((kind, body).into_response(), &id);
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    if let Some(session) = headers.get(&SESSION) {
        response.headers_mut().insert(SESSION, session.clone());
    }
    Ok(response)
}

async fn leave(State(app): State<Arc<App>>, authorized: Authorized, headers: HeaderMap) -> Result<StatusCode, ApiError> {
    authorized.may(Permission::Answer)?;
    let (_, connection) = app.acp.find(&headers, &authorized)?;
    // Received messages are still processed, and running calls are not cancelled.
    connection.leave.cancel();
    Ok(StatusCode::ACCEPTED)
}
