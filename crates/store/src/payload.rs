//! The payloads of events, as domain values.

use std::sync::Arc;

use sayso_core::ask::{Ask, Delivery, Reach};
use sayso_core::run::{RunStatus, StepWord};
use sayso_core::snapshot::{RunSnapshot, SessionSnapshot, StatusChange, StepSnapshot};
use sayso_core::time::Time;
use sayso_core::transcript::{Block, BlockBody};

use crate::event::EventKind;

/// The payload of an event: domain values as they were at the commit.
#[derive(Debug, Clone, PartialEq)]
pub enum EventPayload {
    AskRequested(Arc<Ask>),
    AskResolved(Arc<Ask>),
    /// An ask was parked or became live again.
    AskParked {
        ask: Arc<Ask>,
        reach: Reach,
    },
    /// An ask was snoozed, or its snooze ended.
    AskSnoozed {
        ask: Arc<Ask>,
        /// The end of the snooze. `None` if it was ended.
        until: Option<Time>,
    },
    /// The delivery of an outcome made progress.
    AskDelivery {
        ask: Arc<Ask>,
        delivery: Delivery,
    },
    /// The agent of a step asked a person.
    AgentQuestionAsked(Arc<Ask>),
    /// The question of a step's agent has its outcome.
    AgentQuestionAnswered(Arc<Ask>),
    SessionCreated(Box<SessionSnapshot>),
    /// The status or the settings of a session changed. The session may have ended.
    SessionStatus(StatusChange),
    /// A block of a transcript was added or replaced.
    Block {
        block: Box<Block>,
        /// Only for blocks of tool calls.
        tool: ToolProgress,
    },
    /// A notice that belongs to no session.
    Notice {
        /// The name of the caller or agent.
        agent: String,
        text: String,
    },
    /// Another policy is in force.
    PolicyChanged {
        /// The fingerprint of the rules in force.
        fingerprint: String,
        /// Whether the policy file is valid. The last valid policy stays in force while it is not.
        valid: bool,
    },
    Run(RunSnapshot),
    Step(Box<StepSnapshot>),
}

/// The progress of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolProgress {
    Started,
    Updated,
    Completed,
}

impl EventPayload {
    /// The payload of a block with its event. Only tool calls have more than one kind of event.
    pub(crate) fn of_block(block: Block, event: EventKind) -> Self {
        let tool = if event == EventKind::ToolStarted {
            ToolProgress::Started
        } else if event == EventKind::ToolUpdated {
            ToolProgress::Updated
        } else {
            ToolProgress::Completed
        };
        Self::Block { block: Box::new(block), tool }
    }

    #[must_use]
    pub fn kind(&self) -> EventKind {
        match self {
            Self::AskRequested(_) => EventKind::AskRequested,
            Self::AskResolved(_) => EventKind::AskResolved,
            Self::AskParked { .. } => EventKind::AskParked,
            Self::AskSnoozed { .. } => EventKind::AskSnoozed,
            Self::AskDelivery { .. } => EventKind::AskDelivery,
            Self::AgentQuestionAsked(_) => EventKind::AgentQuestionAsked,
            Self::AgentQuestionAnswered(_) => EventKind::AgentQuestionAnswered,
            Self::SessionCreated(_) => EventKind::SessionCreated,
            Self::SessionStatus(change) if change.ends_session() => EventKind::SessionEnded,
            Self::SessionStatus(_) => EventKind::SessionStatus,
            Self::Block { block, tool } => match (&block.body, tool) {
                (BlockBody::Message { .. }, _) => EventKind::MessageCompleted,
                (BlockBody::Notice { .. }, _) => EventKind::Notice,
                (BlockBody::Error { .. }, _) => EventKind::Error,
                (BlockBody::Tool { .. }, ToolProgress::Started) => EventKind::ToolStarted,
                (BlockBody::Tool { .. }, ToolProgress::Updated) => EventKind::ToolUpdated,
                (BlockBody::Tool { .. }, ToolProgress::Completed) => EventKind::ToolCompleted,
            },
            Self::Notice { .. } => EventKind::Notice,
            Self::PolicyChanged { .. } => EventKind::PolicyChanged,
            Self::Run(run) => match run.status {
                RunStatus::Running => EventKind::RunStarted,
                RunStatus::Completed => EventKind::RunCompleted,
                RunStatus::Failed { .. } => EventKind::RunFailed,
                RunStatus::Cancelled { .. } => EventKind::RunCancelled,
            },
            Self::Step(step) => match step.status {
                StepWord::Running | StepWord::Waiting => EventKind::StepStarted,
                StepWord::Completed => EventKind::StepCompleted,
                StepWord::Failed => EventKind::StepFailed,
                StepWord::Pending | StepWord::Cancelled => EventKind::StepCancelled,
            },
        }
    }

    /// Returns the ask that the event is about.
    #[must_use]
    pub const fn ask(&self) -> Option<&Arc<Ask>> {
        match self {
            Self::AskRequested(ask)
            | Self::AskResolved(ask)
            | Self::AskParked { ask, .. }
            | Self::AskSnoozed { ask, .. }
            | Self::AskDelivery { ask, .. }
            | Self::AgentQuestionAsked(ask)
            | Self::AgentQuestionAnswered(ask) => Some(ask),
            Self::SessionCreated(_)
            | Self::SessionStatus(_)
            | Self::Block { .. }
            | Self::Notice { .. }
            | Self::PolicyChanged { .. }
            | Self::Run(_)
            | Self::Step(_) => None,
        }
    }

    /// Estimates the bytes of text in the payload, for limits on memory.
    #[must_use]
    pub fn text_size(&self) -> usize {
        let some = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        match self {
            Self::AskRequested(ask)
            | Self::AskResolved(ask)
            | Self::AskParked { ask, .. }
            | Self::AskSnoozed { ask, .. }
            | Self::AskDelivery { ask, .. }
            | Self::AgentQuestionAsked(ask)
            | Self::AgentQuestionAnswered(ask) => ask.memory_size(),
            Self::SessionCreated(session) => session.title.len() + session.project.len() + 512,
            Self::SessionStatus(change) => some(&change.status.reason) + some(&change.permission_mode) + some(&change.model),
            Self::Block { block, .. } => match &block.body {
                BlockBody::Message { text, .. } | BlockBody::Notice { text } | BlockBody::Error { text } => text.len(),
                BlockBody::Tool { input, output, .. } => input.as_ref().map_or(0, |input| input.as_str().len()) + some(output),
            },
            Self::Notice { agent, text } => agent.len() + text.len(),
            Self::PolicyChanged { fingerprint, .. } => fingerprint.len(),
            Self::Run(run) => run.workflow.len() + run.status.reason().map_or(0, str::len),
            Self::Step(step) => [&step.output, &step.reason, &step.question].into_iter().map(some).sum(),
        }
    }
}
