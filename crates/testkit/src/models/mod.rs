//! A mock model with a script, on a free port of the loopback interface.
//!
//! Real agents are tested against it. The request that an agent sends to the model after an answer proves that the
//! answer arrived, so all requests are recorded: see [`MockModel::tool_results`].
//!
//! One server supports all APIs, with one file per API that converts requests into [`ModelRequest`] and [`ModelReply`]
//! into responses. The choice of the reply is shared by all APIs.

mod anthropic;
mod chat;
mod gemini;
mod request;
mod responses;
mod script;

use std::fmt::{self, Write as _};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{Method, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::{StreamExt as _, stream};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

pub use request::{Api, MessagePart, ModelMessage, ModelRequest, ModelRole, ToolResult};
pub use script::{ModelBlock, ModelReply, ModelScript, ModelTurn};

/// How long an agent may take to send an expected request. Real agents start slowly on a loaded machine; only failing
/// tests reach the timeout.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Whether a request is part of the conversation or one of an agent's own side requests, such as generating a title.
/// Side requests get a fixed text and do not advance the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestPurpose {
    /// A turn of the conversation.
    Main,
    /// A side request of the agent.
    Side,
}

/// One request that the model received.
#[derive(Debug, Clone)]
pub struct RecordedRequest {
    /// The purpose of the request.
    pub purpose: RequestPurpose,
    pub request: ModelRequest,
    pub reply: ModelReply,
}

impl fmt::Display for RecordedRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { purpose, request, .. } = self;
        let text = request.last_user_text().unwrap_or_default();
        let short: String = text.chars().take(80).collect();
        write!(f, "{purpose:?} {:?} {} with {} tools: {short:?}", request.api, request.model, request.tools.len())?;
        for result in request.tool_results() {
            write!(f, " {result:?}")?;
        }
        Ok(())
    }
}

/// The running mock. It stops listening when it is dropped.
#[derive(Debug)]
pub struct MockModel {
    url: String,
    shared: Arc<MockModelShared>,
    server: JoinHandle<()>,
}

/// State that the handlers share.
#[derive(Debug)]
struct MockModelShared {
    script: ModelScript,
    records: watch::Sender<Vec<Arc<RecordedRequest>>>,
    /// `METHOD path` of requests that belong to no model API, such as an agent's telemetry.
    others: watch::Sender<Vec<String>>,
}

impl MockModel {
    /// Starts the mock. It listens when this returns.
    ///
    /// # Errors
    /// If no port is available.
    pub async fn start(script: ModelScript) -> Result<Self> {
        let shared =
            Arc::new(MockModelShared { script, records: watch::Sender::new(Vec::new()), others: watch::Sender::new(Vec::new()) });
        let router = Router::new()
            .merge(anthropic::routes())
            .merge(gemini::routes())
            .merge(responses::routes())
            .merge(chat::routes())
            .fallback(other)
            // A request contains the whole conversation and all tools.
            .layer(DefaultBodyLimit::disable())
            .with_state(Arc::clone(&shared));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.context("no port for the mock model")?;
        let url = format!("http://{}", listener.local_addr()?);
        let server = tokio::spawn(async move {
            // The task ends by being aborted; an error of one connection does not end it.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { url, shared, server })
    }

    /// The base URL for agents, without a trailing slash.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// All requests so far, in the order of their arrival.
    #[must_use]
    pub fn records(&self) -> Vec<Arc<RecordedRequest>> {
        self.shared.records.borrow().clone()
    }

    /// The tool results that the model received so far, each once.
    #[must_use]
    pub fn tool_results(&self) -> Vec<ToolResult> {
        let records = self.shared.records.borrow();
        let turns = records.iter().filter(|record| record.purpose == RequestPurpose::Main);
        turns.flat_map(|record| record.request.tool_results()).cloned().collect()
    }

    /// The person's last message, in the newest turn.
    #[must_use]
    pub fn last_user_text(&self) -> Option<String> {
        let records = self.shared.records.borrow();
        let newest = records.iter().rev().find(|record| record.purpose == RequestPurpose::Main)?;
        newest.request.last_user_text().map(str::to_owned)
    }

    /// Requests that belong to no model API, as `METHOD path`.
    #[must_use]
    pub fn other_calls(&self) -> Vec<String> {
        self.shared.others.borrow().clone()
    }

    /// Waits up to [`PATIENCE`] for a request that satisfies the condition, including earlier ones, and returns the
    /// first.
    ///
    /// # Errors
    /// If no such request arrives.
    pub async fn wait_for(&self, what: &str, holds: impl Fn(&RecordedRequest) -> bool) -> Result<Arc<RecordedRequest>> {
        let mut records = self.shared.records.subscribe();
        let waiting = records.wait_for(|all| all.iter().any(|record| holds(record)));
        if let Ok(all) = tokio::time::timeout(PATIENCE, waiting).await {
            let all = all.context("the mock model is gone")?;
            return all.iter().find(|record| holds(record)).cloned().context("the record went away");
        }
        let mut seen = String::new();
        for record in self.records() {
            let _ = write!(seen, "\n  {record}");
        }
        bail!("waited {PATIENCE:?} for {what}; the model received:{seen}")
    }

    /// Waits up to [`PATIENCE`] for the result of the tool call with this id, including earlier ones.
    ///
    /// # Errors
    /// If the result does not arrive.
    pub async fn result_of(&self, id: &str) -> Result<ToolResult> {
        let in_record = |record: &RecordedRequest| record.request.tool_results().find(|result| result.id == id).cloned();
        let record = self.wait_for(&format!("the result of {id}"), |record| in_record(record).is_some()).await?;
        in_record(&record).context("the record has no such result")
    }
}

impl Drop for MockModel {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl MockModelShared {
    /// The reply to this request. It is recorded before the agent receives it.
    fn reply(&self, request: ModelRequest) -> ModelReply {
        let (purpose, reply) = if request.is_side_request() {
            (RequestPurpose::Side, script::side_reply(&request))
        } else {
            (RequestPurpose::Main, self.script.reply(&request))
        };
        let record = Arc::new(RecordedRequest { purpose, request, reply: reply.clone() });
        self.records.send_modify(|all| all.push(record));
        reply
    }
}

/// Telemetry, connection checks, and calls of later versions. Agents tolerate a 404.
async fn other(State(shared): State<Arc<MockModelShared>>, method: Method, uri: Uri) -> Response {
    shared.others.send_modify(|all| all.push(format!("{method} {}", uri.path())));
    if uri.path() == "/" { StatusCode::OK.into_response() } else { StatusCode::NOT_FOUND.into_response() }
}

/// What follows the last frame of an event stream.
#[derive(Debug, Clone, Copy)]
enum StreamEnd {
    /// The end of the response.
    Close,
    /// No more data, until the agent disconnects.
    Silence,
}

/// A response of server-sent events, one chunk per frame.
fn event_stream(frames: Vec<String>, end: StreamEnd) -> Response {
    let frames = stream::iter(frames.into_iter().map(Ok::<_, std::convert::Infallible>));
    let body = match end {
        StreamEnd::Close => Body::from_stream(frames),
        StreamEnd::Silence => Body::from_stream(frames.chain(stream::pending())),
    };
    ([(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-cache")], body).into_response()
}

/// An error response of a model API.
fn failure(status: u16, body: &serde_json::Value) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, axum::Json(body)).into_response()
}
