//! The channel `telegram`. The server polls for button presses, so it does not have to be reachable from outside.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::http::{HttpEndpoint, send, send_within};
use super::{SendFailure, SendResult, press};
use crate::config::notify::People;
use crate::runtime::Runtime;
use crate::service::notes::Note;

/// How long Telegram holds a poll request, and the client's timeout for it.
const HELD: u64 = 25;
const PATIENCE: Duration = Duration::from_secs(HELD + 10);
/// How long to wait after a request that failed.
const PAUSE: Duration = Duration::from_secs(5);

/// A bot and its chat.
pub(crate) struct TelegramChannel {
    pub(crate) caller: HttpEndpoint,
    pub(crate) token: String,
    pub(crate) chat: String,
    /// The people who can press buttons, by Telegram user id.
    pub(crate) people: People,
}

impl std::fmt::Debug for TelegramChannel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Telegram").finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
struct TelegramReply {
    result: Option<Value>,
}

/// A button press. A message with missing fields or another shape is ignored.
#[derive(Debug, Deserialize)]
struct Callback {
    id: String,
    from: TelegramUser,
    #[serde(default)]
    data: String,
}

#[derive(Debug, Deserialize)]
struct TelegramUser {
    id: i64,
}

impl TelegramChannel {
    pub(super) async fn send_note(&self, note: &Note) -> SendResult {
        let mut message = json!({ "chat_id": self.chat, "text": note.text(), "link_preview_options": { "is_disabled": true } });
        let mut rows: Vec<Value> = Vec::new();
        if let (Some(ask), false) = (note.ask, self.people.is_empty()) {
            let row = |button: &crate::service::notes::Button| json!([{ "text": button.label, "callback_data": button.press.payload(ask) }]);
            rows.extend(note.buttons.iter().map(row));
        }
        rows.extend(note.link.iter().map(|link| json!([{ "text": note.open_label(), "url": link }])));
        if !rows.is_empty() {
            message["reply_markup"] = json!({ "inline_keyboard": rows });
        }
        let result = self.call("sendMessage", &message).await?;
        Ok(result["message_id"].as_i64().map(|id| id.to_string()))
    }

    pub(super) async fn over(&self, message: &str, words: &str) -> Result<(), SendFailure> {
        let Ok(id) = message.parse::<i64>() else { return Ok(()) };
        self.call("editMessageText", &json!({ "chat_id": self.chat, "message_id": id, "text": words })).await.map(|_| ())
    }

    async fn call(&self, method: &str, body: &Value) -> Result<Value, SendFailure> {
        let reply = send(self.caller.post(&format!("/bot{}/{method}", self.token), body)).await?;
        result_of(&reply)
    }

    /// Polls for button presses until the server stops.
    pub(super) async fn listen(&self, runtime: &Arc<Runtime>, index: usize) {
        if self.people.is_empty() {
            return;
        }
        let mut offset = 0;
        loop {
            match self.pressed(offset).await {
                Ok(updates) => {
                    let (before, is_empty) = (offset, updates.is_empty());
                    for update in updates {
                        offset = offset.max(update["update_id"].as_i64().unwrap_or(0).saturating_add(1));
                        self.handle_update(runtime, index, update).await;
                    }
                    // Updates without an id would be delivered again immediately.
                    if offset == before && !is_empty {
                        tokio::time::sleep(PAUSE).await;
                    }
                }
                Err(failure) => {
                    tracing::debug!(reason = failure.reason, "cannot read button presses from Telegram");
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }

    async fn pressed(&self, offset: i64) -> Result<Vec<Value>, SendFailure> {
        let body = json!({ "offset": offset, "timeout": HELD, "allowed_updates": ["callback_query"] });
        let reply = send_within(self.caller.post(&format!("/bot{}/getUpdates", self.token), &body), PATIENCE).await?;
        match result_of(&reply)? {
            Value::Array(updates) => Ok(updates),
            _ => Err(SendFailure::later("the response is not a list")),
        }
    }

    async fn handle_update(&self, runtime: &Arc<Runtime>, index: usize, mut update: Value) {
        let callback = update.get_mut("callback_query").map(Value::take);
        let Some(callback) = callback.and_then(|callback| serde_json::from_value::<Callback>(callback).ok()) else {
            tracing::warn!("ignoring an unknown button press from Telegram");
            return;
        };
        let pressed = press(runtime, index, &self.people, &callback.from.id.to_string(), &callback.data).await;
        let answer = json!({ "callback_query_id": callback.id, "text": pressed.text });
        if let Err(failure) = self.call("answerCallbackQuery", &answer).await {
            tracing::debug!(reason = failure.reason, "could not answer a button press in Telegram");
        }
    }
}

fn result_of(reply: &[u8]) -> Result<Value, SendFailure> {
    let reply: TelegramReply =
        serde_json::from_slice(reply).map_err(|_| SendFailure::later("the receiver's response is not JSON"))?;
    reply.result.ok_or_else(|| SendFailure::later("the receiver's response has no result"))
}
