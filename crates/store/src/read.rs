//! The closed set of reads. Each sees one snapshot of the database.

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

/// A query. See the module `queries` for how each runs.
pub trait Query: Send + 'static {
    /// The result.
    type Found: Send + 'static;

    /// # Errors
    /// When the database fails.
    #[doc(hidden)]
    fn run(self, db: &dyn Snapshot) -> Result<Self::Found, StoreError>;
}

/// The session of an agent that a person runs themselves, if it is not over.
#[derive(Debug)]
pub struct GetExternal {
    /// Which.
    pub key: crate::ops::external::ExternalKey,
}

/// One ask.
#[derive(Debug)]
pub struct GetAsk {
    /// Where.
    pub workspace: WorkspaceId,
    /// Which.
    pub ask: AskId,
    /// What the caller may see.
    pub scope: Scope,
}

/// Which asks, by where they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatusFilter {
    /// All, newest first.
    Any,
    /// Pending, oldest first.
    Pending,
    /// Decided, newest first.
    Resolved,
    /// With this outcome, newest first.
    Outcome(sayso_core::ask::OutcomeStatus),
}

/// Which asks to list.
#[derive(Debug, Clone)]
pub struct ListAsks {
    /// Where.
    pub workspace: WorkspaceId,
    /// What the caller may see.
    pub scope: Scope,
    /// By where they stand.
    pub status: StatusFilter,
    /// Of this session.
    pub session: Option<SessionId>,
    /// Of this kind.
    pub kind: Option<AskKind>,
    /// Of this agent.
    pub agent: Option<String>,
    /// With this label.
    pub label: Option<(String, String)>,
    /// In this project or below.
    pub project: Option<String>,
    /// Opened then or later.
    pub since: Option<Time>,
    /// Opened before then.
    pub until: Option<Time>,
    /// With these words in what was asked, said or decided.
    pub words: Option<String>,
    /// With an id that ends like this.
    pub id_ends_with: Option<String>,
    /// How many at most.
    pub limit: usize,
    /// After this place.
    pub after: Option<i64>,
}

impl ListAsks {
    /// Everything pending that the scope sees, up to `limit`.
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

/// The ask about a tool call: the pending one, else the latest.
#[derive(Debug, Clone)]
pub struct FindToolCallAsk {
    /// Where.
    pub workspace: WorkspaceId,
    /// The session of the tool call.
    pub session: SessionId,
    /// The agent's id of the tool call, or the id of the ask.
    pub tool_call_id: String,
    /// What kind of ask.
    pub kind: AskKind,
}

/// Bytes of text in one page. A page with more is cut, but has one row in any case.
pub const PAGE_BYTES: usize = 8 * 1024 * 1024;

/// A page and where it ends.
#[derive(Debug, Clone)]
pub struct Page<T> {
    /// The rows.
    pub rows: Vec<T>,
    /// The place to go on from.
    pub next: Option<i64>,
    /// The feed position of the snapshot.
    pub seq: i64,
    /// Whether the page ends at [`PAGE_BYTES`], with fewer rows than the limit.
    pub truncated: bool,
}

/// How many are pending, and since when.
#[derive(Debug)]
pub struct CountPending {
    /// Where.
    pub workspace: WorkspaceId,
}

/// The numbers behind `status` and `/metrics`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PendingCount {
    /// How many are pending.
    pub pending: u64,
    /// When the oldest was opened.
    pub oldest: Option<Time>,
    /// How many outcomes wait to be sent.
    pub outbox: u64,
}

/// One session with its pending asks.
#[derive(Debug)]
pub struct GetSession {
    /// Where.
    pub workspace: WorkspaceId,
    /// Which.
    pub session: SessionId,
    /// What the caller may see.
    pub scope: Scope,
}

/// A session and what is pending in it.
#[derive(Debug, Clone)]
pub struct SessionDetail {
    /// The session.
    pub session: Session,
    /// Its pending asks, oldest first.
    pub pending: PendingAsks,
    /// The feed position of the snapshot.
    pub seq: i64,
}

/// The pending asks of a session or a run, oldest first, up to [`PAGE_BYTES`].
#[derive(Debug, Clone, Default)]
pub struct PendingAsks {
    pub asks: Vec<Ask>,
    /// The number of all of them, also of those that are left out.
    pub count: u32,
}

impl PendingAsks {
    /// Whether some are left out.
    #[must_use]
    pub fn truncated(&self) -> bool {
        u32::try_from(self.asks.len()).is_ok_and(|shown| shown < self.count)
    }
}

/// Which sessions to list, newest first.
#[derive(Debug)]
pub struct ListSessions {
    /// Where.
    pub workspace: WorkspaceId,
    /// What the caller may see.
    pub scope: Scope,
    /// Only those that are not over.
    pub open_only: bool,
    /// With this label.
    pub label: Option<(String, String)>,
    /// With an id that ends like this.
    pub id_ends_with: Option<String>,
    /// How many at most.
    pub limit: usize,
    /// After this place.
    pub after: Option<i64>,
}

/// A part of a transcript.
#[derive(Debug)]
pub struct ReadTranscript {
    /// Which session. The caller has checked that it may be seen.
    pub session: SessionId,
    /// Where.
    pub workspace: WorkspaceId,
    /// After this place.
    pub after: i64,
    /// How many at most.
    pub limit: usize,
}

/// One entry of a transcript.
#[derive(Debug, Clone)]
pub enum TranscriptEntry {
    /// Something said or done, as it was written.
    Block(Raw),
    /// An ask.
    Ask(Box<Ask>),
}

/// Events after a place.
#[derive(Debug)]
pub struct EventsAfter {
    /// Where.
    pub workspace: WorkspaceId,
    /// After this `seq`.
    pub after: i64,
    /// Only of this session.
    pub session: Option<SessionId>,
    /// How many rows to look at, at most.
    pub limit: usize,
}

/// A piece of the past.
#[derive(Debug, Clone)]
pub struct PastEvents {
    /// The events that match.
    pub events: Vec<StoredEvent>,
    /// Everything up to here was looked at.
    pub looked_to: i64,
    /// The first `seq` that is still kept; nothing is when it is `head + 1`.
    pub oldest: i64,
    /// The last `seq`.
    pub head: i64,
}

/// The servers that somebody else started and that are listened to.
#[derive(Debug)]
pub struct ListAttached {
    /// Where.
    pub workspace: WorkspaceId,
}

/// What has to be taken up when the server starts.
#[derive(Debug)]
pub struct Unfinished {
    pub workspace: WorkspaceId,
}

/// What a start finds.
#[derive(Debug, Clone)]
pub struct Beginnings {
    /// Connections with something to send or a time to be called.
    pub connections: Vec<ConnectionId>,
    /// Asks that end by themselves.
    pub deadlines: Vec<(AskId, Time)>,
    /// Asks that end when their caller stays away for so long.
    pub kept: Vec<KeptAsk>,
}

/// A pending ask that is kept for its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptAsk {
    pub ask: AskId,
    pub opened_by: Option<TokenId>,
    pub keep: Span,
}

/// Every token of every workspace.
#[derive(Debug)]
pub struct AllTokens;

/// What was set by hand: grants, settings, trusted projects.
#[derive(Debug)]
pub struct PolicyState {
    /// Where.
    pub workspace: WorkspaceId,
}

/// The policy's part of the database.
#[derive(Debug, Clone, Default)]
pub struct StoredPolicy {
    /// Rules given by hand: id, end, rule.
    pub grants: Vec<(sayso_core::id::GrantId, Option<Time>, Raw)>,
    /// Settings.
    pub settings: Vec<(String, Raw)>,
    /// Trusted projects: path, hash.
    pub trusted: Vec<(String, String)>,
}

/// The session of an idempotency key etc. is found by the write itself; this finds where the feed stands.
#[derive(Debug)]
pub struct FeedHead {
    /// Where.
    pub workspace: WorkspaceId,
}

/// One run with what is pending in it.
#[derive(Debug)]
pub struct GetRun {
    /// Where.
    pub workspace: WorkspaceId,
    /// Which.
    pub run: RunId,
    /// What the caller may see.
    pub scope: Scope,
}

/// A run and what is pending in it.
#[derive(Debug, Clone)]
pub struct RunDetail {
    /// The run, with its steps.
    pub run: Run,
    /// Where it stands: whoever moves it has to know.
    pub version: i64,
    /// What is pending, first come first: checkpoints have no session.
    pub pending: PendingAsks,
    /// The feed position of the snapshot.
    pub seq: i64,
}

/// Which runs to list, newest first.
#[derive(Debug)]
pub struct ListRuns {
    /// Where.
    pub workspace: WorkspaceId,
    /// What the caller may see.
    pub scope: Scope,
    /// Only those that are not over.
    pub open_only: bool,
    /// With an id that ends like this.
    pub id_ends_with: Option<String>,
    /// How many at most.
    pub limit: usize,
    /// After this place.
    pub after: Option<i64>,
}

/// The runs that are under way, to be taken up when the server starts.
#[derive(Debug)]
pub struct OpenRuns {
    pub workspace: WorkspaceId,
}

/// The last turn of a session that is idle.
#[derive(Debug)]
pub struct LastTurn {
    pub workspace: WorkspaceId,
    pub session: SessionId,
}

/// How the turn ended.
#[derive(Debug, Clone)]
pub struct TurnEnd {
    /// Whether it was stopped.
    pub interrupted: bool,
    /// What the agent said last.
    pub last_words: Option<String>,
}

/// What a notifier takes up when the server starts.
#[derive(Debug)]
pub struct PendingNotes {
    /// Where.
    pub workspace: WorkspaceId,
}

/// What is pending, and what was told.
#[derive(Debug, Clone, Default)]
pub struct NotesLook {
    /// The asks that are pending, and when each was opened.
    pub pending: Vec<(AskId, Time)>,
    /// The notes, also of asks that have their outcome.
    pub notes: Vec<crate::ops::notes::NoteRow>,
}

/// One note.
#[derive(Debug)]
pub struct GetNote {
    /// Where.
    pub workspace: WorkspaceId,
    /// The ask.
    pub ask: AskId,
    /// The channel's name.
    pub channel: String,
}

/// The browsers that want to be woken.
#[derive(Debug)]
pub struct AllPushes {
    /// Where.
    pub workspace: WorkspaceId,
}

/// How often rules decided an ask or left it to a person.
#[derive(Debug)]
pub struct CountRuleHits {
    /// Where.
    pub workspace: WorkspaceId,
    /// The keys of the rules: their ids, or their names.
    pub rules: Vec<String>,
    /// Counts asks that were opened then or later.
    pub since: Time,
}

impl CountRuleHits {
    /// Counting one rule stops here, so that a read costs a bounded time.
    pub const MOST: usize = 10_000;
}

/// How often one rule decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleHits {
    /// The rule's key.
    pub rule: String,
    /// At most [`CountRuleHits::MOST`].
    pub hits: usize,
    /// When the rule last decided, also before the period that is counted.
    pub last_at: Option<Time>,
}

/// What people decided before about the very action of an approval: the same tool with the same command, files or address.
#[derive(Debug)]
pub struct CountPrecedents {
    /// Where.
    pub workspace: WorkspaceId,
    /// The approval.
    pub ask: AskId,
    /// What the caller may see.
    pub scope: Scope,
}

impl CountPrecedents {
    /// Only so many of the newest asks are read.
    pub const MOST: usize = 2_000;
}

/// What people decided about an action before. All zero for a question and for a link.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Precedents {
    /// How often people approved it.
    pub approved: usize,
    /// How often people denied it.
    pub denied: usize,
    /// When a person last decided it.
    pub last_at: Option<Time>,
}

/// One group that a token opened, with its asks.
#[derive(Debug)]
pub struct GetGroup {
    pub workspace: WorkspaceId,
    pub group: GroupId,
    pub token: TokenId,
}

/// A group and its asks, in the order of the group.
#[derive(Debug, Clone)]
pub struct GroupDetail {
    pub group: Group,
    pub asks: Vec<Arc<Ask>>,
}

/// The groups that the server still has something to do for, oldest first.
#[derive(Debug)]
pub struct OpenGroups {
    pub workspace: WorkspaceId,
}
