//! The channel `slack`. Button presses arrive over a WebSocket that the server opens, so the server does not have to be
//! reachable from outside.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::{SinkExt as _, StreamExt as _};
use reqwest::header::{CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use super::http::{HttpEndpoint, lost, send_for_json};
use super::{SendFailure, SendResult, press};
use crate::config::notify::People;
use crate::entropy;
use crate::runtime::Runtime;
use crate::service::notes::Note;

/// How long to wait before the socket is opened again.
const PAUSE: Duration = Duration::from_secs(5);
/// How long the socket may be silent. Slack sends pings more often.
const SILENCE: Duration = Duration::from_secs(120);
/// Maximum size of an incoming message, in bytes.
const MESSAGE: usize = 1024 * 1024;

/// A bot and its channel.
pub(crate) struct SlackChannel {
    pub(crate) caller: HttpEndpoint,
    pub(crate) token: String,
    /// The app-level token, for the socket.
    pub(crate) app_token: Option<String>,
    pub(crate) channel: String,
    /// The people who can press buttons, by Slack user id.
    pub(crate) people: People,
}

impl std::fmt::Debug for SlackChannel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Slack").finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
struct Envelope {
    envelope_id: Option<String>,
    #[serde(default)]
    payload: Value,
}

impl SlackChannel {
    fn has_buttons(&self) -> bool {
        self.app_token.is_some() && !self.people.is_empty()
    }

    pub(super) async fn send_note(&self, note: &Note) -> SendResult {
        let section = json!({ "type": "section", "text": { "type": "plain_text", "text": note.text() } });
        let mut elements: Vec<Value> = Vec::new();
        if let (Some(ask), true) = (note.ask, self.has_buttons()) {
            let element = |button: &crate::service::notes::Button| {
                json!({
                    "type": "button",
                    "action_id": button.press.encode(),
                    "value": button.press.payload(ask),
                    "text": { "type": "plain_text", "text": button.label },
                })
            };
            elements.extend(note.buttons.iter().map(element));
        }
        let open = |link: &String| json!({ "type": "button", "action_id": "open", "url": link, "text": { "type": "plain_text", "text": note.open_label() } });
        elements.extend(note.link.iter().map(open));
        let mut blocks = vec![section];
        if !elements.is_empty() {
            blocks.push(json!({ "type": "actions", "elements": elements }));
        }
        let message = json!({ "channel": self.channel, "text": plain(&note.line), "blocks": blocks });
        let reply = self.call("/chat.postMessage", &self.token, &message).await?;
        let (channel, stamp) = (reply["channel"].as_str().unwrap_or(&self.channel), reply["ts"].as_str());
        Ok(stamp.map(|stamp| format!("{channel} {stamp}")))
    }

    pub(super) async fn over(&self, message: &str, words: &str) -> Result<(), SendFailure> {
        let Some((channel, stamp)) = message.split_once(' ') else { return Ok(()) };
        let blocks = json!([{ "type": "section", "text": { "type": "plain_text", "text": words } }]);
        let changed = json!({ "channel": channel, "ts": stamp, "text": plain(words), "blocks": blocks });
        self.call("/chat.update", &self.token, &changed).await.map(|_| ())
    }

    /// Returns the error of a reply. Slack reports errors in the body, with status 200.
    async fn call(&self, method: &str, token: &str, body: &Value) -> Result<Value, SendFailure> {
        let reply = send_for_json(self.caller.post(method, body).bearer_auth(token)).await?;
        if reply["ok"] == true {
            return Ok(reply);
        }
        let error: String =
            reply["error"].as_str().unwrap_or("no reason").chars().filter(char::is_ascii_graphic).take(60).collect();
        let passes = matches!(error.as_str(), "ratelimited" | "internal_error" | "fatal_error" | "service_unavailable");
        let reason = format!("Slack returned the error {error}");
        Err(if passes { SendFailure::later(reason) } else { SendFailure::never(reason) })
    }

    /// Keeps the socket open until the server stops.
    pub(super) async fn listen(&self, runtime: &Arc<Runtime>, index: usize) {
        let Some(app_token) = self.app_token.as_ref().filter(|_| self.has_buttons()) else { return };
        loop {
            if let Err(failure) = self.handle_socket_messages(runtime, index, app_token).await {
                tracing::debug!(reason = failure.reason, "cannot read button presses from Slack");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }

    /// Opens the socket and handles messages until it closes.
    async fn handle_socket_messages(&self, runtime: &Arc<Runtime>, index: usize, app_token: &str) -> Result<(), SendFailure> {
        let opened = self.call("/apps.connections.open", app_token, &json!({})).await?;
        let address = opened["url"].as_str().unwrap_or_default();
        let address = match address.split_once("://") {
            Some(("wss", rest)) => format!("https://{rest}"),
            Some(("ws", rest)) => format!("http://{rest}"),
            _ => return Err(SendFailure::later("Slack returned no socket address")),
        };
        let mut socket = open_socket(&address, &self.caller).await?;
        loop {
            let message =
                tokio::time::timeout(SILENCE, socket.next()).await.map_err(|_| SendFailure::later("the socket timed out"))?;
            let text = match message {
                Some(Ok(Message::Text(text))) => text,
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Binary(_) | Message::Frame(_))) => continue,
                Some(Ok(Message::Close(_))) | None => return Ok(()),
                Some(Err(error)) => return Err(SendFailure::later(format!("the socket failed: {error}"))),
            };
            let Ok(envelope) = serde_json::from_str::<Envelope>(&text) else {
                tracing::warn!("ignoring an invalid message from Slack");
                continue;
            };
            let Some(id) = envelope.envelope_id else { continue };
            let received = Message::text(json!({ "envelope_id": id }).to_string());
            socket.send(received).await.map_err(|error| SendFailure::later(format!("the socket failed: {error}")))?;
            self.handle_payload(runtime, index, &envelope.payload).await;
        }
    }

    async fn handle_payload(&self, runtime: &Arc<Runtime>, index: usize, payload: &Value) {
        // A press of a link button needs no reply.
        if payload["actions"][0]["action_id"] == "open" {
            return;
        }
        let user = payload["user"]["id"].as_str().unwrap_or_default();
        let carried = payload["actions"][0]["value"].as_str().unwrap_or_default();
        let pressed = press(runtime, index, &self.people, user, carried).await;
        // Everyone sees the outcome in the changed message. A refusal is shown only to the person who pressed.
        if pressed.is_done || user.is_empty() {
            return;
        }
        let said = json!({ "channel": self.channel, "user": user, "text": plain(&pressed.text) });
        if let Err(failure) = self.call("/chat.postEphemeral", &self.token, &said).await {
            tracing::debug!(reason = failure.reason, "could not answer a button press in Slack");
        }
    }
}

/// Escapes text, so that Slack finds no links and no mentions in it.
fn plain(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Opens a WebSocket with the client that calls only permitted addresses.
async fn open_socket(address: &str, caller: &HttpEndpoint) -> Result<WebSocketStream<reqwest::Upgraded>, SendFailure> {
    let client = sayso_net::client_within(address, caller.reach).map_err(|error| SendFailure::later(error.to_string()))?;
    let key = STANDARD.encode(entropy::bytes::<16>());
    let request = client
        .get(address)
        .header(CONNECTION, "Upgrade")
        .header(UPGRADE, "websocket")
        .header(SEC_WEBSOCKET_VERSION, "13")
        .header(SEC_WEBSOCKET_KEY, &key);
    let response = request.send().await.map_err(|error| lost(&error))?;
    let accepted = response.headers().get(SEC_WEBSOCKET_ACCEPT).is_some_and(|value| value == &derive_accept_key(key.as_bytes()));
    if !accepted {
        return Err(SendFailure::later("Slack refused to open a socket"));
    }
    let stream = response.upgrade().await.map_err(|error| lost(&error))?;
    let config = WebSocketConfig::default().max_message_size(Some(MESSAGE));
    Ok(WebSocketStream::from_raw_socket(stream, Role::Client, Some(config)).await)
}
