//! Decides when the agent is stopped and when the supervisor exits. Pure: events and the time in, actions out;
//! `event_loop` performs them.

use std::time::{Duration, Instant};

/// How long an attached server may take to read the remaining records after the agent's exit.
const FAREWELL: Duration = Duration::from_secs(5);
/// The interval between SIGKILLs, which also reach processes that were forked in the meantime.
const AGAIN: Duration = Duration::from_millis(20);
/// How long SIGKILL is repeated. Processes that survive it belong to another user or are stuck in the kernel.
const GIVE_UP: Duration = Duration::from_secs(5);

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
pub(crate) enum Event {
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
pub(crate) enum Action {
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
enum Company {
    Server(u64),
    Alone { since: Instant },
}

/// The lifecycle of one agent.
#[derive(Debug)]
pub(crate) struct Life {
    lonely: Duration,
    company: Company,
    phase: Phase,
    drained: bool,
    /// The time from which only the server's reading is awaited.
    over_since: Option<Instant>,
}

impl Life {
    /// Creates the state for a running agent.
    pub(crate) fn started(now: Instant, lonely: Duration) -> Self {
        Self { lonely, company: Company::Alone { since: now }, phase: Phase::Running, drained: false, over_since: None }
    }

    pub(crate) fn handle(&mut self, now: Instant, event: Event) -> Option<Action> {
        let action = match event {
            Event::Attached(server) => {
                self.company = Company::Server(server);
                None
            }
            Event::Detached(server) => {
                if self.company == Company::Server(server) {
                    self.company = Company::Alone { since: now };
                }
                None
            }
            Event::Stop(grace) => self.stop(now, grace),
            Event::Exited => match self.phase {
                Phase::Running => self.terminate(now, Grace::DEFAULT.after_term),
                Phase::Closing { then, .. } => self.terminate(now, then),
                Phase::Terminating { .. } | Phase::Killing { .. } | Phase::Over => None,
            },
            Event::TreeEmpty => {
                self.phase = Phase::Over;
                None
            }
            Event::Drained => {
                self.drained = true;
                match self.phase {
                    // The journal was deleted, so the agent's output can no longer be stored.
                    Phase::Running => self.stop(now, Grace::DEFAULT),
                    Phase::Closing { .. } | Phase::Terminating { .. } | Phase::Killing { .. } | Phase::Over => None,
                }
            }
        };
        self.note_over(now);
        action
    }

    /// Handles the passing of time.
    pub(crate) fn tick(&mut self, now: Instant) -> Option<Action> {
        let action = match self.phase {
            Phase::Running if self.lonely_at().is_some_and(|at| now >= at) => self.stop(now, Grace::DEFAULT),
            Phase::Closing { until, then } if now >= until => self.terminate(now, then),
            Phase::Terminating { until } if now >= until => {
                self.phase = Phase::Killing { again: now + AGAIN, until: now + GIVE_UP };
                Some(Action::KillTree)
            }
            Phase::Killing { until, .. } if now >= until => {
                self.phase = Phase::Over;
                None
            }
            Phase::Killing { again, until } if now >= again => {
                self.phase = Phase::Killing { again: now + AGAIN, until };
                Some(Action::KillTree)
            }
            Phase::Running | Phase::Closing { .. } | Phase::Terminating { .. } | Phase::Killing { .. } | Phase::Over => None,
        };
        self.note_over(now);
        action
    }

    /// When to call [`Self::tick`] if no event occurs earlier.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        match self.phase {
            Phase::Running => self.lonely_at(),
            Phase::Closing { until, .. } | Phase::Terminating { until } => Some(until),
            Phase::Killing { again, until } => Some(again.min(until)),
            Phase::Over => self.over_since.map(|since| since + FAREWELL),
        }
    }

    /// Whether the supervisor can exit.
    pub(crate) fn is_over(&self, now: Instant) -> bool {
        self.over_since.is_some_and(|since| match self.company {
            Company::Server(_) => now >= since + FAREWELL,
            Company::Alone { .. } => true,
        })
    }

    fn stop(&mut self, now: Instant, grace: Grace) -> Option<Action> {
        let until = later(now, grace.after_close);
        match self.phase {
            Phase::Running => {
                self.phase = Phase::Closing { until, then: grace.after_term };
                Some(Action::CloseInput)
            }
            // Another stop request can only shorten the timeouts.
            Phase::Closing { until: before, then } => {
                self.phase = Phase::Closing { until: until.min(before), then: then.min(grace.after_term) };
                None
            }
            Phase::Terminating { until: before } => {
                self.phase = Phase::Terminating { until: before.min(later(now, grace.after_term)) };
                None
            }
            Phase::Killing { .. } | Phase::Over => None,
        }
    }

    fn terminate(&mut self, now: Instant, grace: Duration) -> Option<Action> {
        self.phase = Phase::Terminating { until: later(now, grace) };
        Some(Action::TermTree)
    }

    fn lonely_at(&self) -> Option<Instant> {
        match self.company {
            Company::Server(_) => None,
            Company::Alone { since } => since.checked_add(self.lonely),
        }
    }

    fn note_over(&mut self, now: Instant) {
        if self.drained && self.phase == Phase::Over && self.over_since.is_none() {
            self.over_since = Some(now);
        }
    }
}

/// Adds a duration that the server chose. It may be absurdly long, so it is limited to a year.
fn later(now: Instant, time: Duration) -> Instant {
    now + time.min(Duration::from_secs(365 * 24 * 60 * 60))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spec;

    const SECOND: Duration = Duration::from_secs(1);
    const GRACE: Grace = Grace { after_close: SECOND, after_term: Duration::from_secs(2) };

    /// Advances the time to `until`, and returns the actions with their times.
    fn pass(life: &mut Life, start: Instant, until: Duration) -> Vec<(Duration, Action)> {
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
    fn stopping_closes_then_asks_then_kills() {
        let start = Instant::now();
        let mut life = Life::started(start, Spec::LONELY);
        assert_eq!(life.handle(start, Event::Stop(GRACE)), Some(Action::CloseInput));
        assert_eq!(
            pass(&mut life, start, 3 * SECOND + AGAIN),
            [(SECOND, Action::TermTree), (3 * SECOND, Action::KillTree), (3 * SECOND + AGAIN, Action::KillTree)]
        );
        life.handle(start + 4 * SECOND, Event::Exited);
        life.handle(start + 4 * SECOND, Event::TreeEmpty);
        assert!(!life.is_over(start + 4 * SECOND));
        life.handle(start + 4 * SECOND, Event::Drained);
        assert!(life.is_over(start + 4 * SECOND));
    }

    #[test]
    fn what_the_agent_leaves_behind_is_ended() {
        let start = Instant::now();
        let mut life = Life::started(start, Spec::LONELY);
        assert_eq!(life.handle(start, Event::Exited), Some(Action::TermTree));
        life.handle(start, Event::Drained);
        assert!(!life.is_over(start));
        assert_eq!(pass(&mut life, start, 5 * SECOND), [(5 * SECOND, Action::KillTree)]);
        life.handle(start + 5 * SECOND, Event::TreeEmpty);
        assert!(life.is_over(start + 5 * SECOND));
    }

    #[test]
    fn what_cannot_be_killed_is_given_up() {
        let start = Instant::now();
        let mut life = Life::started(start, Spec::LONELY);
        life.handle(start, Event::Exited);
        life.handle(start, Event::Drained);
        pass(&mut life, start, 5 * SECOND + GIVE_UP);
        assert!(life.is_over(start + 5 * SECOND + GIVE_UP));
    }

    #[test]
    fn asked_twice_it_is_only_quicker() {
        let start = Instant::now();
        let mut life = Life::started(start, Spec::LONELY);
        life.handle(start, Event::Stop(GRACE));
        let slow = Grace { after_close: Duration::MAX, after_term: Duration::MAX };
        assert_eq!(life.handle(start, Event::Stop(slow)), None);
        assert_eq!(life.deadline(), Some(start + SECOND));
        let now = Grace { after_close: Duration::ZERO, after_term: Duration::ZERO };
        life.handle(start, Event::Stop(now));
        assert_eq!(
            pass(&mut life, start, Duration::ZERO),
            [(Duration::ZERO, Action::TermTree), (Duration::ZERO, Action::KillTree)]
        );
    }

    #[test]
    fn nobody_for_too_long_stops_the_agent() {
        let start = Instant::now();
        let mut life = Life::started(start, 10 * SECOND);
        life.handle(start + 9 * SECOND, Event::Attached(1));
        assert_eq!(life.deadline(), None);
        life.handle(start + 20 * SECOND, Event::Attached(2));
        // The first server was replaced; the second is still attached.
        life.handle(start + 20 * SECOND, Event::Detached(1));
        assert_eq!(life.deadline(), None);
        life.handle(start + 30 * SECOND, Event::Detached(2));
        assert_eq!(pass(&mut life, start, 40 * SECOND), [(40 * SECOND, Action::CloseInput)]);
    }

    #[test]
    fn an_absurd_patience_is_for_ever() {
        let start = Instant::now();
        let mut life = Life::started(start, Duration::MAX);
        assert_eq!(life.deadline(), None);
        assert_eq!(life.tick(start), None);
    }

    #[test]
    fn a_server_may_read_the_rest_but_not_for_ever() {
        let start = Instant::now();
        let mut life = Life::started(start, Spec::LONELY);
        life.handle(start, Event::Attached(1));
        for event in [Event::Exited, Event::TreeEmpty, Event::Drained] {
            life.handle(start, event);
        }
        assert!(!life.is_over(start));
        assert_eq!(life.deadline(), Some(start + FAREWELL));
        assert!(life.is_over(start + FAREWELL));
        life.handle(start + SECOND, Event::Detached(1));
        assert!(life.is_over(start + SECOND));
    }

    #[test]
    fn without_a_journal_the_agent_is_stopped() {
        let start = Instant::now();
        let mut life = Life::started(start, Spec::LONELY);
        assert_eq!(life.handle(start, Event::Drained), Some(Action::CloseInput));
    }
}
