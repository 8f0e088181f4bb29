//! A fake OpenCode server as its second client sees it: sessions, pending requests and events. The test controls what
//! happens in the sessions, including behavior that a real server never shows.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{broadcast, watch};
use tokio::task::JoinHandle;

/// How the server replies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplyMode {
    /// Like OpenCode.
    Good,
    /// With a web page and status 200 for everything.
    Page,
    /// Replies to every request with this error status.
    Status(u16),
    /// Accepts only clients that send this value after `Basic `, like an OpenCode server with a password.
    Password(String),
}

/// The running server. It stops listening when it is dropped.
#[derive(Debug)]
pub struct FakeOpenCode {
    address: SocketAddr,
    shared: Arc<FakeOpenCodeShared>,
    server: JoinHandle<()>,
}

#[derive(Debug)]
struct FakeOpenCodeShared {
    mood: Mutex<ReplyMode>,
    sessions: Mutex<BTreeMap<String, Value>>,
    busy: Mutex<Vec<String>>,
    /// Pending requests and the list that contains them.
    waiting: Mutex<Vec<(&'static str, Value)>>,
    /// Calls with side effects: path and body.
    calls: watch::Sender<Vec<(String, Value)>>,
    events: broadcast::Sender<String>,
    /// Streams with a smaller number end.
    cut: watch::Sender<u64>,
    streams: watch::Sender<usize>,
}

fn lock<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FakeOpenCode {
    /// Starts a server on a free port.
    ///
    /// # Errors
    /// If no port is available.
    pub async fn start() -> Result<Self> {
        Self::start_at(SocketAddr::from(([127, 0, 0, 1], 0))).await
    }

    /// Starts a server at the address of an earlier one.
    ///
    /// # Errors
    /// If the port is in use.
    pub async fn start_at(address: SocketAddr) -> Result<Self> {
        let shared = Arc::new(FakeOpenCodeShared {
            mood: Mutex::new(ReplyMode::Good),
            sessions: Mutex::default(),
            busy: Mutex::default(),
            waiting: Mutex::default(),
            calls: watch::Sender::new(Vec::new()),
            events: broadcast::Sender::new(64),
            cut: watch::Sender::new(0),
            streams: watch::Sender::new(0),
        });
        let router = Router::new().fallback(answer).with_state(Arc::clone(&shared));
        let listener = TcpListener::bind(address).await.context("no port for the server")?;
        let address = listener.local_addr()?;
        let server = tokio::spawn(async move {
            // The task ends by being aborted; an error of one connection does not end it.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { address, shared, server })
    }

    /// The URL of the server.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The address, for starting another server at the same place.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Changes how the server replies from now on.
    pub fn set_reply_mode(&self, mood: ReplyMode) {
        *lock(&self.shared.mood) = mood;
    }

    /// Adds a session of another client.
    pub fn has_session(&self, id: &str, parent: Option<&str>, directory: &str, title: &str) {
        let mut session = json!({ "id": id, "directory": directory, "title": title });
        if let Some(parent) = parent {
            session["parentID"] = json!(parent);
        }
        lock(&self.shared.sessions).insert(id.to_owned(), session);
    }

    /// Opens a question of a session and emits its event.
    pub fn asks(&self, id: &str, session: &str) {
        let request = self.ask_without_event(id, session);
        self.tell(session, "question.asked", &request);
    }

    /// Opens a question of a session without an event.
    pub fn ask_without_event(&self, id: &str, session: &str) -> Value {
        let options = json!([{ "label": "SQLite", "description": "a" }, { "label": "PostgreSQL", "description": "b" }]);
        let question = json!({ "question": "Which database?", "header": "Database", "options": options });
        let tool = json!({ "messageID": "msg_1", "callID": format!("call_{id}") });
        let request = json!({ "id": id, "sessionID": session, "questions": [question], "tool": tool });
        self.waits("/question", session, &request);
        request
    }

    /// Opens a permission request to run a command.
    pub fn wants_to_run(&self, id: &str, session: &str, command: &str) {
        let tool = json!({ "messageID": "msg_1", "callID": format!("call_{id}") });
        let request = json!({ "id": id, "sessionID": session, "permission": "bash", "patterns": [command],
            "metadata": { "command": command }, "always": ["touch *"], "tool": tool });
        self.waits("/permission", session, &request);
        self.tell(session, "permission.asked", &request);
    }

    fn waits(&self, place: &'static str, session: &str, request: &Value) {
        self.set_busy(session);
        lock(&self.shared.waiting).push((place, request.clone()));
    }

    /// Marks a session as busy.
    pub fn set_busy(&self, session: &str) {
        let mut busy = lock(&self.shared.busy);
        if !busy.iter().any(|id| id == session) {
            busy.push(session.to_owned());
        }
    }

    /// Marks a session as idle without resolving its pending requests.
    pub fn set_idle(&self, session: &str) {
        lock(&self.shared.busy).retain(|id| id != session);
        self.tell(session, "session.idle", &json!({ "sessionID": session }));
    }

    /// Answers a question as another client.
    pub fn answered_elsewhere(&self, id: &str, session: &str) {
        self.shared.takes(id);
        self.tell(session, "question.replied", &json!({ "sessionID": session, "requestID": id, "answers": [["SQLite"]] }));
    }

    /// Emits an event of a session.
    pub fn tell(&self, session: &str, kind: &str, properties: &Value) {
        self.shared.tell(session, kind, properties);
    }

    /// Closes all event streams.
    pub fn cut(&self) {
        self.shared.cut.send_modify(|cut| *cut += 1);
    }

    /// Waits until there are this many calls with side effects, and returns their paths and bodies.
    ///
    /// # Errors
    /// If they do not arrive in time.
    pub async fn calls(&self, many: usize) -> Result<Vec<(String, Value)>> {
        let mut calls = self.shared.calls.subscribe();
        let there = tokio::time::timeout(crate::PATIENCE, calls.wait_for(|calls| calls.len() >= many)).await;
        Ok(there.with_context(|| format!("not {many}: {:?}", self.shared.calls.borrow()))??.clone())
    }

    /// Waits until a client is connected to the event stream.
    ///
    /// # Errors
    /// If no client connects in time.
    pub async fn wait_for_subscriber(&self) -> Result<()> {
        let mut streams = self.shared.streams.subscribe();
        tokio::time::timeout(crate::PATIENCE, streams.wait_for(|streams| *streams > 0))
            .await
            .context("no client subscribed in time")??;
        Ok(())
    }
}

impl Drop for FakeOpenCode {
    fn drop(&mut self) {
        self.cut();
        self.server.abort();
    }
}

impl FakeOpenCodeShared {
    fn tell(&self, session: &str, kind: &str, properties: &Value) {
        let directory = lock(&self.sessions).get(session).map_or(Value::Null, |session| session["directory"].clone());
        let frame = json!({ "directory": directory, "payload": { "id": "evt_1", "type": kind, "properties": properties } });
        // The error is ignored: there may be no client.
        let _ = self.events.send(format!("data: {frame}\n\n"));
    }

    /// Removes a pending request; `None` if it is not pending.
    fn takes(&self, id: &str) -> Option<(&'static str, Value)> {
        let mut waiting = lock(&self.waiting);
        let at = waiting.iter().position(|(_, request)| request["id"] == id)?;
        Some(waiting.remove(at))
    }
}

/// A connection handles one call, so that no connection remains after the server is dropped.
async fn answer(state: State<Arc<FakeOpenCodeShared>>, method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let mut response = reply(state, method, uri, headers, body).await;
    response.headers_mut().insert(header::CONNECTION, header::HeaderValue::from_static("close"));
    response
}

async fn reply(
    State(shared): State<Arc<FakeOpenCodeShared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let page = || ([(header::CONTENT_TYPE, "text/html")], "<!doctype html><html></html>").into_response();
    let mood = lock(&shared.mood).clone();
    let said =
        headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).and_then(|value| value.strip_prefix("Basic "));
    match mood {
        ReplyMode::Page => return page(),
        ReplyMode::Status(status) => return StatusCode::from_u16(status).unwrap_or_default().into_response(),
        ReplyMode::Password(wanted) if said != Some(wanted.as_str()) => return StatusCode::UNAUTHORIZED.into_response(),
        ReplyMode::Good | ReplyMode::Password(_) => {}
    }
    let path = uri.path();
    if method == Method::POST {
        let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
        shared.calls.send_modify(|calls| calls.push((path.to_owned(), body.clone())));
        return decided(&shared, path, &body);
    }
    let directory = uri.query().and_then(|query| query.split('&').find_map(|pair| pair.strip_prefix("directory=")));
    let of_directory = |session: &str| {
        let sessions = lock(&shared.sessions);
        directory.is_none_or(|directory| sessions.get(session).is_some_and(|session| session["directory"] == directory))
    };
    match path {
        "/global/event" => events(&shared),
        "/global/health" => axum::Json(json!({ "healthy": true, "version": "1.18.33" })).into_response(),
        "/session/status" => {
            let busy = lock(&shared.busy).clone();
            let busy = busy.into_iter().filter(|id| of_directory(id)).map(|id| (id, json!({ "type": "busy" })));
            axum::Json(Value::Object(busy.collect())).into_response()
        }
        "/question" | "/permission" => {
            let waiting = lock(&shared.waiting).clone();
            let here = waiting
                .into_iter()
                .filter(|(place, request)| *place == path && of_directory(request["sessionID"].as_str().unwrap_or_default()));
            axum::Json(here.map(|(_, request)| request).collect::<Vec<_>>()).into_response()
        }
        _ => match path.strip_prefix("/session/").and_then(|id| lock(&shared.sessions).get(id).cloned()) {
            Some(session) => axum::Json(session).into_response(),
            None => page(),
        },
    }
}

/// Handles a call that decides a request.
fn decided(shared: &FakeOpenCodeShared, path: &str, body: &Value) -> Response {
    let mut parts = path.split('/').skip(1);
    let (Some(place), Some(id), Some(verb)) = (parts.next(), parts.next(), parts.next()) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    if place == "session" {
        return axum::Json(true).into_response();
    }
    let Some((_, request)) = shared.takes(id) else {
        return (StatusCode::NOT_FOUND, axum::Json(json!({ "_tag": "NotFoundError", "requestID": id }))).into_response();
    };
    let kind = match (place, verb) {
        ("question", "reply") => "question.replied",
        ("question", _) => "question.rejected",
        _ => "permission.replied",
    };
    let session = request["sessionID"].as_str().unwrap_or_default();
    let mut told = json!({ "sessionID": session, "requestID": id });
    if let Some(fields) = body.as_object() {
        fields.iter().for_each(|(name, value)| told[name] = value.clone());
    }
    shared.tell(session, kind, &told);
    axum::Json(true).into_response()
}

/// The event stream, until it is cut.
fn events(shared: &Arc<FakeOpenCodeShared>) -> Response {
    struct Listening(Arc<FakeOpenCodeShared>);
    impl Drop for Listening {
        fn drop(&mut self) {
            self.0.streams.send_modify(|streams| *streams = streams.saturating_sub(1));
        }
    }
    let (heard, mut cut) = (shared.events.subscribe(), shared.cut.subscribe());
    cut.mark_unchanged();
    shared.streams.send_modify(|streams| *streams += 1);
    let listening = Listening(Arc::clone(shared));
    let first = "data: {\"payload\":{\"type\":\"server.connected\",\"properties\":{}}}\n\n".to_owned();
    let frames = stream::unfold((Some(first), heard, cut, listening), |(first, mut heard, mut cut, listening)| async move {
        let frame = match first {
            Some(first) => first,
            None => tokio::select! {
                frame = heard.recv() => frame.ok()?,
                _ = cut.changed() => return None,
            },
        };
        Some((Ok::<_, Infallible>(frame), (None, heard, cut, listening)))
    });
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(frames)).into_response()
}
