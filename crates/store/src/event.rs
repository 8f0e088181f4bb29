//! The events, outbox rows and other values that a commit announces to the rest of the server.

use std::sync::Arc;

use sayso_core::ask::{Ask, Decision};
use sayso_core::group::Group;
use sayso_core::id::{AskId, ConnectionId, RunId, SessionId, TokenId};
use sayso_core::raw::Raw;
use sayso_core::session::{Labels, Session, StepOf};
use sayso_core::time::Time;

use crate::payload::EventPayload;

/// The id of a workspace. Each workspace has a feed and a sequence of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WorkspaceId(pub i64);

impl WorkspaceId {
    /// The workspace of every new database.
    pub const MAIN: Self = Self(1);
}

/// The kinds of stored events. The numbers are stored: never change one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(i64)]
pub enum EventKind {
    AskRequested = 1,
    AskResolved = 2,
    /// An ask was parked or became live again.
    AskParked = 3,
    /// An ask was snoozed, or its snooze ended.
    AskSnoozed = 4,
    /// The delivery of an outcome made progress.
    AskDelivery = 5,
    SessionCreated = 10,
    /// The status or the settings of a session changed.
    SessionStatus = 11,
    SessionEnded = 12,
    MessageCompleted = 20,
    ToolStarted = 21,
    ToolUpdated = 22,
    ToolCompleted = 23,
    PolicyChanged = 30,
    /// An agent or Sayso tells people something.
    Notice = 31,
    Error = 32,
    RunStarted = 40,
    RunCompleted = 41,
    RunFailed = 42,
    RunCancelled = 43,
    StepStarted = 44,
    StepCompleted = 45,
    StepFailed = 46,
    /// A step was stopped, or its run ended before it began.
    StepCancelled = 47,
    /// The agent of a step asked a person.
    AgentQuestionAsked = 48,
    /// The question of a step's agent has its outcome.
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

    /// Returns the kind with this number in the database.
    #[must_use]
    pub fn from_number(number: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as i64 == number)
    }
}

/// The properties of a session or a run that decide who can see its events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventAudience {
    pub labels: Labels,
    pub opened_by: Option<TokenId>,
    /// The workflow step of the session.
    pub step: Option<StepOf>,
}

impl From<Session> for EventAudience {
    fn from(session: Session) -> Self {
        Self { labels: session.labels, opened_by: session.opened_by, step: session.step }
    }
}

/// One event of the feed. Sequence numbers have no gaps and follow the order of commits.
#[derive(Debug, Clone)]
pub struct StoredEvent {
    pub workspace: WorkspaceId,
    pub seq: i64,
    pub at: Time,
    pub session: Option<SessionId>,
    /// Set for events of runs.
    pub run: Option<RunId>,
    /// Decides who can see the event. `None` for events about an ask, whose own session and labels decide.
    pub audience: Option<Arc<EventAudience>>,
    pub payload: EventPayload,
}

/// The id of an outbox row. Ids grow, also across restarts, and the receiver accepts each id once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OutboxId(pub i64);

/// A message on its way to an agent.
#[derive(Debug, Clone)]
pub enum OutboxPayload {
    /// The outcome of an ask. The translator turns it into the agent's own message.
    Outcome {
        ask: Arc<Ask>,
        /// The decision with secret answers in clear.
        decision: Decision,
        /// Whether the agent stopped waiting, so that the answer becomes a new message to it.
        follow_up: bool,
    },
    /// A command for the translator. The store does not look inside.
    Command(Raw),
    /// A message for the agent's process or server. The row stays until the receiver confirms it.
    Send {
        /// The ask whose outcome the message carries.
        ask: Option<AskId>,
        message: Raw,
        /// Whether an earlier process of the server may have sent it. It is then uncertain whether the agent received it.
        tried: bool,
    },
}

/// A row of the outbox, which contains every message that has to reach an agent.
///
/// The life of a row:
///
/// 1. The transaction that causes the message adds the row: an outcome when an ask is decided, a command when a person
///    starts or stops a session, a message when a translator produces lines for the agent's process.
/// 2. The commit announces the row to the [`Sink`], and the connection actor passes it to the translator or to the link. After
///    a restart, [`LoadConnection`](crate::ops::LoadConnection) returns all remaining rows in order.
/// 3. Before a message that the receiver cannot deduplicate is sent, a commit marks it as tried. If the server is killed then,
///    the next one reports the delivery as uncertain instead of sending twice.
/// 4. An outcome that becomes lines for a process is replaced by these lines under the same id
///    ([`SentInput`](crate::ops::SentInput)), in the commit that saves the translator's state.
/// 5. The row is deleted in the transaction that records its delivery, and a secret in it is deleted from the disk.
///
/// Between sending and deleting, a row can be sent again after a crash, always with the same id. Ids only grow, and the
/// supervisor accepts each id once, so the agent gets each message at most once.
#[derive(Debug, Clone)]
pub struct OutboxRow {
    pub id: OutboxId,
    pub connection: ConnectionId,
    pub session: SessionId,
    pub payload: OutboxPayload,
}

/// The announcements of one transaction in one workspace.
#[derive(Debug, Default)]
pub struct Commit {
    /// In the order of `seq`.
    pub events: Vec<StoredEvent>,
    /// The rows that this transaction added to the outbox.
    pub outbox: Vec<OutboxRow>,
    /// New deadlines of asks.
    pub deadlines: Vec<(AskId, Time)>,
    /// The groups that the transaction changed.
    pub groups: Vec<Arc<Group>>,
}

/// Receives every commit, in order. The writer calls it before it replies to the callers of the operations, on its own thread,
/// so it must not block.
pub trait Sink: Send + 'static {
    /// Called after the transaction is durable.
    fn committed(&mut self, commit: Commit);
}

impl<F: FnMut(Commit) + Send + 'static> Sink for F {
    fn committed(&mut self, commit: Commit) {
        self(commit);
    }
}
