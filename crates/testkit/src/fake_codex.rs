//! A fake Codex daemon as its second client sees it: WebSocket over a Unix socket, threads, and requests to all
//! subscribers, of which the first answer counts. The test controls what happens in the threads.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context as _, Result};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio_tungstenite::tungstenite::Message;

/// The running daemon. Its socket closes when it is dropped.
#[derive(Debug)]
pub struct FakeCodex {
    socket: PathBuf,
    shared: Arc<FakeCodexShared>,
    server: tokio::task::JoinHandle<()>,
}

#[derive(Debug, Default)]
struct FakeCodexState {
    /// Directories and titles of threads.
    threads: BTreeMap<String, (String, String)>,
    /// Pending requests: their thread, and the message.
    waiting: BTreeMap<u64, (String, Value)>,
    clients: Vec<FakeCodexClient>,
    next: u64,
}

#[derive(Debug)]
struct FakeCodexClient {
    /// Unbounded in practice, because tests read quickly.
    to: mpsc::Sender<Value>,
    threads: Vec<String>,
}

#[derive(Debug)]
struct FakeCodexShared {
    state: Mutex<FakeCodexState>,
    /// Messages of clients: answers that counted, and requests.
    said: watch::Sender<Vec<Value>>,
}

impl FakeCodexShared {
    fn lock(&self) -> MutexGuard<'_, FakeCodexState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FakeCodexState {
    fn tell(&self, thread: Option<&str>, message: &Value) {
        for client in
            self.clients.iter().filter(|client| thread.is_none_or(|thread| client.threads.iter().any(|id| id == thread)))
        {
            // A client that does not read is disconnected.
            let _ = client.to.try_send(message.clone());
        }
    }

    fn resolved(&mut self, id: u64) -> bool {
        let Some((thread, _)) = self.waiting.remove(&id) else { return false };
        self.tell(
            Some(&thread),
            &json!({ "method": "serverRequest/resolved", "params": { "threadId": thread, "requestId": id } }),
        );
        true
    }
}

impl FakeCodex {
    /// Listens at this path; an existing socket is replaced.
    ///
    /// # Errors
    /// If the socket cannot be created.
    pub fn start(socket: &Path) -> Result<Self> {
        let _ = std::fs::remove_file(socket);
        let listener = UnixListener::bind(socket).with_context(|| format!("no socket at {}", socket.display()))?;
        let shared = Arc::new(FakeCodexShared { state: Mutex::default(), said: watch::Sender::new(Vec::new()) });
        let served = Arc::clone(&shared);
        let server = tokio::spawn(async move {
            let mut clients = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                clients.spawn(serve(Arc::clone(&served), stream));
            }
        });
        Ok(Self { socket: socket.to_owned(), shared, server })
    }

    /// The path of the socket.
    #[must_use]
    pub fn socket(&self) -> String {
        self.socket.display().to_string()
    }

    /// Adds a thread of a terminal.
    pub fn has_thread(&self, id: &str, directory: &str, title: &str) {
        self.shared.lock().threads.insert(id.to_owned(), (directory.to_owned(), title.to_owned()));
    }

    /// Marks a thread as working, and notifies all clients.
    pub fn set_busy(&self, thread: &str) {
        let status = json!({ "type": "active", "activeFlags": [] });
        let told = json!({ "method": "thread/status/changed", "params": { "threadId": thread, "status": status } });
        self.shared.lock().tell(None, &told);
    }

    /// Notifies the subscribers of a thread.
    pub fn tell(&self, thread: &str, method: &str, params: Value) {
        self.shared.lock().tell(Some(thread), &json!({ "method": method, "params": params }));
    }

    /// Sends a request of a thread and returns its id.
    pub fn asks(&self, thread: &str, method: &str, mut params: Value) -> u64 {
        let mut state = self.shared.lock();
        let id = state.next;
        state.next += 1;
        params["threadId"] = json!(thread);
        params["turnId"] = json!("turn-1");
        let message = json!({ "method": method, "id": id, "params": params });
        state.waiting.insert(id, (thread.to_owned(), message.clone()));
        state.tell(Some(thread), &message);
        id
    }

    /// Sends a request to run a command.
    pub fn wants_to_run(&self, thread: &str, command: &str) -> u64 {
        let params = json!({ "kind": "command", "itemId": "call_1", "command": format!("/bin/bash -lc '{command}'"), "cwd": "/project",
            "reason": "I need it", "availableDecisions": ["accept", "cancel"] });
        self.asks(thread, "item/commandExecution/requestApproval", params)
    }

    /// Answers a request as a terminal.
    pub fn answered_elsewhere(&self, id: u64) {
        self.shared.lock().resolved(id);
    }

    /// Waits until clients have sent `many` messages that satisfy the condition, and returns them.
    ///
    /// # Errors
    /// If they do not arrive in time.
    pub async fn client_messages(&self, many: usize, holds: impl Fn(&Value) -> bool) -> Result<Vec<Value>> {
        let mut said = self.shared.said.subscribe();
        let enough = said.wait_for(|said| said.iter().filter(|said| holds(said)).count() >= many);
        let said = tokio::time::timeout(crate::PATIENCE, enough).await;
        let said = said.with_context(|| format!("not {many}: {:?}", self.shared.said.borrow()))??;
        Ok(said.iter().filter(|said| holds(said)).cloned().collect())
    }

    /// Waits for the answers of clients that counted.
    ///
    /// # Errors
    /// If they do not arrive in time.
    pub async fn answers(&self, many: usize) -> Result<Vec<Value>> {
        self.client_messages(many, |said| said.get("method").is_none()).await
    }

    /// Waits until a client is subscribed to a thread.
    ///
    /// # Errors
    /// If no client subscribes in time.
    pub async fn wait_for_subscriber(&self, thread: &str) -> Result<()> {
        self.client_messages(1, |said| said["method"] == "thread/resume" && said["params"]["threadId"] == thread).await.map(drop)
    }
}

impl Drop for FakeCodex {
    fn drop(&mut self) {
        self.server.abort();
        let _ = std::fs::remove_file(&self.socket);
    }
}

async fn serve(shared: Arc<FakeCodexShared>, stream: UnixStream) {
    let Ok(mut socket) = tokio_tungstenite::accept_async(stream).await else { return };
    let (to, mut told) = mpsc::channel(256);
    let me = to.clone();
    loop {
        tokio::select! {
            message = told.recv() => {
                let Some(message) = message else { return };
                let message: Value = message;
                if socket.send(Message::text(message.to_string())).await.is_err() {
                    return;
                }
            }
            message = socket.next() => {
                let Some(Ok(message)) = message else { break };
                let Ok(said) = message.to_text().map(serde_json::from_str::<Value>) else { continue };
                let Ok(said) = said else { continue };
                handle_message(&shared, &me, &said);
            }
        }
    }
    shared.lock().clients.retain(|client| !client.to.same_channel(&me));
}

fn handle_message(shared: &FakeCodexShared, me: &mpsc::Sender<Value>, said: &Value) {
    let reply = |result: Value| me.try_send(json!({ "id": said["id"], "result": result }));
    let mut state = shared.lock();
    match said["method"].as_str() {
        Some("initialize") => {
            state.clients.push(FakeCodexClient { to: me.clone(), threads: Vec::new() });
            let _ = reply(json!({ "userAgent": "codex-tui/0.166.0 (test)", "codexHome": "/home/user/.codex" }));
        }
        Some("thread/loaded/list") => {
            let threads: Vec<_> = state.threads.keys().cloned().chain(["helper".to_owned()]).collect();
            let _ = reply(json!({ "data": threads, "nextCursor": null }));
        }
        Some("thread/resume") => {
            let thread = said["params"]["threadId"].as_str().unwrap_or_default();
            match state.threads.get(thread) {
                Some((directory, title)) => {
                    let told = json!({ "id": thread, "preview": title, "cwd": directory, "status": { "type": "active" } });
                    let _ = reply(json!({ "thread": told, "model": "gpt-5.5", "cwd": directory }));
                    if let Some(client) = state.clients.iter_mut().find(|client| client.to.same_channel(me)) {
                        client.threads.push(thread.to_owned());
                    }
                    for (_, message) in state.waiting.values().filter(|(of, _)| of == thread) {
                        let _ = me.try_send(message.clone());
                    }
                }
                None => {
                    let error = json!({ "code": -32600, "message": "no rollout found for thread id" });
                    let _ = me.try_send(json!({ "id": said["id"], "error": error }));
                }
            }
        }
        Some(_) if !said["id"].is_null() => drop(reply(json!({}))),
        Some(_) => {}
        // An answer: only the first one counts.
        None => {
            if !said["id"].as_u64().is_some_and(|id| state.resolved(id)) {
                return;
            }
        }
    }
    drop(state);
    shared.said.send_modify(|all| all.push(said.clone()));
}
