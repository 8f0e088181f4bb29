//! Runs of workflows: their steps, their pending asks, and their events.

mod calls;
mod events;
mod question;

pub use calls::{NewRun, RunAnswerRequest, RunAnswered, RunPage, RunQuery};
pub use events::{QuestionAnswered, QuestionAsked, RunNews, StepNews};
pub use question::{RunQuestion, RunQuestionItem, RunQuestionOption};

use std::collections::BTreeMap;

use sayso_core::ask as core;
use sayso_core::run as domain;
use sayso_core::snapshot::StepSnapshot;
use sayso_core::time::Time;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The status of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum RunStatus {
    /// A step is running, and no ask is pending.
    Running,
    /// A step is running, and an ask waits for a person.
    Waiting,
    /// All steps completed.
    Completed,
    /// A step failed.
    Failed,
    /// A person cancelled the run.
    Cancelled,
}

impl RunStatus {
    fn of(status: &domain::RunStatus, waiting: bool) -> Self {
        match status {
            domain::RunStatus::Running if waiting => Self::Waiting,
            domain::RunStatus::Running => Self::Running,
            domain::RunStatus::Completed => Self::Completed,
            domain::RunStatus::Failed { .. } => Self::Failed,
            domain::RunStatus::Cancelled { .. } => Self::Cancelled,
        }
    }

    /// Returns whether the run has finished, in any way.
    #[must_use]
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

/// One execution of a workflow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    /// The unique id of the run.
    pub id: String,
    /// The name of the workflow.
    pub workflow: String,
    /// The status of the run.
    pub status: RunStatus,
    /// Why the run failed or was cancelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The inputs by name.
    pub input: BTreeMap<String, String>,
    /// The working directory of its agents.
    pub directory: String,
    /// The steps in order. Steps of a group are listed individually.
    pub steps: Vec<RunStep>,
    /// The last message of each finished step, by step id.
    pub outputs: BTreeMap<String, String>,
    /// Pending questions of the agents, oldest first. Empty in lists of runs.
    #[serde(default)]
    pub pending_questions: Vec<RunQuestion>,
    /// The ids of pending checkpoints. Empty in lists of runs.
    #[serde(default)]
    pub pending_checkpoints: Vec<String>,
    /// The ids of pending approvals and links. Empty in lists of runs.
    #[serde(default)]
    pub pending_approvals: Vec<String>,
    /// The number of pending asks.
    pub pending: u32,
    /// Whether the lists of pending asks are incomplete because of their size in bytes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// The labels of the run.
    pub labels: BTreeMap<String, String>,
    /// When the run was started.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Time,
    /// When the run last changed.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Time,
    /// The feed position at which the run was read. Absent in lists of runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<i64>,
}

/// One step of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunStep {
    /// The id of the step in the workflow.
    pub id: String,
    /// The name of the agent. Absent for a checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// A sentence that says what happens to questions of the agent. Absent for a checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_question: Option<String>,
    /// The question of a checkpoint, before variables are filled in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// `pending`, `running`, `waiting` (only checkpoints), `completed`, `failed` or `cancelled`.
    pub status: String,
    /// The id of the session that executes the step, or executed it last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The id of the ask of an open checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ask_id: Option<String>,
    /// The last message of the agent, or the answer to the checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Why the step failed or was cancelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How often the step was started.
    pub attempts: u32,
    /// When the step started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub started_at: Option<Time>,
    /// When the step finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ended_at: Option<Time>,
}

impl RunStep {
    /// Converts a step of the core.
    #[must_use]
    pub fn of(run: &domain::Run, step: &domain::StepRun) -> Self {
        Self::from(StepSnapshot::of(run, step))
    }
}

impl From<StepSnapshot> for RunStep {
    fn from(step: StepSnapshot) -> Self {
        Self {
            id: step.step_id,
            agent: step.agent,
            on_question: step.on_question,
            question: step.question,
            status: step.status.as_str().to_owned(),
            session_id: step.session_id.map(|session| session.to_string()),
            ask_id: step.ask_id.map(|ask| ask.to_string()),
            output: step.output,
            reason: step.reason,
            attempts: step.attempts,
            started_at: step.started_at,
            ended_at: step.ended_at,
        }
    }
}

impl Run {
    /// Converts a run of the core. `pending` is the number of pending asks.
    #[must_use]
    pub fn of(run: &domain::Run, pending: u32) -> Self {
        let steps: Vec<RunStep> = run.steps.iter().map(|step| RunStep::of(run, step)).collect();
        let outputs = steps.iter().filter_map(|step| Some((step.id.clone(), step.output.clone()?))).collect();
        Self {
            id: run.id.to_string(),
            workflow: run.workflow.name.clone(),
            status: RunStatus::of(&run.status, pending > 0),
            reason: run.status.reason().map(str::to_owned),
            input: run.input.clone(),
            directory: run.directory.clone(),
            steps,
            outputs,
            pending_questions: Vec::new(),
            pending_checkpoints: Vec::new(),
            pending_approvals: Vec::new(),
            pending,
            truncated: false,
            labels: run.labels.clone(),
            created_at: run.created_at,
            updated_at: run.updated_at,
            seq: None,
        }
    }

    /// Like [`Run::of`], with the pending asks themselves. `count` includes asks that `pending` leaves out because of their
    /// size.
    #[must_use]
    pub fn with_pending(run: &domain::Run, pending: &[core::Ask], count: u32) -> Self {
        let mut shown = Self::of(run, count);
        for ask in pending {
            match (ask.origin.session, ask.kind()) {
                (None, _) => shown.pending_checkpoints.push(ask.id.to_string()),
                (Some(_), core::AskKind::Question) => shown.pending_questions.push(RunQuestion::from(ask)),
                (Some(_), core::AskKind::Approval | core::AskKind::Link) => shown.pending_approvals.push(ask.id.to_string()),
            }
        }
        shown
    }
}
