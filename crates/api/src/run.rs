//! Runs of workflows: their steps, what they wait for, and what the feed says of them.

use std::collections::BTreeMap;

use sayso_core::ask as core;
use sayso_core::limits;
use sayso_core::run as domain;
use sayso_core::snapshot::{RunSnapshot, StepSnapshot};
use sayso_core::time::Time;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::ask::{Actor, AskStatus, OnTimeout, Outcome, ShownAnswer};

/// Characters of a header that are shown.
const HEADER: usize = 30;

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
            labels: run.labels.clone(),
            created_at: run.created_at,
            updated_at: run.updated_at,
            seq: None,
        }
    }

    /// The same with what is pending, in full.
    #[must_use]
    pub fn with_pending(run: &domain::Run, pending: &[core::Ask]) -> Self {
        let mut shown = Self::of(run, u32::try_from(pending.len()).unwrap_or(u32::MAX));
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

/// What the agent of a step asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunQuestion {
    /// The ask's id.
    pub id: String,
    /// The step.
    pub step_id: String,
    /// The session.
    pub session_id: String,
    /// The questions.
    pub questions: Vec<RunQuestionItem>,
    /// When it was asked.
    #[schema(value_type = String, format = DateTime)]
    pub asked_at: Time,
    /// When it is decided without a person, if it has a deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub deadline_at: Option<Time>,
    /// What happens at the deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_timeout: Option<OnTimeout>,
}

/// One question of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunQuestionItem {
    /// What is asked.
    pub question: String,
    /// A short name, at most 30 characters.
    pub header: String,
    /// What may be chosen.
    pub options: Vec<RunQuestionOption>,
    /// Whether several may be chosen.
    pub multiple: bool,
    /// Whether text of one's own is taken.
    #[serde(default = "yes")]
    pub custom: bool,
}

const fn yes() -> bool {
    true
}

/// An option of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunQuestionOption {
    /// What a person reads, and what is answered.
    pub label: String,
    /// What it means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

impl From<&core::Question> for RunQuestionItem {
    fn from(question: &core::Question) -> Self {
        Self {
            question: question.text.clone(),
            header: question.name().chars().take(HEADER).collect(),
            options: question
                .options()
                .iter()
                .map(|option| RunQuestionOption { label: option.label.clone(), description: option.description.clone() })
                .collect(),
            multiple: question.multiple(),
            custom: question.takes_text(),
        }
    }
}

impl From<&core::Ask> for RunQuestion {
    fn from(ask: &core::Ask) -> Self {
        let deadline = ask.policy.deadline;
        Self {
            id: ask.id.to_string(),
            step_id: ask.context.step.clone().unwrap_or_default(),
            session_id: ask.origin.session.map(|session| session.to_string()).unwrap_or_default(),
            questions: ask.body.questions().iter().map(RunQuestionItem::from).collect(),
            asked_at: ask.opened_at,
            deadline_at: deadline.map(|deadline| deadline.at),
            on_timeout: deadline.map(|deadline| deadline.then.into()),
        }
    }
}

impl RunQuestion {
    /// The same in fewer words, for an event: the whole is at `GET /v1/asks/{id}`.
    pub fn shorten(&mut self) {
        for item in &mut self.questions {
            item.options.clear();
            item.question = limits::head(&item.question, 1024).to_owned();
        }
    }
}

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

    /// The data of the event, at this time.
    #[must_use]
    pub fn of(ask: &core::Ask, at: Time) -> Self {
        let question = RunQuestion::from(ask);
        Self {
            run_id: ask.context.run.map(|run| run.to_string()).unwrap_or_default(),
            step_id: question.step_id.clone(),
            session_id: question.session_id.clone(),
            question,
            timestamp: at,
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
        let asked = QuestionAsked::of(ask, outcome.at);
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
