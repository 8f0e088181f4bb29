//! The calls that list, open and decide asks.

use std::collections::BTreeMap;

use sayso_core::time::Time;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::external::ExternalSession;
use super::{Approval, Ask, AskKind, Link, Question};

/// A page of asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AskPage {
    /// The asks: pending ones oldest first, others newest first.
    pub data: Vec<Ask>,
    /// Give it as `cursor` to get the next page.
    pub next_cursor: Option<String>,
    /// The feed position that this list was read at: stream from here.
    pub seq: i64,
    /// How many asks are pending in all that this token sees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<u64>,
    /// Whether the page ends early because it has many bytes, with fewer entries than `limit`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// What to list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub struct AskQuery {
    /// `pending`, `resolved`, or one outcome; all if it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Only asks of this session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Only asks of this kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<AskKind>,
    /// Only asks with this label, as `key=value`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Only asks of this agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Only asks of this directory and below.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Only asks that were opened then or later.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<String>, format = DateTime)]
    pub since: Option<Time>,
    /// Only asks that were opened before then.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<String>, format = DateTime)]
    pub until: Option<Time>,
    /// Only asks with these words in what was asked, said or decided; letters in any case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub q: Option<String>,
    /// Only the ask whose id ends like this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id_ends_with: Option<String>,
    /// How many at most, 1 to 500.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(minimum = 1, maximum = 500)]
    pub limit: Option<u32>,
    /// Where the last page ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// How to read one ask.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub struct GetAskQuery {
    /// Wait up to this long (at most 60s) for an outcome, e.g. `30s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<String>,
    /// Add the agent's request as it arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw: Option<bool>,
}

/// Opens an ask: either `questions`, or `approval`, or `link`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct NewAsk {
    /// The session it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The session of an agent that a person runs themselves. It is made when it is not known yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external: Option<ExternalSession>,
    /// Who asks; the token's name if it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// One line that says what this is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The project directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The git branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The sub-agent that asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subagent: Option<String>,
    /// The agent's id of the tool call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// What a person should know first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The questions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub questions: Option<Vec<Question>>,
    /// The approval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    /// The link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<Link>,
    /// Whether the caller waits for it (the default).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocking: Option<bool>,
    /// Labels.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Only ask the policy: if it leaves the ask to a person, nothing is opened and the reply is 409 `not_decided`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy_only: Option<bool>,
    /// Two pending asks of one token with the same key are one ask, if they ask for the same thing; else 409 `dedupe_key_reused`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dedupe_key: Option<String>,
    /// Keep it this long, e.g. `10m`, at most `90d`, when nobody waits for it any more; then it is withdrawn. Meanwhile a
    /// question is parked. Opening it again with the same `dedupeKey` goes on, also with an outcome that was not taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep: Option<String>,
    /// Give up after this long, e.g. `10m`: questions are rejected, approvals denied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
}

/// How an ask is taken back.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub struct WithdrawQuery {
    /// Why, in words for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// How an outcome is taken.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub struct ReceiptQuery {
    /// A name that you choose for this take. An approval is given to one taker only, others get 409 `outcome_taken`; the same
    /// taker may repeat the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taker: Option<String>,
}

/// Which ask is taken back, by the key that it was opened with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct WithdrawByKeyQuery {
    /// The `dedupeKey` of the ask.
    pub dedupe_key: String,
    /// Why, in words for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Answers the questions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AnswerRequest {
    /// One list of entries per question: option values or labels, or text.
    pub answers: Vec<Vec<String>>,
    /// What to add.
    #[serde(default)]
    pub note: Option<String>,
}

/// Says no: `reject` for questions, `deny` for approvals and links.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct NoRequest {
    /// Why; the agent gets your words.
    pub message: Option<String>,
    /// Whether the agent shall stop.
    pub stop: bool,
}

/// Says yes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ApproveRequest {
    /// One of the agent's own ways to say yes.
    pub choice: Option<String>,
    /// Use this input instead.
    #[schema(value_type = Option<Object>)]
    pub input: Option<serde_json::Value>,
    /// `digest` of the files that the person saw (`GET /v1/asks/{id}/files`). If they have changed, the reply is 409
    /// `content_changed`. Without it, they are compared with what they were when the ask was opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_digest: Option<String>,
}

/// Hides the ask from the inbox for a while. Not a no.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SnoozeRequest {
    /// Until when; `null` brings it back.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub until: Option<sayso_core::time::Time>,
}
