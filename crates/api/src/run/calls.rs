//! Requests about runs, and their responses.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::Run;

/// Starts a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewRun {
    /// The workflow: the file as JSON, or the name of a file in the directory `workflows` beside `policy.toml`.
    #[schema(value_type = crate::workflow::WorkflowSource)]
    pub workflow: serde_json::Value,
    /// What it is given. Numbers and yes or no are taken as text.
    #[serde(default)]
    #[schema(value_type = BTreeMap<String, String>)]
    pub input: BTreeMap<String, serde_json::Value>,
    /// Where its agents work, unless a step says otherwise; else what the workflow says, else home.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// Labels; its sessions and asks have them too.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Variables of the caller for the agents; see `POST /v1/sessions`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<BTreeMap<String, String>>,
}

/// A page of runs, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunPage {
    /// The runs.
    pub data: Vec<Run>,
    /// Give it as `cursor` to get the next page.
    pub next_cursor: Option<String>,
    /// The feed position that this list was read at.
    pub seq: i64,
    /// Whether the page ends early because it has many bytes, with fewer entries than `limit`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// What to list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub struct RunQuery {
    /// Only runs that are not over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open: Option<bool>,
    /// Only the run whose id ends like this.
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

/// Answers or rejects what a run waits for: exactly one of the two.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct RunAnswerRequest {
    /// One list of entries per question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers: Option<Vec<Vec<String>>>,
    /// Says that no answer will come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reject: Option<bool>,
    /// Why, when it is rejected; the agent gets these words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunAnswered {
    /// `answered` or `rejected`.
    pub status: String,
}
