//! The channel `webpush`: sends to all subscribed browsers through their push services.

use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE};
use sayso_core::ask::Ask;
use sayso_core::scope::Visible;
use sayso_core::time::Time;
use sayso_net::AllowedAddresses;
use sayso_store::ops::{DeletePushSubscription, PushSubscriptionRow};
use sayso_store::read::ListPushSubscriptions;
use serde_json::{Value, json};

use super::http::send_push;
use super::{Next, OutgoingNote, SendFailure, SendResult};
use crate::auth::{Caller, Permission};
use crate::runtime::Runtime;
use crate::runtime::notify::push;
use crate::service::answer_links::{Holder, HolderIdentity};
use crate::service::notes::{Button, Note};

/// How long a push service keeps a note for an offline browser.
const KEPT: Duration = Duration::from_secs(86_400);
/// Maximum number of buttons in browsers.
const BUTTONS: usize = 2;

/// The subscribed browsers of this server.
#[derive(Debug)]
pub(crate) struct WebPushChannel {
    /// The contact address for push services: `mailto:…` or `https://…`.
    pub(crate) contact: String,
    pub(crate) reach: AllowedAddresses,
}

impl WebPushChannel {
    pub(super) async fn send_note(&self, sent: &OutgoingNote<'_>) -> SendResult {
        let OutgoingNote { runtime, channel, note, now, .. } = *sent;
        let message = |caller: &Caller| {
            let mut message =
                json!({ "title": note.line, "body": note.content.as_deref().unwrap_or_default(), "tag": tag(note) });
            if let (Some(ask), true) = (note.ask, Permission::Answer.granted_to(caller.role)) {
                let holder = Holder { channel, identity: HolderIdentity::Token(caller.token) };
                message["path"] = json!(runtime.services.answer_links.path(ask, holder, now));
                let button = |button: &Button| json!({ "label": button.label, "press": button.press.encode() });
                if note.buttons.len() <= BUTTONS {
                    message["buttons"] = note.buttons.iter().map(button).collect();
                }
            }
            message
        };
        self.send_all(sent, message).await.map(|()| None)
    }

    pub(super) async fn over(&self, sent: &OutgoingNote<'_>, words: &str) -> Result<(), SendFailure> {
        self.send_all(sent, |_| json!({ "title": "Sayso", "body": words, "tag": tag(sent.note), "over": true })).await
    }

    /// Sends to every browser whose token can see the ask. Succeeds if at least one browser was reached.
    async fn send_all(&self, sent: &OutgoingNote<'_>, message: impl Fn(&Caller) -> Value) -> Result<(), SendFailure> {
        let OutgoingNote { runtime, ask, now, .. } = *sent;
        let rows = runtime.services.store.read(ListPushSubscriptions { workspace: runtime.services.workspace }).await;
        let rows = rows.map_err(|error| SendFailure::later(error.to_string()))?;
        let mut failure = Some(SendFailure::never("no browser is subscribed"));
        for row in rows {
            let Some(caller) = runtime.services.tokens.by_id(row.token, now) else {
                forget(runtime, &row).await;
                continue;
            };
            let sees = |ask: &Ask| {
                let (session, opened_by) = (ask.origin.session, ask.origin.opened_by);
                caller.scope.sees(Visible { session, labels: &ask.context.labels, opened_by })
            };
            if !Permission::Read.granted_to(caller.role) || !ask.is_none_or(sees) {
                continue;
            }
            match self.send_one(runtime, &row, &message(&caller), now).await {
                Ok(()) => failure = None,
                Err(SendFailure { next: Next::Gone, .. }) => forget(runtime, &row).await,
                Err(other) => failure = failure.map(|_| other),
            }
        }
        failure.map_or(Ok(()), Err)
    }

    async fn send_one(
        &self,
        runtime: &Runtime,
        row: &PushSubscriptionRow,
        message: &Value,
        now: Time,
    ) -> Result<(), SendFailure> {
        let unusable = |_| SendFailure::never("the key of a browser is invalid");
        let key = runtime.push_key.as_ref().ok_or_else(|| SendFailure::never("the server has no push key"))?;
        let origin = row.endpoint.parse::<reqwest::Url>().map(|url| url.origin().ascii_serialization());
        let origin = origin.map_err(|_| SendFailure::never("the push service of a browser has an invalid address"))?;
        let client =
            sayso_net::client_within(&row.endpoint, self.reach).map_err(|error| SendFailure::never(error.to_string()))?;
        let body = push::encrypt(message.to_string().as_bytes(), &row.public_key, &row.auth).map_err(unusable)?;
        let request = client
            .post(&row.endpoint)
            .header(AUTHORIZATION, key.authorization(&origin, &self.contact, now).map_err(unusable)?)
            .header(CONTENT_TYPE, "application/octet-stream")
            .header(CONTENT_ENCODING, "aes128gcm")
            .header("ttl", KEPT.as_secs())
            .header("urgency", "high")
            .body(body);
        send_push(request).await
    }
}

/// Returns the tag of a notification. The page uses the same tag, so that one notification replaces the other.
fn tag(note: &Note) -> String {
    note.ask.map_or_else(|| note.id.clone(), |ask| ask.to_string())
}

async fn forget(runtime: &Runtime, row: &PushSubscriptionRow) {
    if let Err(error) =
        runtime.services.store.write(DeletePushSubscription { workspace: runtime.services.workspace, token: row.token }).await
    {
        tracing::warn!(%error, "could not remove the subscription of a browser");
    }
}
