//! Callers that come and go. An ask that is kept waits for its caller to come back: a question is parked
//! meanwhile, and when the time is over it is withdrawn. What is remembered here is only who waits now;
//! after a restart everybody has just left.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sayso_core::ask::{Ask, Reach};
use sayso_core::id::AskId;
use sayso_core::scope::Scope;
use sayso_core::texts;
use sayso_core::time::Time;
use sayso_store::ops::{SetReach, WithdrawAsk};
use tokio::sync::Notify;

use crate::clock::Clock;
use crate::service::Services;

/// A caller that waits again within this time was never gone: it only called anew.
const GRACE: Duration = Duration::from_secs(5);

/// Who waits for what is kept. Bounded by what is pending.
#[derive(Debug, Default)]
pub(crate) struct Keeper {
    all: Mutex<All>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct All {
    asks: HashMap<AskId, KeptAsk>,
    /// When to look at those that nobody waits for.
    due: BTreeSet<(Time, AskId)>,
}

#[derive(Debug)]
struct KeptAsk {
    keep: Duration,
    waiting: usize,
    gone: Time,
    parked: bool,
}

impl KeptAsk {
    const fn new(keep: Duration, gone: Time) -> Self {
        Self { keep, waiting: 0, gone, parked: false }
    }

    fn due(&self) -> Time {
        if self.parked { self.gone.plus(self.keep) } else { self.gone.plus(GRACE.min(self.keep)) }
    }
}

/// What is to be done about an ask that nobody waits for.
enum KeeperAction {
    Park(AskId),
    Withdraw(AskId),
}

/// Somebody who waits for an ask that is kept.
#[derive(Debug)]
pub(crate) struct Attending {
    keeper: Arc<Keeper>,
    clock: Clock,
    ask: AskId,
}

impl Keeper {
    fn lock(&self) -> std::sync::MutexGuard<'_, All> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An ask waits for a person. Called by the writer's commit, so it must not block; and not by whoever opened it,
    /// because a caller that hangs up meanwhile would leave an ask behind of which nobody here knows.
    pub(crate) fn requested(&self, ask: &Ask, now: Time) {
        if let Some(keep) = ask.context.keep {
            self.pending(ask.id, keep.0, now);
        }
    }

    /// An ask that is kept is pending, and nobody waits for it yet.
    pub(crate) fn pending(&self, ask: AskId, keep: Duration, now: Time) {
        let mut all = self.lock();
        let All { asks, due } = &mut *all;
        asks.entry(ask).or_insert_with(|| {
            let kept = KeptAsk::new(keep, now);
            due.insert((kept.due(), ask));
            kept
        });
        self.changed.notify_one();
    }

    /// Somebody waits for it now, until what this returns is dropped.
    pub(crate) fn attend(self: &Arc<Self>, ask: AskId, keep: Duration, clock: &Clock) -> Attending {
        let mut all = self.lock();
        let All { asks, due } = &mut *all;
        let kept = asks.entry(ask).or_insert_with(|| KeptAsk::new(keep, clock.now()));
        due.remove(&(kept.due(), ask));
        kept.waiting += 1;
        kept.parked = false;
        Attending { keeper: Arc::clone(self), clock: clock.clone(), ask }
    }

    fn leave(&self, ask: AskId, now: Time) {
        let mut all = self.lock();
        let All { asks, due } = &mut *all;
        // It is gone when it has its outcome.
        let Some(kept) = asks.get_mut(&ask) else { return };
        kept.waiting = kept.waiting.saturating_sub(1);
        if kept.waiting == 0 {
            kept.gone = now;
            kept.parked = false;
            due.insert((kept.due(), ask));
            self.changed.notify_one();
        }
    }

    /// An ask has its outcome. Called by the writer's commit, so it must not block.
    pub(crate) fn resolved(&self, ask: AskId) {
        let mut all = self.lock();
        if let Some(kept) = all.asks.remove(&ask) {
            all.due.remove(&(kept.due(), ask));
        }
    }

    fn first(&self) -> Option<Time> {
        self.lock().due.first().map(|(at, _)| *at)
    }

    fn take_due(&self, now: Time) -> Vec<KeeperAction> {
        let mut all = self.lock();
        let All { asks, due } = &mut *all;
        let mut steps = Vec::new();
        while due.first().is_some_and(|(at, _)| *at <= now)
            && let Some((_, ask)) = due.pop_first()
        {
            let Some(kept) = asks.get_mut(&ask) else { continue };
            if kept.parked || kept.keep <= GRACE {
                steps.push(KeeperAction::Withdraw(ask));
                continue;
            }
            kept.parked = true;
            due.insert((kept.due(), ask));
            steps.push(KeeperAction::Park(ask));
        }
        steps
    }

    /// Tries again later what could not be stored.
    fn again(&self, ask: AskId, at: Time) {
        let mut all = self.lock();
        if all.asks.get(&ask).is_some_and(|kept| kept.waiting == 0) {
            all.due.insert((at, ask));
        }
    }
}

impl Drop for Attending {
    fn drop(&mut self) {
        self.keeper.leave(self.ask, self.clock.now());
    }
}

/// Parks and withdraws what nobody waits for, for ever.
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
                    // It has an outcome now, this one or another.
                    (ask, withdrawn.map(|_| keeper.resolved(ask)))
                }
            };
            if let Err(error) = stored {
                // A full disk, most likely: the ask stays as it is and is tried again.
                tracing::warn!(%error, %ask, "what nobody waits for could not be put away; trying again");
                keeper.again(ask, now.plus(GRACE));
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

    #[test]
    fn whoever_comes_back_in_time_keeps_the_ask() {
        let keeper = Arc::new(Keeper::default());
        let clock = crate::FakeClock::at(at(0));
        let fake = Clock::Fake(Arc::clone(&clock));
        let ask = AskId::new(at(0), [1; 10]);
        let keep = Duration::from_secs(600);
        keeper.pending(ask, keep, at(0));
        let (one, two) = (keeper.attend(ask, keep, &fake), keeper.attend(ask, keep, &fake));
        assert!(steps(&keeper, 10_000).is_empty(), "somebody waits");
        drop(one);
        assert!(steps(&keeper, 10_000).is_empty(), "the other one still waits");
        drop(two);
        assert!(steps(&keeper, 4).is_empty());
        assert_eq!(steps(&keeper, 5), ["park"]);
        assert!(steps(&keeper, 599).is_empty());
        drop(keeper.attend(ask, keep, &fake));
        assert_eq!(steps(&keeper, 5), ["park"], "the time begins anew");
        assert_eq!(steps(&keeper, 600), ["withdraw"]);
        keeper.resolved(ask);
        assert!(keeper.first().is_none() && keeper.lock().asks.is_empty());
    }

    #[test]
    fn what_is_decided_is_forgotten() {
        let keeper = Arc::new(Keeper::default());
        let fake = Clock::Fake(crate::FakeClock::at(at(0)));
        let ask = AskId::new(at(0), [1; 10]);
        let attending = keeper.attend(ask, Duration::from_secs(60), &fake);
        keeper.resolved(ask);
        drop(attending);
        assert!(keeper.first().is_none() && keeper.lock().asks.is_empty());
    }
}
