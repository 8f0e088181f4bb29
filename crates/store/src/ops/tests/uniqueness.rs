//! Operations refuse ids of new rows that are stored or staged by the same batch, and stage nothing.

use std::collections::BTreeMap;

use sayso_core::id::{BlockId, GrantId, RunId};
use sayso_core::run::{NewRun, Run};
use sayso_core::session::{Labels, Session, SessionStatus};
use sayso_core::workflow::Workflow;

use super::*;
use crate::ops::{
    AddGrant, AdvanceRun, AttachConnection, CreateLoginCode, CreateRun, CreateSession, CreateToken, EnsureExternalSession,
    ExternalSessionKey, NoticeSource, PostNotice, RedeemLoginCode, TokenRow,
};

const MAIN: WorkspaceId = WorkspaceId::MAIN;

/// Loads the rows of an operation from an empty database.
fn load_nothing(unit: &mut Unit, reads: &mut Reads) {
    for read in reads.drain().filter(|read| !unit.is_loaded(read)).collect::<Vec<_>>() {
        match read {
            Read::Ask(id) => unit.asks.load(id, None),
            Read::Block(id) => unit.blocks.load(id, None),
            Read::Connection(id) => unit.connections.load(id, None),
            Read::External(key) => unit.externals.load(key, None),
            Read::Grant(id) => unit.grants.load(id, None),
            Read::Idempotency(key) => unit.idempotency.load(key, None),
            Read::LoginCode(hash) => unit.login_codes.load(hash, None),
            Read::Outbox(id) => unit.outbox.load(id, None),
            Read::Run(id) => unit.runs.load(id, None),
            Read::Secret(ask) => unit.secrets.load(ask, None),
            Read::Session(id) => unit.sessions.load(id, None),
            Read::Token(id) => unit.tokens.load(id, None),
            Read::PendingIds(of) => unit.load_pending_ids(of, [].into()),
            set => unit.mark_set_loaded(set),
        }
    }
}

/// Loads and applies an operation as a backend does.
fn write<O: Operation>(unit: &mut Unit, operation: &O) -> Result<O::Output, StoreError> {
    let mut reads = Reads::default();
    operation.reads(&mut reads);
    load_nothing(unit, &mut reads);
    for _ in 0..MORE_READS {
        operation.more_reads(unit, &mut reads);
        load_nothing(unit, &mut reads);
    }
    run(unit, operation)
}

/// Formats everything that the commit would write and announce.
fn staged(unit: &Unit) -> String {
    let tables = [
        format!("{:?}", unit.asks.changes().collect::<Vec<_>>()),
        format!("{:?}", unit.blocks.changes().collect::<Vec<_>>()),
        format!("{:?}", unit.connections.changes().collect::<Vec<_>>()),
        format!("{:?}", unit.externals.changes().collect::<Vec<_>>()),
        format!("{:?}", unit.grants.changes().collect::<Vec<_>>()),
        format!("{:?}", unit.login_codes.changes().collect::<Vec<_>>()),
        format!("{:?}", unit.outbox.changes().collect::<Vec<_>>()),
        format!("{:?}", unit.runs.changes().collect::<Vec<_>>()),
        format!("{:?}", unit.sessions.changes().collect::<Vec<_>>()),
        format!("{:?}", unit.tokens.changes().collect::<Vec<_>>()),
    ];
    format!("{tables:#?} {:?} {:?} {:?}", unit.events, unit.queued, unit.counters)
}

/// Applies `first`, which succeeds, and then `second`, whose id exists.
#[track_caller]
fn assert_taken<A: Operation, B: Operation>(first: &A, second: &B, taken: &str) {
    let mut unit = unit();
    assert!(write(&mut unit, first).is_ok());
    let before = staged(&unit);
    let refused = write(&mut unit, second).err();
    assert!(matches!(refused, Some(StoreError::Duplicate { what }) if what == taken), "{refused:?}");
    assert_eq!(staged(&unit), before);
}

fn session(id: u8, connection: u8) -> Session {
    Session {
        id: SessionId::from_bytes([id; 16]),
        connection: ConnectionId::from_bytes([connection; 16]),
        agent: "mock".to_owned(),
        title: String::new(),
        project: "/project".to_owned(),
        branch: None,
        status: SessionStatus::Running,
        permission_mode: "default".to_owned(),
        model: None,
        policy: sayso_core::policy::SessionPolicy::default(),
        project_policy: None,
        config: None,
        external: None,
        step: None,
        labels: Labels::new(),
        opened_by: None,
        created_at: NOW,
        updated_at: NOW,
    }
}

fn new_connection(id: u8) -> Connection {
    connection(ConnectionId::from_bytes([id; 16]), 0)
}

fn create_session(id: u8, of: u8) -> CreateSession {
    let (session, connection) = (session(id, of), new_connection(of));
    CreateSession { workspace: MAIN, session, connection, command: Raw::of(&"start"), prompt: None, key: None }
}

fn open_ask(id: u8) -> OpenAsk {
    let mut ask = of_caller(id, "");
    ask.origin.native_id = None;
    OpenAsk { workspace: MAIN, scope: Scope::All, ask: Box::new(ask), key: None, max_pending: 9 }
}

fn advance_run(id: u8, asks: Vec<Ask>) -> AdvanceRun {
    let text = "name = \"w\"\n[[steps]]\nid = \"a\"\n[steps.checkpoint]\nquestion = \"Go on?\"\n";
    let (workflow, _) = Workflow::parse_toml(text).unwrap();
    let (id, directory) = (RunId::from_bytes([id; 16]), "/p".to_owned());
    let new = NewRun { id, workflow, input: BTreeMap::new(), directory, labels: Labels::new(), opened_by: CALLER };
    AdvanceRun {
        workspace: MAIN,
        run: Box::new(Run::new(new, NOW)),
        version: 0,
        changed: Vec::new(),
        sessions: Vec::new(),
        asks,
        taken: Vec::new(),
        closed: Vec::new(),
        withdrawn: Vec::new(),
        events: Vec::new(),
    }
}

fn token(id: u8, hash: u8) -> TokenRow {
    TokenRow {
        id: TokenId::from_bytes([id; 16]),
        workspace: MAIN,
        hash: [hash; 32],
        role: "viewer".to_owned(),
        actor: "ann".to_owned(),
        device: None,
        scope: Scope::All,
        created_at: NOW,
        expires_at: None,
        revoked_at: None,
    }
}

fn create_token(id: u8, hash: u8) -> CreateToken {
    CreateToken { token: token(id, hash), key: None }
}

#[test]
fn ask_id_is_used_once() {
    assert_taken(&open_ask(7), &open_ask(7), "ask");
    let run = |id| CreateRun { first: advance_run(id, vec![*open_ask(7).ask]), key: None };
    assert_taken(&open_ask(7), &run(1), "ask");
    assert_taken(&run(1), &run(2), "ask");
}

#[test]
fn session_id_and_connection_id_are_used_once() {
    assert_taken(&create_session(1, 2), &create_session(1, 3), "session");
    assert_taken(&create_session(1, 2), &create_session(3, 2), "connection");
    let attach = || AttachConnection { workspace: MAIN, connection: new_connection(2) };
    assert_taken(&create_session(1, 2), &attach(), "connection");
    assert_taken(&attach(), &attach(), "connection");
    let external = |native: &str, id, of| EnsureExternalSession {
        key: ExternalSessionKey { workspace: MAIN, token: CALLER, agent: "mock".to_owned(), native_id: native.to_owned() },
        session: session(id, of),
        connection: new_connection(of),
    };
    assert_taken(&create_session(1, 2), &external("a", 1, 3), "session");
    assert_taken(&external("a", 1, 2), &external("b", 3, 2), "connection");
}

#[test]
fn run_id_is_used_once() {
    let create = || CreateRun { first: advance_run(1, Vec::new()), key: None };
    assert_taken(&create(), &create(), "run");
}

#[test]
fn block_id_of_a_notice_is_used_once() {
    let block = BlockId::from_bytes([5; 16]);
    let notice = || PostNotice { workspace: MAIN, from: NoticeSource::Session { session: SESSION, block }, text: "a".to_owned() };
    assert_taken(&notice(), &notice(), "block");
}

#[test]
fn grant_id_is_used_once() {
    let grant = || AddGrant { workspace: MAIN, id: GrantId::from_bytes([1; 16]), until: None, data: Raw::of(&"rule"), key: None };
    assert_taken(&grant(), &grant(), "grant");
}

#[test]
fn token_id_token_hash_and_login_code_are_used_once() {
    assert_taken(&create_token(1, 1), &create_token(1, 2), "token");
    assert_taken(&create_token(1, 1), &create_token(2, 1), "token");
    let code = || CreateLoginCode {
        workspace: MAIN,
        hash: [8; 32],
        role: "admin".to_owned(),
        actor: "ann".to_owned(),
        expires_at: NOW.plus(Duration::from_secs(60)),
    };
    assert_taken(&code(), &code(), "login code");
    let redeem = |id, hash| RedeemLoginCode { code: [8; 32], token: token(id, hash) };
    for (id, hash) in [(1, 2), (2, 1)] {
        let mut unit = unit();
        write(&mut unit, &code()).unwrap();
        write(&mut unit, &create_token(1, 1)).unwrap();
        let before = staged(&unit);
        assert!(matches!(write(&mut unit, &redeem(id, hash)), Err(StoreError::Duplicate { what: "token" })));
        assert_eq!(staged(&unit), before, "the code still works");
    }
}
