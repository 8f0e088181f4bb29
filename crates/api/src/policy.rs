//! The policy as clients see it.

use sayso_core::time::Time;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The policy in force.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyView {
    /// The file it is read from.
    pub path: String,
    /// Its text.
    pub text: String,
    /// What is wrong with the text; then the last good policy is in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The fingerprint of the rules in force.
    pub fingerprint: String,
    /// The fingerprint of the text; say it when you write another one.
    #[serde(default)]
    pub text_fingerprint: String,
    /// The profile that is active.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<ActiveProfile>,
    /// Rules that were given by hand for a while.
    pub grants: Vec<Grant>,
}

/// A profile that is active.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActiveProfile {
    /// Its name.
    pub name: String,
    /// Until when.
    #[serde(default)]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub until: Option<Time>,
}

/// Writes another text into the policy file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SetPolicy {
    /// The whole text.
    pub text: String,
    /// The `textFingerprint` of the text that this one replaces.
    pub if_fingerprint: String,
}

/// A rule that was given by hand for a while.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Grant {
    /// Its id.
    pub id: String,
    /// The commands that it allows.
    pub run: Vec<String>,
    /// The files that may be changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edit: Vec<String>,
    /// The files that may be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<String>,
    /// The addresses that may be fetched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fetch: Vec<String>,
    /// The tools of MCP servers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mcp: Vec<String>,
    /// The agent's own names of tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool: Vec<String>,
    /// Only in this project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Until when.
    #[serde(default)]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub until: Option<Time>,
}

/// Allows something for a while. The patterns are those of a rule.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewGrant {
    /// Commands: `cargo test *`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub run: Vec<String>,
    /// Files that are changed: `src/**`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edit: Vec<String>,
    /// Files that are read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<String>,
    /// Addresses: `docs.rs`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fetch: Vec<String>,
    /// Tools of MCP servers: `server/tool`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mcp: Vec<String>,
    /// The agent's own names of tools: `WebSearch`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool: Vec<String>,
    /// For how long, e.g. `1h`. Say this or `until`.
    #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
    pub for_: Option<String>,
    /// Until when. Say this or `for`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub until: Option<Time>,
    /// Only in this project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
}

/// Switches a profile on or off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SetProfile {
    /// The profile; `null` switches it off.
    pub name: Option<String>,
    /// For how long, e.g. `2h`.
    #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
    pub for_: Option<String>,
}

/// Trusts a project's `.sayso.toml` as it is now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TrustRequest {
    /// The project directory.
    pub directory: String,
}

/// What was trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Trusted {
    /// The file.
    pub path: String,
    /// Its fingerprint; another text is not trusted.
    pub hash: String,
}

/// Asks what a policy does: to one ask, to past asks, or to what is pending.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ExplainRequest {
    /// Explain this ask.
    pub ask_id: Option<String>,
    /// Try this policy text instead of the one in force.
    pub policy: Option<String>,
    /// Explain what it does to the asks that are pending.
    pub pending: bool,
    /// Explain what it would have done to the last asks, at most this many (1 to 1000).
    pub history: Option<u32>,
}

/// What a policy does to one ask.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Explained {
    /// The ask.
    pub ask_id: String,
    /// One line that says what it is.
    pub summary: String,
    /// What became of it.
    pub status: crate::ask::AskStatus,
    /// `approve`, `deny`, `answer`, `reject` or `ask`.
    pub verdict: String,
    /// The rule or setting, or why a person is asked.
    pub because: String,
    /// Every rule that was looked at (one ask only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub considered: Option<serde_json::Value>,
}

/// What a policy does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// One entry per ask.
    pub data: Vec<Explained>,
    /// Whether some asks are left out, because they have many bytes or because explaining takes too long.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// How the server is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    /// `ok`, or `storage_full`.
    pub status: String,
    /// The version of the server.
    pub version: String,
}
