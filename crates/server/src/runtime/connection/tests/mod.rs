//! Tests of transitions without a database: they pass a state and work, and compare the transition.

mod asks;
mod direct;
mod process;
mod server;

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sayso_agents::translator::{
    AgentEvent, Command, DecidedBy, Exit, FoundSession, HttpCall, HttpReply, Input, Launch, Method, NewAsk, Output, Saved,
    Translator,
};
use sayso_core::actor::Actor;
use sayso_core::ask::{
    Ask, AskBody, AskContext, AskState, Decision, Delivery, Input as QuestionInput, Origin, Outcome, PolicyNote, Question, Reach,
    ask_digest,
};
use sayso_core::connection::{Connection, ConnectionKind, Epoch, Position, WirePosition};
use sayso_core::id::{AskId, BlockId, ConnectionId, SessionId, TokenId};
use sayso_core::limits;
use sayso_core::policy::{Policy, PolicySet, SessionPolicy};
use sayso_core::raw::Raw;
use sayso_core::session::{Labels, Session, SessionStatus};
use sayso_core::texts;
use sayso_core::time::Time;
use sayso_core::transcript::{Block, BlockBody, Role};
use sayso_store::ops::{AdvanceConnection, ConnectionChange, ProcessChange};
use sayso_store::{EventKind, OutboxId, OutboxPayload, OutboxRow, WorkspaceId};

use super::direct::Uncommitted;
use super::plan::{Effect, Transition, plan};
use super::process::{Heard, Message, Refused};
use super::secrets::Secrets;
use super::state::{CarriedSession, ConnectionState};
use super::work::Work;
use crate::config::agents::OnStale;
use crate::entropy::IdSource;
use crate::service::quota::ByteQuota;
use crate::service::sessions::resume_command;

const NOW: Time = Time::from_millis(1_000_000);
const BEFORE: Time = Time::from_millis(1_000);
const ROW: OutboxId = OutboxId(7);
const SEED: [u8; 32] = [9; 32];
const CONNECTION: ConnectionId = ConnectionId::from_bytes([1; 16]);
const SESSION: SessionId = SessionId::from_bytes([2; 16]);
const ASK: AskId = AskId::from_bytes([3; 16]);

/// Replies to each input with the next prepared outputs, and records the inputs.
#[derive(Default)]
struct Script {
    replies: VecDeque<Vec<Output>>,
    inputs: Arc<Mutex<Vec<Input>>>,
    deadline: Option<Time>,
}

impl Script {
    fn saved() -> Saved {
        Saved::of(1, &"script")
    }
}

impl Translator for Script {
    fn handle(&mut self, _now: Time, input: Input) -> Vec<Output> {
        self.inputs.lock().unwrap().push(input);
        self.replies.pop_front().unwrap_or_default()
    }

    fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    fn save(&self) -> Saved {
        Self::saved()
    }

    fn adopt(&mut self, _now: Time, _session: SessionId, _found: &FoundSession) -> Vec<Output> {
        self.replies.pop_front().unwrap_or_default()
    }
}

/// A connection with one session, before its second commit.
struct Setup {
    state: ConnectionState,
    inputs: Arc<Mutex<Vec<Input>>>,
}

impl Setup {
    fn new(kind: ConnectionKind, status: SessionStatus, replies: impl IntoIterator<Item = Vec<Output>>) -> Self {
        let script = Script { replies: replies.into_iter().collect(), ..Script::default() };
        let inputs = Arc::clone(&script.inputs);
        let connection = Connection {
            id: CONNECTION,
            kind,
            agent: "script".to_owned(),
            epoch: Epoch(3),
            position: Position(1),
            process: (kind == ConnectionKind::Supervised).then_some(WirePosition(100)),
            state: None,
            wake_at: None,
        };
        let carried = CarriedSession::new(session(SESSION, status), PolicySet::default(), 1);
        let state = ConnectionState {
            workspace: WorkspaceId::MAIN,
            connection,
            translator: Box::new(script),
            sessions: HashMap::from([(SESSION, Box::new(carried))]),
            pending: 0,
            quota: ByteQuota::default(),
            seen_tools: HashSet::new(),
            streaming: HashMap::new(),
            secrets: Secrets::default(),
            said: Vec::new(),
            uncommitted: Uncommitted::default(),
            takes_direct_input: false,
            heard_to: None,
            heard_at: BEFORE,
            halted: false,
            stale_after: Duration::from_secs(600),
            on_stale: OnStale::Tell,
            home: None,
            link_schemes: Vec::new(),
            ids: IdSource::new(SEED),
        };
        Self { state, inputs }
    }

    fn process(status: SessionStatus, replies: impl IntoIterator<Item = Vec<Output>>) -> Self {
        Self::new(ConnectionKind::Supervised, status, replies)
    }

    fn plan(&mut self, work: Work) -> Transition {
        plan(&mut self.state, work, NOW)
    }

    /// Returns the inputs that the translator received.
    fn inputs(&self) -> Vec<Input> {
        self.inputs.lock().unwrap().clone()
    }

    fn status(&self) -> &SessionStatus {
        &self.state.sessions[&SESSION].session.status
    }
}

fn session(id: SessionId, status: SessionStatus) -> Session {
    Session {
        id,
        connection: CONNECTION,
        agent: "script".to_owned(),
        title: "A test".to_owned(),
        project: "/project".to_owned(),
        branch: None,
        status,
        permission_mode: "default".to_owned(),
        model: None,
        policy: SessionPolicy::default(),
        project_policy: None,
        config: None,
        external: None,
        step: None,
        labels: Labels::new(),
        opened_by: None,
        created_at: BEFORE,
        updated_at: BEFORE,
    }
}

fn ended(resumable: bool) -> SessionStatus {
    SessionStatus::Ended { reason: "it ended".to_owned(), failed: false, resumable }
}

fn event(event: AgentEvent) -> Output {
    Output::Event { session: SESSION, event }
}

fn question(secret: bool) -> AskBody {
    let text = "Which port?".to_owned();
    let input = QuestionInput::Text { secret };
    AskBody::Question {
        questions: vec![Question { key: "port".to_owned(), header: None, text, input, required: true, response_schema: None }],
    }
}

fn new_ask(body: AskBody) -> NewAsk {
    NewAsk {
        native_id: "native-1".to_owned(),
        body,
        tool_call_id: None,
        subagent: None,
        blocking: true,
        context: None,
        labels: Labels::new(),
        raw: None,
    }
}

/// Returns the ask that the script opened, as the connection builds it.
fn opened(id: AskId, body: AskBody, state: AskState, policy: PolicyNote) -> Ask {
    let context = AskContext {
        agent: "script".to_owned(),
        title: "A test".to_owned(),
        project: Some("/project".to_owned()),
        blocking: true,
        ..AskContext::default()
    };
    let context = AskContext { digest: Some(ask_digest(&body, &context, None)), ..context };
    let origin =
        Origin { session: Some(SESSION), connection: Some(CONNECTION), native_id: Some("native-1".to_owned()), opened_by: None };
    Ask { id, origin, body: body.into(), context: context.into(), policy, opened_at: NOW, snoozed_until: None, state, raw: None }
}

fn answer() -> Decision {
    Decision::Answered { answers: vec![vec!["8080".to_owned()]], note: None }
}

/// Builds the row of an answer that a person gave.
fn answered(secret: bool, follow_up: bool) -> Work {
    let by = Actor::Person { name: "Ada".to_owned(), via: "page".to_owned(), token: TokenId::from_bytes([4; 16]) };
    let outcome = Outcome { decision: answer(), by, at: NOW, content: None };
    let state = AskState::Resolved { outcome, delivery: Delivery::Queued };
    let ask = opened(ASK, question(secret), state, PolicyNote::default());
    Work::Outcome { row: ROW, session: SESSION, ask: Arc::new(ask), decision: answer(), follow_up, withheld: false }
}

fn outcome_command() -> Command {
    let native_id = "native-1".to_owned();
    Command::Outcome { session: SESSION, ask: ASK, native_id, decision: answer(), raw: None, by: DecidedBy::Person }
}

fn lines(text: &[&str], read: u64) -> Work {
    let inputs = text.iter().map(|line| Input::Line((*line).to_owned())).collect();
    Work::Process(Heard { inputs, read: Some(WirePosition(read)), ..Heard::default() })
}

fn block(ids: &mut IdSource, body: BlockBody) -> Block {
    Block { id: BlockId::new(NOW, ids.next_id()), at: NOW, subagent: None, body }
}

fn send(message: &Message) -> ConnectionChange {
    ConnectionChange::Send { session: SESSION, ask: None, message: Raw::of(message), secret: false }
}

/// Builds the commit of a transition that changes nothing else.
fn advance(process: ProcessChange) -> AdvanceConnection {
    AdvanceConnection {
        workspace: WorkspaceId::MAIN,
        connection: CONNECTION,
        epoch: Epoch(3),
        from: Position(1),
        to: Position(2),
        process,
        state: Raw::of(&Script::saved()),
        wake_at: None,
        delivered: Vec::new(),
        sent: Vec::new(),
        trying: Vec::new(),
        changes: Vec::new(),
    }
}

/// Asserts a transition without live events.
#[track_caller]
fn assert_transition(found: Transition, advance: Option<AdvanceConnection>, effects: Vec<Effect>) {
    assert!(found.live.is_empty(), "{:?}", found.live);
    assert_eq!((found.advance, found.effects), (advance, effects));
}
