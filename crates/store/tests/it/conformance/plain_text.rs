//! U+0000 in texts: JSON keeps it, and plain columns refuse it.

use std::sync::Arc;

use sayso_core::ask::{Ask, AskBody, AskContext, AskState, Delivery};
use sayso_core::connection::Connection;
use sayso_core::scope::Scope;
use sayso_store::ops::{
    AttachConnection, ConnectionChange, CreateLoginCode, CreateToken, EnsureExternalSession, ExternalSessionKey, NotificationRow,
    NotificationState, OpenAsk, OpenAskResult, PushSubscriptionRow, PutNotification, PutPushSubscription, TokenRow, TrustProject,
};
use sayso_store::read::{ListAsks, StatusFilter};
use sayso_store::{EventKind, Operation, StoreError};

use super::World;
use crate::world::{MAIN, answered, ask, ask_of, at, block, key, labels, new_session, question, token, token_row};

/// JSON, search and lists keep every character, including U+0000, which agents send in the output of tools.
#[tokio::test]
async fn text_with_nul_is_stored_verbatim() {
    let world = World::new().await;
    let mut asked = ask(question());
    Arc::make_mut(&mut asked.context).title = "before\0after".to_owned();
    let id = asked.id;
    let open = OpenAsk { workspace: MAIN, scope: Scope::All, ask: Box::new(asked.clone()), key: None, max_pending: 1_000 };
    assert!(matches!(world.store.write(open).await.unwrap(), OpenAskResult::Ask(_)));
    let world = world.reopen().await;
    assert_eq!(world.get(id).await, asked);
    let words = ListAsks { words: Some("after".to_owned()), ..ListAsks::pending(MAIN, Scope::All, 10) };
    assert_eq!(world.store.read(words).await.unwrap().rows, [asked], "the search sees what follows it");
    world.resolve(id, answered("A\0B")).await.unwrap();
    assert_eq!(world.reopen().await.get(id).await.outcome().map(|outcome| outcome.decision.clone()), Some(answered("A\0B")));
}

/// Stores all content of agents and people, with U+0000 in it.
pub(crate) async fn store_nul_in_every_content(world: &World) {
    let mut new = new_session(labels(&[("team\0", "shop\0")]), None, None);
    (new.session.title, new.session.branch) = ("title\0".to_owned(), Some("branch\0".to_owned()));
    (new.session.model, new.prompt) = (Some("model\0".to_owned()), Some(block("prompt\0")));
    let session = new.session.clone();
    world.store.write(new).await.unwrap();
    let said = block("said\0");
    let mut asked = ask_of(&session, "1", question());
    if let AskBody::Question { questions } = Arc::make_mut(&mut asked.body) {
        "Which\0?".clone_into(&mut questions[0].text);
    }
    let context = Arc::make_mut(&mut asked.context);
    *context = AskContext {
        title: "title\0".to_owned(),
        branch: Some("branch\0".to_owned()),
        subagent: Some("sub\0".to_owned()),
        context: Some("said\0".to_owned()),
        ..context.clone()
    };
    let changes = vec![
        ConnectionChange::Block { session: session.id, block: said, event: EventKind::MessageCompleted },
        ConnectionChange::OpenAsk(Box::new(asked.clone())),
    ];
    world.step(&session, 0, vec![], changes).await;
    world.resolve(asked.id, answered("A\0B")).await.unwrap();
    let delivery = Delivery::Undeliverable { reason: "exit: \0".to_owned() };
    world.step(&session, 1, vec![], vec![ConnectionChange::Delivery { ask: asked.id, delivery }]).await;
}

/// The reason is stored in a plain column.
#[tokio::test]
async fn reason_of_an_undeliverable_answer_has_a_replacement_for_nul() {
    let world = World::new().await;
    store_nul_in_every_content(&world).await;
    let all = ListAsks { status: StatusFilter::Any, ..ListAsks::pending(MAIN, Scope::All, 10) };
    let stored = world.reopen().await.store.read(all).await.unwrap().rows;
    let deliveries: Vec<_> = stored
        .iter()
        .map(|ask| match &ask.state {
            AskState::Resolved { delivery, .. } => Some(delivery.clone()),
            AskState::Pending(_) => None,
        })
        .collect();
    assert_eq!(deliveries, [Some(Delivery::Undeliverable { reason: "exit: \u{fffd}".to_owned() })]);
}

/// Writes an operation with U+0000 in a plain text.
async fn assert_refused(world: &World, operation: impl Operation, what: &str) {
    let refused = world.store.write(operation).await.err();
    assert!(matches!(&refused, Some(StoreError::ContainsNul(error)) if error.what == what), "{what}: {refused:?}");
}

fn open(change: impl FnOnce(&mut Ask, &mut AskContext)) -> OpenAsk {
    let mut asked = ask(question());
    let mut context = AskContext::clone(&asked.context);
    change(&mut asked, &mut context);
    asked.context = context.into();
    OpenAsk { workspace: MAIN, scope: Scope::All, ask: Box::new(asked), key: None, max_pending: 9 }
}

#[tokio::test]
async fn plain_text_with_nul_is_refused_and_leaves_no_trace() {
    let world = World::new().await;
    let nul = || "a\0b".to_owned();
    assert_refused(&world, open(|ask, _| ask.origin.native_id = Some(nul())), "the id of the request").await;
    assert_refused(&world, open(|_, context| context.agent = nul()), "the name of the agent").await;
    assert_refused(&world, open(|_, context| context.project = Some(nul())), "the project").await;
    assert_refused(&world, open(|_, context| context.tool_call_id = Some(nul())), "the id of the tool call").await;
    assert_refused(&world, open(|ask, _| ask.policy.hits = vec![nul()]), "the name of the rule").await;
    let keyed = OpenAsk { key: Some(key(token(), "a\0b", 1)), ..open(|_, _| {}) };
    assert_refused(&world, keyed, "the idempotency key").await;
    let new = new_session(labels(&[]), None, None);
    let connection = Connection { agent: nul(), ..new.connection.clone() };
    assert_refused(&world, AttachConnection { workspace: MAIN, connection }, "the name of the agent").await;
    let external = ExternalSessionKey { workspace: MAIN, token: token(), agent: "mock".to_owned(), native_id: nul() };
    let ensure = EnsureExternalSession { key: external, session: new.session, connection: new.connection };
    assert_refused(&world, ensure, "the id of the session").await;
    let code = CreateLoginCode { workspace: MAIN, hash: [1; 32], role: "viewer".to_owned(), actor: nul(), expires_at: at(900) };
    assert_refused(&world, code, "the name").await;
    let row = TokenRow { device: Some(nul()), ..token_row(1, Scope::All) };
    assert_refused(&world, CreateToken { token: row, key: None }, "the name of the device").await;
    let note = NotificationRow {
        ask: ask(question()).id,
        channel: "mail".to_owned(),
        state: NotificationState::Told,
        attempts: 1,
        message: Some(nul()),
    };
    assert_refused(&world, PutNotification { workspace: MAIN, note }, "the id of the message").await;
    let push = PushSubscriptionRow { token: token(), endpoint: nul(), public_key: [0; 65], auth: [0; 16] };
    assert_refused(&world, PutPushSubscription { workspace: MAIN, push }, "the address of the push service").await;
    let trust = TrustProject { workspace: MAIN, path: nul(), hash: "h".to_owned() };
    assert_refused(&world, trust, "the path").await;
    assert!(world.events_after(0).await.is_empty());
    assert!(world.store.read(ListAsks::pending(MAIN, Scope::All, 10)).await.unwrap().rows.is_empty());
}
