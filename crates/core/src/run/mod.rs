//! One execution of a workflow: where it stands, and what comes next.
//!
//! [`Run::next`] is the state machine: something happened, and these are the things to do about it.
//! Whoever stores runs applies them in one transaction with the new state, so a run that is taken up
//! after a crash goes on where it was and repeats nothing.

mod next;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use next::{Effect, Event};

use crate::id::{AskId, RunId, SessionId, TokenId};
use crate::scope::{Scope, Visible};
use crate::session::Labels;
use crate::time::Time;
use crate::workflow::{Step, Workflow};

/// How a run stands, as stored. "Waiting" is not stored: it follows from what is pending.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "camelCase")]
pub enum RunStatus {
    /// Under way.
    Running,
    /// Every step is done.
    Completed,
    /// A step failed.
    Failed {
        /// Which, and why.
        reason: String,
    },
    /// A person ended it.
    Cancelled {
        /// Who, or why.
        reason: String,
    },
}

impl RunStatus {
    /// The word for it.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed { .. } => "failed",
            Self::Cancelled { .. } => "cancelled",
        }
    }

    /// Why it ended, if that has to be said.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Running | Self::Completed => None,
            Self::Failed { reason } | Self::Cancelled { reason } => Some(reason),
        }
    }

    /// Whether it is over.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        !matches!(self, Self::Running)
    }
}

/// How a step stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum StepState {
    /// Its turn has not come.
    Pending,
    /// Its agent works.
    Running {
        /// The session.
        session: SessionId,
    },
    /// A person is asked, and the run pauses.
    Asking {
        /// The ask.
        ask: AskId,
    },
    /// Done.
    Completed {
        /// What it said last, or how the checkpoint was answered.
        output: String,
    },
    /// It went wrong.
    Failed {
        /// Why.
        reason: String,
    },
    /// It was stopped, or never began.
    Cancelled {
        /// Why.
        reason: String,
    },
}

/// [`StepState`] in one word, without its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StepWord {
    /// Not begun.
    Pending,
    /// The agent works.
    Running,
    /// A checkpoint waits for a person.
    Waiting,
    /// Done.
    Completed,
    /// Ended by a fault.
    Failed,
    /// Stopped, or never begun.
    Cancelled,
}

impl StepWord {
    /// The word as events and the API show it.
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
    /// The state without its data.
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

    /// Whether something is under way.
    #[must_use]
    pub const fn is_active(&self) -> bool {
        matches!(self, Self::Running { .. } | Self::Asking { .. })
    }
}

/// One step of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepRun {
    /// Its id in the workflow.
    pub id: String,
    /// How it stands.
    #[serde(flatten)]
    pub state: StepState,
    /// The session that carries it out, or did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_session: Option<SessionId>,
    /// How often it began.
    pub attempts: u32,
    /// When it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Time>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Time>,
}

/// One execution of a workflow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    /// Its id.
    pub id: RunId,
    /// What is executed, as it was when the run began.
    pub workflow: Workflow,
    /// What it was given.
    pub input: BTreeMap<String, String>,
    /// Where its agents work, absolute.
    pub directory: String,
    /// Labels; its sessions and asks have them too.
    pub labels: Labels,
    /// Who started it.
    pub opened_by: TokenId,
    /// How it stands.
    #[serde(flatten)]
    pub status: RunStatus,
    /// Its steps, groups opened up, in order. They are stored in rows of their own.
    #[serde(skip)]
    pub steps: Vec<StepRun>,
    /// When it was started.
    pub created_at: Time,
    /// When something last changed.
    pub updated_at: Time,
}

/// What a run begins with.
#[derive(Debug, Clone, PartialEq)]
pub struct NewRun {
    /// Its id.
    pub id: RunId,
    /// What is executed; it was checked.
    pub workflow: Workflow,
    /// What it is given; complete.
    pub input: BTreeMap<String, String>,
    /// Where its agents work, absolute.
    pub directory: String,
    /// Labels.
    pub labels: Labels,
    /// Who starts it.
    pub opened_by: TokenId,
}

impl Run {
    /// A run that has not begun.
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

    /// Whether a token with this scope sees it.
    #[must_use]
    pub fn visible_to(&self, scope: &Scope) -> bool {
        scope.sees(Visible { session: None, labels: &self.labels, opened_by: Some(self.opened_by) })
    }

    /// The step of that id as it is written.
    #[must_use]
    pub fn written(&self, id: &str) -> Option<&Step> {
        self.workflow.leaves().find(|step| step.id == id)
    }

    /// The step of that id as it stands.
    #[must_use]
    pub fn step(&self, id: &str) -> Option<&StepRun> {
        self.steps.iter().find(|step| step.id == id)
    }
}
