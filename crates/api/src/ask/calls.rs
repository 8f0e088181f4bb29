//! Requests and responses of the calls that list, open and decide asks.

use std::collections::BTreeMap;

use sayso_core::time::Time;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::external::ExternalSession;
use super::{Approval, Ask, AskKind, Link, Question};

/// One page of a list of asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AskPage {
    /// The asks. Pending asks are sorted oldest first, all other lists newest first.
    pub data: Vec<Ask>,
    /// The `cursor` of the next page. Absent on the last page.
    pub next_cursor: Option<String>,
    /// The feed position at which the list was read. Stream with `since` set to this value to miss nothing.
    pub seq: i64,
    /// The total number of pending asks that the token can see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<u64>,
    /// Whether the page has fewer than `limit` entries because it reached its size limit in bytes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// Filters and paging for a list of asks. All filters have to match.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub struct AskQuery {
    /// `pending`, `resolved` or the name of one outcome. Defaults to all asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Only asks of the session with this id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Only asks of this kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<AskKind>,
    /// Only asks with this label, written as `key=value`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Only asks of this agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Only asks from this directory or a directory below it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Only asks opened at or after this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<String>, format = DateTime)]
    pub since: Option<Time>,
    /// Only asks opened before this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<String>, format = DateTime)]
    pub until: Option<Time>,
    /// Only asks that contain these words in the request, the messages or the outcome. Case is ignored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub q: Option<String>,
    /// Only asks whose id ends with this text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id_ends_with: Option<String>,
    /// The maximum number of entries, 1 to 500.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(minimum = 1, maximum = 500)]
    pub limit: Option<u32>,
    /// The `nextCursor` of the previous page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// Options for reading one ask.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub struct GetAskQuery {
    /// How long to wait for an outcome, for example `30s`; at most 60 seconds. The response is sent as soon as there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<String>,
    /// Whether to include `raw`, the agent's original request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw: Option<bool>,
}

/// Opens an ask. Set exactly one of `questions`, `approval` and `link`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct NewAsk {
    /// The session that the ask belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The session of an agent that a person runs in their own terminal or editor. Created if it does not exist yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external: Option<ExternalSession>,
    /// The name of the agent that asks. Defaults to the name of the token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// A one-line title for the card of the ask.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The project directory, as an absolute path. Rules can be limited to a directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The git branch of the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The name of the sub-agent that asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subagent: Option<String>,
    /// The id that the agent gave the tool call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// Background that a person should read first, such as the agent's last message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The questions to answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub questions: Option<Vec<Question>>,
    /// The action to approve.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    /// The URL to open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<Link>,
    /// Whether the agent waits for the outcome. Defaults to `true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocking: Option<bool>,
    /// Labels for filters and scoped tokens.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Whether to ask only the policy. If it leaves the ask to a person, no ask is opened and the response is 409
    /// `not_decided`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy_only: Option<bool>,
    /// Makes retries safe: while an ask with this key is pending, opening an equal ask with the same token returns that ask. If
    /// the new ask differs, the response is 409 `dedupe_key_reused`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dedupe_key: Option<String>,
    /// How long to keep the ask when no caller waits for it any more, for example `10m`; at most `90d`. During that time a
    /// question is parked, and opening it again with the same `dedupeKey` continues it, even if it was answered but not
    /// collected. After that time the ask is withdrawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep: Option<String>,
    /// The deadline, for example `10m`. When it passes, questions are rejected and approvals and links are denied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
}

/// Options for withdrawing an ask.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub struct WithdrawQuery {
    /// The reason for the withdrawal, shown to people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Options for collecting an outcome.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub struct ReceiptQuery {
    /// A name that the caller chooses for itself. Only one taker gets an approval; others get 409 `outcome_taken`. The same
    /// taker may repeat the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taker: Option<String>,
}

/// Withdraws an ask by its `dedupeKey`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct WithdrawByKeyQuery {
    /// The `dedupeKey` of the ask.
    pub dedupe_key: String,
    /// The reason for the withdrawal, shown to people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Answers all questions of an ask.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AnswerRequest {
    /// One list per question, in order. Entries are option values, option labels or free text.
    pub answers: Vec<Vec<String>>,
    /// A note for the agent, in addition to the answers.
    #[serde(default)]
    pub note: Option<String>,
}

/// Rejects a question, or denies an approval or link.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct NoRequest {
    /// The reason. The agent receives this text.
    pub message: Option<String>,
    /// Whether the agent should stop its turn.
    pub stop: bool,
}

/// Approves an approval or link.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ApproveRequest {
    /// The `id` of one of the agent's choices.
    pub choice: Option<String>,
    /// Replaces the tool's input. Only for approvals with `editable`.
    #[schema(value_type = Option<Object>)]
    pub input: Option<serde_json::Value>,
    /// The `digest` of the files that the person saw (`GET /v1/asks/{id}/files`). If the files have changed, the response is
    /// 409 `content_changed`. Without it, the server compares the files with their content when the ask was opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_digest: Option<String>,
}

/// Hides an ask from the inbox for a while, without deciding it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SnoozeRequest {
    /// When the ask returns to the inbox. `null` returns it immediately.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub until: Option<sayso_core::time::Time>,
}
