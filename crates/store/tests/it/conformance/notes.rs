//! Notifications about asks, and push subscriptions.

use sayso_core::ask::Ask;
use sayso_store::ops::{
    DeleteNotification, DeletePushSubscription, NotificationRow, NotificationState, PushSubscriptionRow, PutNotification,
    PutPushSubscription,
};
use sayso_store::read::{GetNotification, ListPushSubscriptions, ReadNotifications};

use super::World;
use crate::world::{MAIN, answered, ask, at, question, token};

fn note(ask: &Ask, channel: &str, state: NotificationState) -> NotificationRow {
    NotificationRow { ask: ask.id, channel: channel.to_owned(), state, attempts: 2, message: Some("17".to_owned()) }
}

#[tokio::test]
async fn notifications_survive_restarts_until_they_are_deleted() {
    let world = World::new().await;
    let (one, two) = (world.open(ask(question())).await, world.open(ask(question())).await);
    let notes = [note(&one, "mail", NotificationState::Told), note(&one, "phone", NotificationState::Again(at(5)))];
    for note in &notes {
        world.store.write(PutNotification { workspace: MAIN, note: note.clone() }).await.unwrap();
    }
    let changed = note(&one, "phone", NotificationState::GivenUp);
    world.store.write(PutNotification { workspace: MAIN, note: changed.clone() }).await.unwrap();
    world.resolve(two.id, answered("SQLite")).await.unwrap();
    let world = world.reopen().await;
    let look = world.store.read(ReadNotifications { workspace: MAIN }).await.unwrap();
    assert_eq!((look.pending, look.notes), (vec![(one.id, one.opened_at)], vec![notes[0].clone(), changed.clone()]));
    let get = |channel: &str| GetNotification { workspace: MAIN, ask: one.id, channel: channel.to_owned() };
    assert_eq!(world.store.read(get("phone")).await.unwrap(), Some(changed));
    world.store.write(DeleteNotification { workspace: MAIN, ask: one.id, channel: "phone".to_owned() }).await.unwrap();
    assert_eq!(world.store.read(get("phone")).await.unwrap(), None);
    assert!(world.store.read(get("mail")).await.unwrap().is_some());
}

#[tokio::test]
async fn token_has_one_push_subscription() {
    let world = World::new().await;
    let (ada, ben) = (token(), token());
    let browser =
        |token, endpoint: &str| PushSubscriptionRow { token, endpoint: endpoint.to_owned(), public_key: [4; 65], auth: [7; 16] };
    for push in
        [browser(ada, "https://push.test/old"), browser(ada, "https://push.test/new"), browser(ben, "https://push.test/b")]
    {
        world.store.write(PutPushSubscription { workspace: MAIN, push }).await.unwrap();
    }
    world.store.write(DeletePushSubscription { workspace: MAIN, token: ben }).await.unwrap();
    let world = world.reopen().await;
    assert_eq!(
        world.store.read(ListPushSubscriptions { workspace: MAIN }).await.unwrap(),
        [browser(ada, "https://push.test/new")]
    );
}
