//! What a commit tells the rest of the server.

use std::sync::Arc;

use sayso_core::ask::{Ask, Decision};
use sayso_core::group::Group;
use sayso_core::id::{AskId, ConnectionId, RunId, SessionId, TokenId};
use sayso_core::raw::Raw;
use sayso_core::session::{Labels, Session, StepOf};
use sayso_core::time::Time;

use crate::payload::EventPayload;

/// A workspace: its own feed, its own sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WorkspaceId(pub i64);

impl WorkspaceId {
    /// The one that exists from the start.
    pub const MAIN: Self = Self(1);
}

/// The kinds of stored events. The numbers are stored: never change one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(i64)]
pub enum EventKind {
    /// An ask waits for a person.
    AskRequested = 1,
    /// An ask has its outcome.
    AskResolved = 2,
    /// An ask was parked, or is live again.
    AskParked = 3,
    /// An ask was snoozed, or is back.
    AskSnoozed = 4,
    /// An outcome came closer to the agent.
    AskDelivery = 5,
    /// A session was started.
    SessionCreated = 10,
    /// A session changed what it is doing.
    SessionStatus = 11,
    /// A session is over.
    SessionEnded = 12,
    /// A message is whole.
    MessageCompleted = 20,
    /// A tool call began.
    ToolStarted = 21,
    /// A tool call changed.
    ToolUpdated = 22,
    /// A tool call ended.
    ToolCompleted = 23,
    /// The policy is another one now.
    PolicyChanged = 30,
    /// Something to know.
    Notice = 31,
    /// Something went wrong.
    Error = 32,
    /// A run was started.
    RunStarted = 40,
    /// Every step of a run is done.
    RunCompleted = 41,
    /// A run failed.
    RunFailed = 42,
    /// A person ended a run.
    RunCancelled = 43,
    /// A step of a run began.
    StepStarted = 44,
    /// A step of a run is done.
    StepCompleted = 45,
    /// A step of a run failed.
    StepFailed = 46,
    /// A step of a run was stopped, or never began.
    StepCancelled = 47,
    /// The agent of a step asks a person.
    AgentQuestionAsked = 48,
    /// What the agent of a step asked has its outcome.
    AgentQuestionAnswered = 49,
}

impl EventKind {
    const ALL: [Self; 25] = [
        Self::AskRequested,
        Self::AskResolved,
        Self::AskParked,
        Self::AskSnoozed,
        Self::AskDelivery,
        Self::SessionCreated,
        Self::SessionStatus,
        Self::SessionEnded,
        Self::MessageCompleted,
        Self::ToolStarted,
        Self::ToolUpdated,
        Self::ToolCompleted,
        Self::PolicyChanged,
        Self::Notice,
        Self::Error,
        Self::RunStarted,
        Self::RunCompleted,
        Self::RunFailed,
        Self::RunCancelled,
        Self::StepStarted,
        Self::StepCompleted,
        Self::StepFailed,
        Self::StepCancelled,
        Self::AgentQuestionAsked,
        Self::AgentQuestionAnswered,
    ];

    /// The kind that is stored as this number.
    #[must_use]
    pub fn from_number(number: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as i64 == number)
    }
}

/// What of a session or a run decides who sees its events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// Its labels.
    pub labels: Labels,
    /// Who started it.
    pub opened_by: Option<TokenId>,
    /// The step that a session carries out.
    pub step: Option<StepOf>,
}

impl From<Session> for About {
    fn from(session: Session) -> Self {
        Self { labels: session.labels, opened_by: session.opened_by, step: session.step }
    }
}

/// One event of the feed.
#[derive(Debug, Clone)]
pub struct StoredEvent {
    /// Whose feed.
    pub workspace: WorkspaceId,
    /// Its place: gap-free, in the order of commits.
    pub seq: i64,
    /// When.
    pub at: Time,
    /// The session it belongs to.
    pub session: Option<SessionId>,
    /// The run it is about, for events of runs.
    pub run: Option<RunId>,
    /// Who may see it, for events of a session or a run that are not about an ask.
    pub about: Option<Arc<About>>,
    /// What it says.
    pub payload: EventPayload,
}

/// A row of the outbox. Ids only grow; the receiver takes each once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OutboxId(pub i64);

/// What has to reach an agent.
#[derive(Debug, Clone)]
pub enum OutboxPayload {
    /// The outcome of an ask, with secrets in clear.
    Outcome {
        /// The ask.
        ask: Arc<Ask>,
        /// What was decided.
        decision: Decision,
        /// The agent no longer waits for it: the answer is a follow-up.
        follow_up: bool,
    },
    /// A command that only the server understands.
    Command(Raw),
    /// A message to the agent's process, understood only by the server. It stays until the process has it.
    Send {
        /// The ask whose outcome it carries.
        ask: Option<AskId>,
        /// The message.
        message: Raw,
        /// It was about to be sent before: nobody knows whether it arrived.
        tried: bool,
    },
}

/// Something that has to reach an agent.
#[derive(Debug, Clone)]
pub struct OutboxRow {
    /// Its id.
    pub id: OutboxId,
    /// The connection that carries it.
    pub connection: ConnectionId,
    /// The session it is for.
    pub session: SessionId,
    /// What.
    pub payload: OutboxPayload,
}

/// What one transaction changed, in the order of `seq`.
#[derive(Debug, Default)]
pub struct Commit {
    /// The events.
    pub events: Vec<StoredEvent>,
    /// What has to be sent now.
    pub outbox: Vec<OutboxRow>,
    /// Asks that end by themselves at a time.
    pub deadlines: Vec<(AskId, Time)>,
    /// Groups that changed, as they are now.
    pub groups: Vec<Arc<Group>>,
}

/// Is told of every commit, on the writer's thread, before the callers are. It must not block.
pub trait Sink: Send + 'static {
    /// One transaction is on disk.
    fn committed(&mut self, commit: Commit);
}

impl<F: FnMut(Commit) + Send + 'static> Sink for F {
    fn committed(&mut self, commit: Commit) {
        self(commit);
    }
}
