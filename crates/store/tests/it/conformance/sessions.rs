//! Sessions: lists, single reads, transcripts and commands.

use sayso_core::ask::{AskState, Delivery};
use sayso_core::id::{BlockId, SessionId};
use sayso_core::raw::Raw;
use sayso_core::scope::Scope;
use sayso_core::session::{Session, SessionStatus};
use sayso_core::transcript::{Block, BlockBody, Role, ToolStatus};
use sayso_store::ops::{CommandSession, ConnectionChange, LoadConnection, SessionCommand, SessionCommandResult};
use sayso_store::read::{GetSession, ListSessions, ReadTranscript, TranscriptEntry};
use sayso_store::{EventKind, EventPayload, OutboxPayload};

use super::World;
use crate::world::{MAIN, answered, approval, approved, ask_of, at, block, labels, question, token};

fn list(limit: usize) -> ListSessions {
    ListSessions { workspace: MAIN, scope: Scope::All, open_only: false, label: None, id_ends_with: None, limit, after: None }
}

fn command(session: &Session, kind: SessionCommand) -> CommandSession {
    CommandSession {
        workspace: MAIN,
        session: session.id,
        scope: Scope::All,
        command: Raw::of(&format!("{kind:?}")),
        kind,
        said: None,
    }
}

fn ended(resumable: bool) -> SessionStatus {
    SessionStatus::Ended { reason: "over".to_owned(), failed: false, resumable }
}

async fn end(world: &World, session: &Session, from: i64, resumable: bool) {
    world.step(session, from, vec![], vec![ConnectionChange::Status { session: session.id, status: ended(resumable) }]).await;
}

#[tokio::test]
async fn lists_are_newest_first_filtered_and_paged() {
    let world = World::new().await;
    let shop = labels(&[("team", "shop")]);
    let mine = token();
    let one = world.session_with(shop.clone(), None).await;
    let two = world.session_with(labels(&[]), Some(mine)).await;
    let three = world.session_with(shop.clone(), None).await;
    world.agent_asks(&two, 0, ask_of(&two, "1", question())).await;
    end(&world, &three, 0, true).await;
    let ids = |query: ListSessions| async {
        let page = world.store.read(query).await.unwrap();
        page.rows.iter().map(|(session, pending)| (session.id, *pending)).collect::<Vec<_>>()
    };
    assert_eq!(ids(list(10)).await, [(three.id, 0), (two.id, 1), (one.id, 0)]);
    assert_eq!(ids(ListSessions { open_only: true, ..list(10) }).await, [(two.id, 1), (one.id, 0)]);
    assert_eq!(ids(ListSessions { label: Some(("team".into(), "shop".into())), ..list(10) }).await, [(three.id, 0), (one.id, 0)]);
    assert_eq!(ids(ListSessions { scope: Scope::Labels { labels: shop }, ..list(10) }).await, [(three.id, 0), (one.id, 0)]);
    assert_eq!(ids(ListSessions { scope: Scope::OpenedBy { token: mine }, ..list(10) }).await, [(two.id, 1)]);
    assert_eq!(ids(ListSessions { scope: Scope::Session { session: one.id }, ..list(10) }).await, [(one.id, 0)]);
    let suffix = one.id.to_string()[20..].to_owned();
    assert_eq!(ids(ListSessions { id_ends_with: Some(suffix), ..list(10) }).await, [(one.id, 0)]);
    let first = world.store.read(list(2)).await.unwrap();
    assert_eq!(first.rows.len(), 2);
    assert_eq!(ids(ListSessions { after: first.next, ..list(2) }).await, [(one.id, 0)]);
}

#[tokio::test]
async fn session_detail_includes_pending_asks() {
    let world = World::new().await;
    let session = world.session().await;
    let get = |session, scope| world.store.read(GetSession { workspace: MAIN, session, scope });
    let first = world.agent_asks(&session, 0, ask_of(&session, "1", question())).await;
    let second = world.agent_asks(&session, 1, ask_of(&session, "2", approval())).await;
    world.resolve(first.id, answered("A")).await.unwrap();
    let found = get(session.id, Scope::All).await.unwrap().unwrap();
    assert_eq!((found.session, found.pending.asks, found.pending.count), (session.clone(), vec![second], 1));
    assert_eq!(found.seq, world.events().last().unwrap().seq);
    assert!(get(session.id, Scope::OpenedBy { token: token() }).await.unwrap().is_none());
    assert!(get(SessionId::new(at(0), [0; 10]), Scope::All).await.unwrap().is_none());
}

#[tokio::test]
async fn transcript_lists_blocks_and_asks_in_order() {
    let world = World::new().await;
    let (session, other) = (world.session().await, world.session().await);
    let said = |text: &str| {
        let body = BlockBody::Message { role: Role::Assistant, text: text.to_owned() };
        sayso_core::transcript::Block { body, ..block("") }
    };
    let blocks = [said("first"), said("last")];
    let put = |block: &sayso_core::transcript::Block| ConnectionChange::Block {
        session: session.id,
        block: block.clone(),
        event: EventKind::MessageCompleted,
    };
    let ask = ask_of(&session, "1", question());
    world
        .step(&session, 0, vec![], vec![put(&blocks[0]), ConnectionChange::OpenAsk(Box::new(ask.clone())), put(&blocks[1])])
        .await;
    world.agent_asks(&other, 0, ask_of(&other, "1", question())).await;
    // A block with the same id replaces the first one.
    let mut better = blocks[0].clone();
    better.body = BlockBody::Message { role: Role::Assistant, text: "better".to_owned() };
    world.step(&session, 1, vec![], vec![put(&better)]).await;
    let read = |after, limit| world.store.read(ReadTranscript { session: session.id, workspace: MAIN, after, limit });
    let texts = |rows: &[TranscriptEntry]| {
        rows.iter()
            .map(|entry| match entry {
                TranscriptEntry::Block(block) => {
                    let block: serde_json::Value = serde_json::from_str(block.as_str()).unwrap();
                    block["text"].as_str().unwrap().to_owned()
                }
                TranscriptEntry::Ask(ask) => ask.id.to_string(),
            })
            .collect::<Vec<_>>()
    };
    let whole = read(0, 10).await.unwrap();
    assert_eq!(texts(&whole.rows), ["fix the tests".to_owned(), "better".to_owned(), ask.id.to_string(), "last".to_owned()]);
    assert_eq!(whole.next, None);
    let mut pieces = Vec::new();
    let mut after = 0;
    loop {
        let page = read(after, 1).await.unwrap();
        pieces.extend(texts(&page.rows));
        let Some(next) = page.next else { break };
        after = next;
    }
    assert_eq!(pieces, texts(&whole.rows));
}

#[tokio::test]
async fn status_is_announced_only_when_it_changes() {
    let world = World::new().await;
    let session = world.session().await;
    let status = |status| vec![ConnectionChange::Status { session: session.id, status }];
    world.step(&session, 0, vec![], status(SessionStatus::Idle)).await;
    world.step(&session, 1, vec![], status(SessionStatus::Idle)).await;
    world.step(&session, 2, vec![], status(SessionStatus::Running)).await;
    let told = world.kinds().into_iter().filter(|kind| *kind == EventKind::SessionStatus).count();
    assert_eq!(told, 2);
}

#[tokio::test]
async fn commands_reach_only_sessions_that_accept_them() {
    let world = World::new().await;
    let session = world.session().await;
    let do_ = |kind| world.store.write(command(&session, kind));
    assert_eq!(do_(SessionCommand::Resume).await.unwrap(), SessionCommandResult::NotResumable, "it is not over");
    for kind in [SessionCommand::Interrupt, SessionCommand::Close] {
        assert!(matches!(do_(kind).await.unwrap(), SessionCommandResult::Queued(_)));
        let sent = world.outbox().pop().unwrap();
        assert!(matches!(&sent.payload, OutboxPayload::Command(raw) if raw == &Raw::of(&format!("{kind:?}"))));
    }
    end(&world, &session, 0, true).await;
    assert_eq!(do_(SessionCommand::Interrupt).await.unwrap(), SessionCommandResult::Ended);
    let SessionCommandResult::Queued(resumed) = do_(SessionCommand::Resume).await.unwrap() else { panic!("not resumed") };
    assert_eq!(resumed.status, SessionStatus::Running);
    end(&world, &session, 1, false).await;
    assert_eq!(do_(SessionCommand::Resume).await.unwrap(), SessionCommandResult::NotResumable, "for good");
    let mut unseen = command(&session, SessionCommand::Resume);
    unseen.scope = Scope::OpenedBy { token: token() };
    assert_eq!(world.store.write(unseen).await.unwrap(), SessionCommandResult::NotFound);
}

/// Only the actor knows which outcomes it has sent.
#[tokio::test]
async fn interrupt_and_close_leave_outcomes_to_the_actor() {
    for kind in [SessionCommand::Interrupt, SessionCommand::Close] {
        let world = World::new().await;
        let session = world.session().await;
        let tool = world.agent_asks(&session, 0, ask_of(&session, "1", approval())).await;
        world.resolve(tool.id, approved()).await.unwrap();
        world.store.write(command(&session, kind)).await.unwrap();
        let loaded =
            world.store.write(LoadConnection { workspace: MAIN, connection: session.connection }).await.unwrap().unwrap();
        let left: Vec<_> = loaded
            .outbox
            .iter()
            .map(|row| match &row.payload {
                OutboxPayload::Outcome { ask, .. } => ask.id.to_string(),
                OutboxPayload::Command(raw) | OutboxPayload::Send { message: raw, .. } => raw.as_str().to_owned(),
            })
            .collect();
        assert_eq!(left, ["\"start\"".to_owned(), tool.id.to_string(), format!("\"{kind:?}\"")]);
        let AskState::Resolved { delivery, .. } = world.get(tool.id).await.state else { panic!("no outcome") };
        assert_eq!(delivery, Delivery::Queued);
    }
}

/// Returns the block of the last event as JSON.
fn block_of(world: &World) -> serde_json::Value {
    let last = world.events().pop().unwrap().payload;
    let EventPayload::Block { block, .. } = last else { panic!("{last:?}") };
    serde_json::to_value(block).unwrap()
}

#[tokio::test]
async fn tool_block_keeps_the_input_of_its_call() {
    let world = World::new().await;
    let session = world.session().await;
    let called = serde_json::json!({ "command": "ls", "lines": [1, "two"] });
    let tool = |input: Option<Raw>, output: Option<&str>, status: ToolStatus| {
        let body = BlockBody::Tool {
            tool_call_id: "t1".to_owned(),
            name: "Bash".to_owned(),
            input,
            output: output.map(str::to_owned),
            status,
        };
        let block = Block { id: BlockId::new(at(0), [9; 10]), at: at(1), subagent: None, body };
        vec![ConnectionChange::Block { session: session.id, block, event: EventKind::ToolUpdated }]
    };
    world.step(&session, 0, vec![], tool(Some(Raw::of(&called)), None, ToolStatus::Running)).await;
    world.step(&session, 1, vec![], tool(None, Some("a.txt"), ToolStatus::Complete)).await;
    let told = block_of(&world);
    assert_eq!((&told["input"], &told["output"]), (&called, &serde_json::json!("a.txt")), "{told}");
    // The new input replaces the earlier one completely.
    let other = serde_json::json!({ "command": "pwd" });
    world.step(&session, 2, vec![], tool(Some(Raw::of(&other)), None, ToolStatus::Running)).await;
    let told = block_of(&world);
    assert_eq!(told["input"], other);
}
