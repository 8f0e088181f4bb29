//! The shape of a workflow in `POST /v1/runs`, for the OpenAPI document and for typed clients.
//!
//! The server does not parse workflows with these types. It uses `sayso_core::workflow`, which reports the position of
//! mistakes. The test below checks that both have the same fields.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::ask::OnTimeout;

/// A workflow: the name of a file in the directory `workflows` next to `policy.toml`, or the workflow itself as JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum WorkflowSource {
    /// The name of a workflow file, without its extension.
    Name(String),
    /// The workflow as JSON.
    File(WorkflowFile),
}

/// The content of a workflow file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkflowFile {
    /// The name of the workflow.
    pub name: String,
    /// A description of the workflow for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The working directory of the agents. Steps and runs can override it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// The inputs of a run, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: BTreeMap<String, WorkflowInput>,
    /// The steps, executed one after another.
    pub steps: Vec<WorkflowStep>,
}

/// A declared input of a workflow.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WorkflowInput {
    /// A description of the input for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The value to use if the run does not set this input. Without a default, the input is required.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
}

/// One step: an `agent` with a `prompt`, a group of `parallel` steps, or a `checkpoint`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WorkflowStep {
    /// The id of the step. Templates of later steps refer to its output by this id.
    #[schema(required)]
    pub id: String,
    /// The configured name of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The prompt for the agent, a template.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The working directory of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// The model that the agent uses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The permission mode of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    /// What happens to a question that no rule answers. Defaults to `reject`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub questions: Option<StepQuestions>,
    /// How long a person has to answer a forwarded question, for example `30s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question_timeout: Option<String>,
    /// What happens to a forwarded question at its deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_timeout: Option<OnTimeout>,
    /// The message to an agent whose question is rejected.
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
    /// What happens when the agent exits before its turn ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub if_agent_dies: Option<IfAgentDies>,
    /// Steps to run at the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(no_recursion)]
    pub parallel: Option<Vec<Self>>,
    /// What happens to the other steps of a group when one step fails.
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
    /// The question is rejected.
    Reject,
    /// The first option of every question is chosen.
    AcceptFirst,
    /// The question waits for a person.
    Forward,
    /// Rules answer. Where no rule matches, the first option is chosen.
    Auto,
}

/// What happens to a step whose agent exits before its turn ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IfAgentDies {
    /// The step fails.
    Fail,
    /// The step starts again with a new agent, at most twice.
    Retry,
}

/// What happens to the other steps of a group when one step fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnFailure {
    /// The other steps are cancelled.
    Cancel,
    /// The other steps run to their end.
    Finish,
}

/// A question to a person at which the run pauses. The answer is the output of the step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WorkflowCheckpoint {
    /// The text of the question, a template.
    #[schema(required)]
    pub question: String,
    /// A short label for the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// The type of the answer. Defaults to a choice if there are options, and to text otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<CheckpointInput>,
    /// The options to choose from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<CheckpointOption>,
    /// Whether more than one option can be chosen.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub multiple: bool,
    /// Whether free text is accepted in addition to the options.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub custom: bool,
    /// The smallest number that is accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum: Option<f64>,
    /// The largest number that is accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximum: Option<f64>,
    /// Whether the number has to be an integer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub integer: bool,
}

/// The type of answer that a checkpoint accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CheckpointInput {
    /// One option, or several with `multiple`.
    Choice,
    /// Any text.
    Text,
    /// A number between `minimum` and `maximum`.
    Number,
    /// Yes or no.
    YesNo,
}

/// An option of a checkpoint: a label, or a label with a description.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum CheckpointOption {
    /// Only a label.
    Label(String),
    /// A label with a description.
    Described {
        /// The text to display, which is also the answer.
        label: String,
        /// A longer explanation of the option.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String>,
    },
}

#[cfg(test)]
mod tests {
    use sayso_core::workflow::Workflow;
    use serde_json::{Value, json};

    use super::*;

    /// A workflow that sets every field.
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
    fn documented_workflow_has_the_fields_of_the_core_workflow() {
        let documented: WorkflowFile = serde_json::from_value(every_field()).unwrap();
        assert_eq!(serde_json::to_value(&documented).unwrap(), every_field());
        let core: Workflow = serde_json::from_value(every_field()).unwrap();
        let written = serde_json::to_value(&core).unwrap();
        assert_eq!(serde_json::to_value(serde_json::from_value::<WorkflowFile>(written.clone()).unwrap()).unwrap(), written);
    }
}
