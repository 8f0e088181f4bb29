//! The policy: reading, changing and explaining it. Also the health of the server.

use sayso_core::time::Time;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The policy file and the rules in force.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyView {
    /// The path of the policy file.
    pub path: String,
    /// The text of the policy file.
    pub text: String,
    /// Why the text is invalid. While set, the last valid policy stays in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The fingerprint of the rules in force.
    pub fingerprint: String,
    /// The fingerprint of `text`. Send it as `ifFingerprint` when you replace the text.
    #[serde(default)]
    pub text_fingerprint: String,
    /// The active profile, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<ActiveProfile>,
    /// Temporary rules that an admin added without changing the file.
    pub grants: Vec<Grant>,
}

/// A profile that is switched on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActiveProfile {
    /// The name of the profile.
    pub name: String,
    /// When the profile switches off by itself. Absent if it stays on.
    #[serde(default)]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub until: Option<Time>,
}

/// Replaces the text of the policy file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SetPolicy {
    /// The complete new text.
    pub text: String,
    /// The `textFingerprint` of the text to replace. If the file has changed since, the response is 409 `policy_changed`.
    pub if_fingerprint: String,
}

/// A temporary rule that allows actions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Grant {
    /// The id of the grant.
    pub id: String,
    /// Patterns of the commands that the grant allows.
    pub run: Vec<String>,
    /// Patterns of the files that may be changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edit: Vec<String>,
    /// Patterns of the files that may be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<String>,
    /// Patterns of the addresses that may be fetched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fetch: Vec<String>,
    /// Patterns of MCP tools, as `server/tool`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mcp: Vec<String>,
    /// Names of tools, as the agent calls them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool: Vec<String>,
    /// The directory that the grant is limited to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// When the grant ends. Absent if it does not end by itself.
    #[serde(default)]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub until: Option<Time>,
}

/// Allows actions for a limited time. Patterns have the syntax of policy rules.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewGrant {
    /// Commands, for example `cargo test *`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub run: Vec<String>,
    /// Files that may be changed, for example `src/**`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edit: Vec<String>,
    /// Files that may be read, for example `docs/**`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<String>,
    /// Addresses that may be fetched, for example `docs.rs`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fetch: Vec<String>,
    /// MCP tools, as `server/tool`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mcp: Vec<String>,
    /// Tools by the agent's own names, for example `WebSearch`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool: Vec<String>,
    /// How long the grant lasts, for example `1h`. Exclusive with `until`.
    #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
    pub for_: Option<String>,
    /// When the grant ends. Exclusive with `for`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub until: Option<Time>,
    /// Limits the grant to this directory and the directories below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
}

/// Switches a profile on or off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SetProfile {
    /// The profile to switch on. `null` switches the active profile off.
    pub name: Option<String>,
    /// How long the profile stays on, for example `2h`. Without it, the profile stays on until you switch it off.
    #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
    pub for_: Option<String>,
}

/// Trusts the `.sayso.toml` of a project in its current state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TrustRequest {
    /// The project directory, which contains `.sayso.toml`.
    pub directory: String,
}

/// The project policy that is now trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Trusted {
    /// The path of the trusted file.
    pub path: String,
    /// The fingerprint of the trusted text. If the file changes, it is no longer trusted.
    pub hash: String,
}

/// Asks how a policy decides: one ask (`askId`), all pending asks (`pending`) or past asks (`history`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ExplainRequest {
    /// The ask to explain.
    pub ask_id: Option<String>,
    /// A policy text to evaluate instead of the policy in force.
    pub policy: Option<String>,
    /// Explain the decision for every pending ask.
    pub pending: bool,
    /// Explain the decision for the most recent asks. The number of asks, 1 to 1000.
    pub history: Option<u32>,
}

/// The decision of a policy about one ask.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Explained {
    /// The id of the ask.
    pub ask_id: String,
    /// A one-line description of the ask.
    pub summary: String,
    /// The actual status of the ask.
    pub status: crate::ask::AskStatus,
    /// `approve`, `deny`, `answer`, `reject`, or `ask` if a person has to decide.
    pub verdict: String,
    /// The rule or setting that decides, or the reason why a person has to.
    pub because: String,
    /// Every rule that was evaluated. Present only when `askId` was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub considered: Option<serde_json::Value>,
}

/// The decisions of a policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// One entry per explained ask.
    pub data: Vec<Explained>,
    /// Whether asks are missing because the response would be too large or take too long.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// The state of the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    /// `ok`, or `storage_full` if the disk is full.
    pub status: String,
    /// The version of the server.
    pub version: String,
}
