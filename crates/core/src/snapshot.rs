//! Snapshots of sessions, runs and steps that events store.
//!
//! A session or run changes after its event. The feed shows each event as it was, so an event stores a snapshot and never reads
//! the current row. The store keeps the JSON of these types in the `data` column of an event, for the whole retention time. Add
//! optional fields only, and never rename a field.

use serde::{Deserialize, Serialize};

use crate::id::{AskId, RunId, SessionId};
use crate::limits;
use crate::policy::SessionPolicy;
use crate::run::{Run, RunStatus, StepRun, StepState, StepWord};
use crate::session::{Labels, Session, SessionStatus};
use crate::time::Time;
use crate::workflow::Step;

/// Maximum bytes of a step's output in an event. The run keeps the complete output.
const STEP_OUTPUT: usize = 4 * 1024;

/// [`SessionStatus`] without its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StatusWord {
    /// The agent works on a turn.
    Running,
    /// The agent finished its turn and accepts a message.
    Idle,
    /// The agent works on a turn but has been silent for a long time.
    Stalled,
    /// The session ended normally.
    Ended,
    /// The session ended with an error.
    Failed,
}

/// The status of a session at the time of an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusSnapshot {
    pub status: StatusWord,
    /// Why the session ended, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether the agent can resume the session.
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
    #[must_use]
    pub const fn is_ended(&self) -> bool {
        matches!(self.status, StatusWord::Ended | StatusWord::Failed)
    }
}

/// A change of a session's status or settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusChange {
    /// The status after the change.
    #[serde(flatten)]
    pub status: StatusSnapshot,
    /// The new permission mode, if it changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    /// The new model, if it changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

impl From<&SessionStatus> for StatusChange {
    fn from(status: &SessionStatus) -> Self {
        Self { status: StatusSnapshot::from(status), permission_mode: None, model: None }
    }
}

impl StatusChange {
    /// Returns whether the session ended with this change. A change of settings does not end a session that has already ended.
    #[must_use]
    pub const fn ends_session(&self) -> bool {
        self.status.is_ended() && !self.is_settings_change()
    }

    /// Returns whether the settings changed. The status is then the same as before.
    #[must_use]
    pub const fn is_settings_change(&self) -> bool {
        self.permission_mode.is_some() || self.model.is_some()
    }
}

/// A session when it was created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionSnapshot {
    pub id: SessionId,
    /// The agent's name in the configuration.
    pub agent: String,
    /// The first line of the first prompt.
    pub title: String,
    /// The working directory of the agent.
    #[serde(rename = "cwd")]
    pub project: String,
    /// The git branch when the session started.
    pub branch: Option<String>,
    #[serde(flatten)]
    pub status: StatusSnapshot,
    pub permission_mode: String,
    /// The chosen model, if any.
    pub model: Option<String>,
    /// Policy settings of this session, in addition to the policy file.
    #[serde(default)]
    pub policy: SessionPolicy,
    /// Whether a person runs the agent themselves.
    #[serde(default)]
    pub external: bool,
    /// The id that an external agent gave the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_id: Option<String>,
    pub labels: Labels,
    pub created_at: Time,
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
    pub run_id: RunId,
    /// The name of the workflow.
    pub workflow: String,
    #[serde(flatten)]
    pub status: RunStatus,
}

impl From<&Run> for RunSnapshot {
    fn from(run: &Run) -> Self {
        Self { run_id: run.id, workflow: run.workflow.name.clone(), status: run.status.clone() }
    }
}

/// A step of a run when it started or ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepSnapshot {
    pub run_id: RunId,
    /// The step's id in the workflow.
    pub step_id: String,
    /// The name of the agent. `None` for a checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// A sentence that says what happens to questions of the agent. `None` for a checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_question: Option<String>,
    /// The question of a checkpoint, before variables are filled in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    pub status: StepWord,
    /// The session that executes the step, or executed it last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The ask of an open checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ask_id: Option<AskId>,
    /// The last message of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Why the step failed or was cancelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How often the step was started.
    pub attempts: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Time>,
}

impl StepSnapshot {
    /// Takes a snapshot of the step.
    #[must_use]
    pub fn of(run: &Run, step: &StepRun) -> Self {
        let (output, reason, ask) = match &step.state {
            StepState::Pending | StepState::Running { .. } => (None, None, None),
            StepState::Asking { ask } => (None, None, Some(*ask)),
            StepState::Completed { output } => (Some(output.clone()), None, None),
            StepState::Failed { reason } | StepState::Cancelled { reason } => (None, Some(reason.clone()), None),
        };
        let written = run.find_definition(&step.id);
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

    /// Shortens the output for use in an event.
    #[must_use]
    pub fn shortened(mut self) -> Self {
        if let Some(output) = &mut self.output {
            output.truncate(limits::head(output, STEP_OUTPUT).len());
        }
        self
    }
}
