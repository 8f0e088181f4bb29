//! The environment of a test: a database, the announcements that its sink received, and functions that create content.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sayso_core::actor::Actor;
use sayso_core::ask::{
    Action, Approval, Ask, AskBody, AskContext, AskState, Deadline, Decision, Input, Link, Origin, PolicyNote, Question,
    QuestionOption, Reach,
};
use sayso_core::connection::{Connection, ConnectionKind, Epoch, Position};
use sayso_core::id::{AskId, BlockId, ConnectionId, SessionId, TokenId};
use sayso_core::policy::OnTimeout;
use sayso_core::raw::Raw;
use sayso_core::scope::Scope;
use sayso_core::session::{Labels, Session, SessionStatus};
use sayso_core::time::{Span, Time};
use sayso_core::transcript::{Block, BlockBody, Role};
use sayso_store::ops::{
    AdvanceConnection, AdvanceResult, ConnectionChange, CreateSession, IdempotencyKey, IdempotentResult, OpenAsk, OpenAskResult,
    ProcessChange, ResolveAsk, ResolveError, TokenRow,
};
use sayso_store::read::{GetAsk, ReadEvents};
use sayso_store::{Commit, EventKind, OutboxId, OutboxRow, Sink, Store, StoreOptions, StoredEvent, WorkspaceId};

pub(crate) const MAIN: WorkspaceId = WorkspaceId::MAIN;

/// Returns a time, in seconds from a fixed start.
pub(crate) fn at(seconds: i64) -> Time {
    Time::from_millis(1_700_000_000_000 + seconds * 1_000)
}

/// Returns ten bytes that are unique in this process.
pub(crate) fn entropy() -> [u8; 10] {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let mut bytes = [0; 10];
    bytes[2..].copy_from_slice(&NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    bytes
}

pub(crate) fn token() -> TokenId {
    TokenId::new(at(0), entropy())
}

/// Creates a token with a new id.
pub(crate) fn token_row(hash: u8, scope: Scope) -> TokenRow {
    TokenRow {
        id: token(),
        workspace: MAIN,
        hash: [hash; 32],
        role: "answerer".to_owned(),
        actor: "ann".to_owned(),
        device: None,
        scope,
        created_at: at(i64::from(hash)),
        expires_at: Some(at(900)),
        revoked_at: None,
    }
}

/// The announcements that the sink received, in order.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) events: Vec<StoredEvent>,
    pub(crate) outbox: Vec<OutboxRow>,
    pub(crate) deadlines: Vec<(AskId, Time)>,
    pub(crate) commits: usize,
}

/// A database of the tested backend. It is deleted when it is dropped.
pub(crate) trait TestDatabase: Sized {
    /// Creates a database that uses the clock of a test.
    fn create(clock: &mut TestClock) -> Self;

    /// Opens the database, also after it was closed.
    async fn open(&self, clock: &TestClock) -> (Store, Arc<Mutex<Told>>);
}

/// The clock of a store. It starts at `at(60)` and changes only when a test sets it.
#[derive(Debug, Clone)]
pub(crate) struct TestClock {
    now: Arc<AtomicI64>,
    /// A file from which another process reads the time, in milliseconds.
    file: Option<PathBuf>,
}

impl TestClock {
    fn new() -> Self {
        Self { now: Arc::new(AtomicI64::new(at(60).as_millis())), file: None }
    }

    pub(crate) fn now(&self) -> Time {
        Time::from_millis(self.now.load(Ordering::Relaxed))
    }

    pub(crate) fn set(&self, now: Time) {
        self.now.store(now.as_millis(), Ordering::Relaxed);
        if let Some(file) = &self.file {
            write_time(file, now);
        }
    }

    /// Also writes the time to this file from now on.
    pub(crate) fn also_in(&mut self, file: PathBuf) {
        write_time(&file, self.now());
        self.file = Some(file);
    }
}

/// Replaces the file atomically, so that no reader sees a part of the number.
fn write_time(file: &Path, now: Time) {
    let new = file.with_extension("new");
    std::fs::write(&new, now.as_millis().to_string()).unwrap();
    std::fs::rename(new, file).unwrap();
}

/// A store with the announcements that its sink received.
#[derive(Debug)]
pub(crate) struct World<D> {
    pub(crate) store: Store,
    pub(crate) told: Arc<Mutex<Told>>,
    pub(crate) clock: TestClock,
    pub(crate) database: D,
}

/// Opens the database at this path with a recording sink.
pub(crate) fn open(path: PathBuf) -> Result<(Store, Arc<Mutex<Told>>), sayso_store::OpenError> {
    open_with_clock(path, &TestClock::new())
}

/// Creates a sink that records announcements.
pub(crate) fn remember(told: &Arc<Mutex<Told>>) -> impl Sink + use<> {
    let told = Arc::clone(told);
    move |commit: Commit| {
        let mut told = told.lock().unwrap();
        told.commits += 1;
        told.events.extend(commit.events);
        told.outbox.extend(commit.outbox);
        told.deadlines.extend(commit.deadlines);
    }
}

pub(crate) fn open_with_clock(path: PathBuf, clock: &TestClock) -> Result<(Store, Arc<Mutex<Told>>), sayso_store::OpenError> {
    let told = Arc::new(Mutex::new(Told::default()));
    let sink = remember(&told);
    let clock = clock.clone();
    Store::open(&StoreOptions::new(path), move || clock.now(), sink).map(|store| (store, told))
}

impl<D: TestDatabase> World<D> {
    pub(crate) async fn new() -> Self {
        let mut clock = TestClock::new();
        let database = D::create(&mut clock);
        Self::in_database(database, clock).await
    }

    async fn in_database(database: D, clock: TestClock) -> Self {
        let (store, told) = database.open(&clock).await;
        Self { store, told, clock, database }
    }

    /// Closes the store and opens it again with the content on disk.
    pub(crate) async fn reopen(self) -> Self {
        self.store.close().await;
        let Self { store, told: _, clock, database } = self;
        drop(store);
        Self::in_database(database, clock).await
    }

    pub(crate) fn events(&self) -> Vec<StoredEvent> {
        self.told.lock().unwrap().events.clone()
    }

    /// Returns the kinds of the events so far.
    pub(crate) fn kinds(&self) -> Vec<EventKind> {
        self.events().iter().map(|event| event.payload.kind()).collect()
    }

    pub(crate) fn outbox(&self) -> Vec<OutboxRow> {
        self.told.lock().unwrap().outbox.clone()
    }

    /// Creates a session with its connection.
    pub(crate) async fn session(&self) -> Session {
        self.session_with(Labels::new(), None).await
    }

    pub(crate) async fn session_with(&self, labels: Labels, opened_by: Option<TokenId>) -> Session {
        let create = new_session(labels, opened_by, None);
        let IdempotentResult::Done(session) = self.store.write(create).await.unwrap() else { panic!("no new session") };
        *session
    }

    /// Opens an ask as a caller does.
    pub(crate) async fn open(&self, ask: Ask) -> Ask {
        let open = OpenAsk { workspace: MAIN, scope: Scope::All, ask: Box::new(ask), key: None, max_pending: 1_000_000 };
        let OpenAskResult::Ask(ask) = self.store.write(open).await.unwrap() else { panic!("not opened") };
        *ask
    }

    /// Opens an ask as an agent does: as the next step of its connection.
    pub(crate) async fn agent_asks(&self, session: &Session, from: i64, ask: Ask) -> Ask {
        let id = ask.id;
        self.step(session, from, vec![], vec![ConnectionChange::OpenAsk(Box::new(ask))]).await;
        self.get(id).await
    }

    /// Commits one step of a connection.
    pub(crate) async fn step(&self, session: &Session, from: i64, delivered: Vec<OutboxId>, changes: Vec<ConnectionChange>) {
        let done = self.store.write(advance(session, from, delivered, changes)).await.unwrap();
        assert_eq!(done, AdvanceResult::Yes);
    }

    pub(crate) async fn get(&self, id: AskId) -> Ask {
        self.store.read(GetAsk { workspace: MAIN, ask: id, scope: Scope::All }).await.unwrap().unwrap()
    }

    pub(crate) async fn resolve(&self, id: AskId, decision: Decision) -> Result<Arc<Ask>, ResolveError> {
        self.store.write(resolve(id, decision)).await.unwrap()
    }

    pub(crate) async fn events_after(&self, after: i64) -> Vec<StoredEvent> {
        let query = ReadEvents { workspace: MAIN, after, session: None, limit: 1_000_000 };
        self.store.read(query).await.unwrap().events
    }
}

pub(crate) fn resolve(id: AskId, decision: Decision) -> ResolveAsk {
    ResolveAsk {
        workspace: MAIN,
        ask: id,
        scope: Scope::All,
        session: None,
        decision,
        by: person(token()),
        key: None,
        content: None,
        fits_schemas: false,
    }
}

pub(crate) fn new_session(labels: Labels, opened_by: Option<TokenId>, key: Option<IdempotencyKey>) -> CreateSession {
    let (id, connection) = (SessionId::new(at(0), entropy()), ConnectionId::new(at(0), entropy()));
    CreateSession {
        workspace: MAIN,
        session: Session {
            id,
            connection,
            agent: "mock".to_owned(),
            title: "fix the tests".to_owned(),
            project: "/project".to_owned(),
            branch: Some("main".to_owned()),
            status: SessionStatus::Running,
            permission_mode: "default".to_owned(),
            model: None,
            policy: sayso_core::policy::SessionPolicy::default(),
            project_policy: None,
            config: None,
            external: None,
            step: None,
            labels,
            opened_by,
            created_at: at(0),
            updated_at: at(0),
        },
        connection: Connection {
            id: connection,
            kind: ConnectionKind::InProcess,
            agent: "mock".to_owned(),
            epoch: Epoch(1),
            position: Position(0),
            process: None,
            state: None,
            wake_at: None,
        },
        command: Raw::of(&"start"),
        prompt: Some(block("fix the tests")),
        key,
    }
}

pub(crate) fn block(text: &str) -> Block {
    let body = BlockBody::Message { role: Role::User, text: text.to_owned() };
    Block { id: BlockId::new(at(0), entropy()), at: at(0), subagent: None, body }
}

pub(crate) fn advance(
    session: &Session,
    from: i64,
    delivered: Vec<OutboxId>,
    changes: Vec<ConnectionChange>,
) -> AdvanceConnection {
    AdvanceConnection {
        workspace: MAIN,
        connection: session.connection,
        epoch: Epoch(1),
        from: Position(from),
        to: Position(from + 1),
        process: ProcessChange::Same,
        state: Raw::of(&serde_json::json!({ "step": from + 1 })),
        wake_at: None,
        delivered,
        sent: Vec::new(),
        trying: Vec::new(),
        changes,
    }
}

pub(crate) fn person(token: TokenId) -> Actor {
    Actor::Person { name: "ann".to_owned(), via: "http".to_owned(), token }
}

pub(crate) fn key(token: TokenId, name: &str, body: u8) -> IdempotencyKey {
    IdempotencyKey { token, route: "/v1/here".to_owned(), key: name.to_owned(), fingerprint: [body; 32] }
}

pub(crate) fn answered(entry: &str) -> Decision {
    Decision::Answered { answers: vec![vec![entry.to_owned()]], note: None }
}

pub(crate) fn approved() -> Decision {
    Decision::Approved { choice: None, input: None }
}

pub(crate) fn rejected() -> Decision {
    Decision::Rejected { message: "no".to_owned(), stop: false }
}

/// Creates a question that accepts A, B or text.
pub(crate) fn question() -> AskBody {
    let options = vec![QuestionOption::new("A", None), QuestionOption::new("B", Some("the other".to_owned()))];
    asked(Input::Choice { options, multiple: false, custom: true })
}

pub(crate) fn secret() -> AskBody {
    asked(Input::Text { secret: true })
}

fn asked(input: Input) -> AskBody {
    let question = Question {
        key: "0".to_owned(),
        header: Some("Letter".to_owned()),
        text: "Which?".to_owned(),
        input,
        required: true,
        response_schema: None,
    };
    AskBody::Question { questions: vec![question] }
}

pub(crate) fn approval() -> AskBody {
    AskBody::Approval(Approval {
        tool: "Bash".to_owned(),
        action: Action::Run { command: "cargo test".to_owned() },
        title: "cargo test".to_owned(),
        input: Raw::of(&serde_json::json!({ "command": "cargo test" })),
        preview: None,
        choices: Vec::new(),
        editable: true,
        allowed_decisions: None,
        input_schema: None,
        reason: None,
    })
}

pub(crate) fn link() -> AskBody {
    AskBody::Link(Link { url: "https://example.com".to_owned(), message: None })
}

/// Creates an ask of a caller.
pub(crate) fn ask(body: AskBody) -> Ask {
    Ask {
        id: AskId::new(at(1), entropy()),
        origin: Origin { session: None, connection: None, native_id: None, opened_by: Some(token()) },
        body: body.into(),
        context: AskContext { agent: "script".to_owned(), title: "a title".to_owned(), blocking: true, ..AskContext::default() }
            .into(),
        policy: PolicyNote::default(),
        opened_at: at(1),
        snoozed_until: None,
        state: AskState::Pending(Reach::Live),
        raw: Some(Raw::of(&serde_json::json!({ "as": "it arrived" }))),
    }
}

/// Creates an ask of a session's agent with the agent's request id.
pub(crate) fn ask_of(session: &Session, native: &str, body: AskBody) -> Ask {
    let mut ask = ask(body);
    ask.origin = Origin {
        session: Some(session.id),
        connection: Some(session.connection),
        native_id: Some(native.to_owned()),
        opened_by: session.opened_by,
    };
    let context = Arc::make_mut(&mut ask.context);
    context.agent.clone_from(&session.agent);
    context.tool_call_id = Some(format!("call-{native}"));
    context.labels = session.labels.clone();
    ask
}

/// Adds a deadline to an ask.
pub(crate) fn until(mut ask: Ask, seconds: u64, then: OnTimeout) -> Ask {
    let after = Duration::from_secs(seconds);
    ask.policy.deadline = Some(Deadline { at: ask.opened_at.plus(after), after: Span(after), then });
    ask
}

pub(crate) fn labels(pairs: &[(&str, &str)]) -> Labels {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}
