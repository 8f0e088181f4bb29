//! Notification channels, which reach people who are not looking at Sayso.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A notification channel, without its secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Channel {
    /// The name in the configuration.
    pub name: String,
    /// The type of the channel, for example `webhook`, `ntfy` or `telegram`.
    pub kind: String,
    /// How long an ask stays pending before this channel is used. Absent if only the `then` of another channel leads here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// The channel to use next if the ask is still pending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub then: Option<Then>,
    /// The hours of the day in which the channel sends nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quiet: Option<String>,
    /// Whether messages include the text of the ask, and not only the name of the agent.
    pub content: bool,
    /// The person to whom answers through this channel's links are attributed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
    /// Whether the receiver reported that it no longer exists. The channel sends nothing until the server restarts.
    pub gone: bool,
    /// The error of the last attempt, if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_failure: Option<String>,
}

/// The next channel of an escalation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Then {
    /// The name of the next channel.
    pub name: String,
    /// The delay after the first channel, for example `5m`.
    pub after: String,
}

/// All configured notification channels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChannelList {
    /// The channels, in the order of the configuration.
    pub data: Vec<Channel>,
}

/// Sends a test notification.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TestChannels {
    /// The channel to test. Defaults to all channels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// The result of testing one channel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tested {
    /// The name of the channel.
    pub name: String,
    /// The type of the channel, for example `ntfy`.
    pub kind: String,
    /// Whether the receiver accepted the message.
    pub sent: bool,
    /// The error, if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// The results of a test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestedList {
    /// One result per tested channel, in the order of the configuration.
    pub data: Vec<Tested>,
}

/// What a browser needs to subscribe to push notifications.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PushInfo {
    /// The server's VAPID public key. Absent if no push channel is configured.
    pub public_key: Option<String>,
}

/// A push subscription of a browser: the fields `endpoint` and `keys` of `PushSubscription.toJSON()`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewPush {
    /// The URL of the browser's push service.
    pub endpoint: String,
    /// The keys of the subscription.
    pub keys: PushKeys,
}

/// The keys that the server uses to encrypt messages to a browser.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PushKeys {
    /// The browser's public key, base64url.
    pub p256dh: String,
    /// The authentication secret of the subscription, base64url.
    pub auth: String,
}
