//! A fake Telegram bot API: messages with buttons, and long polling for updates.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use axum::response::Response;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::{ReceivedCall, Receiver, json_reply};

/// A running API with one bot.
#[derive(Debug)]
pub struct FakeTelegram {
    receiver: Receiver,
    shared: Arc<FakeTelegramShared>,
}

#[derive(Debug, Default)]
struct FakeTelegramShared {
    /// The current messages, in the order of their ids from 1.
    messages: watch::Sender<Vec<Value>>,
    updates: watch::Sender<Vec<Value>>,
    /// The answers to button presses.
    said: watch::Sender<Vec<Value>>,
}

impl FakeTelegram {
    /// The token of the bot.
    pub const TOKEN: &'static str = "123:test";

    /// Starts the API.
    ///
    /// # Errors
    /// If no port is available.
    pub async fn start() -> Result<Self> {
        let shared = Arc::new(FakeTelegramShared::default());
        let inner = Arc::clone(&shared);
        let receiver = Receiver::start(move |call| {
            let shared = Arc::clone(&inner);
            async move { answer(&call, &shared).await }
        });
        Ok(Self { receiver: receiver.await?, shared })
    }

    /// The URL of the API.
    #[must_use]
    pub fn url(&self) -> &str {
        self.receiver.url()
    }

    /// Waits for a message that satisfies the condition.
    ///
    /// # Errors
    /// If no such message arrives.
    pub async fn message(&self, is_it: impl Fn(&Value) -> bool) -> Result<Value> {
        let mut messages = self.shared.messages.subscribe();
        let wait = async {
            let found = messages.wait_for(|messages| messages.iter().any(&is_it)).await?;
            found.iter().find(|message| is_it(message)).cloned().context("it is gone")
        };
        crate::within("a message in Telegram", wait).await
    }

    /// Presses a button with this data, and returns the answer.
    ///
    /// # Errors
    /// If there is no answer.
    pub async fn press(&self, data: &str, from: i64) -> Result<String> {
        self.update(|id| json!({ "callback_query": { "id": format!("cb{id}"), "from": { "id": from }, "data": data } })).await
    }

    /// Sends an update that is created from its number, and returns the answer.
    ///
    /// # Errors
    /// If there is no answer.
    pub async fn update(&self, make: impl FnOnce(usize) -> Value) -> Result<String> {
        let id = self.shared.updates.borrow().len() + 1;
        let mut update = make(id);
        update["update_id"] = json!(id);
        self.shared.updates.send_modify(|updates| updates.push(update));
        let mut said = self.shared.said.subscribe();
        let callback = format!("cb{id}");
        let wait = async {
            let found = said.wait_for(|said| said.iter().any(|said| said["callback_query_id"] == callback.as_str())).await?;
            let own = found.iter().find(|said| said["callback_query_id"] == callback.as_str()).context("it is gone")?;
            Ok(own["text"].as_str().unwrap_or_default().to_owned())
        };
        crate::within("an answer to a button", wait).await
    }

    /// Sends an update that gets no answer.
    pub fn send_invalid(&self, update: Value) {
        let id = self.shared.updates.borrow().len() + 1;
        let mut update = update;
        update["update_id"] = json!(id);
        self.shared.updates.send_modify(|updates| updates.push(update));
    }
}

async fn answer(call: &ReceivedCall, shared: &FakeTelegramShared) -> Response {
    let refused = |words: &str| json_reply(400, &json!({ "ok": false, "error_code": 400, "description": words }));
    let Some(method) = call.path.strip_prefix(&format!("/bot{}/", FakeTelegram::TOKEN)) else {
        return json_reply(401, &json!({ "ok": false, "error_code": 401, "description": "Unauthorized" }));
    };
    let body = call.json();
    let done = |result: Value| json_reply(200, &json!({ "ok": true, "result": result }));
    match method {
        "sendMessage" => {
            let text = body["text"].as_str().unwrap_or_default();
            if text.is_empty() || text.chars().count() > 4096 || body["chat_id"].is_null() {
                return refused("Bad Request: message text is empty or too long");
            }
            let rows = body["reply_markup"]["inline_keyboard"].as_array().cloned().unwrap_or_default();
            let buttons: Vec<Value> = rows.iter().filter_map(Value::as_array).flatten().cloned().collect();
            if buttons
                .iter()
                .any(|button| button["callback_data"].as_str().is_some_and(|data| data.is_empty() || data.len() > 64))
            {
                return refused("Bad Request: BUTTON_DATA_INVALID");
            }
            let mut id = 0;
            shared.messages.send_modify(|messages| {
                id = messages.len() + 1;
                messages.push(json!({ "message_id": id, "chat": body["chat_id"], "text": text, "buttons": buttons }));
            });
            done(json!({ "message_id": id, "chat": { "id": body["chat_id"] }, "text": text }))
        }
        "editMessageText" => {
            let id = usize::try_from(body["message_id"].as_u64().unwrap_or(0)).unwrap_or(0);
            let mut found = false;
            shared.messages.send_modify(|messages| {
                if let Some(message) = id.checked_sub(1).and_then(|at| messages.get_mut(at)) {
                    message["text"] = body["text"].clone();
                    message["buttons"] = json!([]);
                    found = true;
                }
            });
            if found { done(json!({ "message_id": id })) } else { refused("Bad Request: message to edit not found") }
        }
        "getUpdates" => {
            let offset = usize::try_from(body["offset"].as_u64().unwrap_or(0)).unwrap_or(0).max(1);
            let mut updates = shared.updates.subscribe();
            let held = Duration::from_secs(body["timeout"].as_u64().unwrap_or(0));
            // Without updates, the reply is an empty list.
            let _ = tokio::time::timeout(held, updates.wait_for(|updates| updates.len() >= offset)).await;
            let new: Vec<Value> = updates.borrow().iter().skip(offset - 1).cloned().collect();
            done(json!(new))
        }
        "answerCallbackQuery" => {
            if body["text"].as_str().is_some_and(|text| text.chars().count() > 200) {
                return refused("Bad Request: text is too long");
            }
            shared.said.send_modify(|said| said.push(body.clone()));
            done(json!(true))
        }
        _ => json_reply(404, &json!({ "ok": false, "error_code": 404, "description": "Not Found" })),
    }
}
