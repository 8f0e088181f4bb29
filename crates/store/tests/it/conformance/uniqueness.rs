//! Existing ids are refused, for rows in memory and for rows in their tables.

use sayso_core::id::{ConnectionId, GrantId};
use sayso_core::raw::Raw;
use sayso_core::scope::Scope;
use sayso_store::ops::{AddGrant, AttachConnection, CreateSession, CreateToken, OpenAsk, TokenRow};
use sayso_store::read::{GetSession, ListTokens, ReadStoredPolicy};
use sayso_store::{Operation, StoreError};

use super::World;
use crate::world::{MAIN, ask, at, entropy, labels, new_session, question, token_row};

/// Runs an operation whose id exists.
async fn assert_taken(world: &World, operation: impl Operation, taken: &str) {
    let refused = world.store.write(operation).await.err();
    assert!(matches!(refused, Some(StoreError::Duplicate { what }) if what == taken), "{refused:?}");
}

#[tokio::test]
async fn id_that_exists_is_refused_and_leaves_no_trace() {
    let mut world = World::new().await;
    let asked = world.open(ask(question())).await;
    let session = world.session().await;
    let attach = |id: ConnectionId| {
        let CreateSession { connection, .. } = new_session(labels(&[]), None, None);
        AttachConnection { workspace: MAIN, connection: sayso_core::connection::Connection { id, ..connection } }
    };
    let grant = GrantId::new(at(0), entropy());
    let add = |data: &str| AddGrant { workspace: MAIN, id: grant, until: None, data: Raw::of(&data), key: None };
    world.store.write(add("first")).await.unwrap();
    let row = token_row(1, Scope::All);
    world.store.write(CreateToken { token: row.clone(), key: None }).await.unwrap();
    let head = world.events_after(0).await.len();
    // First the rows are in memory, then only in their tables.
    for _ in 0..2 {
        let mut twin = ask(question());
        twin.id = asked.id;
        let open = OpenAsk { workspace: MAIN, scope: Scope::All, ask: Box::new(twin), key: None, max_pending: 9 };
        assert_taken(&world, open, "ask").await;
        let mut same = new_session(labels(&[]), None, None);
        same.session.id = session.id;
        assert_taken(&world, same, "session").await;
        assert_taken(&world, attach(session.connection), "connection").await;
        assert_taken(&world, add("second"), "grant").await;
        let other = TokenRow { hash: [2; 32], ..row.clone() };
        assert_taken(&world, CreateToken { token: other, key: None }, "token").await;
        world = world.reopen().await;
    }
    assert_eq!(world.get(asked.id).await, asked);
    let found = world.store.read(GetSession { workspace: MAIN, session: session.id, scope: Scope::All }).await.unwrap();
    assert_eq!(found.map(|found| found.session), Some(session));
    let grants = world.store.read(ReadStoredPolicy { workspace: MAIN }).await.unwrap().grants;
    assert_eq!(grants, [(grant, None, Raw::of(&"first"))]);
    assert_eq!(world.store.read(ListTokens).await.unwrap(), [row]);
    assert_eq!(world.events_after(0).await.len(), head);
}
