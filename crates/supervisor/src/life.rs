//! When the agent is stopped, and when the supervisor ends. Pure: what happened and the time in, what to
//! do out; `run` does it.

use std::time::{Duration, Instant};

/// How long a server that is attached may take to read the rest and leave.
const FAREWELL: Duration = Duration::from_secs(5);
/// How often what is to die is killed again: what it forked meanwhile is to die too.
const AGAIN: Duration = Duration::from_millis(20);
/// When killing has not helped for so long, it will not: the rest is another user's, or stuck in the
/// kernel.
const GIVE_UP: Duration = Duration::from_secs(5);

/// How long each step of stopping may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Grace {
    pub(crate) after_close: Duration,
    pub(crate) after_term: Duration,
}

impl Grace {
    /// When nobody said how long.
    pub(crate) const DEFAULT: Self = Self { after_close: Duration::from_secs(3), after_term: Duration::from_secs(5) };
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// A server said hello.
    Attached(u64),
    /// It left, or was replaced.
    Detached(u64),
    /// The agent is to be stopped.
    Stop(Grace),
    /// The agent itself ended; what it started may live on.
    Exited,
    /// Nothing that the agent started lives any more.
    TreeEmpty,
    /// The last record was written, or there is no journal to write to.
    Drained,
}

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    CloseInput,
    TermTree,
    KillTree,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Running,
    /// The input is closed.
    Closing {
        until: Instant,
        then: Duration,
    },
    /// The tree was asked to terminate.
    Terminating {
        until: Instant,
    },
    /// The tree is being killed.
    Killing {
        again: Instant,
        until: Instant,
    },
    /// The tree is gone, or nothing helps.
    Over,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Company {
    Server(u64),
    Alone { since: Instant },
}

/// The life of one agent.
#[derive(Debug)]
pub(crate) struct Life {
    lonely: Duration,
    company: Company,
    phase: Phase,
    drained: bool,
    /// Since when nothing is left to do but to let the server read.
    over_since: Option<Instant>,
}

impl Life {
    /// The agent runs.
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
                    // Its journal was taken away: nobody can hear the agent any more.
                    Phase::Running => self.stop(now, Grace::DEFAULT),
                    Phase::Closing { .. } | Phase::Terminating { .. } | Phase::Killing { .. } | Phase::Over => None,
                }
            }
        };
        self.note_over(now);
        action
    }

    /// Time has passed.
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

    /// When to call [`Self::tick`], unless something happens before.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        match self.phase {
            Phase::Running => self.lonely_at(),
            Phase::Closing { until, .. } | Phase::Terminating { until } => Some(until),
            Phase::Killing { again, until } => Some(again.min(until)),
            Phase::Over => self.over_since.map(|since| since + FAREWELL),
        }
    }

    /// The supervisor has nothing left to do.
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
            // Asked again, it can only become quicker.
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

/// A time that a server chose may be absurd; a year is as good as for ever.
fn later(now: Instant, time: Duration) -> Instant {
    now + time.min(Duration::from_secs(365 * 24 * 60 * 60))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spec;

    const SECOND: Duration = Duration::from_secs(1);
    const GRACE: Grace = Grace { after_close: SECOND, after_term: Duration::from_secs(2) };

    /// Lets time pass up to `until`, and tells when what was done.
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
        // The first was replaced; the second is still there.
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
