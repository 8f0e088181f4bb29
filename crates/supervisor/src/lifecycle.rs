//! Decides when the agent is stopped and when the supervisor exits. Pure: events and the time in, actions out;
//! `event_loop` performs them.

use std::time::{Duration, Instant};

/// How long an attached server may take to read the remaining records after the agent's exit.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);
/// The interval between SIGKILLs, which also reach processes that were forked in the meantime.
const KILL_INTERVAL: Duration = Duration::from_millis(20);
/// How long SIGKILL is repeated. Processes that survive it belong to another user or are stuck in the kernel.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);

/// The timeouts of the steps of a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Grace {
    pub(crate) after_close: Duration,
    pub(crate) after_term: Duration,
}

impl Grace {
    /// The timeouts if the server does not specify any.
    pub(crate) const DEFAULT: Self = Self { after_close: Duration::from_secs(3), after_term: Duration::from_secs(5) };
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LifecycleEvent {
    /// A server sent `Hello`.
    Attached(u64),
    /// A server disconnected or was replaced.
    Detached(u64),
    /// The agent must be stopped.
    Stop(Grace),
    /// The agent exited; its descendants may still run.
    Exited,
    /// No descendants of the agent are left.
    TreeEmpty,
    /// The last record was written, or the journal no longer exists.
    Drained,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LifecycleAction {
    CloseInput,
    TermTree,
    KillTree,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Running,
    /// The agent's input was closed.
    Closing {
        until: Instant,
        then: Duration,
    },
    /// SIGTERM was sent to the process tree.
    Terminating {
        until: Instant,
    },
    /// SIGKILL is being sent to the process tree.
    Killing {
        again: Instant,
        until: Instant,
    },
    /// The process tree is gone, or killing it failed.
    Over,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Attachment {
    Server(u64),
    Alone { since: Instant },
}

/// The lifecycle of one agent.
#[derive(Debug)]
pub(crate) struct Lifecycle {
    lonely: Duration,
    company: Attachment,
    phase: Phase,
    drained: bool,
    /// The time from which only the server's reading is awaited.
    over_since: Option<Instant>,
}

impl Lifecycle {
    /// Creates the state for a running agent.
    pub(crate) fn started(now: Instant, lonely: Duration) -> Self {
        Self { lonely, company: Attachment::Alone { since: now }, phase: Phase::Running, drained: false, over_since: None }
    }

    pub(crate) fn handle(&mut self, now: Instant, event: LifecycleEvent) -> Option<LifecycleAction> {
        let action = match event {
            LifecycleEvent::Attached(server) => {
                self.company = Attachment::Server(server);
                None
            }
            LifecycleEvent::Detached(server) => {
                if self.company == Attachment::Server(server) {
                    self.company = Attachment::Alone { since: now };
                }
                None
            }
            LifecycleEvent::Stop(grace) => self.stop(now, grace),
            LifecycleEvent::Exited => match self.phase {
                Phase::Running => self.terminate(now, Grace::DEFAULT.after_term),
                Phase::Closing { then, .. } => self.terminate(now, then),
                Phase::Terminating { .. } | Phase::Killing { .. } | Phase::Over => None,
            },
            LifecycleEvent::TreeEmpty => {
                self.phase = Phase::Over;
                None
            }
            LifecycleEvent::Drained => {
                self.drained = true;
                match self.phase {
                    // The journal was deleted, so the agent's output can no longer be stored.
                    Phase::Running => self.stop(now, Grace::DEFAULT),
                    Phase::Closing { .. } | Phase::Terminating { .. } | Phase::Killing { .. } | Phase::Over => None,
                }
            }
        };
        self.record_end(now);
        action
    }

    /// Handles the passing of time.
    pub(crate) fn tick(&mut self, now: Instant) -> Option<LifecycleAction> {
        let action = match self.phase {
            Phase::Running if self.lonely_at().is_some_and(|at| now >= at) => self.stop(now, Grace::DEFAULT),
            Phase::Closing { until, then } if now >= until => self.terminate(now, then),
            Phase::Terminating { until } if now >= until => {
                self.phase = Phase::Killing { again: now + KILL_INTERVAL, until: now + KILL_TIMEOUT };
                Some(LifecycleAction::KillTree)
            }
            Phase::Killing { until, .. } if now >= until => {
                self.phase = Phase::Over;
                None
            }
            Phase::Killing { again, until } if now >= again => {
                self.phase = Phase::Killing { again: now + KILL_INTERVAL, until };
                Some(LifecycleAction::KillTree)
            }
            Phase::Running | Phase::Closing { .. } | Phase::Terminating { .. } | Phase::Killing { .. } | Phase::Over => None,
        };
        self.record_end(now);
        action
    }

    /// When to call [`Self::tick`] if no event occurs earlier.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        match self.phase {
            Phase::Running => self.lonely_at(),
            Phase::Closing { until, .. } | Phase::Terminating { until } => Some(until),
            Phase::Killing { again, until } => Some(again.min(until)),
            Phase::Over => self.over_since.map(|since| since + DRAIN_TIMEOUT),
        }
    }

    /// Whether the supervisor can exit.
    pub(crate) fn is_over(&self, now: Instant) -> bool {
        self.over_since.is_some_and(|since| match self.company {
            Attachment::Server(_) => now >= since + DRAIN_TIMEOUT,
            Attachment::Alone { .. } => true,
        })
    }

    fn stop(&mut self, now: Instant, grace: Grace) -> Option<LifecycleAction> {
        let until = saturating_later(now, grace.after_close);
        match self.phase {
            Phase::Running => {
                self.phase = Phase::Closing { until, then: grace.after_term };
                Some(LifecycleAction::CloseInput)
            }
            // Another stop request can only shorten the timeouts.
            Phase::Closing { until: before, then } => {
                self.phase = Phase::Closing { until: until.min(before), then: then.min(grace.after_term) };
                None
            }
            Phase::Terminating { until: before } => {
                self.phase = Phase::Terminating { until: before.min(saturating_later(now, grace.after_term)) };
                None
            }
            Phase::Killing { .. } | Phase::Over => None,
        }
    }

    fn terminate(&mut self, now: Instant, grace: Duration) -> Option<LifecycleAction> {
        self.phase = Phase::Terminating { until: saturating_later(now, grace) };
        Some(LifecycleAction::TermTree)
    }

    fn lonely_at(&self) -> Option<Instant> {
        match self.company {
            Attachment::Server(_) => None,
            Attachment::Alone { since } => since.checked_add(self.lonely),
        }
    }

    fn record_end(&mut self, now: Instant) {
        if self.drained && self.phase == Phase::Over && self.over_since.is_none() {
            self.over_since = Some(now);
        }
    }
}

/// Adds a duration that the server chose. It may be absurdly long, so it is limited to a year.
fn saturating_later(now: Instant, time: Duration) -> Instant {
    now + time.min(Duration::from_secs(365 * 24 * 60 * 60))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spec;

    const SECOND: Duration = Duration::from_secs(1);
    const GRACE: Grace = Grace { after_close: SECOND, after_term: Duration::from_secs(2) };

    /// Advances the time to `until`, and returns the actions with their times.
    fn pass(life: &mut Lifecycle, start: Instant, until: Duration) -> Vec<(Duration, LifecycleAction)> {
        let mut done = Vec::new();
        while let Some(at) = life.deadline().filter(|at| *at <= start + until) {
            let action = life.tick(at);
            done.extend(action.map(|action| (at - start, action)));
            if action.is_none() && life.deadline() == Some(at) {
                break;
            }
        }
        done
    }

    #[test]
    fn stop_closes_input_then_terminates_then_kills() {
        let start = Instant::now();
        let mut life = Lifecycle::started(start, Spec::LONELY);
        assert_eq!(life.handle(start, LifecycleEvent::Stop(GRACE)), Some(LifecycleAction::CloseInput));
        assert_eq!(
            pass(&mut life, start, 3 * SECOND + KILL_INTERVAL),
            [
                (SECOND, LifecycleAction::TermTree),
                (3 * SECOND, LifecycleAction::KillTree),
                (3 * SECOND + KILL_INTERVAL, LifecycleAction::KillTree)
            ]
        );
        life.handle(start + 4 * SECOND, LifecycleEvent::Exited);
        life.handle(start + 4 * SECOND, LifecycleEvent::TreeEmpty);
        assert!(!life.is_over(start + 4 * SECOND));
        life.handle(start + 4 * SECOND, LifecycleEvent::Drained);
        assert!(life.is_over(start + 4 * SECOND));
    }

    #[test]
    fn descendants_left_by_the_agent_are_stopped() {
        let start = Instant::now();
        let mut life = Lifecycle::started(start, Spec::LONELY);
        assert_eq!(life.handle(start, LifecycleEvent::Exited), Some(LifecycleAction::TermTree));
        life.handle(start, LifecycleEvent::Drained);
        assert!(!life.is_over(start));
        assert_eq!(pass(&mut life, start, 5 * SECOND), [(5 * SECOND, LifecycleAction::KillTree)]);
        life.handle(start + 5 * SECOND, LifecycleEvent::TreeEmpty);
        assert!(life.is_over(start + 5 * SECOND));
    }

    #[test]
    fn unkillable_processes_are_abandoned() {
        let start = Instant::now();
        let mut life = Lifecycle::started(start, Spec::LONELY);
        life.handle(start, LifecycleEvent::Exited);
        life.handle(start, LifecycleEvent::Drained);
        pass(&mut life, start, 5 * SECOND + KILL_TIMEOUT);
        assert!(life.is_over(start + 5 * SECOND + KILL_TIMEOUT));
    }

    #[test]
    fn second_stop_only_shortens_timeouts() {
        let start = Instant::now();
        let mut life = Lifecycle::started(start, Spec::LONELY);
        life.handle(start, LifecycleEvent::Stop(GRACE));
        let slow = Grace { after_close: Duration::MAX, after_term: Duration::MAX };
        assert_eq!(life.handle(start, LifecycleEvent::Stop(slow)), None);
        assert_eq!(life.deadline(), Some(start + SECOND));
        let now = Grace { after_close: Duration::ZERO, after_term: Duration::ZERO };
        life.handle(start, LifecycleEvent::Stop(now));
        assert_eq!(
            pass(&mut life, start, Duration::ZERO),
            [(Duration::ZERO, LifecycleAction::TermTree), (Duration::ZERO, LifecycleAction::KillTree)]
        );
    }

    #[test]
    fn agent_is_stopped_after_too_long_without_a_server() {
        let start = Instant::now();
        let mut life = Lifecycle::started(start, 10 * SECOND);
        life.handle(start + 9 * SECOND, LifecycleEvent::Attached(1));
        assert_eq!(life.deadline(), None);
        life.handle(start + 20 * SECOND, LifecycleEvent::Attached(2));
        // The first server was replaced; the second is still attached.
        life.handle(start + 20 * SECOND, LifecycleEvent::Detached(1));
        assert_eq!(life.deadline(), None);
        life.handle(start + 30 * SECOND, LifecycleEvent::Detached(2));
        assert_eq!(pass(&mut life, start, 40 * SECOND), [(40 * SECOND, LifecycleAction::CloseInput)]);
    }

    #[test]
    fn absurd_timeout_is_limited() {
        let start = Instant::now();
        let mut life = Lifecycle::started(start, Duration::MAX);
        assert_eq!(life.deadline(), None);
        assert_eq!(life.tick(start), None);
    }

    #[test]
    fn exit_waits_for_the_server_up_to_a_timeout() {
        let start = Instant::now();
        let mut life = Lifecycle::started(start, Spec::LONELY);
        life.handle(start, LifecycleEvent::Attached(1));
        for event in [LifecycleEvent::Exited, LifecycleEvent::TreeEmpty, LifecycleEvent::Drained] {
            life.handle(start, event);
        }
        assert!(!life.is_over(start));
        assert_eq!(life.deadline(), Some(start + DRAIN_TIMEOUT));
        assert!(life.is_over(start + DRAIN_TIMEOUT));
        life.handle(start + SECOND, LifecycleEvent::Detached(1));
        assert!(life.is_over(start + SECOND));
    }

    #[test]
    fn agent_is_stopped_without_a_journal() {
        let start = Instant::now();
        let mut life = Lifecycle::started(start, Spec::LONELY);
        assert_eq!(life.handle(start, LifecycleEvent::Drained), Some(LifecycleAction::CloseInput));
    }
}
