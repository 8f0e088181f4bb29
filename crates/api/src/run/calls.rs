//! Requests and responses of the calls about runs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::Run;

/// Starts a run of a workflow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewRun {
    /// The workflow as JSON, or the name of a file in the directory `workflows` next to `policy.toml`.
    #[schema(value_type = crate::workflow::WorkflowSource)]
    pub workflow: serde_json::Value,
    /// The inputs by name. Numbers and booleans are converted to text.
    #[serde(default)]
    #[schema(value_type = BTreeMap<String, String>)]
    pub input: BTreeMap<String, serde_json::Value>,
    /// The working directory of the agents, unless a step sets its own. Defaults to the directory of the workflow, or the home
    /// directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// Labels of the run. Its sessions and asks get them as well.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Environment variables for the agents; see `POST /v1/sessions`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<BTreeMap<String, String>>,
}

/// One page of a list of runs, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunPage {
    /// The runs of this page.
    pub data: Vec<Run>,
    /// The `cursor` of the next page. Absent on the last page.
    pub next_cursor: Option<String>,
    /// The feed position at which the list was read.
    pub seq: i64,
    /// Whether the page has fewer than `limit` entries because it reached its size limit in bytes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// Filters and paging for a list of runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub struct RunQuery {
    /// Only runs that have not finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open: Option<bool>,
    /// Only runs whose id ends with this text.
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

/// Answers or rejects a pending question of a run. Set exactly one of `answers` and `reject`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct RunAnswerRequest {
    /// One list of entries per question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers: Option<Vec<Vec<String>>>,
    /// Whether to reject the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reject: Option<bool>,
    /// With `reject`: the reason. The agent receives this text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// The result of answering or rejecting a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunAnswered {
    /// `answered` or `rejected`.
    pub status: String,
}
