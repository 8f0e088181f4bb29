//! Keeps asks for callers that disconnect and return.
//!
//! A caller counts as present while it waits for the ask (`GET /v1/asks/{id}?wait=30s`) or follows the outcomes of all its asks
//! (`GET /v1/outcomes`). After it leaves, a question is parked, and after the ask's `keep` time the ask is withdrawn. Only
//! callers that are present are stored in memory: after a restart, all callers count as having just left.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sayso_core::ask::{Ask, Reach};
use sayso_core::id::{AskId, TokenId};
use sayso_core::scope::Scope;
use sayso_core::texts;
use sayso_core::time::Time;
use sayso_store::ops::{SetReach, WithdrawAsk};
use sayso_store::read;
use tokio::sync::Notify;

use crate::clock::Clock;
use crate::service::Services;

/// A caller that waits again within this time did not leave; it only repeated its call.
const GRACE: Duration = Duration::from_secs(5);

/// The kept asks. Bounded by the number of pending asks.
#[derive(Debug, Default)]
pub(crate) struct Keeper {
    all: Mutex<All>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct All {
    asks: HashMap<AskId, CallerAsk>,
    /// When to check asks that have no caller.
    due: BTreeSet<(Time, AskId)>,
    /// The tokens that follow their outcomes.
    followers: HashMap<TokenId, Follower>,
}

/// The streams of outcomes of one token.
#[derive(Debug, Default)]
struct Follower {
    streams: usize,
}

#[derive(Debug)]
struct CallerAsk {
    opened_by: Option<TokenId>,
    keep: Duration,
    /// The number of calls that wait for the ask.
    waiting: usize,
    gone: Time,
    /// Whether the ask was parked because its caller left.
    parked: bool,
    /// Whether the ask was pending before the last restart. It may then be parked although this process did not park it.
    resumed: bool,
    /// The entry in `due`.
    due_at: Option<Time>,
}

impl CallerAsk {
    const fn new(opened_by: Option<TokenId>, keep: Duration, gone: Time) -> Self {
        Self { opened_by, keep, waiting: 0, gone, parked: false, resumed: false, due_at: None }
    }

    fn due(&self) -> Time {
        if self.parked { self.gone.plus(self.keep) } else { self.gone.plus(GRACE.min(self.keep)) }
    }
}

/// The action for an ask without a caller.
enum KeeperAction {
    Park(AskId),
    Withdraw(AskId),
}

impl All {
    /// Returns whether a caller of the ask is present.
    fn is_attended(&self, kept: &CallerAsk) -> bool {
        kept.waiting > 0 || kept.opened_by.is_some_and(|token| self.followers.contains_key(&token))
    }

    /// Schedules the next check of an ask for `at`. No check is scheduled while a caller is present.
    fn schedule(&mut self, ask: AskId, at: Option<Time>) {
        let Some(kept) = self.asks.get(&ask) else { return };
        let due_at = (!self.is_attended(kept)).then(|| at.unwrap_or_else(|| kept.due()));
        let Some(kept) = self.asks.get_mut(&ask) else { return };
        let before = std::mem::replace(&mut kept.due_at, due_at);
        if let Some(before) = before {
            self.due.remove(&(before, ask));
        }
        if let Some(due_at) = due_at {
            self.due.insert((due_at, ask));
        }
    }

    fn of_token(&self, token: TokenId) -> Vec<AskId> {
        self.asks.iter().filter(|(_, kept)| kept.opened_by == Some(token)).map(|(ask, _)| *ask).collect()
    }
}

/// A call that waits for a kept ask. Dropping it ends the wait.
#[derive(Debug)]
pub(crate) struct Attending {
    keeper: Arc<Keeper>,
    clock: Clock,
    ask: AskId,
}

/// A stream of the outcomes of one token. While it is open, the caller is present for all asks that the token opened.
#[derive(Debug)]
pub(crate) struct Following {
    keeper: Arc<Keeper>,
    clock: Clock,
    token: TokenId,
}

impl Keeper {
    fn lock(&self) -> std::sync::MutexGuard<'_, All> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers an ask that needs a person. Called on the writer's thread, so it must not block. The caller that opened the
    /// ask does not call it, because a caller that disconnects would leave an ask that the keeper does not know.
    pub(crate) fn requested(&self, ask: &Ask, now: Time) {
        if let Some(keep) = ask.context.keep {
            self.keep_ask(ask.id, CallerAsk::new(ask.origin.opened_by, keep.0, now));
        }
    }

    /// Registers an ask that was pending before the server restarted.
    pub(crate) fn resume(&self, kept: read::CallerAsk, now: Time) {
        self.keep_ask(kept.ask, CallerAsk { resumed: true, ..CallerAsk::new(kept.opened_by, kept.keep.0, now) });
    }

    fn keep_ask(&self, ask: AskId, kept: CallerAsk) {
        let mut all = self.lock();
        all.asks.entry(ask).or_insert(kept);
        all.schedule(ask, None);
        self.changed.notify_one();
    }

    /// Registers a call that waits for the ask, until the result is dropped.
    pub(crate) fn attend(self: &Arc<Self>, ask: AskId, caller: TokenId, keep: Duration, clock: &Clock) -> Attending {
        let mut all = self.lock();
        let kept = all.asks.entry(ask).or_insert_with(|| CallerAsk::new(Some(caller), keep, clock.now()));
        kept.waiting += 1;
        (kept.parked, kept.resumed) = (false, false);
        all.schedule(ask, None);
        Attending { keeper: Arc::clone(self), clock: clock.clone(), ask }
    }

    /// Registers a caller that follows the outcomes of this token, until the result is dropped. Also returns the asks that may
    /// be parked, because they are live again.
    pub(crate) fn follow(self: &Arc<Self>, token: TokenId, clock: &Clock) -> (Following, Vec<AskId>) {
        let mut all = self.lock();
        all.followers.entry(token).or_default().streams += 1;
        let mut revived = Vec::new();
        for ask in all.of_token(token) {
            if let Some(kept) = all.asks.get_mut(&ask)
                && (kept.parked || kept.resumed)
            {
                (kept.parked, kept.resumed) = (false, false);
                revived.push(ask);
            }
            all.schedule(ask, None);
        }
        (Following { keeper: Arc::clone(self), clock: clock.clone(), token }, revived)
    }

    fn unfollow(&self, token: TokenId, now: Time) {
        let mut all = self.lock();
        let Some(follower) = all.followers.get_mut(&token) else { return };
        follower.streams = follower.streams.saturating_sub(1);
        if follower.streams > 0 {
            return;
        }
        all.followers.remove(&token);
        for ask in all.of_token(token) {
            Self::caller_left(&mut all, ask, now);
        }
        self.changed.notify_one();
    }

    fn leave(&self, ask: AskId, now: Time) {
        let mut all = self.lock();
        // The ask is removed once it has its outcome.
        let Some(kept) = all.asks.get_mut(&ask) else { return };
        kept.waiting = kept.waiting.saturating_sub(1);
        Self::caller_left(&mut all, ask, now);
        self.changed.notify_one();
    }

    /// Starts the time after which the ask is parked, unless another caller is present.
    fn caller_left(all: &mut All, ask: AskId, now: Time) {
        if all.asks.get(&ask).is_none_or(|kept| all.is_attended(kept)) {
            return;
        }
        if let Some(kept) = all.asks.get_mut(&ask) {
            (kept.gone, kept.parked) = (now, false);
        }
        all.schedule(ask, None);
    }

    /// Removes an ask that has its outcome. Called on the writer's thread, so it must not block.
    pub(crate) fn resolved(&self, ask: AskId) {
        let mut all = self.lock();
        if let Some(CallerAsk { due_at: Some(at), .. }) = all.asks.remove(&ask) {
            all.due.remove(&(at, ask));
        }
    }

    fn first(&self) -> Option<Time> {
        self.lock().due.first().map(|(at, _)| *at)
    }

    fn take_due(&self, now: Time) -> Vec<KeeperAction> {
        let mut all = self.lock();
        let mut steps = Vec::new();
        while all.due.first().is_some_and(|(at, _)| *at <= now)
            && let Some((_, ask)) = all.due.pop_first()
        {
            let Some(kept) = all.asks.get_mut(&ask) else { continue };
            kept.due_at = None;
            if kept.parked || kept.keep <= GRACE {
                steps.push(KeeperAction::Withdraw(ask));
                continue;
            }
            kept.parked = true;
            all.schedule(ask, None);
            steps.push(KeeperAction::Park(ask));
        }
        steps
    }

    /// Schedules a retry after a failed commit.
    fn schedule_retry(&self, ask: AskId, at: Time) {
        self.lock().schedule(ask, Some(at));
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        self.keeper.unfollow(self.token, self.clock.now());
    }
}

impl Drop for Attending {
    fn drop(&mut self) {
        self.keeper.leave(self.ask, self.clock.now());
    }
}

/// Parks and withdraws asks without a caller. Runs until it is aborted.
pub(crate) async fn run(services: Arc<Services>, keeper: Arc<Keeper>) {
    loop {
        let changed = keeper.changed.notified();
        match keeper.first() {
            None => changed.await,
            Some(at) => {
                tokio::select! {
                    () = changed => {}
                    () = services.clock.sleep_until(at) => {}
                }
            }
        }
        let now = services.clock.now();
        let workspace = services.workspace;
        for step in keeper.take_due(now) {
            let (ask, stored) = match step {
                KeeperAction::Park(ask) => (ask, services.store.write(SetReach { workspace, ask, reach: Reach::Parked }).await),
                KeeperAction::Withdraw(ask) => {
                    let reason = texts::WITHDRAWN_CALLER_GONE.to_owned();
                    let withdrawn = services.store.write(WithdrawAsk { workspace, ask, scope: Scope::All, reason }).await;
                    // The ask has an outcome now, this one or another.
                    (ask, withdrawn.map(|_| keeper.resolved(ask)))
                }
            };
            if let Err(error) = stored {
                // Most likely the disk is full. The ask stays unchanged and is tried again.
                tracing::warn!(%error, %ask, "cannot park or withdraw an ask without a caller; trying again");
                keeper.schedule_retry(ask, now.plus(GRACE));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Time {
        Time::from_millis(seconds * 1_000)
    }

    fn steps(keeper: &Keeper, now: i64) -> Vec<&'static str> {
        let name = |step: &KeeperAction| match step {
            KeeperAction::Park(_) => "park",
            KeeperAction::Withdraw(_) => "withdraw",
        };
        keeper.take_due(at(now)).iter().map(name).collect()
    }

    const KEEP: Duration = Duration::from_secs(600);

    fn token(number: u8) -> TokenId {
        TokenId::new(at(0), [number; 10])
    }

    /// A keeper with one ask of the first token, opened at 0 s.
    fn keeper() -> (Arc<Keeper>, AskId, Clock) {
        let keeper = Arc::new(Keeper::default());
        let ask = AskId::new(at(0), [1; 10]);
        keeper.keep_ask(ask, CallerAsk::new(Some(token(1)), KEEP, at(0)));
        (keeper, ask, Clock::Fake(crate::FakeClock::at(at(0))))
    }

    #[test]
    fn ask_is_neither_parked_nor_withdrawn_while_its_caller_follows_outcomes() {
        let (keeper, ask, clock) = keeper();
        let (stranger, revived) = keeper.follow(token(2), &clock);
        assert_eq!((steps(&keeper, 5), revived), (vec!["park"], Vec::new()));
        drop(stranger);
        let (one, revived) = keeper.follow(token(1), &clock);
        assert_eq!(revived, [ask], "it was parked");
        let (two, revived) = keeper.follow(token(1), &clock);
        assert_eq!(revived, Vec::<AskId>::new());
        drop(one);
        let waiting = keeper.attend(ask, token(1), KEEP, &clock);
        drop(two);
        assert!(steps(&keeper, 10_000).is_empty(), "a call still waits");
        let (three, _) = keeper.follow(token(1), &clock);
        drop(waiting);
        assert!(steps(&keeper, 10_000).is_empty(), "a stream is still open");
        // The caller is present from the start for an ask that is opened while the stream is open.
        keeper.keep_ask(AskId::new(at(0), [2; 10]), CallerAsk::new(Some(token(1)), KEEP, at(0)));
        assert_eq!(keeper.first(), None);
        drop(three);
        assert_eq!(steps(&keeper, 5), ["park", "park"]);
        assert_eq!(steps(&keeper, 600), ["withdraw", "withdraw"]);
        assert!(keeper.lock().followers.is_empty());
    }

    #[test]
    fn ask_that_was_pending_before_a_restart_is_live_again_when_its_caller_follows() {
        let (_, ask, clock) = keeper();
        let keeper = Arc::new(Keeper::default());
        let keep = sayso_core::time::Span(KEEP);
        keeper.resume(read::CallerAsk { ask, opened_by: Some(token(1)), keep }, at(0));
        let (_following, revived) = keeper.follow(token(1), &clock);
        assert_eq!(revived, [ask]);
    }

    #[test]
    fn retry_after_a_failed_write_does_not_touch_an_attended_ask() {
        let (keeper, ask, clock) = keeper();
        assert_eq!(steps(&keeper, 5), ["park"]);
        keeper.schedule_retry(ask, at(10));
        let _waiting = keeper.attend(ask, token(1), KEEP, &clock);
        assert!(steps(&keeper, 10_000).is_empty());
    }

    #[test]
    fn caller_that_returns_in_time_keeps_its_ask() {
        let (keeper, ask, clock) = keeper();
        let attend = || keeper.attend(ask, token(1), KEEP, &clock);
        let (one, two) = (attend(), attend());
        assert!(steps(&keeper, 10_000).is_empty(), "a caller still waits");
        drop(one);
        assert!(steps(&keeper, 10_000).is_empty(), "the other one still waits");
        drop(two);
        assert!(steps(&keeper, 4).is_empty());
        assert_eq!(steps(&keeper, 5), ["park"]);
        assert!(steps(&keeper, 599).is_empty());
        drop(attend());
        assert_eq!(steps(&keeper, 5), ["park"], "the time begins anew");
        assert_eq!(steps(&keeper, 600), ["withdraw"]);
        keeper.resolved(ask);
        assert!(keeper.first().is_none() && keeper.lock().asks.is_empty());
    }

    #[test]
    fn decided_ask_is_removed() {
        let keeper = Arc::new(Keeper::default());
        let fake = Clock::Fake(crate::FakeClock::at(at(0)));
        let ask = AskId::new(at(0), [1; 10]);
        let attending = keeper.attend(ask, token(1), KEEP, &fake);
        keeper.resolved(ask);
        drop(attending);
        assert!(keeper.first().is_none() && keeper.lock().asks.is_empty());
    }
}
