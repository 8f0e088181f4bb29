//! A fake ntfy server: publishing as JSON, buttons, and replacing messages by sequence id.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context as _, Result, ensure};
use axum::response::Response;
use serde_json::{Value, json};

use super::{ReceivedCall, Receiver, json_reply};

const TOKEN: &str = "tk_test";

#[derive(Debug)]
pub struct FakeNtfy {
    receiver: Receiver,
}

impl FakeNtfy {
    pub const TOKEN: &'static str = TOKEN;

    /// Starts the server.
    ///
    /// # Errors
    /// If no port is available.
    pub async fn start() -> Result<Self> {
        let count = Arc::new(AtomicU32::new(0));
        let receiver = Receiver::start(move |call| {
            let count = Arc::clone(&count);
            async move { publish(&call, &count) }
        });
        Ok(Self { receiver: receiver.await? })
    }

    #[must_use]
    pub const fn receiver(&self) -> &Receiver {
        &self.receiver
    }

    /// Presses a button like the app: makes its call, but at `server` instead of its host.
    ///
    /// # Errors
    /// If the button does not exist or the call fails.
    pub async fn press(&self, message: &Value, label: &str, server: &str) -> Result<u16> {
        let actions = message["actions"].as_array().context("no buttons")?;
        let action = actions.iter().find(|action| action["label"] == label).context("no such button")?;
        ensure!(action["action"] == "http" && action["method"] == "POST", "not a call: {action}");
        let url: reqwest::Url = action["url"].as_str().context("no address")?.parse()?;
        let mut request = crate::http().post(format!("{server}{}", url.path()));
        for (name, value) in action["headers"].as_object().into_iter().flatten() {
            request = request.header(name, value.as_str().unwrap_or_default());
        }
        let body = action["body"].as_str().unwrap_or_default().to_owned();
        Ok(request.body(body).send().await?.status().as_u16())
    }
}

fn publish(call: &ReceivedCall, count: &AtomicU32) -> Response {
    let refused = |code: u32, error: &str| json_reply(400, &json!({ "code": code, "http": 400, "error": error }));
    if call.header("authorization") != format!("Bearer {TOKEN}") {
        return json_reply(403, &json!({ "code": 40301, "http": 403, "error": "forbidden" }));
    }
    let message = call.json();
    if call.path != "/" || message["topic"].as_str().is_none_or(str::is_empty) {
        return refused(40009, "invalid request: topic invalid");
    }
    let actions = message["actions"].as_array().cloned().unwrap_or_default();
    let fits = |action: &Value| {
        matches!(action["action"].as_str(), Some("view" | "http")) && action["label"].is_string() && action["url"].is_string()
    };
    if actions.len() > 3 || !actions.iter().all(fits) {
        return refused(40018, "invalid request: actions invalid");
    }
    let id = format!("m{}", count.fetch_add(1, Ordering::Relaxed) + 1);
    json_reply(200, &json!({ "id": id, "event": "message", "topic": message["topic"], "message": message["message"] }))
}
