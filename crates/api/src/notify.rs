//! The channels that reach people who do not look.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One channel, without its secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Channel {
    /// Its name.
    pub name: String,
    /// What it is: `webhook`, `ntfy`, `telegram` …
    pub kind: String,
    /// How long an ask waits before it is used; nothing if only another one leads to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Which channel comes next if nobody came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub then: Option<Then>,
    /// The hours in which it is silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quiet: Option<String>,
    /// Whether it says what is asked, and not only who waits.
    pub content: bool,
    /// Whom its links are for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
    /// The receiver said that it is gone for good: nothing is sent until the server is started again.
    pub gone: bool,
    /// Why the last try failed, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_failure: Option<String>,
}

/// Which channel comes next, and how much later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Then {
    /// Its name.
    pub name: String,
    /// How much later.
    pub after: String,
}

/// All channels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChannelList {
    /// In the order of the configuration.
    pub data: Vec<Channel>,
}

/// Which channel to test.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TestChannels {
    /// Its name; all of them if it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// What became of a test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tested {
    /// The channel.
    pub name: String,
    /// What it is.
    pub kind: String,
    /// Whether the receiver took it.
    pub sent: bool,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// What became of all tests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestedList {
    /// In the order of the configuration.
    pub data: Vec<Tested>,
}

/// What a browser needs to ask for being woken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PushInfo {
    /// The server's public key; nothing if no channel wakes browsers.
    pub public_key: Option<String>,
}

/// A browser that wants to be woken: its subscription as it gives it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewPush {
    /// Where its push service is.
    pub endpoint: String,
    /// Its keys.
    pub keys: PushKeys,
}

/// The keys of a browser.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PushKeys {
    /// Its public key.
    pub p256dh: String,
    /// What it shares with the server.
    pub auth: String,
}
