//! Tokens, and the login of a browser.

use std::collections::BTreeMap;

use sayso_core::time::Time;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a token may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    /// Everything.
    Admin,
    /// Lists, answers, snoozes, starts and talks to sessions in its scope.
    Answerer,
    /// Reads.
    Viewer,
    /// Opens asks and reads those that it opened.
    Agent,
}

/// Makes a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewToken {
    /// What it may do.
    pub role: Role,
    /// The name of the person or program; it stands in every outcome.
    pub actor: String,
    /// Only this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Only what has all these labels. The asks of an `agent` token have them, and no others.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// For an `agent` token: the name of the agent. It may not call itself anything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// For an `agent` token: the directory that the agent works in. It may not ask from anywhere else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Ends after this long, e.g. `12h`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_in: Option<String>,
}

impl NewToken {
    /// A token with this role and no limits.
    pub fn new(role: Role, actor: impl Into<String>) -> Self {
        Self {
            role,
            actor: actor.into(),
            session_id: None,
            labels: BTreeMap::new(),
            agent: None,
            project: None,
            expires_in: None,
        }
    }
}

/// A token without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Token {
    /// Its id; not the secret.
    pub id: String,
    /// What it may do.
    pub role: Role,
    /// The name of the person or program.
    pub actor: String,
    /// What the browser that signed in is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Only this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Only what has all these labels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// The only agent that it may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The only directory that it may ask from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Time,
    /// When it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expires_at: Option<Time>,
    /// When it was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub revoked_at: Option<Time>,
    /// When it was last used, if it was since the server started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_used_at: Option<Time>,
}

/// A new token. The secret is shown this once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreatedToken {
    /// The bearer token to send. Absent when the call repeats an earlier one with the same
    /// `Idempotency-Key`: a secret is shown once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// What it is.
    #[serde(flatten)]
    pub info: Token,
}

/// The tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenList {
    /// The tokens, newest first.
    pub data: Vec<Token>,
}

/// A code that opens the page in a browser, once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoginCode {
    /// The code.
    pub code: String,
    /// The address to open.
    pub url: String,
    /// When it ends.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Time,
}

/// Makes a login code.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewLoginCode {
    /// What the browser that redeems it may do: everything, if it is absent. A browser is never an agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
}

/// Redeems a login code for a token of this browser.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LoginRequest {
    /// The code.
    pub code: String,
    /// What to call this browser.
    #[serde(default)]
    pub device: Option<String>,
}
