//! The channel `ntfy`. Buttons call the answer link. A note is replaced when the ask has its outcome.

use serde_json::{Value, json};

use super::http::{HttpEndpoint, send_for_json};
use super::{SendFailure, SendResult};
use crate::service::notes::Note;

/// Maximum number of buttons in ntfy.
const BUTTONS: usize = 3;

pub(crate) struct NtfyChannel {
    pub(crate) caller: HttpEndpoint,
    pub(crate) topic: String,
    pub(crate) token: Option<String>,
}

impl std::fmt::Debug for NtfyChannel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ntfy").finish_non_exhaustive()
    }
}

impl NtfyChannel {
    pub(super) async fn send_note(&self, note: &Note) -> SendResult {
        let mut message = json!({
            "topic": self.topic,
            "title": note.line,
            "message": note.content.as_deref().unwrap_or(note.open_to_answer()),
            "priority": 4,
        });
        if let Some(link) = &note.link {
            message["click"] = json!(link);
            message["actions"] = actions(note, link);
        }
        let reply = self.publish(&message).await?;
        Ok(reply["id"].as_str().map(str::to_owned))
    }

    pub(super) async fn over(&self, message: &str, words: &str) -> Result<(), SendFailure> {
        let replaced = json!({ "topic": self.topic, "sequence_id": message, "title": "Sayso", "message": words, "priority": 1 });
        self.publish(&replaced).await.map(|_| ())
    }

    async fn publish(&self, message: &Value) -> Result<Value, SendFailure> {
        let request = self.caller.post("/", message);
        send_for_json(match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        })
        .await
    }
}

/// Returns the buttons if all of them fit, otherwise one that opens the page.
fn actions(note: &Note, link: &str) -> Value {
    if note.buttons.is_empty() || note.buttons.len() > BUTTONS {
        return json!([{ "action": "view", "label": note.open_label(), "url": link }]);
    }
    let action = |button: &crate::service::notes::Button| {
        json!({
            "action": "http",
            "label": button.label,
            "url": link,
            "method": "POST",
            "headers": { "content-type": "application/x-www-form-urlencoded" },
            "body": format!("press={}", button.press.encode()),
            "clear": true,
        })
    };
    note.buttons.iter().map(action).collect()
}
