//! The effect of typed messages, decided in the transaction.

use std::sync::Arc;

use sayso_core::actor::Actor;
use sayso_core::ask::{Decision, Input, OutcomeStatus, Question, TypedAnswers};
use sayso_core::raw::Raw;
use sayso_core::scope::Scope;
use sayso_core::session::{Session, SessionStatus};
use sayso_store::ops::{ConnectionChange, SendMessage, SendMessageResult};
use sayso_store::read::{ReadTranscript, TranscriptEntry};
use sayso_store::{EventKind, OutboxPayload};

use super::World;
use crate::world::{MAIN, answered, approval, ask_of, block, key, question, secret, token};

fn say(session: &Session, text: &str) -> SendMessage {
    let block = block(text);
    SendMessage {
        workspace: MAIN,
        session: session.id,
        scope: Scope::All,
        by: Actor::Message { name: "ann".to_owned(), via: "http".to_owned(), token: token(), message: block.id },
        block,
        text: text.to_owned(),
        command: Raw::of(&format!("prompt {text}")),
        queue: false,
        typed: TypedAnswers::OwnText,
        key: None,
    }
}

#[tokio::test]
async fn message_is_a_prompt_when_nothing_is_pending() {
    let world = World::new().await;
    let session = world.session().await;
    let message = say(&session, "hello");
    let id = message.block.id;
    assert_eq!(world.store.write(message).await.unwrap(), SendMessageResult::Prompt(id));
    let sent = world.outbox();
    assert!(matches!(&sent[1].payload, OutboxPayload::Command(raw) if raw == &Raw::of(&"prompt hello")));
}

#[tokio::test]
async fn message_answers_the_only_open_question_without_a_prompt() {
    let world = World::new().await;
    let session = world.session().await;
    let ask = world.agent_asks(&session, 0, ask_of(&session, "1", question())).await;
    let message = say(&session, "neither");
    let (id, by) = (message.block.id, message.by.clone());
    let SendMessageResult::Answered(block, answered_ask) = world.store.write(message).await.unwrap() else {
        panic!("not an answer")
    };
    assert_eq!((block, answered_ask.id), (id, ask.id));
    let outcome = answered_ask.outcome().cloned().unwrap();
    assert_eq!((outcome.decision, outcome.by), (answered("neither"), by));
    assert_eq!(world.outbox().len(), 2, "the start and the outcome, no prompt");
    let page = world.store.read(ReadTranscript { session: session.id, workspace: MAIN, after: 0, limit: 10 }).await.unwrap();
    let kinds: Vec<_> = page.rows.iter().map(|entry| matches!(entry, TranscriptEntry::Ask(_))).collect();
    assert_eq!(kinds, [false, true, false], "prompt, question, answer");
}

#[tokio::test]
async fn message_never_answers_approvals_or_secret_questions() {
    let several = sayso_core::ask::AskBody::Question {
        questions: (0..2)
            .map(|n| Question {
                key: n.to_string(),
                header: None,
                text: "?".to_owned(),
                input: Input::Text { secret: false },
                required: true,
                response_schema: None,
            })
            .collect(),
    };
    let number = sayso_core::ask::AskBody::Question {
        questions: vec![Question {
            key: "0".to_owned(),
            header: None,
            text: "?".to_owned(),
            input: Input::Number { minimum: None, maximum: None, integer: false },
            required: true,
            response_schema: None,
        }],
    };
    for body in [approval(), secret(), several, number] {
        let world = World::new().await;
        let session = world.session().await;
        let ask = world.agent_asks(&session, 0, ask_of(&session, "1", body)).await;
        assert_eq!(world.store.write(say(&session, "7")).await.unwrap(), SendMessageResult::Pending(vec![ask.id]));
        assert_eq!(world.get(ask.id).await, ask);
        let mut queued = say(&session, "7");
        queued.queue = true;
        let id = queued.block.id;
        assert_eq!(world.store.write(queued).await.unwrap(), SendMessageResult::Prompt(id));
        assert_eq!(world.get(ask.id).await, ask, "it waits behind the ask");
    }
}

#[tokio::test]
async fn message_answers_nothing_when_two_questions_are_open() {
    let world = World::new().await;
    let session = world.session().await;
    let one = world.agent_asks(&session, 0, ask_of(&session, "1", question())).await;
    let two = world.agent_asks(&session, 1, ask_of(&session, "2", question())).await;
    assert_eq!(world.store.write(say(&session, "A")).await.unwrap(), SendMessageResult::Pending(vec![one.id, two.id]));
}

/// Exactly one ask has to be live. Parked asks are ignored.
#[tokio::test]
async fn parked_asks_do_not_prevent_a_message_from_answering() {
    let world = World::new().await;
    let session = world.session().await;
    let parked = world.agent_asks(&session, 0, ask_of(&session, "1", question())).await;
    let end = SessionStatus::Ended { reason: "crashed".to_owned(), failed: true, resumable: true };
    world.step(&session, 1, vec![], vec![ConnectionChange::Status { session: session.id, status: end }]).await;
    world.step(&session, 2, vec![], vec![ConnectionChange::Status { session: session.id, status: SessionStatus::Running }]).await;
    let prompt = say(&session, "go on");
    let id = prompt.block.id;
    assert_eq!(world.store.write(prompt).await.unwrap(), SendMessageResult::Prompt(id));
    let live = world.agent_asks(&session, 3, ask_of(&session, "2", question())).await;
    let SendMessageResult::Answered(_, answered) = world.store.write(say(&session, "B")).await.unwrap() else {
        panic!("not an answer")
    };
    assert_eq!(answered.id, live.id);
    assert_eq!(world.get(parked.id).await.outcome(), None);
}

#[tokio::test]
async fn message_answers_a_set_if_the_agent_accepts_one_reply() {
    let world = World::new().await;
    let session = world.session().await;
    let mut body = ask_of(&session, "1", question());
    let sayso_core::ask::AskBody::Question { questions } = Arc::make_mut(&mut body.body) else { panic!("a question") };
    questions.push(questions[0].clone());
    let ask = world.agent_asks(&session, 0, body).await;
    let mut message = say(&session, "as you like");
    message.typed = TypedAnswers::Sets;
    let SendMessageResult::Answered(_, answered) = world.store.write(message).await.unwrap() else { panic!("not an answer") };
    let all = vec![vec!["as you like".to_owned()]; 2];
    assert_eq!(answered.outcome().map(|o| &o.decision), Some(&Decision::Answered { answers: all, note: None }));
    assert_eq!(answered.id, ask.id);
}

#[tokio::test]
async fn repeated_message_with_the_same_key_takes_effect_once() {
    let world = World::new().await;
    let session = world.session().await;
    world.agent_asks(&session, 0, ask_of(&session, "1", question())).await;
    let mine = token();
    let keyed = |name: &str, body| {
        let mut message = say(&session, "B");
        message.key = Some(key(mine, name, body));
        message
    };
    let first = world.store.write(keyed("answer", 1)).await.unwrap();
    assert!(
        matches!(&first, SendMessageResult::Answered(_, ask) if ask.outcome().map(|o| o.decision.status()) == Some(OutcomeStatus::Answered))
    );
    assert_eq!(world.store.write(keyed("answer", 1)).await.unwrap(), first);
    assert_eq!(world.store.write(keyed("answer", 2)).await.unwrap(), SendMessageResult::KeyReused);
    let prompt = world.store.write(keyed("prompt", 1)).await.unwrap();
    assert!(matches!(prompt, SendMessageResult::Prompt(_)));
    assert_eq!(world.store.write(keyed("prompt", 1)).await.unwrap(), prompt);
    let messages = world.kinds().into_iter().filter(|kind| *kind == EventKind::MessageCompleted).count();
    assert_eq!(messages, 3, "the first prompt, the answer, the second prompt");
}

#[tokio::test]
async fn message_to_an_ended_or_invisible_session_is_refused() {
    let world = World::new().await;
    let session = world.session().await;
    let mut unseen = say(&session, "hello");
    unseen.scope = Scope::OpenedBy { token: token() };
    assert_eq!(world.store.write(unseen).await.unwrap(), SendMessageResult::NotFound);
    let end = SessionStatus::Ended { reason: "closed".to_owned(), failed: false, resumable: false };
    world.step(&session, 0, vec![], vec![ConnectionChange::Status { session: session.id, status: end }]).await;
    assert_eq!(world.store.write(say(&session, "hello")).await.unwrap(), SendMessageResult::Ended);
}
