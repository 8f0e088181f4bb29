//! The closed set of writes. Each is one savepoint of the writer's transaction: it happens whole or
//! not at all, and what it returns is on disk.

use sayso_core::actor::Actor;
use sayso_core::ask::{Ask, Decision, Delivery, Reach, Refused, TypedAnswers};
use sayso_core::connection::{Connection, Epoch, Position, WirePosition};
use sayso_core::id::{AskId, BlockId, ConnectionId, GrantId, SessionId, TokenId};
use sayso_core::raw::Raw;
use sayso_core::run::Run;
use sayso_core::scope::Scope;
use sayso_core::session::{Session, SessionStatus};
use sayso_core::time::Time;
use sayso_core::transcript::Block;

use crate::error::StoreError;
use crate::event::{EventKind, OutboxId, WorkspaceId};
use crate::sqlite::Tx;

/// One write.
pub trait Operation: Send + 'static {
    /// What it returns once it is on disk.
    type Output: Send + 'static;

    /// Does it, inside the writer's transaction.
    #[doc(hidden)]
    fn apply(self, tx: &mut Tx<'_>) -> Result<Self::Output, StoreError>;
}

/// A caller's own name for a call, so that repeating it has no second effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey {
    /// Whose.
    pub token: TokenId,
    /// Which call.
    pub route: String,
    /// The key.
    pub key: String,
    /// A keyed hash of the body, so that another body is noticed and nothing of it is kept.
    pub fingerprint: [u8; 32],
}

/// The same key came before, with another body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the idempotency key was used with another body")]
pub struct KeyReused;

/// What a call with an idempotency key did.
#[derive(Debug, Clone, PartialEq)]
pub enum Once<T> {
    /// It happened now.
    Done(T),
    /// It had happened before; this is what it made.
    Before(T),
    /// The key belongs to another call.
    Reused,
}

/// Starts a session together with the connection that carries it.
#[derive(Debug)]
pub struct CreateSession {
    /// Where.
    pub workspace: WorkspaceId,
    /// The session.
    pub session: Session,
    /// Its connection.
    pub connection: Connection,
    /// What the feed says of it.
    pub announced: Raw,
    /// What the agent gets first.
    pub command: Raw,
    /// The prompt as the first block.
    pub prompt: Option<Block>,
    /// The caller's key.
    pub key: Option<IdempotencyKey>,
}

/// Which session of an agent that a person runs themselves. A token names only its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExternalKey {
    /// Where.
    pub workspace: WorkspaceId,
    /// Who tells of it.
    pub token: TokenId,
    /// The agent's name.
    pub agent: String,
    /// The agent's own id of the session.
    pub native_id: String,
}

/// Finds the session of an agent that a person runs themselves, or makes it. One that was over goes on.
#[derive(Debug)]
pub struct EnsureExternal {
    /// Which.
    pub key: ExternalKey,
    /// The session as it is if it is new. One that was over takes its project and branch from here, one without a
    /// title its title.
    pub session: Session,
    /// What carries it, if it is new.
    pub connection: Connection,
    /// What the feed says of it, if it is new.
    pub announced: Raw,
    /// When.
    pub now: Time,
}

/// What happened where a person runs an agent themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExternalNews {
    /// A tool call is over. The oldest pending ask whose own id begins like this was about it.
    ToolDone {
        /// How the asks of such calls begin.
        native_prefix: String,
    },
    /// The person gave a prompt.
    Prompted,
    /// The turn is over.
    TurnEnded,
    /// The agent is over.
    Ended,
}

/// Takes news of a session of an agent that a person runs themselves: what was decided there is
/// withdrawn here. Returns what was.
#[derive(Debug)]
pub struct TellExternal {
    /// Which session.
    pub key: ExternalKey,
    /// What happened.
    pub news: ExternalNews,
    /// When.
    pub now: Time,
}

/// Opens an ask for a caller that waits for it over HTTP.
#[derive(Debug)]
pub struct OpenAsk {
    /// Where.
    pub workspace: WorkspaceId,
    /// What the caller may see.
    pub scope: Scope,
    /// The ask; decided already if the policy did.
    pub ask: Box<Ask>,
    /// The caller's key.
    pub key: Option<IdempotencyKey>,
    /// How many asks the caller or session may have pending.
    pub max_pending: usize,
}

/// What opening brought.
#[derive(Debug, Clone, PartialEq)]
pub enum Opened {
    /// This ask: new, or the pending one with the same key.
    Ask(Box<Ask>),
    /// Too many are pending.
    TooMany,
    /// The key belongs to another call.
    KeyReused,
    /// The session is unknown, invisible or over.
    NoSession,
}

/// Decides an ask: the one compare-and-set.
#[derive(Debug)]
pub struct ResolveAsk {
    /// Where.
    pub workspace: WorkspaceId,
    /// Which.
    pub ask: AskId,
    /// What the caller may see.
    pub scope: Scope,
    /// It must belong to this session (doors name it).
    pub session: Option<SessionId>,
    /// What was decided.
    pub decision: Decision,
    /// By whom.
    pub by: Actor,
    /// When.
    pub now: Time,
    /// The caller's key.
    pub key: Option<IdempotencyKey>,
}

/// Why an ask was not decided.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// Unknown, invisible, or of another session.
    #[error("no such ask")]
    NotFound,
    /// The state machine refused it.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The key belongs to another call.
    #[error(transparent)]
    KeyReused(#[from] KeyReused),
}

/// Lets the deadline of an ask decide, if it has come and nobody was faster.
#[derive(Debug)]
pub struct ExpireAsk {
    /// Where.
    pub workspace: WorkspaceId,
    /// Which.
    pub ask: AskId,
    /// When.
    pub now: Time,
}

/// Hides an ask for a while, or brings it back.
#[derive(Debug)]
pub struct SnoozeAsk {
    /// Where.
    pub workspace: WorkspaceId,
    /// Which.
    pub ask: AskId,
    /// What the caller may see.
    pub scope: Scope,
    /// Until when.
    pub until: Option<Time>,
    /// When.
    pub now: Time,
}

/// The caller that opened an ask takes its outcome. A secret answer comes back in clear, this once,
/// and is deleted.
#[derive(Debug)]
pub struct CallerHasOutcome {
    /// Where.
    pub workspace: WorkspaceId,
    /// Which.
    pub ask: AskId,
    /// When.
    pub now: Time,
}

/// One consequence of what an agent said.
#[derive(Debug)]
pub enum Change {
    /// A conversation of somebody's own was found and has a session now.
    NewSession {
        /// The session.
        session: Box<Session>,
        /// What the feed says of it.
        announced: Raw,
    },
    /// It asks. Decided already if the policy did; then the outcome goes into the outbox too.
    OpenAsk(Box<Ask>),
    /// It takes an ask back.
    Withdraw {
        /// Its own id of the request.
        native_id: String,
        /// Why.
        reason: String,
    },
    /// News of a delivery.
    Delivery {
        /// Which ask.
        ask: AskId,
        /// How it stands.
        delivery: Delivery,
    },
    /// Something has to reach the agent's process. If it carries the outcome of an ask, that is
    /// delivered when the process has it.
    Send {
        /// The session.
        session: SessionId,
        /// The ask whose outcome it carries.
        ask: Option<AskId>,
        /// The message.
        message: Raw,
        /// Whether there is a secret answer in it.
        secret: bool,
    },
    /// A block was added, or replaced by one with the same id.
    Block {
        /// The session.
        session: SessionId,
        /// The block.
        block: Block,
        /// The event that says so.
        event: EventKind,
    },
    /// The session does something else now. When it is over, its pending asks are parked or withdrawn.
    Status {
        /// The session.
        session: SessionId,
        /// What it does.
        status: SessionStatus,
    },
    /// The agent has another permission mode or model now.
    Settings {
        /// The session.
        session: SessionId,
        /// The permission mode, if it changed.
        permission_mode: Option<String>,
        /// The model, if it changed.
        model: Option<String>,
    },
}

/// Everything that follows from one input of a connection, in one transaction: the position moves,
/// the translator's state is kept, and every consequence is stored with it.
#[derive(Debug)]
pub struct Advance {
    /// Where.
    pub workspace: WorkspaceId,
    /// Which connection.
    pub connection: ConnectionId,
    /// In which life of the agent.
    pub epoch: Epoch,
    /// Where it stood.
    pub from: Position,
    /// Where it stands now.
    pub to: Position,
    /// What became of the agent's process.
    pub process: Process,
    /// The translator's state.
    pub state: Raw,
    /// When the translator wants to be called.
    pub wake_at: Option<Time>,
    /// What the agent has received.
    pub delivered: Vec<OutboxId>,
    /// Messages that are sent as soon as this is on disk. One that is found again was perhaps sent.
    pub trying: Vec<OutboxId>,
    /// What happened.
    pub changes: Vec<Change>,
    /// When.
    pub now: Time,
}

/// Begins to listen to a server that somebody else started.
#[derive(Debug)]
pub struct AttachConnection {
    /// Where.
    pub workspace: WorkspaceId,
    /// The connection, with the state of its translator.
    pub connection: Connection,
}

/// Stops listening: its sessions end here, and what waits is withdrawn. Whoever runs the agent is not disturbed.
#[derive(Debug)]
pub struct DetachConnection {
    /// Where.
    pub workspace: WorkspaceId,
    /// Which connection.
    pub connection: ConnectionId,
    /// Why, for whoever reads it later.
    pub reason: String,
    /// When.
    pub now: Time,
}

/// What became of an agent's process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Process {
    /// Nothing: there is none, or nothing was read from it.
    Same,
    /// Its output was read up to here.
    Read(WirePosition),
    /// One is to be launched: the next life begins.
    Launched,
    /// It is over. What was to be sent to it does not leave any more.
    Gone,
}

/// Whether an advance was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advanced {
    /// It is on disk.
    Yes,
    /// The connection is elsewhere: this input was taken before, or by a later life.
    Stale,
}

/// Says something to a session.
#[derive(Debug)]
pub struct SendMessage {
    /// Where.
    pub workspace: WorkspaceId,
    /// To which session.
    pub session: SessionId,
    /// What the caller may see.
    pub scope: Scope,
    /// The words, as a block of the person's.
    pub block: Block,
    /// The words themselves.
    pub text: String,
    /// What the agent gets if it is a prompt.
    pub command: Raw,
    /// Who speaks, if it answers an ask.
    pub by: Actor,
    /// Whether it may wait behind a pending ask.
    pub queue: bool,
    /// Which questions of the agent it answers.
    pub typed: TypedAnswers,
    /// When.
    pub now: Time,
    /// The caller's key.
    pub key: Option<IdempotencyKey>,
}

/// What became of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum MessageSent {
    /// The agent gets it as a prompt.
    Prompt(BlockId),
    /// It answered this ask.
    Answered(BlockId, Box<Ask>),
    /// These asks are pending, and a message does not answer them.
    Pending(Vec<AskId>),
    /// The session is over.
    Ended,
    /// A person runs the agent themselves: it takes no messages from here.
    External,
    /// No such session.
    NotFound,
    /// The key belongs to another call.
    KeyReused,
}

/// Sends a command to a session's agent: interrupt, close, resume.
#[derive(Debug)]
pub struct CommandSession {
    /// Where.
    pub workspace: WorkspaceId,
    /// Which session.
    pub session: SessionId,
    /// What the caller may see.
    pub scope: Scope,
    /// What the agent gets.
    pub command: Raw,
    /// What kind of command it is.
    pub kind: SessionCommand,
    /// What is said in the transcript when a turn is stopped by it.
    pub said: Option<SayNotice>,
    /// When.
    pub now: Time,
}

/// The kinds of command to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionCommand {
    /// Stop the turn. Approvals that have not left yet do not leave any more.
    Interrupt,
    /// End the session. The same, and nothing else follows.
    Close,
    /// Take an ended session up again.
    Resume,
}

/// Asks the agent of a session to change its permission mode or its model. The session has the new ones when the agent
/// confirms them. A session that has ended and can be resumed gets them at once.
#[derive(Debug)]
pub struct ConfigureSession {
    /// Where.
    pub workspace: WorkspaceId,
    /// Which session.
    pub session: SessionId,
    /// What the caller may see.
    pub scope: Scope,
    /// The permission mode, if it changes.
    pub permission_mode: Option<String>,
    /// The model, if it changes.
    pub model: Option<String>,
    /// The same for the agent.
    pub command: Raw,
    /// When.
    pub now: Time,
}

/// What became of a command.
#[derive(Debug, Clone, PartialEq)]
pub enum Commanded {
    /// It is on its way.
    Queued(Box<Session>),
    /// The session is over.
    Ended,
    /// It is not over, or cannot be taken up again.
    NotResumable,
    /// A person runs the agent themselves: it takes no commands from here.
    External,
    /// No such session.
    NotFound,
}

/// A bearer token as it is stored: its secret only as a hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRow {
    /// Its id.
    pub id: TokenId,
    /// Its workspace.
    pub workspace: WorkspaceId,
    /// SHA-256 of the secret.
    pub hash: [u8; 32],
    /// The role's name.
    pub role: String,
    /// The name of the person or program.
    pub actor: String,
    /// What the browser that signed in is called.
    pub device: Option<String>,
    /// What it sees.
    pub scope: Scope,
    /// When it was made.
    pub created_at: Time,
    /// When it ends.
    pub expires_at: Option<Time>,
    /// When it was revoked.
    pub revoked_at: Option<Time>,
}

/// Keeps a token.
#[derive(Debug)]
pub struct CreateToken {
    /// The token.
    pub token: TokenRow,
    /// The caller's key.
    pub key: Option<IdempotencyKey>,
}

/// Revokes a token; returns it if there was one.
#[derive(Debug)]
pub struct RevokeToken {
    /// Where.
    pub workspace: WorkspaceId,
    /// Which.
    pub token: TokenId,
    /// When.
    pub now: Time,
}

/// Keeps a login code.
#[derive(Debug)]
pub struct CreateLoginCode {
    /// Where.
    pub workspace: WorkspaceId,
    /// SHA-256 of the code.
    pub hash: [u8; 32],
    /// The role of the token that it becomes.
    pub role: String,
    /// The name on it.
    pub actor: String,
    /// When it ends.
    pub expires_at: Time,
}

/// Turns a login code into a token, once.
#[derive(Debug)]
pub struct RedeemLoginCode {
    /// SHA-256 of the code.
    pub code: [u8; 32],
    /// The token to make; role and actor come from the code.
    pub token: TokenRow,
    /// When.
    pub now: Time,
}

/// Keeps a rule that was given by hand.
#[derive(Debug)]
pub struct AddGrant {
    /// Where.
    pub workspace: WorkspaceId,
    /// Its id.
    pub id: GrantId,
    /// Until when.
    pub until: Option<Time>,
    /// The rule.
    pub data: Raw,
    /// When.
    pub now: Time,
    /// The caller's key.
    pub key: Option<IdempotencyKey>,
}

/// Takes back a rule that was given by hand.
#[derive(Debug)]
pub struct RemoveGrant {
    /// Where.
    pub workspace: WorkspaceId,
    /// Its id.
    pub id: GrantId,
}

/// Keeps a setting, or forgets it.
#[derive(Debug)]
pub struct PutSetting {
    /// Where.
    pub workspace: WorkspaceId,
    /// Its name.
    pub key: &'static str,
    /// Its value.
    pub value: Option<Raw>,
}

/// Remembers that a person trusts this text at this path.
#[derive(Debug)]
pub struct TrustProject {
    /// Where.
    pub workspace: WorkspaceId,
    /// The file.
    pub path: String,
    /// The hash of its text.
    pub hash: String,
    /// When.
    pub now: Time,
}

/// Says something on the feed that is not about an ask or a session.
#[derive(Debug)]
pub struct Announce {
    /// Where.
    pub workspace: WorkspaceId,
    /// What kind.
    pub kind: EventKind,
    /// What.
    pub data: Raw,
    /// When.
    pub now: Time,
}

/// Forgets what is old: events, idempotency keys, codes, grants. A bounded piece at a time.
#[derive(Debug)]
pub struct Retain {
    /// Events before this time go.
    pub events_before: Time,
    /// Idempotency keys before this time go.
    pub keys_before: Time,
    /// Now, for what carries its own end.
    pub now: Time,
    /// How many rows of each at most.
    pub at_most: usize,
}

/// The caller that opened an ask no longer waits for it, or waits again. Only questions are parked, and no secret ones.
#[derive(Debug)]
pub struct SetReach {
    /// Where.
    pub workspace: WorkspaceId,
    /// Which.
    pub ask: AskId,
    /// Whether somebody waits.
    pub reach: Reach,
    /// When.
    pub now: Time,
}

/// An agent says something to people, and waits for nothing.
#[derive(Debug)]
pub struct SayNotice {
    /// Where.
    pub workspace: WorkspaceId,
    /// The session that it belongs to.
    pub session: Option<SessionId>,
    /// The words, as a block.
    pub block: Block,
    /// What the feed says where there is no session.
    pub data: Raw,
}

/// Takes back an ask that a caller opened.
#[derive(Debug)]
pub struct WithdrawAsk {
    /// Where.
    pub workspace: WorkspaceId,
    /// Which.
    pub ask: AskId,
    /// What the caller may see.
    pub scope: Scope,
    /// Why.
    pub reason: String,
    /// When.
    pub now: Time,
}

/// A run has moved: its new state, and everything that follows from it, in one transaction.
#[derive(Debug)]
pub struct AdvanceRun {
    /// Where.
    pub workspace: WorkspaceId,
    /// The run as it stands now, with its steps.
    pub run: Box<Run>,
    /// Where it stood: only who knows that moves it.
    pub version: i64,
    /// Which steps changed, by position.
    pub changed: Vec<usize>,
    /// Sessions that are started for it. They have no idempotency key of their own.
    pub sessions: Vec<CreateSession>,
    /// Checkpoints that are opened.
    pub asks: Vec<Ask>,
    /// Checkpoints whose outcome it has.
    pub taken: Vec<AskId>,
    /// Sessions that are ended, with what their agents get.
    pub closed: Vec<(SessionId, Raw)>,
    /// Checkpoints that are taken back, and why.
    pub withdrawn: Vec<(AskId, String)>,
    /// What the feed says of it.
    pub news: Vec<RunNews>,
    /// When.
    pub now: Time,
}

/// Something that the feed says of a run.
#[derive(Debug)]
pub struct RunNews {
    /// What kind.
    pub kind: EventKind,
    /// The session of the step that it is about.
    pub session: Option<SessionId>,
    /// What.
    pub data: Raw,
}

/// Starts a run: the first time that it moves.
#[derive(Debug)]
pub struct CreateRun {
    /// How it begins.
    pub first: AdvanceRun,
    /// The caller's key.
    pub key: Option<IdempotencyKey>,
}

/// How a note about an ask stands with one channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoteState {
    /// It is tried again then.
    Again(Time),
    /// It was sent.
    Told,
    /// It was tried often enough.
    GivenUp,
}

/// What is kept of a note about an ask through one channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteRow {
    /// The ask.
    pub ask: AskId,
    /// The channel's name.
    pub channel: String,
    /// How it stands.
    pub state: NoteState,
    /// How often it was tried.
    pub attempts: u32,
    /// The channel's own name of the message, to change it later.
    pub message: Option<String>,
}

/// Keeps how a note stands.
#[derive(Debug)]
pub struct PutNote {
    /// Where.
    pub workspace: WorkspaceId,
    /// The note.
    pub note: NoteRow,
}

/// Forgets a note: the ask has its outcome, and the channel knows.
#[derive(Debug)]
pub struct DropNote {
    /// Where.
    pub workspace: WorkspaceId,
    /// The ask.
    pub ask: AskId,
    /// The channel's name.
    pub channel: String,
}

/// A browser that wants to be woken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushRow {
    /// The token that it signed in with.
    pub token: TokenId,
    /// Where its pushes are sent.
    pub endpoint: String,
    /// Its public key: a point of P-256, uncompressed.
    pub public_key: [u8; 65],
    /// The secret that it shares with us.
    pub auth: [u8; 16],
}

/// Remembers a browser; one that the token had before is forgotten.
#[derive(Debug)]
pub struct PutPush {
    /// Where.
    pub workspace: WorkspaceId,
    /// The browser.
    pub push: PushRow,
}

/// Forgets the browser of a token.
#[derive(Debug)]
pub struct DropPush {
    /// Where.
    pub workspace: WorkspaceId,
    /// Whose.
    pub token: TokenId,
}
