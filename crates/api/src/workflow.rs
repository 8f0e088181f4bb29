//! The shape of a workflow in `POST /v1/runs`, for the OpenAPI document and for typed clients.
//!
//! The server reads workflows with `sayso_core::workflow`, which reports mistakes with their place. The test below keeps the
//! two shapes equal.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::ask::OnTimeout;

/// A workflow: the name of a file in the directory `workflows` beside `policy.toml`, or the file as JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum WorkflowSource {
    /// The name of a file.
    Name(String),
    /// The file.
    File(WorkflowFile),
}

/// A workflow file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkflowFile {
    /// The workflow's name.
    pub name: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Where its agents work, unless a step or the run says otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// What a run is given, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: BTreeMap<String, WorkflowInput>,
    /// The steps, one after another.
    pub steps: Vec<WorkflowStep>,
}

/// Something that a run is given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WorkflowInput {
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The value if the run gives none. Without a default, the run has to give one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
}

/// One step: an `agent` with a `prompt`, a group of `parallel` steps, or a `checkpoint`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WorkflowStep {
    /// Its name, by which later steps use its output.
    #[schema(required)]
    pub id: String,
    /// The agent's configured name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// What the agent is told; a template.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Where the agent works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// The model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The agent's permission mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    /// What happens to a question that no rule answers; `reject` by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub questions: Option<StepQuestions>,
    /// How long a person has to answer a forwarded question, for example `30s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question_timeout: Option<String>,
    /// What happens at the timeout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_timeout: Option<OnTimeout>,
    /// What a rejected agent is told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What happens to an approval that no rule decides, as in `policy.toml`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub approvals: Option<serde_json::Value>,
    /// Rules of the step, as in `policy.toml`. They take precedence over those of `policy.toml`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Object>)]
    pub rules: Vec<serde_json::Value>,
    /// What happens when the agent ends before its turn does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub if_agent_dies: Option<IfAgentDies>,
    /// Steps that run at the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(no_recursion)]
    pub parallel: Option<Vec<Self>>,
    /// What happens to the other steps of a group when one fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<OnFailure>,
    /// A question at which the run pauses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<WorkflowCheckpoint>,
}

/// What happens to a question of a step's agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StepQuestions {
    /// The agent is told that nobody answers.
    Reject,
    /// The first option of every question is taken.
    AcceptFirst,
    /// A person answers.
    Forward,
    /// Rules answer, and the first option where none fits.
    Auto,
}

/// What happens to a step whose agent ends before its turn does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IfAgentDies {
    /// The step fails.
    Fail,
    /// The step begins again with a new agent, at most twice.
    Retry,
}

/// What happens to the other steps of a group when one fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnFailure {
    /// They are cancelled.
    Cancel,
    /// They finish.
    Finish,
}

/// A pause with a question. Its answer is the step's output.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WorkflowCheckpoint {
    /// What is asked; a template.
    #[schema(required)]
    pub question: String,
    /// A short name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// What the checkpoint takes: a choice if there are options, else text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<CheckpointInput>,
    /// What may be chosen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<CheckpointOption>,
    /// Whether several may be chosen.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub multiple: bool,
    /// Whether own text is accepted besides the options.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub custom: bool,
    /// The smallest number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum: Option<f64>,
    /// The largest number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximum: Option<f64>,
    /// Whether a number has to be whole.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub integer: bool,
}

/// What a checkpoint takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CheckpointInput {
    /// One option, or several.
    Choice,
    /// Free text.
    Text,
    /// A number.
    Number,
    /// Yes or no.
    YesNo,
}

/// An option of a checkpoint: a label, or a label with its meaning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum CheckpointOption {
    /// A label.
    Label(String),
    /// A label with its meaning.
    Described {
        /// The label.
        label: String,
        /// What it means.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String>,
    },
}

#[cfg(test)]
mod tests {
    use sayso_core::workflow::Workflow;
    use serde_json::{Value, json};

    use super::*;

    /// A workflow with every field.
    fn every_field() -> Value {
        json!({
            "name": "w", "description": "d", "directory": "/p", "inputs": { "topic": { "description": "d", "default": "x" } },
            "steps": [
                {
                    "id": "one", "agent": "mock", "prompt": "p", "directory": "/p", "model": "m", "permission_mode": "plan",
                    "questions": "accept-first", "question_timeout": "30s", "on_timeout": "accept-first", "message": "no",
                    "approvals": { "policy": "deny" }, "rules": [{ "name": "r", "do": "deny", "run": ["rm *"] }],
                    "if_agent_dies": "retry",
                },
                { "id": "two", "on_failure": "finish", "parallel": [{ "id": "three", "agent": "mock", "prompt": "p" }] },
                {
                    "id": "four",
                    "checkpoint": {
                        "question": "q", "header": "h", "input": "choice", "multiple": true, "custom": true, "minimum": 1.0,
                        "maximum": 2.0, "integer": true, "options": ["a", { "label": "b", "description": "d" }],
                    },
                },
            ],
        })
    }

    #[test]
    fn documented_workflow_and_the_workflow_that_the_server_reads_have_the_same_fields() {
        let documented: WorkflowFile = serde_json::from_value(every_field()).unwrap();
        assert_eq!(serde_json::to_value(&documented).unwrap(), every_field());
        let core: Workflow = serde_json::from_value(every_field()).unwrap();
        let written = serde_json::to_value(&core).unwrap();
        assert_eq!(serde_json::to_value(serde_json::from_value::<WorkflowFile>(written.clone()).unwrap()).unwrap(), written);
    }
}
