//! The source of the current time. Tests replace it with a clock that they control.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use sayso_core::time::Time;
use tokio::sync::watch;

/// The system clock, or a clock that a test controls.
#[derive(Debug, Clone, Default)]
pub enum Clock {
    #[default]
    System,
    Fake(Arc<FakeClock>),
}

/// A clock that tests advance. It does not advance on its own.
#[derive(Debug)]
pub struct FakeClock {
    began: Instant,
    /// The time of the wall clock, and how long the machine was awake.
    now: watch::Sender<(Time, Duration)>,
}

impl FakeClock {
    /// Creates a manual clock with this time.
    #[must_use]
    pub fn at(now: Time) -> Arc<Self> {
        Arc::new(Self { began: Instant::now(), now: watch::Sender::new((now, Duration::ZERO)) })
    }

    /// Advances the wall clock and the monotonic clock.
    pub fn advance(&self, by: Duration) {
        self.now.send_modify(|(now, awake)| (*now, *awake) = (now.plus(by), *awake + by));
    }

    /// Sets the wall clock only, as after a sleep of the machine or a change of the clock.
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
    /// Returns by how much the wall clock advanced more than the monotonic clock: the duration of a sleep, or a jump of the clock.
    pub(crate) fn slept_until(self, later: Self) -> Duration {
        later.wall.since(self.wall).saturating_sub(later.monotonic.duration_since(self.monotonic))
    }
}

impl Clock {
    /// Returns the current time.
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

    /// Waits until this time of the wall clock.
    pub(crate) async fn sleep_until(&self, until: Time) {
        match self {
            // Sleep in short intervals, because the wall clock may be set, and timers stop while the machine sleeps.
            Self::System => loop {
                let left = until.since(self.now());
                if left.is_zero() {
                    return;
                }
                tokio::time::sleep(left.min(Duration::from_secs(10))).await;
            },
            Self::Fake(fake) => {
                // The sender is in `self`, so the channel stays open.
                let _ = fake.now.subscribe().wait_for(|(now, _)| *now >= until).await;
            }
        }
    }
}
