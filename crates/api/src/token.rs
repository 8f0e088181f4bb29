//! Tokens, and the login of browsers.

use std::collections::BTreeMap;

use sayso_core::time::Time;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The permissions of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    /// May call everything, including tokens, the policy and network settings.
    Admin,
    /// May read and answer asks, and start, message and close sessions, within the scope of the token.
    Answerer,
    /// May read everything within the scope of the token, and change nothing.
    Viewer,
    /// May open asks, and read the asks that it opened.
    Agent,
}

/// Creates a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewToken {
    /// The role of the new token.
    pub role: Role,
    /// The name of the person or program. Outcomes show it as the decider.
    pub actor: String,
    /// Limits the token to this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Limits the token to resources with all these labels. Asks that an `agent` token opens get exactly these labels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// For the role `agent`: the only agent name that the token may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// For the role `agent`: the only directory that the token may ask from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// How long the token is valid, for example `12h`. Defaults to no expiry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_in: Option<String>,
}

impl NewToken {
    /// Creates a request for a token with this role and no limits.
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

/// A token, without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Token {
    /// The public id of the token, used to revoke it.
    pub id: String,
    /// The role of the token.
    pub role: Role,
    /// The name of the person or program.
    pub actor: String,
    /// The name of the browser that signed in with this token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// The session that the token is limited to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The labels that the token is limited to.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// The only agent name that the token may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The only directory that the token may ask from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// When the token was created.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Time,
    /// When the token expires. Absent if it does not expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expires_at: Option<Time>,
    /// When the token was revoked. Absent if it is valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub revoked_at: Option<Time>,
    /// When the token was last used. Absent if it was not used since the server started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_used_at: Option<Time>,
}

/// A new token with its secret, which is shown only in this response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreatedToken {
    /// The secret to send as the bearer token. Absent when the request repeats an earlier one with the same `Idempotency-Key`,
    /// because a secret is shown only once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// The properties of the token.
    #[serde(flatten)]
    pub info: Token,
}

/// All tokens that exist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenList {
    /// The tokens, newest first.
    pub data: Vec<Token>,
}

/// A code that signs a browser in. It works once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoginCode {
    /// The code to send to `POST /v1/login`.
    pub code: String,
    /// The URL that opens the page and redeems the code.
    pub url: String,
    /// When the code expires.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Time,
}

/// Creates a login code.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewLoginCode {
    /// The role of the browser that redeems the code. Defaults to `admin`; `agent` is not allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
}

/// Exchanges a login code for a token that belongs to this browser.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LoginRequest {
    /// The login code.
    pub code: String,
    /// A name for this browser, shown in the list of tokens.
    #[serde(default)]
    pub device: Option<String>,
}
