//! What the feed says about runs, their steps and their questions.

use sayso_core::ask as core;
use sayso_core::limits;
use sayso_core::snapshot::{RunSnapshot, StepSnapshot};
use sayso_core::time::Time;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{RunQuestion, RunStatus, RunStep};
use crate::ask::{Actor, AskStatus, Outcome, ShownAnswer};

/// The data of `agent_question_asked`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestionAsked {
    /// The run.
    pub run_id: String,
    /// The step.
    pub step_id: String,
    /// The session.
    pub session_id: String,
    /// What is asked.
    pub question: RunQuestion,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub timestamp: Time,
}

/// The data of `agent_question_answered`: also when a rule, the policy or a timeout decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestionAnswered {
    /// The run.
    pub run_id: String,
    /// The step.
    pub step_id: String,
    /// The session.
    pub session_id: String,
    /// The ask's id.
    pub question_id: String,
    /// `answered`, `rejected` or `withdrawn`.
    pub status: AskStatus,
    /// The answers, one per question; none when it was rejected.
    pub answers: Vec<ShownAnswer>,
    /// The words of a reject, or why it was withdrawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub timestamp: Time,
    /// By whom.
    pub by: Actor,
    /// What was asked: what a rule decides was not told of before.
    pub question: RunQuestion,
}

impl QuestionAsked {
    /// Leaves out what makes a question large, for an event: the whole is at `GET /v1/asks/{id}`.
    pub fn shorten(&mut self) {
        self.question.shorten();
    }

    /// The data of the event.
    #[must_use]
    pub fn of(ask: &core::Ask) -> Self {
        let question = RunQuestion::from(ask);
        Self {
            run_id: ask.context.run.map(|run| run.to_string()).unwrap_or_default(),
            step_id: question.step_id.clone(),
            session_id: question.session_id.clone(),
            question,
            timestamp: ask.opened_at,
        }
    }
}

impl QuestionAnswered {
    /// Leaves out what makes a question and its answer large, for an event.
    pub fn shorten(&mut self) {
        self.question.shorten();
        self.answers.clear();
        self.message = self.message.take().map(|message| limits::head(&message, 1024).to_owned());
    }

    /// The data of the event; nothing while it is pending.
    #[must_use]
    pub fn of(ask: &core::Ask) -> Option<Self> {
        let outcome = Outcome::of(ask.outcome()?, ask.body.questions());
        let asked = QuestionAsked::of(ask);
        Some(Self {
            run_id: asked.run_id,
            step_id: asked.step_id,
            session_id: asked.session_id,
            question_id: asked.question.id.clone(),
            status: outcome.status,
            answers: outcome.answers.unwrap_or_default(),
            message: outcome.message,
            timestamp: outcome.at,
            by: outcome.by,
            question: asked.question,
        })
    }
}

/// The data of `step.started`, `step.completed`, `step.failed` and `step.cancelled`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StepNews {
    /// The run.
    pub run_id: String,
    /// The step.
    pub step_id: String,
    /// How it stands.
    #[serde(flatten)]
    pub step: RunStep,
}

/// The data of `run.started`, `run.completed`, `run.failed` and `run.cancelled`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunNews {
    /// The run.
    pub run_id: String,
    /// The workflow's name.
    pub workflow: String,
    /// How it stands.
    pub status: RunStatus,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl From<&RunSnapshot> for RunNews {
    fn from(run: &RunSnapshot) -> Self {
        Self {
            run_id: run.run_id.to_string(),
            workflow: run.workflow.clone(),
            status: RunStatus::of(&run.status, false),
            reason: run.status.reason().map(str::to_owned),
        }
    }
}

impl From<StepSnapshot> for StepNews {
    fn from(step: StepSnapshot) -> Self {
        Self { run_id: step.run_id.to_string(), step_id: step.step_id.clone(), step: RunStep::from(step) }
    }
}
