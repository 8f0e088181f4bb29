//! Time comes from here, so that tests can move it.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use sayso_core::time::Time;
use tokio::sync::watch;

/// The system's clock, or one that a test moves.
#[derive(Debug, Clone, Default)]
pub enum Clock {
    /// The system's.
    #[default]
    System,
    /// A test's.
    Fake(Arc<FakeClock>),
}

/// A clock that tests advance. It does not advance on its own.
#[derive(Debug)]
pub struct FakeClock {
    began: Instant,
    /// What the wall clock shows, and how long the machine was awake.
    now: watch::Sender<(Time, Duration)>,
}

impl FakeClock {
    /// Creates a manual clock with this time.
    #[must_use]
    pub fn at(now: Time) -> Arc<Self> {
        Arc::new(Self { began: Instant::now(), now: watch::Sender::new((now, Duration::ZERO)) })
    }

    /// Time passes.
    pub fn advance(&self, by: Duration) {
        self.now.send_modify(|(now, awake)| (*now, *awake) = (now.plus(by), *awake + by));
    }

    /// The wall clock is set, or the machine has slept: no time passed for what runs.
    pub fn set(&self, to: Time) {
        self.now.send_modify(|(now, _)| *now = to);
    }
}

/// The same moment on the wall clock and on the monotonic clock, which stops while the machine sleeps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClockReading {
    pub(crate) wall: Time,
    monotonic: Instant,
}

impl ClockReading {
    /// How much longer the wall clock says it was than the machine was awake: a sleep, or a jump.
    pub(crate) fn slept_until(self, later: Self) -> Duration {
        later.wall.since(self.wall).saturating_sub(later.monotonic.duration_since(self.monotonic))
    }
}

impl Clock {
    /// Now.
    #[must_use]
    pub fn now(&self) -> Time {
        match self {
            Self::System => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                Time::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
            }
            Self::Fake(fake) => fake.now.borrow().0,
        }
    }

    pub(crate) fn read(&self) -> ClockReading {
        let monotonic = match self {
            Self::System => Instant::now(),
            Self::Fake(fake) => fake.began + fake.now.borrow().1,
        };
        ClockReading { wall: self.now(), monotonic }
    }

    /// Waits until then.
    pub(crate) async fn sleep_until(&self, until: Time) {
        match self {
            // Long waits are cut: the wall clock may be set, and a sleeping machine does not count.
            Self::System => loop {
                let left = until.since(self.now());
                if left.is_zero() {
                    return;
                }
                tokio::time::sleep(left.min(Duration::from_secs(10))).await;
            },
            Self::Fake(fake) => {
                // The sender lives in `self`, so the wait can only end by the time.
                let _ = fake.now.subscribe().wait_for(|(now, _)| *now >= until).await;
            }
        }
    }
}
