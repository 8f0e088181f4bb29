//! Runs of workflows: their steps, what they wait for, and what the feed says of them.

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

/// How a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum RunStatus {
    /// Under way.
    Running,
    /// Under way, and something waits for a person.
    Waiting,
    /// Every step is done.
    Completed,
    /// A step failed.
    Failed,
    /// A person ended it.
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

    /// Whether it is over.
    #[must_use]
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

/// One execution of a workflow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    /// Its id.
    pub id: String,
    /// The workflow's name.
    pub workflow: String,
    /// How it stands.
    pub status: RunStatus,
    /// Why it failed or was cancelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What it was given.
    pub input: BTreeMap<String, String>,
    /// Where its agents work.
    pub directory: String,
    /// Its steps, groups opened up, in order.
    pub steps: Vec<RunStep>,
    /// What the finished steps said last, by id.
    pub outputs: BTreeMap<String, String>,
    /// The questions of its agents that wait, first come first (one run only, empty in lists).
    #[serde(default)]
    pub pending_questions: Vec<RunQuestion>,
    /// The ids of the checkpoints that wait (one run only).
    #[serde(default)]
    pub pending_checkpoints: Vec<String>,
    /// The ids of the approvals and links that wait (one run only).
    #[serde(default)]
    pub pending_approvals: Vec<String>,
    /// How many asks wait.
    pub pending: u32,
    /// Whether the lists of what waits leave some out because they have many bytes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// Labels.
    pub labels: BTreeMap<String, String>,
    /// When it was started.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Time,
    /// When something last changed.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Time,
    /// The feed position that this was read at (one run only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<i64>,
}

/// One step of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunStep {
    /// Its id in the workflow.
    pub id: String,
    /// The agent; none for a checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// What happens to a question of its agent, as a sentence; none for a checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_question: Option<String>,
    /// What a checkpoint asks, as the workflow writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// `pending`, `running`, `waiting` (a checkpoint), `completed`, `failed` or `cancelled`.
    pub status: String,
    /// The session that carries it out, or did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The ask of a checkpoint that is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ask_id: Option<String>,
    /// What it said last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Why it failed or was cancelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How often it began.
    pub attempts: u32,
    /// When it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub started_at: Option<Time>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ended_at: Option<Time>,
}

impl RunStep {
    /// The step as clients see it.
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
    /// The run as clients see it, with this many asks pending.
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

    /// The same with what is pending, in full. `count` includes asks that `pending` leaves out.
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
