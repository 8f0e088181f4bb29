//! A fake Slack: its web API, and the socket that reports button presses.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use axum::response::Response;
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::Message;

use super::{ReceivedCall, Receiver, json_reply};

/// A running workspace with one app.
#[derive(Debug)]
pub struct FakeSlack {
    receiver: Receiver,
    shared: Arc<FakeSlackShared>,
    send: mpsc::Sender<Value>,
    sockets: JoinHandle<()>,
}

#[derive(Debug)]
struct FakeSlackShared {
    socket: String,
    /// The current messages.
    messages: watch::Sender<Vec<Value>>,
    /// Ephemeral messages to single users.
    whispers: watch::Sender<Vec<Value>>,
    /// The acknowledged envelopes.
    received: watch::Sender<Vec<String>>,
}

impl FakeSlack {
    /// The token of the bot.
    pub const TOKEN: &'static str = "xoxb-test";
    /// The token of the app.
    pub const APP_TOKEN: &'static str = "xapp-test";

    /// Starts the workspace.
    ///
    /// # Errors
    /// If no port is available.
    pub async fn start() -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.context("no port for the socket")?;
        let shared = Arc::new(FakeSlackShared {
            socket: format!("ws://{}/link", listener.local_addr()?),
            messages: watch::Sender::new(Vec::new()),
            whispers: watch::Sender::new(Vec::new()),
            received: watch::Sender::new(Vec::new()),
        });
        let (send, events) = mpsc::channel(16);
        let sockets = tokio::spawn(serve_sockets(listener, Arc::clone(&shared), events));
        let inner = Arc::clone(&shared);
        let receiver = Receiver::start(move |call| {
            let shared = Arc::clone(&inner);
            async move { answer(&call, &shared) }
        });
        Ok(Self { receiver: receiver.await?, shared, send, sockets })
    }

    /// The URL of the web API.
    #[must_use]
    pub fn url(&self) -> &str {
        self.receiver.url()
    }

    /// Waits for a message that satisfies the condition.
    ///
    /// # Errors
    /// If no such message arrives.
    pub async fn message(&self, is_it: impl Fn(&Value) -> bool) -> Result<Value> {
        find(&self.shared.messages, "a message in Slack", is_it).await
    }

    /// Waits for an ephemeral message to this user.
    ///
    /// # Errors
    /// If no message arrives.
    pub async fn ephemeral_message(&self, user: &str) -> Result<Value> {
        find(&self.shared.whispers, "words to one person in Slack", |whisper| whisper["user"] == user).await
    }

    /// Presses a button with this value as a user. Returns when the envelope was acknowledged.
    ///
    /// # Errors
    /// If it is not acknowledged.
    pub async fn press(&self, value: &str, user: &str) -> Result<()> {
        let payload =
            json!({ "type": "block_actions", "user": { "id": user }, "actions": [{ "action_id": "x", "value": value }] });
        self.envelope(payload).await
    }

    /// Sends an envelope. Returns when it was acknowledged.
    ///
    /// # Errors
    /// If it is not acknowledged.
    pub async fn envelope(&self, payload: Value) -> Result<()> {
        let id = format!("env-{}", self.shared.received.borrow().len());
        self.send.send(json!({ "envelope_id": id, "type": "interactive", "payload": payload })).await?;
        let mut received = self.shared.received.subscribe();
        let wait = async {
            received.wait_for(|received| received.contains(&id)).await?;
            Ok(())
        };
        crate::within("an envelope to be acknowledged", wait).await
    }

    /// Sends a text that is not an envelope.
    ///
    /// # Errors
    /// If no client is connected.
    pub async fn send_invalid(&self, text: &str) -> Result<()> {
        Ok(self.send.send(json!(text)).await?)
    }
}

impl Drop for FakeSlack {
    fn drop(&mut self) {
        self.sockets.abort();
    }
}

async fn find(list: &watch::Sender<Vec<Value>>, what: &str, is_it: impl Fn(&Value) -> bool) -> Result<Value> {
    let mut list = list.subscribe();
    let wait = async {
        let found = list.wait_for(|list| list.iter().any(&is_it)).await?;
        found.iter().find(|one| is_it(one)).cloned().context("it is gone")
    };
    crate::within(what, wait).await
}

fn answer(call: &ReceivedCall, shared: &FakeSlackShared) -> Response {
    let token = if call.path == "/apps.connections.open" { FakeSlack::APP_TOKEN } else { FakeSlack::TOKEN };
    let refused = |error: &str| json_reply(200, &json!({ "ok": false, "error": error }));
    if call.header("authorization") != format!("Bearer {token}") {
        return refused("invalid_auth");
    }
    let body = call.json();
    match call.path.as_str() {
        "/apps.connections.open" => json_reply(200, &json!({ "ok": true, "url": shared.socket })),
        "/chat.postMessage" => {
            if body["text"].as_str().is_none_or(str::is_empty) || body["channel"].is_null() {
                return refused("no_text");
            }
            let mut stamp = String::new();
            shared.messages.send_modify(|messages| {
                stamp = format!("1700000000.{:06}", messages.len() + 1);
                messages.push(json!({ "ts": stamp, "text": body["text"], "blocks": body["blocks"] }));
            });
            json_reply(200, &json!({ "ok": true, "channel": "C0RESOLVED", "ts": stamp }))
        }
        "/chat.update" => {
            let mut found = false;
            shared.messages.send_modify(|messages| {
                for message in messages.iter_mut().filter(|message| message["ts"] == body["ts"]) {
                    message["text"] = body["text"].clone();
                    message["blocks"] = body["blocks"].clone();
                    found = body["channel"] == "C0RESOLVED";
                }
            });
            if found { json_reply(200, &json!({ "ok": true })) } else { refused("message_not_found") }
        }
        "/chat.postEphemeral" => {
            shared.whispers.send_modify(|whispers| whispers.push(body.clone()));
            json_reply(200, &json!({ "ok": true }))
        }
        _ => refused("unknown_method"),
    }
}

/// Accepts one socket after another; each receives the events that occur while it is open.
async fn serve_sockets(listener: TcpListener, shared: Arc<FakeSlackShared>, mut events: mpsc::Receiver<Value>) {
    while let Ok((stream, _)) = listener.accept().await {
        // The client reopens a socket that breaks.
        let _ = serve_socket(stream, &shared, &mut events).await;
    }
}

async fn serve_socket(stream: TcpStream, shared: &FakeSlackShared, events: &mut mpsc::Receiver<Value>) -> Result<()> {
    let mut socket = tokio_tungstenite::accept_async(stream).await?;
    socket.send(Message::text(json!({ "type": "hello" }).to_string())).await?;
    loop {
        tokio::select! {
            event = events.recv() => {
                let Some(event) = event else { return Ok(()) };
                let text = event.as_str().map_or_else(|| event.to_string(), str::to_owned);
                socket.send(Message::text(text)).await?;
            }
            message = socket.next() => {
                let Some(message) = message else { return Ok(()) };
                if let Message::Text(text) = message? {
                    let said: Value = serde_json::from_str(&text)?;
                    let id = said["envelope_id"].as_str().unwrap_or_default().to_owned();
                    shared.received.send_modify(|received| received.push(id));
                }
            }
        }
    }
}
