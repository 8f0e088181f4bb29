//! A workflow as it is written.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::checkpoint::Checkpoint;
use crate::policy::{ApprovalSettings, OnTimeout, QuestionPolicy, QuestionSettings, RuleSpec, SessionPolicy};
use crate::time::Span;

/// A workflow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workflow {
    /// What people call it.
    pub name: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Where its agents work, unless a step or whoever starts the run says otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// What a run is given. Without any, what the templates name is what has to be given.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: BTreeMap<String, InputSpec>,
    /// The steps, one after another.
    pub steps: Vec<Step>,
}

/// Something that a run is given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct InputSpec {
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What is taken when nothing is given; without it, something has to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
}

/// What happens to a step whose agent ends before its turn does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IfAgentDies {
    /// The step fails.
    #[default]
    Fail,
    /// It begins again with a new agent, twice at most.
    Retry,
}

/// What happens to the other steps of a group when one fails.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnFailure {
    /// They are cancelled.
    #[default]
    Cancel,
    /// They finish.
    Finish,
}

/// One step. It is one of three: an `agent` with a `prompt`, a group of `parallel` steps, or a `checkpoint`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Step {
    /// Its name, by which later steps use its output.
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
    #[serde(alias = "permissionMode", skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    /// What becomes of a question that no rule answers; `reject` if nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub questions: Option<QuestionPolicy>,
    /// How long a person has to answer a question that is forwarded.
    #[serde(alias = "questionTimeout", skip_serializing_if = "Option::is_none")]
    pub question_timeout: Option<Span>,
    /// What happens then; the first options are taken if nothing is said.
    #[serde(alias = "onTimeout", skip_serializing_if = "Option::is_none")]
    pub on_timeout: Option<OnTimeout>,
    /// What a rejected agent is told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What becomes of an approval that no rule decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approvals: Option<ApprovalSettings>,
    /// Rules of its own, nearer than those of `policy.toml`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<RuleSpec>,
    /// What happens when its agent ends before its turn does.
    #[serde(alias = "ifAgentDies", skip_serializing_if = "Option::is_none")]
    pub if_agent_dies: Option<IfAgentDies>,
    /// Steps that run at the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel: Option<Vec<Self>>,
    /// What happens to the others of a group when one fails.
    #[serde(alias = "onFailure", skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<OnFailure>,
    /// A question of the workflow's own, at which the run pauses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Checkpoint>,
}

/// What a step is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind<'a> {
    /// A session with an agent.
    Agent {
        /// The agent's name.
        agent: &'a str,
        /// What it is told.
        prompt: &'a str,
    },
    /// A group.
    Parallel(&'a [Step]),
    /// A pause.
    Checkpoint(&'a Checkpoint),
    /// None of the three, or several: [`Workflow::check`] refuses it.
    Unclear,
}

impl Step {
    /// What it is.
    #[must_use]
    pub fn kind(&self) -> Kind<'_> {
        match (&self.agent, &self.parallel, &self.checkpoint) {
            (Some(agent), None, None) => Kind::Agent { agent, prompt: self.prompt.as_deref().unwrap_or_default() },
            (None, Some(steps), None) => Kind::Parallel(steps),
            (None, None, Some(checkpoint)) => Kind::Checkpoint(checkpoint),
            (None, None, None) | (Some(_), Some(_), _) | (Some(_), _, Some(_)) | (None, Some(_), Some(_)) => Kind::Unclear,
        }
    }

    /// What the step adds to the person's policy. Nobody sits at a workflow, so it rejects what it does
    /// not say.
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

    /// Whether the agent may ask at all. Where every question would be rejected it need not be able to.
    #[must_use]
    pub fn may_ask(&self) -> bool {
        self.questions.is_some_and(|policy| policy != QuestionPolicy::Reject) || !self.rules.is_empty()
    }
}

impl Workflow {
    /// The same, to be changed.
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

    /// The steps that do something, groups opened up, in order.
    pub fn leaves(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().flat_map(|step| match &step.parallel {
            Some(members) => members.as_slice(),
            None => std::slice::from_ref(step),
        })
    }
}
