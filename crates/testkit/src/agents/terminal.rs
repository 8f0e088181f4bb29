//! A client of Codex's daemon that behaves like a Codex terminal: WebSocket over the daemon's Unix socket.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::UnixStream;
use tokio::process::Child;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

use crate::models::PATIENCE;

/// Timeout for a running daemon to listen, even on a loaded machine.
const START: Duration = Duration::from_secs(600);

/// Timeout of one handshake. A connection that is made while the daemon starts may never be answered.
const HANDSHAKE: Duration = Duration::from_secs(20);

#[derive(Debug)]
pub struct CodexTerminal {
    socket: WebSocketStream<UnixStream>,
    calls: u64,
    /// Received messages that no call has consumed.
    past: Vec<Value>,
}

impl CodexTerminal {
    /// Connects as soon as the daemon listens at this socket, and initializes the connection.
    ///
    /// # Errors
    /// If the daemon exits before it listens, or runs for [`START`] without listening.
    pub async fn connect(path: &Path, daemon: &mut Child) -> Result<Self> {
        let connected = async {
            loop {
                if let Ok(stream) = UnixStream::connect(path).await {
                    let handshake = tokio_tungstenite::client_async("ws://localhost/", stream);
                    if let Ok(Ok((socket, _))) = tokio::time::timeout(HANDSHAKE, handshake).await {
                        return socket;
                    }
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let socket = tokio::select! {
            socket = connected => socket,
            status = daemon.wait() => bail!("the daemon exited with {} before it listened at {}", status?, path.display()),
            () = tokio::time::sleep(START) => bail!("the daemon runs, but does not listen at {} after {START:?}", path.display()),
        };
        let mut terminal = Self { socket, calls: 0, past: Vec::new() };
        let client = json!({ "name": "terminal", "title": "Terminal", "version": "1" });
        terminal.call("initialize", json!({ "clientInfo": client, "capabilities": { "experimentalApi": true } })).await?;
        terminal.send(&json!({ "method": "initialized" })).await?;
        Ok(terminal)
    }

    /// Sends a message.
    ///
    /// # Errors
    /// If the socket is closed.
    pub async fn send(&mut self, message: &Value) -> Result<()> {
        Ok(self.socket.send(Message::text(message.to_string())).await?)
    }

    /// Sends a request and returns its result.
    ///
    /// # Errors
    /// If the request is refused or times out.
    pub async fn call(&mut self, method: &str, params: Value) -> Result<Value> {
        self.calls += 1;
        let id = self.calls;
        self.send(&json!({ "id": id, "method": method, "params": params })).await?;
        let reply = self.until(method, |message| message["id"] == id && message.get("method").is_none()).await?;
        ensure!(reply.get("error").is_none(), "{method} failed: {reply}");
        Ok(reply["result"].clone())
    }

    /// Removes and returns the first message that satisfies the condition, among received and future messages.
    ///
    /// # Errors
    /// If no such message arrives in time.
    pub async fn until(&mut self, what: &str, holds: impl Fn(&Value) -> bool) -> Result<Value> {
        if let Some(at) = self.past.iter().position(&holds) {
            return Ok(self.past.remove(at));
        }
        loop {
            let next = tokio::time::timeout(PATIENCE, self.socket.next()).await;
            let Some(message) = next.with_context(|| format!("waited for {what}, after {:?}", self.past))? else {
                bail!("the socket closed before {what}");
            };
            let message = message?;
            let Ok(Ok(message)) = message.to_text().map(serde_json::from_str::<Value>) else { continue };
            if holds(&message) {
                return Ok(message);
            }
            self.past.push(message);
        }
    }

    /// Starts a thread in a directory, sends a message to it, and returns its id.
    ///
    /// # Errors
    /// If the daemon refuses a request.
    pub async fn say(&mut self, directory: &Path, text: &str) -> Result<String> {
        let opened = self.call("thread/start", json!({ "cwd": directory })).await?;
        let thread = opened["thread"]["id"].as_str().context("a thread")?.to_owned();
        let input = json!([{ "type": "text", "text": text, "text_elements": [] }]);
        self.call("turn/start", json!({ "threadId": thread, "input": input })).await?;
        Ok(thread)
    }

    /// The next request for a person.
    ///
    /// # Errors
    /// If no request arrives.
    pub async fn asked(&mut self) -> Result<Value> {
        self.until("a request", |message| message.get("id").is_some() && message.get("method").is_some()).await
    }
}
