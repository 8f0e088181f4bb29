//! The channel `webhook`: a request that is signed according to Standard Webhooks. Receivers check the signature and the time,
//! and use the id to detect duplicates.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use reqwest::header::CONTENT_TYPE;
use sayso_core::time::Time;
use serde::Serialize;
use sha2::Sha256;

use super::http::{HttpEndpoint, send};
use super::{SendFailure, SendResult, Wire};
use crate::service::notes::Note;

/// A receiver and the shared key.
pub(crate) struct WebhookChannel {
    caller: HttpEndpoint,
    key: Vec<u8>,
}

impl std::fmt::Debug for WebhookChannel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Webhook").finish_non_exhaustive()
    }
}

/// Minimum size of a key, in bytes.
const KEY: usize = 24;

#[derive(Serialize)]
struct WebhookEvent<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    timestamp: Time,
    data: WebhookData<'a>,
}

#[derive(Serialize)]
struct WebhookData<'a> {
    #[serde(flatten)]
    note: Wire<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<&'a str>,
}

impl WebhookChannel {
    /// Parses a secret: `whsec_` followed by base64.
    pub(crate) fn new(caller: HttpEndpoint, secret: &str) -> Result<Self, String> {
        let key = secret.trim().strip_prefix("whsec_").and_then(|text| STANDARD.decode(text).ok());
        let key = key.filter(|key| key.len() >= KEY).ok_or_else(|| {
            format!("the secret must be whsec_ and at least {KEY} bytes in base64: echo whsec_$(openssl rand -base64 32)")
        })?;
        Ok(Self { caller, key })
    }

    pub(super) async fn send_note(&self, note: &Note, now: Time) -> SendResult {
        let kind = if note.ask.is_some() { "ask.waiting" } else { "test" };
        self.call(&note.id, WebhookEvent { kind, timestamp: now, data: WebhookData { note: note.into(), outcome: None } }, now)
            .await?;
        Ok(None)
    }

    pub(super) async fn over(&self, note: &Note, words: &str, now: Time) -> Result<(), SendFailure> {
        let data = WebhookData { note: note.into(), outcome: Some(words) };
        self.call(&format!("{}_over", note.id), WebhookEvent { kind: "ask.over", timestamp: now, data }, now).await
    }

    /// Sends an event of another kind.
    pub(crate) async fn send_event(&self, id: &str, event: impl Serialize, now: Time) -> Result<(), SendFailure> {
        self.call(id, event, now).await
    }

    async fn call(&self, id: &str, event: impl Serialize, now: Time) -> Result<(), SendFailure> {
        let body = serde_json::to_vec(&event).map_err(|error| SendFailure::never(error.to_string()))?;
        let seconds = now.as_millis() / 1_000;
        let request = self
            .caller
            .client
            .post(&self.caller.url)
            .header(CONTENT_TYPE, "application/json")
            .header("webhook-id", id)
            .header("webhook-timestamp", seconds)
            .header("webhook-signature", self.sign(id, seconds, &body))
            .body(body);
        send(request).await.map(|_| ())
    }

    fn sign(&self, id: &str, seconds: i64, body: &[u8]) -> String {
        // HMAC accepts keys of any length, so this does not fail.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.key) else { return String::new() };
        mac.update(format!("{id}.{seconds}.").as_bytes());
        mac.update(body);
        format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use sayso_net::AllowedAddresses;

    use super::*;

    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    fn webhook(secret: &str) -> Result<WebhookChannel, String> {
        WebhookChannel::new(HttpEndpoint::new("https://hooks.example.com/x", AllowedAddresses::Public)?, secret)
    }

    #[test]
    fn signature_matches_the_example_of_the_specification() {
        // The example from the specification.
        let signed = webhook(SECRET).unwrap().sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, br#"{"test": 2432232314}"#);
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn invalid_secret_is_refused() {
        for wrong in ["", "whsec_", "whsec_!!", "secret", "whsec_aGk="] {
            assert!(webhook(wrong).is_err(), "{wrong}");
        }
    }
}
