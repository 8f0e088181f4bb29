//! The queries. Each one runs on one consistent snapshot of the database.

use std::sync::Arc;

use sayso_core::ask::{Ask, AskKind};
use sayso_core::group::Group;
use sayso_core::id::{AskId, ConnectionId, GroupId, RunId, SessionId, TokenId};
use sayso_core::raw::Raw;
use sayso_core::run::Run;
use sayso_core::scope::Scope;
use sayso_core::session::Session;
use sayso_core::time::{Span, Time};

use crate::error::StoreError;
use crate::event::{StoredEvent, WorkspaceId};
use crate::snapshot::Snapshot;

/// A query with its parameters. The module `queries` has the implementations.
pub trait Query: Send + 'static {
    type Found: Send + 'static;

    /// # Errors
    /// When the database fails.
    #[doc(hidden)]
    fn run(self, db: &dyn Snapshot) -> Result<Self::Found, StoreError>;
}

/// Finds the session of an agent in a person's own terminal. Returns `None` for a session that has ended.
#[derive(Debug)]
pub struct GetExternalSession {
    pub key: crate::ops::external_sessions::ExternalSessionKey,
}

/// Finds one ask.
#[derive(Debug)]
pub struct GetAsk {
    pub workspace: WorkspaceId,
    pub ask: AskId,
    /// Rows outside this scope are not found.
    pub scope: Scope,
}

/// Filters asks by their state, and sets the order of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatusFilter {
    /// Every ask, newest first.
    Any,
    /// Pending asks, oldest first.
    Pending,
    /// Asks with an outcome, newest first.
    Resolved,
    /// Asks with this outcome, newest first.
    Outcome(sayso_core::ask::OutcomeStatus),
}

/// Lists asks that match all given filters.
#[derive(Debug, Clone)]
pub struct ListAsks {
    pub workspace: WorkspaceId,
    /// Rows outside this scope are not found.
    pub scope: Scope,
    pub status: StatusFilter,
    pub session: Option<SessionId>,
    pub kind: Option<AskKind>,
    pub agent: Option<String>,
    /// A label and its value.
    pub label: Option<(String, String)>,
    /// A directory. Asks of projects in it also match.
    pub project: Option<String>,
    /// Matches asks opened at this time or later.
    pub since: Option<Time>,
    /// Matches asks opened before this time.
    pub until: Option<Time>,
    /// Text that the request or the outcome contains. Case is ignored.
    pub words: Option<String>,
    /// The end of the hexadecimal part of an id.
    pub id_ends_with: Option<String>,
    /// The largest number of rows.
    pub limit: usize,
    /// The `next` of the previous page.
    pub after: Option<i64>,
}

impl ListAsks {
    /// All pending asks in the scope, up to `limit`.
    #[must_use]
    pub const fn pending(workspace: WorkspaceId, scope: Scope, limit: usize) -> Self {
        Self {
            workspace,
            scope,
            status: StatusFilter::Pending,
            session: None,
            kind: None,
            agent: None,
            label: None,
            project: None,
            since: None,
            until: None,
            words: None,
            id_ends_with: None,
            limit,
            after: None,
        }
    }
}

/// Finds the ask about a tool call: the pending one, otherwise the latest.
#[derive(Debug, Clone)]
pub struct FindToolCallAsk {
    pub workspace: WorkspaceId,
    pub session: SessionId,
    /// The agent's id of the tool call, or the id of the ask.
    pub tool_call_id: String,
    pub kind: AskKind,
}

/// The limit for the bytes of text in one page. A page ends before the row that exceeds it, but always has one row.
pub const PAGE_BYTES: usize = 8 * 1024 * 1024;

/// One page of a list.
#[derive(Debug, Clone)]
pub struct Page<T> {
    pub rows: Vec<T>,
    /// The cursor of the next page. `None` on the last page.
    pub next: Option<i64>,
    /// The last `seq` of the feed in the snapshot. A client that follows the feed from here misses nothing.
    pub seq: i64,
    /// Whether the page has fewer rows than the limit because it reached [`PAGE_BYTES`].
    pub truncated: bool,
}

/// Counts pending asks and queued outcomes.
#[derive(Debug)]
pub struct CountPending {
    pub workspace: WorkspaceId,
}

/// The numbers that `sayso status` and `/metrics` show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PendingCount {
    pub pending: u64,
    /// When the oldest pending ask was opened.
    pub oldest: Option<Time>,
    /// The number of outbox entries.
    pub outbox: u64,
}

/// Finds one session with its pending asks.
#[derive(Debug)]
pub struct GetSession {
    pub workspace: WorkspaceId,
    pub session: SessionId,
    /// Rows outside this scope are not found.
    pub scope: Scope,
}

/// A session with its pending asks.
#[derive(Debug, Clone)]
pub struct SessionDetail {
    pub session: Session,
    /// Oldest first.
    pub pending: PendingAsks,
    /// The last `seq` of the feed in the snapshot. A client that follows the feed from here misses nothing.
    pub seq: i64,
}

/// The pending asks of a session or a run, oldest first. Asks beyond [`PAGE_BYTES`] are counted but not read.
#[derive(Debug, Clone, Default)]
pub struct PendingAsks {
    pub asks: Vec<Ask>,
    /// The number of all pending asks, including those that are left out.
    pub count: u32,
}

impl PendingAsks {
    /// Whether asks are left out because of [`PAGE_BYTES`].
    #[must_use]
    pub fn truncated(&self) -> bool {
        u32::try_from(self.asks.len()).is_ok_and(|shown| shown < self.count)
    }
}

/// Lists sessions, newest first.
#[derive(Debug)]
pub struct ListSessions {
    pub workspace: WorkspaceId,
    /// Rows outside this scope are not found.
    pub scope: Scope,
    /// Leaves out what has ended.
    pub open_only: bool,
    /// A label and its value.
    pub label: Option<(String, String)>,
    /// The end of the hexadecimal part of an id.
    pub id_ends_with: Option<String>,
    /// The largest number of rows.
    pub limit: usize,
    /// The `next` of the previous page.
    pub after: Option<i64>,
}

/// Reads a part of a transcript.
#[derive(Debug)]
pub struct ReadTranscript {
    /// The caller of this query has checked the scope.
    pub session: SessionId,
    pub workspace: WorkspaceId,
    /// The `next` of the previous page.
    pub after: i64,
    /// The largest number of rows.
    pub limit: usize,
}

#[derive(Debug, Clone)]
pub enum TranscriptEntry {
    /// A message, a tool call or a notice, as stored.
    Block(Raw),
    Ask(Box<Ask>),
}

/// Reads a page of stored events.
#[derive(Debug)]
pub struct ReadEvents {
    pub workspace: WorkspaceId,
    /// The page starts after this `seq`.
    pub after: i64,
    /// Leaves out events of other sessions.
    pub session: Option<SessionId>,
    /// The largest number of rows to scan. Rows that do not match count as well.
    pub limit: usize,
}

/// A page of stored events.
#[derive(Debug, Clone)]
pub struct EventPage {
    pub events: Vec<StoredEvent>,
    /// The `seq` of the last row that was scanned. The next page starts after it.
    pub scanned_to: i64,
    /// The first `seq` that retention has not deleted, or `head + 1` if no event is left.
    pub oldest: i64,
    pub head: i64,
}

/// Lists the connections to agent servers that Sayso did not start.
#[derive(Debug)]
pub struct ListAttachedConnections {
    pub workspace: WorkspaceId,
}

/// Finds the work that a server must resume when it starts.
#[derive(Debug)]
pub struct FindUnfinishedWork {
    pub workspace: WorkspaceId,
}

/// The work that an earlier process of the server left.
#[derive(Debug, Clone)]
pub struct UnfinishedWork {
    /// Connections with outbox entries or a deadline of their translator.
    pub connections: Vec<ConnectionId>,
    /// Pending asks with a deadline.
    pub deadlines: Vec<(AskId, Time)>,
    /// Pending asks that expire when their caller is away for too long.
    pub kept: Vec<CallerAsk>,
}

/// A pending ask that expires when its caller is away for too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallerAsk {
    pub ask: AskId,
    pub opened_by: Option<TokenId>,
    pub keep: Span,
}

/// Lists the tokens of all workspaces.
#[derive(Debug)]
pub struct ListTokens;

/// Reads the parts of the policy that are in the database: grants, settings and trusted projects.
#[derive(Debug)]
pub struct ReadStoredPolicy {
    pub workspace: WorkspaceId,
}

/// The parts of the policy that are in the database.
#[derive(Debug, Clone, Default)]
pub struct StoredPolicy {
    /// The id, the end and the rule of each grant.
    pub grants: Vec<(sayso_core::id::GrantId, Option<Time>, Raw)>,
    /// Names and values.
    pub settings: Vec<(String, Raw)>,
    /// The path of each trusted policy file, and the hash of its text.
    pub trusted: Vec<(String, String)>,
}

/// Reads the last `seq` of the feed.
#[derive(Debug)]
pub struct ReadFeedHead {
    pub workspace: WorkspaceId,
}

/// Finds one run with its pending asks.
#[derive(Debug)]
pub struct GetRun {
    pub workspace: WorkspaceId,
    pub run: RunId,
    /// Rows outside this scope are not found.
    pub scope: Scope,
}

/// A run with its pending asks.
#[derive(Debug, Clone)]
pub struct RunDetail {
    pub run: Run,
    /// The version that [`AdvanceRun`](crate::ops::AdvanceRun) compares.
    pub version: i64,
    /// Oldest first, including checkpoints, which have no session.
    pub pending: PendingAsks,
    /// The last `seq` of the feed in the snapshot. A client that follows the feed from here misses nothing.
    pub seq: i64,
}

/// Lists runs, newest first.
#[derive(Debug)]
pub struct ListRuns {
    pub workspace: WorkspaceId,
    /// Rows outside this scope are not found.
    pub scope: Scope,
    /// Leaves out what has ended.
    pub open_only: bool,
    /// The end of the hexadecimal part of an id.
    pub id_ends_with: Option<String>,
    /// The largest number of rows.
    pub limit: usize,
    /// The `next` of the previous page.
    pub after: Option<i64>,
}

/// Lists the runs that a server must resume when it starts.
#[derive(Debug)]
pub struct ListOpenRuns {
    pub workspace: WorkspaceId,
}

/// Reads how the last turn of an idle session ended.
#[derive(Debug)]
pub struct ReadLastTurn {
    pub workspace: WorkspaceId,
    pub session: SessionId,
}

#[derive(Debug, Clone)]
pub struct TurnEnd {
    /// Whether a person stopped the turn.
    pub interrupted: bool,
    /// The last message of the agent in the turn.
    pub last_words: Option<String>,
}

/// Reads what the notifier needs when the server starts.
#[derive(Debug)]
pub struct ReadNotifications {
    pub workspace: WorkspaceId,
}

/// The pending asks and the stored notifications.
#[derive(Debug, Clone, Default)]
pub struct StoredNotifications {
    /// The pending asks and when each one was opened.
    pub pending: Vec<(AskId, Time)>,
    /// Includes notifications about asks that have their outcome.
    pub notes: Vec<crate::ops::notifications::NotificationRow>,
}

/// Finds the notification about an ask in one channel.
#[derive(Debug)]
pub struct GetNotification {
    pub workspace: WorkspaceId,
    pub ask: AskId,
    pub channel: String,
}

/// Lists the push subscriptions of browsers.
#[derive(Debug)]
pub struct ListPushSubscriptions {
    pub workspace: WorkspaceId,
}

/// Counts how often rules decided an ask or left it to a person.
#[derive(Debug)]
pub struct CountRuleHits {
    pub workspace: WorkspaceId,
    /// The keys of the rules: the id of each, or its name.
    pub rules: Vec<String>,
    /// Counts asks that were opened at this time or later.
    pub since: Time,
}

impl CountRuleHits {
    /// Counting stops at this number, so that a query takes a bounded time.
    pub const MAX_COUNT: usize = 10_000;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleHits {
    pub rule: String,
    /// At most [`CountRuleHits::MAX_COUNT`].
    pub hits: usize,
    /// When the rule last decided, even if that was before the counted period.
    pub last_at: Option<Time>,
}

/// Counts earlier decisions of people about the same action: the same tool with the same command, files or address.
#[derive(Debug)]
pub struct CountPrecedents {
    pub workspace: WorkspaceId,
    pub ask: AskId,
    /// Asks outside this scope are not counted.
    pub scope: Scope,
}

impl CountPrecedents {
    /// The number of newest asks that are compared.
    pub const MAX_ASKS: usize = 2_000;
}

/// Earlier decisions of people about an action. All zero for questions and links.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Precedents {
    pub approved: usize,
    pub denied: usize,
    pub last_at: Option<Time>,
}

/// Finds one group that a token opened, with its asks.
#[derive(Debug)]
pub struct GetGroup {
    pub workspace: WorkspaceId,
    pub group: GroupId,
    pub token: TokenId,
}

/// A group with its asks, in the order of the group.
#[derive(Debug, Clone)]
pub struct GroupDetail {
    pub group: Group,
    pub asks: Vec<Arc<Ask>>,
}

/// Lists the groups that still need work by the server, oldest first.
#[derive(Debug)]
pub struct ListOpenGroups {
    pub workspace: WorkspaceId,
}
