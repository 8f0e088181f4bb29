//! The content of a workflow file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::checkpoint::Checkpoint;
use crate::policy::{ApprovalSettings, OnTimeout, QuestionPolicy, QuestionSettings, RuleSpec, SessionPolicy};
use crate::time::Span;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workflow {
    /// The name of the workflow.
    pub name: String,
    /// What the workflow is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The working directory of its agents. Steps and runs can override it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// The declared inputs. If there are none, every variable that a template uses is a required input.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: BTreeMap<String, InputSpec>,
    /// The steps, executed one after another.
    pub steps: Vec<Step>,
}

/// A declared input.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct InputSpec {
    /// What the input is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The value to use if the run does not set this input. Without a default, the input is required.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
}

/// What happens to a step whose agent exits before its turn ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IfAgentDies {
    #[default]
    Fail,
    /// The step starts again with a new agent, at most twice.
    Retry,
}

/// What happens to the other steps of a group when one step fails.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnFailure {
    #[default]
    Cancel,
    /// The other steps run to their end.
    Finish,
}

/// One step: an `agent` with a `prompt`, a group of `parallel` steps, or a `checkpoint`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Step {
    /// The id by which templates of later steps refer to the output of this step.
    pub id: String,
    /// The agent's name in the configuration.
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
    /// The agent's permission mode.
    #[serde(alias = "permissionMode", skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    /// What happens to a question that no rule answers. Defaults to `reject`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub questions: Option<QuestionPolicy>,
    /// How long a person has to answer a forwarded question.
    #[serde(alias = "questionTimeout", skip_serializing_if = "Option::is_none")]
    pub question_timeout: Option<Span>,
    /// What happens to a forwarded question at its deadline. Defaults to choosing the first options.
    #[serde(alias = "onTimeout", skip_serializing_if = "Option::is_none")]
    pub on_timeout: Option<OnTimeout>,
    /// The message to an agent whose question is rejected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What happens to an approval that no rule decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approvals: Option<ApprovalSettings>,
    /// Rules of the step. They take precedence over those of `policy.toml`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<RuleSpec>,
    /// What happens when the agent exits before its turn ends.
    #[serde(alias = "ifAgentDies", skip_serializing_if = "Option::is_none")]
    pub if_agent_dies: Option<IfAgentDies>,
    /// Steps that run at the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel: Option<Vec<Self>>,
    /// What happens to the other steps of a group when one step fails.
    #[serde(alias = "onFailure", skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<OnFailure>,
    /// A question to a person at which the run pauses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Checkpoint>,
}

/// The kind of a step, with the fields of that kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind<'a> {
    Agent {
        agent: &'a str,
        prompt: &'a str,
    },
    /// A group of steps that run at the same time.
    Parallel(&'a [Step]),
    /// A question to a person.
    Checkpoint(&'a Checkpoint),
    /// None or several of the three kinds. [`Workflow::check`] reports it.
    Unclear,
}

impl Step {
    #[must_use]
    pub fn kind(&self) -> Kind<'_> {
        match (&self.agent, &self.parallel, &self.checkpoint) {
            (Some(agent), None, None) => Kind::Agent { agent, prompt: self.prompt.as_deref().unwrap_or_default() },
            (None, Some(steps), None) => Kind::Parallel(steps),
            (None, None, Some(checkpoint)) => Kind::Checkpoint(checkpoint),
            (None, None, None) | (Some(_), Some(_), _) | (Some(_), _, Some(_)) | (None, Some(_), Some(_)) => Kind::Unclear,
        }
    }

    /// Returns the policy settings of the step's session. A workflow usually runs unattended, so questions are rejected unless
    /// the step sets `questions`.
    #[must_use]
    pub fn policy(&self) -> SessionPolicy {
        SessionPolicy {
            questions: QuestionSettings {
                policy: Some(self.questions.unwrap_or(QuestionPolicy::Reject)),
                timeout: self.question_timeout,
                on_timeout: self.on_timeout,
                message: self.message.clone(),
            },
            approvals: self.approvals.clone().unwrap_or_default(),
            rules: self.rules.clone(),
        }
    }

    /// Returns whether the agent may ask questions. If not, the agent does not need the ability to ask.
    #[must_use]
    pub fn may_ask(&self) -> bool {
        self.questions.is_some_and(|policy| policy != QuestionPolicy::Reject) || !self.rules.is_empty()
    }
}

impl Workflow {
    /// Like [`Workflow::leaves`], with mutable references.
    pub fn leaves_mut(&mut self) -> impl Iterator<Item = &mut Step> {
        self.steps.iter_mut().flat_map(|step| {
            let alone = step.parallel.is_none();
            let (members, own): (&mut [Step], Option<&mut Step>) = match alone {
                true => (&mut [], Some(step)),
                false => (step.parallel.as_deref_mut().unwrap_or_default(), None),
            };
            members.iter_mut().chain(own)
        })
    }

    /// Returns the steps that do something, in order, with groups flattened.
    pub fn leaves(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().flat_map(|step| match &step.parallel {
            Some(members) => members.as_slice(),
            None => std::slice::from_ref(step),
        })
    }
}
