//! Mock model APIs: a model that says what a script says, on a free port of the loopback interface.
//!
//! Real agents are tested against it. What an agent sends to the model after an answer is the proof
//! that the answer arrived, so every request is kept: see [`MockModel::tool_results`].
//!
//! One server speaks all APIs, a file each: it reads its own wire into a [`ModelRequest`] and writes a
//! [`ModelReply`] in its own wire. What is said, and to whom, is decided in one place and is the same
//! for all of them.

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

/// How long an agent may take until it sends what is waited for. Real agents start slowly on a busy
/// machine; it is only ever reached by a test that fails.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Whether a request is part of the conversation or one of an agent's own errands, such as finding
/// a title. Errands get a fixed text and take nothing from the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestPurpose {
    /// A turn of the conversation.
    Main,
    /// An errand.
    Side,
}

/// One request that the model received.
#[derive(Debug, Clone)]
pub struct RecordedRequest {
    /// What it is for.
    pub purpose: RequestPurpose,
    /// What was sent.
    pub request: ModelRequest,
    /// What the model said to it.
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

/// What the handlers share.
#[derive(Debug)]
struct MockModelShared {
    script: ModelScript,
    records: watch::Sender<Vec<Arc<RecordedRequest>>>,
    /// `METHOD path` of what belongs to no API, such as an agent's telemetry.
    others: watch::Sender<Vec<String>>,
}

impl MockModel {
    /// Starts it. When this returns, it listens.
    ///
    /// # Errors
    /// When no port can be had.
    pub async fn start(script: ModelScript) -> Result<Self> {
        let shared =
            Arc::new(MockModelShared { script, records: watch::Sender::new(Vec::new()), others: watch::Sender::new(Vec::new()) });
        let router = Router::new()
            .merge(anthropic::routes())
            .merge(gemini::routes())
            .merge(responses::routes())
            .merge(chat::routes())
            .fallback(other)
            // A request carries the whole conversation and all tools.
            .layer(DefaultBodyLimit::disable())
            .with_state(Arc::clone(&shared));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.context("no port for the mock model")?;
        let url = format!("http://{}", listener.local_addr()?);
        let server = tokio::spawn(async move {
            // It ends by being aborted; an error of one connection does not end it.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { url, shared, server })
    }

    /// The base URL to give to agents, without a slash at the end.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Every request so far, in the order in which they came.
    #[must_use]
    pub fn records(&self) -> Vec<Arc<RecordedRequest>> {
        self.shared.records.borrow().clone()
    }

    /// What tools returned to the model so far, each once.
    #[must_use]
    pub fn tool_results(&self) -> Vec<ToolResult> {
        let records = self.shared.records.borrow();
        let turns = records.iter().filter(|record| record.purpose == RequestPurpose::Main);
        turns.flat_map(|record| record.request.tool_results()).cloned().collect()
    }

    /// What the person said last, in the newest turn.
    #[must_use]
    pub fn last_user_text(&self) -> Option<String> {
        let records = self.shared.records.borrow();
        let newest = records.iter().rev().find(|record| record.purpose == RequestPurpose::Main)?;
        newest.request.last_user_text().map(str::to_owned)
    }

    /// Calls that belong to no API of a model, as `METHOD path`.
    #[must_use]
    pub fn other_calls(&self) -> Vec<String> {
        self.shared.others.borrow().clone()
    }

    /// The first request for which this holds, whether it came already or comes within [`PATIENCE`].
    ///
    /// # Errors
    /// When it does not come.
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

    /// What the tool call with this id returned, whether it came already or comes within [`PATIENCE`].
    ///
    /// # Errors
    /// When it does not come.
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
    /// What the model says to this request. It is recorded before the agent gets it.
    fn reply(&self, request: ModelRequest) -> ModelReply {
        let (purpose, reply) = if request.is_errand() {
            (RequestPurpose::Side, script::errand(&request))
        } else {
            (RequestPurpose::Main, self.script.reply(&request))
        };
        let record = Arc::new(RecordedRequest { purpose, request, reply: reply.clone() });
        self.records.send_modify(|all| all.push(record));
        reply
    }
}

/// Telemetry, checks of the connection, and whatever the next version calls. Agents live with a 404.
async fn other(State(shared): State<Arc<MockModelShared>>, method: Method, uri: Uri) -> Response {
    shared.others.send_modify(|all| all.push(format!("{method} {}", uri.path())));
    if uri.path() == "/" { StatusCode::OK.into_response() } else { StatusCode::NOT_FOUND.into_response() }
}

/// What comes after the last frame of an event stream.
#[derive(Debug, Clone, Copy)]
enum StreamEnd {
    /// The end of the response.
    Close,
    /// Nothing, until the agent hangs up.
    Silence,
}

/// A response of server-sent events, a chunk for each frame.
fn event_stream(frames: Vec<String>, end: StreamEnd) -> Response {
    let frames = stream::iter(frames.into_iter().map(Ok::<_, std::convert::Infallible>));
    let body = match end {
        StreamEnd::Close => Body::from_stream(frames),
        StreamEnd::Silence => Body::from_stream(frames.chain(stream::pending())),
    };
    ([(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-cache")], body).into_response()
}

/// A model's refusal to work.
fn failure(status: u16, body: &serde_json::Value) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, axum::Json(body)).into_response()
}
