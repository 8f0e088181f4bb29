//! Groups: one worker at a time, and a state that is stored until the claim is acknowledged.

use std::sync::Arc;
use std::time::Duration;

use sayso_core::ask::Ask;
use sayso_core::digest::ShaDigest;
use sayso_core::group::{ClaimRefused, Group, GroupPhase};
use sayso_core::id::{GroupId, TokenId};
use sayso_core::scope::Scope;
use sayso_core::time::Span;
use sayso_store::ops::{
    ClaimGroup, ClaimReport, ClaimedGroup, GroupRefused, OpenGroup, OpenGroupResult, RefreshGroup, ReportClaim, WithdrawGroup,
};
use sayso_store::read::{GetGroup, ListOpenGroups};

use super::World;
use crate::world::{MAIN, answered, ask, at, question, token};

const STATE: &[u8] = &[7; 300_000];

fn asked_by(token: TokenId) -> Ask {
    let mut ask = ask(question());
    (ask.origin.connection, ask.origin.session, ask.origin.opened_by) = (None, None, Some(token));
    ask
}

fn group(token: TokenId, key: &str, asks: &[Ask]) -> Group {
    Group {
        id: Group::id_of_key(token, key),
        opened_by: token,
        name: "mailer".to_owned(),
        key: Some(key.to_owned()),
        asks: asks.iter().map(|ask| ask.id).collect(),
        digest: ShaDigest::of_bytes(key.as_bytes()),
        retry: false,
        resume_ref: None,
        state_size: STATE.len(),
        keep: Span(Duration::from_secs(3_600)),
        opened_at: at(60),
        epoch: 0,
        phase: GroupPhase::Pending,
        callback: None,
    }
}

async fn open(world: &World, group: Group, asks: Vec<Ask>) -> OpenGroupResult {
    let state = Some(STATE.to_vec());
    let group = Box::new(group);
    world.store.write(OpenGroup { workspace: MAIN, scope: Scope::All, group, asks, state, max_pending: 10 }).await.unwrap()
}

async fn tend(world: &World, group: GroupId) -> Option<Arc<Group>> {
    world.store.write(RefreshGroup { workspace: MAIN, group, question: Box::new(ask(question())) }).await.unwrap()
}

async fn claim(world: &World, group: GroupId, token: TokenId) -> Result<ClaimedGroup, GroupRefused> {
    let lease = Duration::from_secs(60);
    let claim = ClaimGroup { workspace: MAIN, group, token, worker: "w".to_owned(), call: None, lease };
    world.store.write(claim).await.unwrap()
}

async fn report(world: &World, group: GroupId, token: TokenId, epoch: u64, report: ClaimReport) -> Result<(), GroupRefused> {
    world.store.write(ReportClaim { workspace: MAIN, group, token, epoch, report }).await.unwrap().map(drop)
}

#[tokio::test]
async fn group_is_opened_completely_or_not_at_all() {
    let world = World::new().await;
    let mine = token();
    let (own, foreign) = (asked_by(mine), world.open(asked_by(token())).await);
    let mixed = group(mine, "mixed", &[own.clone(), foreign.clone()]);
    assert_eq!(open(&world, mixed, vec![own.clone()]).await, OpenGroupResult::ForeignAsk(foreign.id));
    assert!(world.store.read(ListOpenGroups { workspace: MAIN }).await.unwrap().is_empty());
    let wanted = group(mine, "one", std::slice::from_ref(&own));
    let OpenGroupResult::Group { group: opened, .. } = open(&world, wanted.clone(), vec![own.clone()]).await else {
        panic!("refused")
    };
    assert_eq!(*opened, wanted);
    // The same key returns the same group with the same asks.
    let OpenGroupResult::Group { asks, .. } = open(&world, wanted.clone(), vec![asked_by(mine)]).await else { panic!("refused") };
    assert_eq!(asks.iter().map(|ask| ask.id).collect::<Vec<_>>(), [own.id]);
    let other = Group { digest: ShaDigest::of_bytes(b"other"), ..wanted };
    assert_eq!(open(&world, other, Vec::new()).await, OpenGroupResult::KeyReused);
}

#[tokio::test]
async fn state_survives_restarts_until_the_claim_is_acknowledged() {
    let world = World::new().await;
    let mine = token();
    let first = asked_by(mine);
    let wanted = group(mine, "one", std::slice::from_ref(&first));
    let id = wanted.id;
    open(&world, wanted, vec![first.clone()]).await;
    assert_eq!(claim(&world, id, mine).await.unwrap_err(), ClaimRefused::NotReady.into());
    world.resolve(first.id, answered("A")).await.unwrap();
    assert!(matches!(tend(&world, id).await.unwrap().phase, GroupPhase::Ready { .. }));
    let world = world.reopen().await;
    assert_eq!(claim(&world, id, token()).await.unwrap_err(), GroupRefused::NotFound);
    let claimed = claim(&world, id, mine).await.unwrap();
    assert_eq!(claimed.state.as_ref().map(|state| state.as_slice()), Some(STATE));
    assert_eq!(claimed.asks.len(), 1);
    let world = world.reopen().await;
    assert_eq!(claim(&world, id, mine).await.unwrap_err(), ClaimRefused::NotReady.into());
    report(&world, id, mine, claimed.group.epoch, ClaimReport::Acknowledge).await.unwrap();
    let query = GetGroup { workspace: MAIN, group: id, token: mine };
    assert!(world.store.read(query).await.unwrap().unwrap().group.is_ended());
    assert_eq!(claim(&world, id, mine).await.unwrap_err(), ClaimRefused::Ended.into());
    assert!(world.store.read(ListOpenGroups { workspace: MAIN }).await.unwrap().is_empty());
}

#[tokio::test]
async fn expired_lease_asks_a_person_in_the_same_commit() {
    let world = World::new().await;
    let mine = token();
    let first = asked_by(mine);
    let wanted = group(mine, "one", std::slice::from_ref(&first));
    let id = wanted.id;
    open(&world, wanted, vec![first.clone()]).await;
    world.resolve(first.id, answered("A")).await.unwrap();
    tend(&world, id).await;
    claim(&world, id, mine).await.unwrap();
    assert!(matches!(tend(&world, id).await.unwrap().phase, GroupPhase::Claimed { .. }), "the lease is not over");
    world.clock.set(at(121));
    let uncertain = tend(&world, id).await.unwrap();
    let GroupPhase::Uncertain { ask, .. } = &uncertain.phase else { panic!("{uncertain:?}") };
    world.resolve(*ask, answered("A")).await.unwrap();
    // The answer "A" does not permit to resume.
    assert!(tend(&world, id).await.unwrap().is_ended());
}

#[tokio::test]
async fn withdrawing_a_group_withdraws_its_pending_asks() {
    let world = World::new().await;
    let mine = token();
    let (first, second) = (asked_by(mine), asked_by(mine));
    let wanted = group(mine, "one", &[first.clone(), second.clone()]);
    let id = wanted.id;
    open(&world, wanted, vec![first.clone(), second.clone()]).await;
    world.resolve(first.id, answered("A")).await.unwrap();
    let reason = "too late".to_owned();
    let withdraw = || WithdrawGroup { workspace: MAIN, group: id, token: mine, reason: reason.clone() };
    assert!(world.store.write(withdraw()).await.unwrap().unwrap().is_ended());
    assert_eq!(world.store.write(withdraw()).await.unwrap().unwrap_err(), ClaimRefused::Ended.into());
    let query = GetGroup { workspace: MAIN, group: id, token: mine };
    let asks = world.store.read(query).await.unwrap().unwrap().asks;
    let statuses: Vec<_> = asks.iter().map(|ask| ask.outcome().unwrap().decision.status().as_str()).collect();
    assert_eq!(statuses, ["answered", "withdrawn"]);
}
