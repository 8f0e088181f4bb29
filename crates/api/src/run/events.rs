//! Payloads of events about runs, their steps and their questions.

use sayso_core::ask as core;
use sayso_core::limits;
use sayso_core::snapshot::{RunSnapshot, StepSnapshot};
use sayso_core::time::Time;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{RunQuestion, RunStatus, RunStep};
use crate::ask::{Actor, AskStatus, Outcome, ShownAnswer};

/// The payload of `agent_question_asked`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestionAsked {
    /// The id of the run.
    pub run_id: String,
    /// The id of the step.
    pub step_id: String,
    /// The id of the session.
    pub session_id: String,
    /// The questions and their deadline.
    pub question: RunQuestion,
    /// When the agent asked.
    #[schema(value_type = String, format = DateTime)]
    pub timestamp: Time,
}

/// The payload of `agent_question_answered`, which is also sent when a rule, a policy default or a timeout decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestionAnswered {
    /// The id of the run.
    pub run_id: String,
    /// The id of the step.
    pub step_id: String,
    /// The id of the session.
    pub session_id: String,
    /// The id of the ask.
    pub question_id: String,
    /// `answered`, `rejected` or `withdrawn`.
    pub status: AskStatus,
    /// The answers, one per question. Empty if the question was not answered.
    pub answers: Vec<ShownAnswer>,
    /// The reason of a rejection or withdrawal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The time of the decision.
    #[schema(value_type = String, format = DateTime)]
    pub timestamp: Time,
    /// The person or mechanism that decided.
    pub by: Actor,
    /// The questions. Repeated here because no `agent_question_asked` precedes an automatic decision.
    pub question: RunQuestion,
}

impl QuestionAsked {
    /// Removes the large parts for use in an event. `GET /v1/asks/{id}` returns the complete question.
    pub fn shorten(&mut self) {
        self.question.shorten();
    }

    /// Builds the payload from an ask.
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
    /// Removes the large parts of the question and the answer for use in an event.
    pub fn shorten(&mut self) {
        self.question.shorten();
        self.answers.clear();
        self.message = self.message.take().map(|message| limits::head(&message, 1024).to_owned());
    }

    /// Builds the payload from an ask. Returns `None` while the ask is pending.
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

/// The payload of `step.started`, `step.completed`, `step.failed` and `step.cancelled`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StepNews {
    /// The id of the run.
    pub run_id: String,
    /// The id of the step.
    pub step_id: String,
    /// The new state of the step.
    #[serde(flatten)]
    pub step: RunStep,
}

/// The payload of `run.started`, `run.completed`, `run.failed` and `run.cancelled`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunNews {
    /// The id of the run.
    pub run_id: String,
    /// The name of the workflow.
    pub workflow: String,
    /// The new status of the run.
    pub status: RunStatus,
    /// Why the run failed or was cancelled.
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
