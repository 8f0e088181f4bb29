//! Operations that share a commit. Each has its own result, and a failure does not affect the others.

use sayso_store::ops::{AdvanceResult, ConnectionChange};
use sayso_store::{Operation, StoreError};

use super::World;
use crate::world::{advance, answered, ask, ask_of, question, resolve};

/// Passes all operations to the store before it replies to the first. In a runtime with one thread, tasks start in order.
async fn write_together<O: Operation>(world: &World, operations: Vec<O>) -> Vec<Result<O::Output, StoreError>> {
    let calls: Vec<_> = operations
        .into_iter()
        .map(|operation| {
            let store = world.store.clone();
            tokio::spawn(async move { store.write(operation).await })
        })
        .collect();
    let mut results = Vec::new();
    for call in calls {
        results.push(call.await.unwrap());
    }
    results
}

#[tokio::test]
async fn failed_operation_does_not_affect_the_rest_of_its_batch() {
    let world = World::new().await;
    let sessions = [world.session().await, world.session().await, world.session().await];
    let taken = world.agent_asks(&sessions[0], 0, ask_of(&sessions[0], "taken", question())).await;
    let before = world.events().len();
    // The second one opens an ask with an existing id.
    let mut asks = [1, 2, 3].map(|native: u8| ask_of(&sessions[usize::from(native) - 1], &native.to_string(), question()));
    asks[1].id = taken.id;
    let opened = [asks[0].id, asks[2].id];
    let steps = sessions.iter().zip(asks).zip([1, 0, 0]);
    let steps =
        steps.map(|((session, ask), from)| advance(session, from, vec![], vec![ConnectionChange::OpenAsk(Box::new(ask))]));
    let results = write_together(&world, steps.collect()).await;
    assert!(
        matches!(
            results.as_slice(),
            [Ok(AdvanceResult::Yes), Err(StoreError::Duplicate { what: "ask" }), Ok(AdvanceResult::Yes)]
        ),
        "{results:?}"
    );
    let events = world.events();
    let announced: Vec<_> = events[before..].iter().map(|event| event.payload.ask().map(|ask| ask.id)).collect();
    assert_eq!(announced, opened.map(Some));
    assert_eq!(world.get(taken.id).await, taken);
    let seqs: Vec<_> = world.events_after(0).await.iter().map(|event| event.seq).collect();
    assert_eq!(seqs, (1..).take(events.len()).collect::<Vec<_>>(), "no gap where one failed");
}

#[tokio::test]
async fn refused_operation_of_a_batch_leaves_no_trace() {
    let world = World::new().await;
    let asked = world.open(ask(question())).await;
    let answers = ["A", "B", "A"].map(|entry| resolve(asked.id, answered(entry)));
    let results: Vec<_> =
        write_together(&world, answers.into()).await.into_iter().map(|result| result.unwrap().is_ok()).collect();
    assert_eq!(results, [true, false, false]);
    assert_eq!(world.events().len(), 2, "one request, one outcome");
    assert_eq!(world.get(asked.id).await.outcome().map(|outcome| &outcome.decision), Some(&answered("A")));
}
