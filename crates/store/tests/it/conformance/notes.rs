//! What people were told of asks.

use sayso_core::ask::Ask;
use sayso_store::ops::{DropNote, DropPush, NoteRow, NoteState, PushRow, PutNote, PutPush};
use sayso_store::read::{AllPushes, GetNote, PendingNotes};

use super::World;
use crate::world::{MAIN, answered, ask, at, question, token};

fn note(ask: &Ask, channel: &str, state: NoteState) -> NoteRow {
    NoteRow { ask: ask.id, channel: channel.to_owned(), state, attempts: 2, message: Some("17".to_owned()) }
}

#[tokio::test]
async fn notes_outlive_the_server_and_end_when_they_are_dropped() {
    let world = World::new().await;
    let (one, two) = (world.open(ask(question())).await, world.open(ask(question())).await);
    let notes = [note(&one, "mail", NoteState::Told), note(&one, "phone", NoteState::Again(at(5)))];
    for note in &notes {
        world.store.write(PutNote { workspace: MAIN, note: note.clone() }).await.unwrap();
    }
    let changed = note(&one, "phone", NoteState::GivenUp);
    world.store.write(PutNote { workspace: MAIN, note: changed.clone() }).await.unwrap();
    world.resolve(two.id, answered("SQLite")).await.unwrap();
    let world = world.reopen().await;
    let look = world.store.read(PendingNotes { workspace: MAIN }).await.unwrap();
    assert_eq!((look.pending, look.notes), (vec![(one.id, one.opened_at)], vec![notes[0].clone(), changed.clone()]));
    let get = |channel: &str| GetNote { workspace: MAIN, ask: one.id, channel: channel.to_owned() };
    assert_eq!(world.store.read(get("phone")).await.unwrap(), Some(changed));
    world.store.write(DropNote { workspace: MAIN, ask: one.id, channel: "phone".to_owned() }).await.unwrap();
    assert_eq!(world.store.read(get("phone")).await.unwrap(), None);
    assert!(world.store.read(get("mail")).await.unwrap().is_some());
}

#[tokio::test]
async fn a_token_has_one_browser_that_is_woken() {
    let world = World::new().await;
    let (ada, ben) = (token(), token());
    let browser = |token, endpoint: &str| PushRow { token, endpoint: endpoint.to_owned(), public_key: [4; 65], auth: [7; 16] };
    for push in
        [browser(ada, "https://push.test/old"), browser(ada, "https://push.test/new"), browser(ben, "https://push.test/b")]
    {
        world.store.write(PutPush { workspace: MAIN, push }).await.unwrap();
    }
    world.store.write(DropPush { workspace: MAIN, token: ben }).await.unwrap();
    let world = world.reopen().await;
    assert_eq!(world.store.read(AllPushes { workspace: MAIN }).await.unwrap(), [browser(ada, "https://push.test/new")]);
}
