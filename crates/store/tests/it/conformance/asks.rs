//! Opening, deciding, snoozing, expiring, withdrawing and reading asks.

use std::sync::Arc;
use std::time::Duration;

use sayso_core::actor::Actor;
use sayso_core::ask::{AskKind, AskState, Decision, Delivery, Outcome, OutcomeStatus, Reach, Refused};
use sayso_core::id::AskId;
use sayso_core::policy::OnTimeout;
use sayso_core::scope::Scope;
use sayso_store::EventKind;
use sayso_store::ops::{
    CollectOutcome, ExpireAsk, ExpireAskResult, OpenAsk, OpenAskResult, ResolveError, SnoozeAsk, WithdrawAsk,
};
use sayso_store::read::{CountPending, FindToolCallAsk, FindUnfinishedWork, GetAsk, ListAsks, PendingCount, StatusFilter};

use super::World;
use crate::world::{
    MAIN, answered, approval, approved, ask, ask_of, at, labels, link, person, question, rejected, resolve, token, until,
};

fn outcome(decision: Decision, by: Actor, seconds: i64) -> Outcome {
    Outcome { decision, by, at: at(seconds), content: None }
}

#[tokio::test]
async fn opened_asks_read_back_completely_after_a_restart() {
    let world = World::new().await;
    let mut wanted = until(ask(approval()), 600, OnTimeout::Deny);
    Arc::make_mut(&mut wanted.context).context = Some("The tests should pass.".to_owned());
    Arc::make_mut(&mut wanted.context).labels = labels(&[("team", "shop")]);
    wanted.policy.why = Some("no rule decides it".to_owned());
    let opened = world.open(wanted.clone()).await;
    assert_eq!(opened, wanted);
    assert_eq!(world.get(wanted.id).await, wanted);
    assert_eq!(world.reopen().await.get(wanted.id).await, wanted);
}

#[tokio::test]
async fn first_decision_wins_and_later_ones_get_the_winner() {
    let world = World::new().await;
    let ask = world.open(ask(question())).await;
    let winner = person(token());
    let mut first = resolve(ask.id, answered("A"));
    first.by = winner.clone();
    let resolved = world.store.write(first).await.unwrap().unwrap();
    let winning_outcome = outcome(answered("A"), winner, 60);
    assert_eq!(resolved.state, AskState::Resolved { outcome: winning_outcome.clone(), delivery: Delivery::Queued });
    // Later decisions get the winner, even if they would be invalid.
    for late in [answered("B"), rejected(), approved(), answered(""), Decision::Withdrawn { reason: String::new() }] {
        let refused = world.resolve(ask.id, late).await.unwrap_err();
        assert_eq!(refused, ResolveError::Refused(Refused::AlreadyResolved(Box::new(winning_outcome.clone()))));
    }
    assert_eq!(world.get(ask.id).await.outcome(), Some(&winning_outcome));
    assert_eq!(world.kinds(), [EventKind::AskRequested, EventKind::AskResolved]);
}

#[tokio::test]
async fn one_of_many_concurrent_decisions_wins() {
    let world = World::new().await;
    for _ in 0..50 {
        let ask = world.open(ask(question())).await;
        let calls = (0..8).map(|n| {
            let store = world.store.clone();
            let call = resolve(ask.id, answered(if n % 2 == 0 { "A" } else { "B" }));
            tokio::spawn(async move { store.write(call).await.unwrap() })
        });
        let mut results = Vec::new();
        for call in calls.collect::<Vec<_>>() {
            results.push(call.await.unwrap());
        }
        let stored = world.get(ask.id).await.outcome().cloned().unwrap();
        let winners: Vec<_> = results.iter().flatten().filter_map(|ask| ask.outcome()).collect();
        assert_eq!(winners, [&stored]);
        for loser in results.iter().filter_map(|result| result.as_ref().err()) {
            assert_eq!(loser, &ResolveError::Refused(Refused::AlreadyResolved(Box::new(stored.clone()))));
        }
    }
    let resolved = world.kinds().into_iter().filter(|kind| *kind == EventKind::AskResolved).count();
    assert_eq!(resolved, 50);
}

#[tokio::test]
async fn refused_decision_changes_nothing() {
    let world = World::new().await;
    let ask = world.open(ask(question())).await;
    let refusals = [
        world.resolve(ask.id, approved()).await,
        world.resolve(ask.id, answered(" ")).await,
        world.resolve(ask.id, Decision::Answered { answers: vec![], note: None }).await,
    ];
    assert!(matches!(refusals[0], Err(ResolveError::Refused(Refused::WrongKind(AskKind::Question)))));
    assert!(refusals[1..].iter().all(|refused| matches!(refused, Err(ResolveError::Refused(Refused::InvalidAnswers(_))))));
    assert_eq!(world.get(ask.id).await, ask);
    assert_eq!(world.kinds(), [EventKind::AskRequested]);
}

#[tokio::test]
async fn unknown_and_invisible_asks_are_refused_alike() {
    let world = World::new().await;
    let session = world.session_with(labels(&[("team", "shop")]), None).await;
    let other = world.session().await;
    let ask = world.agent_asks(&session, 0, ask_of(&session, "1", question())).await;
    let strangers = [
        Scope::Session { session: other.id },
        Scope::Labels { labels: labels(&[("team", "bank")]) },
        Scope::OpenedBy { token: token() },
    ];
    for scope in strangers {
        let mut call = resolve(ask.id, answered("A"));
        call.scope = scope.clone();
        assert_eq!(world.store.write(call).await.unwrap(), Err(ResolveError::NotFound), "{scope:?}");
        assert!(world.store.read(GetAsk { workspace: MAIN, ask: ask.id, scope: scope.clone() }).await.unwrap().is_none());
        let listed = world.store.read(ListAsks::pending(MAIN, scope.clone(), 10)).await.unwrap();
        assert!(listed.rows.is_empty(), "{scope:?}");
        let snooze = SnoozeAsk { workspace: MAIN, ask: ask.id, scope: scope.clone(), until: Some(at(99)) };
        assert_eq!(world.store.write(snooze).await.unwrap(), Err(ResolveError::NotFound));
        let withdraw = WithdrawAsk { workspace: MAIN, ask: ask.id, scope, reason: String::new() };
        assert_eq!(world.store.write(withdraw).await.unwrap(), Err(ResolveError::NotFound));
    }
    let mut elsewhere = resolve(ask.id, answered("A"));
    elsewhere.session = Some(other.id);
    assert_eq!(world.store.write(elsewhere).await.unwrap(), Err(ResolveError::NotFound));
    let nowhere = resolve(AskId::new(at(0), [0; 10]), answered("A"));
    assert_eq!(world.store.write(nowhere).await.unwrap(), Err(ResolveError::NotFound));
    assert_eq!(world.get(ask.id).await, ask);
    // Scopes with its session or labels see it.
    for scope in [Scope::Session { session: session.id }, Scope::Labels { labels: labels(&[("team", "shop")]) }] {
        assert_eq!(world.store.read(ListAsks::pending(MAIN, scope, 10)).await.unwrap().rows, std::slice::from_ref(&ask));
    }
}

#[tokio::test]
async fn ask_decided_by_policy_has_one_event_and_is_never_pending() {
    let world = World::new().await;
    let session = world.session().await;
    let mut decided = ask_of(&session, "1", question());
    let by = Actor::Policy { rule: "questions: reject".to_owned() };
    decided.state = AskState::Resolved { outcome: outcome(rejected(), by, 1), delivery: Delivery::Queued };
    let stored = world.agent_asks(&session, 0, decided.clone()).await;
    assert_eq!(stored, decided);
    assert_eq!(world.kinds().last(), Some(&EventKind::AskResolved));
    assert!(!world.kinds().contains(&EventKind::AskRequested));
    assert!(world.store.read(ListAsks::pending(MAIN, Scope::All, 10)).await.unwrap().rows.is_empty());
    assert_eq!(world.outbox().len(), 2, "the start and the outcome");
}

#[tokio::test]
async fn deadline_is_announced_stored_and_applied_once() {
    let world = World::new().await;
    let soon = world.open(until(ask(question()), 600, OnTimeout::Reject)).await;
    let later = world.open(until(ask(question()), 900, OnTimeout::AcceptFirst)).await;
    let never = world.open(ask(approval())).await;
    let due = vec![(soon.id, at(601)), (later.id, at(901))];
    assert_eq!(world.told.lock().unwrap().deadlines, due);
    let world = world.reopen().await;
    assert_eq!(world.store.read(FindUnfinishedWork { workspace: MAIN }).await.unwrap().deadlines, due);

    let expire = async |ask, seconds| {
        world.clock.set(at(seconds));
        world.store.write(ExpireAsk { workspace: MAIN, ask }).await.unwrap()
    };
    assert_eq!(expire(soon.id, 600).await, ExpireAskResult::NotYet(at(601)));
    assert_eq!(expire(never.id, 99_999).await, ExpireAskResult::Over, "it has no deadline");
    let ExpireAskResult::Ask(fired) = expire(soon.id, 601).await else { panic!("not expired") };
    let words = "User did not respond within 10 minutes".to_owned();
    let by = Actor::timeout(Duration::from_secs(600));
    assert_eq!(fired.outcome(), Some(&outcome(Decision::Rejected { message: words, stop: false }, by, 601)));
    assert_eq!(expire(soon.id, 602).await, ExpireAskResult::Over, "once");
    let ExpireAskResult::Ask(fired) = expire(later.id, 950).await else { panic!("not expired") };
    assert_eq!(fired.outcome().map(|outcome| &outcome.decision), Some(&answered("A")));
    assert!(world.store.read(FindUnfinishedWork { workspace: MAIN }).await.unwrap().deadlines.is_empty());
}

#[tokio::test]
async fn answer_before_the_deadline_is_final() {
    let world = World::new().await;
    let ask = world.open(until(ask(approval()), 600, OnTimeout::Deny)).await;
    world.resolve(ask.id, approved()).await.unwrap();
    world.clock.set(at(601));
    assert_eq!(world.store.write(ExpireAsk { workspace: MAIN, ask: ask.id }).await.unwrap(), ExpireAskResult::Over);
    assert_eq!(world.get(ask.id).await.outcome().map(|outcome| outcome.decision.status()), Some(OutcomeStatus::Approved));
}

#[tokio::test]
async fn snoozed_ask_is_hidden_until_its_time_and_stays_pending() {
    let world = World::new().await;
    let ask = world.open(ask(question())).await;
    let snooze = |until| SnoozeAsk { workspace: MAIN, ask: ask.id, scope: Scope::All, until };
    let hidden = world.store.write(snooze(Some(at(100)))).await.unwrap().unwrap();
    assert_eq!(hidden.snoozed_until, Some(at(100)));
    assert_eq!(world.get(ask.id).await, *hidden);
    let back = world.store.write(snooze(None)).await.unwrap().unwrap();
    assert_eq!(*back, ask);
    world.resolve(ask.id, answered("A")).await.unwrap();
    let late = world.store.write(snooze(Some(at(100)))).await.unwrap();
    assert!(matches!(late, Err(ResolveError::Refused(Refused::AlreadyResolved(_)))));
    use EventKind::{AskRequested, AskResolved, AskSnoozed};
    assert_eq!(world.kinds(), [AskRequested, AskSnoozed, AskSnoozed, AskResolved]);
}

#[tokio::test]
async fn only_the_caller_of_an_ask_can_withdraw_it() {
    let world = World::new().await;
    let session = world.session().await;
    let of_agent = world.agent_asks(&session, 0, ask_of(&session, "1", question())).await;
    let mine = world.open(ask(link())).await;
    let take_back = |ask| WithdrawAsk { workspace: MAIN, ask, scope: Scope::All, reason: "never mind".to_owned() };
    assert_eq!(world.store.write(take_back(of_agent.id)).await.unwrap(), Err(ResolveError::NotFound));
    let withdrawn = world.store.write(take_back(mine.id)).await.unwrap().unwrap();
    let reason = "never mind".to_owned();
    assert_eq!(withdrawn.outcome(), Some(&outcome(Decision::Withdrawn { reason }, Actor::Agent, 60)));
    assert!(world.store.write(take_back(mine.id)).await.unwrap().is_err());
}

#[tokio::test]
async fn collected_outcome_is_recorded_once() {
    let world = World::new().await;
    let ask = world.open(ask(question())).await;
    let has = || CollectOutcome { workspace: MAIN, ask: ask.id };
    world.store.write(has()).await.unwrap();
    assert_eq!(world.get(ask.id).await.state, AskState::Pending(Reach::Live), "there is no outcome to have");
    world.resolve(ask.id, answered("A")).await.unwrap();
    world.store.write(has()).await.unwrap();
    world.store.write(has()).await.unwrap();
    assert!(matches!(world.get(ask.id).await.state, AskState::Resolved { delivery: Delivery::Delivered, .. }));
    use EventKind::{AskDelivery, AskRequested, AskResolved};
    assert_eq!(world.kinds(), [AskRequested, AskResolved, AskDelivery]);
}

#[tokio::test]
async fn repeated_request_of_a_caller_returns_the_pending_ask() {
    let world = World::new().await;
    let mut first = ask(question());
    first.origin.native_id = Some("deploy".to_owned());
    let mut twin = ask(question());
    twin.origin = first.origin.clone();
    let mut strangers = ask(question());
    strangers.origin.native_id = Some("deploy".to_owned());
    let opened = world.open(first.clone()).await;
    assert_eq!(world.open(twin.clone()).await, opened);
    assert_eq!(world.open(strangers.clone()).await.id, strangers.id, "another caller's key is another key");
    world.resolve(opened.id, answered("A")).await.unwrap();
    assert_eq!(world.open(twin.clone()).await.id, twin.id, "only pending asks have twins");
}

#[tokio::test]
async fn caller_with_too_many_pending_asks_is_refused() {
    let world = World::new().await;
    let mine = token();
    let open = || {
        let mut ask = ask(question());
        ask.origin.opened_by = Some(mine);
        OpenAsk { workspace: MAIN, scope: Scope::All, ask: Box::new(ask), key: None, max_pending: 3 }
    };
    let mut opened = Vec::new();
    for _ in 0..3 {
        let OpenAskResult::Ask(ask) = world.store.write(open()).await.unwrap() else { panic!("not opened") };
        opened.push(ask);
    }
    assert_eq!(world.store.write(open()).await.unwrap(), OpenAskResult::TooMany);
    world.resolve(opened[0].id, rejected()).await.unwrap();
    assert!(matches!(world.store.write(open()).await.unwrap(), OpenAskResult::Ask(_)));
}

#[tokio::test]
async fn ask_for_an_unknown_or_invisible_session_is_refused() {
    let world = World::new().await;
    let session = world.session().await;
    let open = |session, scope| {
        let mut ask = ask(question());
        ask.origin.session = Some(session);
        OpenAsk { workspace: MAIN, scope, ask: Box::new(ask), key: None, max_pending: 10 }
    };
    let unknown = sayso_core::id::SessionId::new(at(0), [0; 10]);
    assert_eq!(world.store.write(open(unknown, Scope::All)).await.unwrap(), OpenAskResult::NoSession);
    let stranger = Scope::OpenedBy { token: token() };
    assert_eq!(world.store.write(open(session.id, stranger)).await.unwrap(), OpenAskResult::NoSession);
    assert!(matches!(world.store.write(open(session.id, Scope::All)).await.unwrap(), OpenAskResult::Ask(_)));
}

#[tokio::test]
async fn lists_filter_sort_and_page() {
    let world = World::new().await;
    let session = world.session_with(labels(&[("team", "shop")]), None).await;
    let mut all = Vec::new();
    for (step, body) in [question(), approval(), link(), question()].into_iter().enumerate() {
        let step = i64::try_from(step).unwrap();
        all.push(world.agent_asks(&session, step, ask_of(&session, &step.to_string(), body)).await);
    }
    all.push(world.open(ask(question())).await);
    let list = |change: fn(&mut ListAsks)| {
        let mut query = ListAsks { limit: 10, ..ListAsks::pending(MAIN, Scope::All, 10) };
        change(&mut query);
        query
    };
    let ids =
        |query: ListAsks| async { world.store.read(query).await.unwrap().rows.iter().map(|ask| ask.id).collect::<Vec<_>>() };
    let of = |indices: &[usize]| indices.iter().map(|index| all[*index].id).collect::<Vec<_>>();
    assert_eq!(ids(list(|_| {})).await, of(&[0, 1, 2, 3, 4]), "oldest first");
    assert_eq!(ids(list(|q| q.status = StatusFilter::Any)).await, of(&[4, 3, 2, 1, 0]), "newest first");
    assert_eq!(ids(list(|q| q.kind = Some(AskKind::Question))).await, of(&[0, 3, 4]));
    assert_eq!(ids(list(|q| q.agent = Some("script".to_owned()))).await, of(&[4]));
    assert_eq!(ids(list(|q| q.label = Some(("team".to_owned(), "shop".to_owned())))).await, of(&[0, 1, 2, 3]));
    assert_eq!(ids(list(|q| q.label = Some(("team".to_owned(), "bank".to_owned())))).await, of(&[]));
    assert_eq!(ids(list(|q| q.words = Some("WHICH?".to_owned()))).await, of(&[0, 3, 4]), "letters in any case");
    assert_eq!(ids(list(|q| q.words = Some("cargo%".to_owned()))).await, of(&[]), "a sign stands for itself");
    assert_eq!(ids(list(|q| q.words = Some("editable".to_owned()))).await, of(&[]), "names of fields are no words");
    assert_eq!(ids(list(|q| q.since = Some(at(1)))).await, of(&[0, 1, 2, 3, 4]));
    assert_eq!(ids(list(|q| q.until = Some(at(1)))).await, of(&[]));
    let mut by_session = list(|_| {});
    by_session.session = Some(session.id);
    assert_eq!(ids(by_session).await, of(&[0, 1, 2, 3]));
    let mut by_suffix = list(|_| {});
    by_suffix.id_ends_with = Some(all[2].id.to_string()[20..].to_uppercase());
    assert_eq!(ids(by_suffix).await, of(&[2]));

    world.resolve(all[1].id, approved()).await.unwrap();
    world.resolve(all[3].id, rejected()).await.unwrap();
    assert_eq!(ids(list(|q| q.status = StatusFilter::Resolved)).await, of(&[3, 1]));
    assert_eq!(ids(list(|q| q.status = StatusFilter::Outcome(OutcomeStatus::Approved))).await, of(&[1]));
    let mut pages = Vec::new();
    let mut after = None;
    loop {
        let mut query = list(|q| q.limit = 2);
        query.after = after;
        let page = world.store.read(query).await.unwrap();
        pages.push(page.rows.iter().map(|ask| ask.id).collect::<Vec<_>>());
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(pages, [of(&[0, 2]), of(&[4])]);
    let count = world.store.read(CountPending { workspace: MAIN }).await.unwrap();
    assert_eq!(count, PendingCount { pending: 3, oldest: Some(at(1)), outbox: 3 });
}

#[tokio::test]
async fn tool_call_finds_its_pending_or_latest_ask() {
    let world = World::new().await;
    let session = world.session().await;
    let other = world.session().await;
    let find = |session, call: &str| {
        let find = FindToolCallAsk { workspace: MAIN, session, tool_call_id: call.to_owned(), kind: AskKind::Approval };
        async { world.store.read(find).await.unwrap().map(|ask| ask.id) }
    };
    assert_eq!(find(session.id, "call-1").await, None);
    let first = world.agent_asks(&session, 0, ask_of(&session, "1", approval())).await;
    world.agent_asks(&session, 1, ask_of(&session, "2", question())).await;
    assert_eq!(find(session.id, "call-1").await, Some(first.id));
    assert_eq!(find(session.id, &first.id.to_string()).await, Some(first.id), "by its own id");
    assert_eq!(find(session.id, "call-2").await, None, "a question");
    assert_eq!(find(other.id, "call-1").await, None);

    world.resolve(first.id, approved()).await.unwrap();
    assert_eq!(find(session.id, "call-1").await, Some(first.id));
    let second = world.agent_asks(&session, 2, ask_of(&session, "1", approval())).await;
    assert_eq!(find(session.id, "call-1").await, Some(second.id));
    world.resolve(second.id, approved()).await.unwrap();
    assert_eq!(find(session.id, "call-1").await, Some(second.id));
}

#[tokio::test]
async fn id_suffix_is_not_a_pattern() {
    let world = World::new().await;
    world.open(ask(question())).await;
    for wild in ["%", "_", "_____"] {
        let mut query = ListAsks::pending(MAIN, Scope::All, 10);
        query.id_ends_with = Some(wild.to_owned());
        assert_eq!(world.store.read(query).await.unwrap().rows.len(), 0, "{wild}");
    }
}

#[tokio::test]
async fn list_contains_the_feed_position_of_its_snapshot() {
    let world = World::new().await;
    let ask = world.open(ask(question())).await;
    let page = world.store.read(ListAsks::pending(MAIN, Scope::All, 10)).await.unwrap();
    assert_eq!((page.rows.as_slice(), page.seq), (std::slice::from_ref(&ask), 1));
    world.resolve(ask.id, answered("A")).await.unwrap();
    let after = world.events_after(page.seq).await;
    assert_eq!(after.iter().map(|event| (event.seq, event.payload.kind())).collect::<Vec<_>>(), [(2, EventKind::AskResolved)]);
    assert_eq!(after[0].payload.ask().map(Arc::as_ref).and_then(|ask| ask.outcome()), world.get(ask.id).await.outcome());
}
