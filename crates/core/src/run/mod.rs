//! The state machine for one execution of a workflow.
//!
//! [`Run::next`] takes an event and returns the effects to carry out. The store commits the effects and the new state in one
//! transaction, so a run that continues after a crash resumes where it was and repeats nothing.

mod next;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use next::{Effect, Event};

use crate::id::{AskId, RunId, SessionId, TokenId};
use crate::scope::{Scope, Visible};
use crate::session::Labels;
use crate::time::Time;
use crate::workflow::{Step, Workflow};

/// The stored status of a run. "Waiting" is not stored, because it follows from pending asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "camelCase")]
pub enum RunStatus {
    Running,
    /// All steps completed.
    Completed,
    Failed {
        /// Which step failed, and why.
        reason: String,
    },
    /// A person cancelled the run.
    Cancelled {
        /// Who cancelled the run, or why.
        reason: String,
    },
}

impl RunStatus {
    /// Returns the name of the status in the API.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed { .. } => "failed",
            Self::Cancelled { .. } => "cancelled",
        }
    }

    /// Returns why the run failed or was cancelled.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Running | Self::Completed => None,
            Self::Failed { reason } | Self::Cancelled { reason } => Some(reason),
        }
    }

    #[must_use]
    pub const fn is_over(&self) -> bool {
        !matches!(self, Self::Running)
    }
}

/// The state of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum StepState {
    /// The step has not started.
    Pending,
    /// The agent of the step is working.
    Running {
        session: SessionId,
    },
    /// The step is a checkpoint that waits for a person.
    Asking {
        ask: AskId,
    },
    Completed {
        /// The last message of the agent, or the answer to the checkpoint.
        output: String,
    },
    Failed {
        reason: String,
    },
    /// The step was stopped, or never started.
    Cancelled {
        reason: String,
    },
}

/// [`StepState`] without its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StepWord {
    Pending,
    Running,
    /// A checkpoint waits for a person.
    Waiting,
    Completed,
    Failed,
    /// The step was stopped, or never started.
    Cancelled,
}

impl StepWord {
    /// Returns the word that events and the API use.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl StepState {
    #[must_use]
    pub const fn word(&self) -> StepWord {
        match self {
            Self::Pending => StepWord::Pending,
            Self::Running { .. } => StepWord::Running,
            Self::Asking { .. } => StepWord::Waiting,
            Self::Completed { .. } => StepWord::Completed,
            Self::Failed { .. } => StepWord::Failed,
            Self::Cancelled { .. } => StepWord::Cancelled,
        }
    }

    /// Returns whether an agent is working or a person is being asked.
    #[must_use]
    pub const fn is_active(&self) -> bool {
        matches!(self, Self::Running { .. } | Self::Asking { .. })
    }
}

/// One step of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepRun {
    /// The step's id in the workflow.
    pub id: String,
    #[serde(flatten)]
    pub state: StepState,
    /// The session that executes the step, or executed it last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_session: Option<SessionId>,
    /// How often the step was started.
    pub attempts: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Time>,
}

/// One execution of a workflow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    pub id: RunId,
    /// The workflow as it was when the run started. Later changes to the file do not affect the run.
    pub workflow: Workflow,
    /// The inputs by name.
    pub input: BTreeMap<String, String>,
    /// The working directory of its agents, as an absolute path.
    pub directory: String,
    /// Labels of the run, which its sessions and asks inherit.
    pub labels: Labels,
    /// The token that started the run.
    pub opened_by: TokenId,
    #[serde(flatten)]
    pub status: RunStatus,
    /// The steps in order, with groups flattened. The store keeps them in rows of their own.
    #[serde(skip)]
    pub steps: Vec<StepRun>,
    pub created_at: Time,
    pub updated_at: Time,
}

/// The values from which a run is created.
#[derive(Debug, Clone, PartialEq)]
pub struct NewRun {
    pub id: RunId,
    /// The workflow, which must have passed its check.
    pub workflow: Workflow,
    /// The inputs by name, including defaults.
    pub input: BTreeMap<String, String>,
    /// The working directory of its agents, as an absolute path.
    pub directory: String,
    pub labels: Labels,
    /// The token that starts the run.
    pub opened_by: TokenId,
}

impl Run {
    /// Creates a run that has not started.
    #[must_use]
    pub fn new(new: NewRun, now: Time) -> Self {
        let begins = |step: &Step| StepRun {
            id: step.id.clone(),
            state: StepState::Pending,
            last_session: None,
            attempts: 0,
            started_at: None,
            ended_at: None,
        };
        let steps = new.workflow.leaves().map(begins).collect();
        Self {
            id: new.id,
            workflow: new.workflow,
            input: new.input,
            directory: new.directory,
            labels: new.labels,
            opened_by: new.opened_by,
            status: RunStatus::Running,
            steps,
            created_at: now,
            updated_at: now,
        }
    }

    /// Returns whether a token with this scope can see the run.
    #[must_use]
    pub fn visible_to(&self, scope: &Scope) -> bool {
        scope.sees(Visible { session: None, labels: &self.labels, opened_by: Some(self.opened_by) })
    }

    /// Returns the definition of a step in the workflow.
    #[must_use]
    pub fn find_definition(&self, id: &str) -> Option<&Step> {
        self.workflow.leaves().find(|step| step.id == id)
    }

    /// Returns the current state of a step.
    #[must_use]
    pub fn step(&self, id: &str) -> Option<&StepRun> {
        self.steps.iter().find(|step| step.id == id)
    }
}
