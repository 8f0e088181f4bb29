//! Snapshots: the values that an event keeps of a session, a run or a step.
//!
//! A session or run changes after its event. The feed shows each event as it was, so an event stores a snapshot and never
//! reads the current row. The JSON of these types is what the store keeps in the column `data` of an event. Rows live as long
//! as the retention time: add optional fields only, and never rename one.

use serde::{Deserialize, Serialize};

use crate::id::{AskId, RunId, SessionId};
use crate::limits;
use crate::policy::SessionPolicy;
use crate::run::{Run, RunStatus, StepRun, StepState, StepWord};
use crate::session::{Labels, Session, SessionStatus};
use crate::time::Time;
use crate::workflow::Step;

/// Bytes of a step's output that its event keeps. The run keeps the whole output.
const STEP_OUTPUT: usize = 4 * 1024;

/// The status of a session in one word: [`SessionStatus`] without its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StatusWord {
    /// A turn is under way.
    Running,
    /// The agent takes a message.
    Idle,
    /// A turn is under way, but the agent has been silent for long.
    Stalled,
    /// Over.
    Ended,
    /// Ended by a fault.
    Failed,
}

/// The status of a session when it changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusSnapshot {
    /// What the session does now.
    pub status: StatusWord,
    /// Why the session ended, in words for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether the agent can take the session up again.
    #[serde(default)]
    pub resumable: bool,
}

impl From<&SessionStatus> for StatusSnapshot {
    fn from(status: &SessionStatus) -> Self {
        let open = |status| Self { status, reason: None, resumable: false };
        match status {
            SessionStatus::Running => open(StatusWord::Running),
            SessionStatus::Idle => open(StatusWord::Idle),
            SessionStatus::Stalled => open(StatusWord::Stalled),
            SessionStatus::Ended { reason, failed, resumable } => Self {
                status: if *failed { StatusWord::Failed } else { StatusWord::Ended },
                reason: Some(reason.clone()),
                resumable: *resumable,
            },
        }
    }
}

impl StatusSnapshot {
    /// Whether the session is over.
    #[must_use]
    pub const fn is_ended(&self) -> bool {
        matches!(self.status, StatusWord::Ended | StatusWord::Failed)
    }
}

/// The status of a session when its status or its settings changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusChange {
    /// What the session does now.
    #[serde(flatten)]
    pub status: StatusSnapshot,
    /// The permission mode, if it changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    /// The model, if it changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

impl From<&SessionStatus> for StatusChange {
    fn from(status: &SessionStatus) -> Self {
        Self { status: StatusSnapshot::from(status), permission_mode: None, model: None }
    }
}

impl StatusChange {
    /// Whether the session ended with this change. New settings of an ended session do not end it again.
    #[must_use]
    pub const fn ends_session(&self) -> bool {
        self.status.is_ended() && !self.is_settings_change()
    }

    /// Whether the settings changed. The status is then the one that the session had before.
    #[must_use]
    pub const fn is_settings_change(&self) -> bool {
        self.permission_mode.is_some() || self.model.is_some()
    }
}

/// A session when it was created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionSnapshot {
    /// The session.
    pub id: SessionId,
    /// The agent's configured name.
    pub agent: String,
    /// The first line of the first prompt.
    pub title: String,
    /// The directory the agent works in.
    #[serde(rename = "cwd")]
    pub project: String,
    /// The git branch at start.
    pub branch: Option<String>,
    /// What the session does.
    #[serde(flatten)]
    pub status: StatusSnapshot,
    /// The agent's permission mode.
    pub permission_mode: String,
    /// The model, if one was chosen.
    pub model: Option<String>,
    /// What the session adds to the person's policy.
    #[serde(default)]
    pub policy: SessionPolicy,
    /// Whether a person runs the agent themselves.
    #[serde(default)]
    pub external: bool,
    /// The agent's own id of an external session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_id: Option<String>,
    /// Labels.
    pub labels: Labels,
    /// When the session was created.
    pub created_at: Time,
    /// When the session last changed.
    pub updated_at: Time,
}

impl From<&Session> for SessionSnapshot {
    fn from(session: &Session) -> Self {
        Self {
            id: session.id,
            agent: session.agent.clone(),
            title: session.title.clone(),
            project: session.project.clone(),
            branch: session.branch.clone(),
            status: StatusSnapshot::from(&session.status),
            permission_mode: session.permission_mode.clone(),
            model: session.model.clone(),
            policy: session.policy.clone(),
            external: session.external.is_some(),
            native_id: session.external.as_ref().map(|external| external.native_id.clone()),
            labels: session.labels.clone(),
            created_at: session.created_at,
            updated_at: session.updated_at,
        }
    }
}

/// A run when it started or ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunSnapshot {
    /// The run.
    pub run_id: RunId,
    /// The workflow's name.
    pub workflow: String,
    /// What the run does.
    #[serde(flatten)]
    pub status: RunStatus,
}

impl From<&Run> for RunSnapshot {
    fn from(run: &Run) -> Self {
        Self { run_id: run.id, workflow: run.workflow.name.clone(), status: run.status.clone() }
    }
}

/// A step of a run when it began or ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepSnapshot {
    /// The run.
    pub run_id: RunId,
    /// The step's id in the workflow.
    pub step_id: String,
    /// The agent; absent for a checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// What happens to a question of the agent, as a sentence; absent for a checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_question: Option<String>,
    /// What a checkpoint asks, as the workflow writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// What the step does.
    pub status: StepWord,
    /// The session that carries the step out, or did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The ask of a checkpoint that is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ask_id: Option<AskId>,
    /// What the agent said last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Why the step failed or was cancelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How often the step began.
    pub attempts: u32,
    /// When the step began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Time>,
    /// When the step ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Time>,
}

impl StepSnapshot {
    /// The step as it is now.
    #[must_use]
    pub fn of(run: &Run, step: &StepRun) -> Self {
        let (output, reason, ask) = match &step.state {
            StepState::Pending | StepState::Running { .. } => (None, None, None),
            StepState::Asking { ask } => (None, None, Some(*ask)),
            StepState::Completed { output } => (Some(output.clone()), None, None),
            StepState::Failed { reason } | StepState::Cancelled { reason } => (None, Some(reason.clone()), None),
        };
        let written = run.written(&step.id);
        Self {
            run_id: run.id,
            step_id: step.id.clone(),
            agent: written.and_then(|written| written.agent.clone()),
            on_question: written.and_then(Step::question_policy),
            question: written.and_then(|written| written.checkpoint.as_ref()).map(|asked| asked.question.clone()),
            status: step.state.word(),
            session_id: step.last_session,
            ask_id: ask,
            output,
            reason,
            attempts: step.attempts,
            started_at: step.started_at,
            ended_at: step.ended_at,
        }
    }

    /// The same with the beginning of the output only, for an event.
    #[must_use]
    pub fn shortened(mut self) -> Self {
        if let Some(output) = &mut self.output {
            output.truncate(limits::head(output, STEP_OUTPUT).len());
        }
        self
    }
}
