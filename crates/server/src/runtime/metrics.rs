//! Counters and gauges for `/metrics`. They never contain text of agents or people.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

use sayso_core::actor::Actor;
use sayso_core::ask::{Ask, OutcomeStatus};
use sayso_store::read::CountPending;
use sayso_store::{EventPayload, StoredEvent};

use super::Runtime;
use crate::auth::{Caller, Permission};
use crate::service::{ServiceError, authorize};

const STATUSES: [OutcomeStatus; 5] =
    [OutcomeStatus::Answered, OutcomeStatus::Rejected, OutcomeStatus::Approved, OutcomeStatus::Denied, OutcomeStatus::Withdrawn];
const ACTORS: [&str; 5] = ["person", "policy", "timeout", "message", "agent"];

#[derive(Debug, Default)]
pub(crate) struct Metrics {
    requests: AtomicU64,
    commits: AtomicU64,
    events: AtomicU64,
    asked: AtomicU64,
    resolved: [[AtomicU64; 5]; 5],
    /// The total time that asks waited for people, in milliseconds.
    waited: AtomicU64,
}

impl Metrics {
    /// Counts a request and returns its number.
    pub(crate) fn request(&self) -> u64 {
        self.requests.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Counts one batch that was committed, and its events.
    pub(crate) fn count(&self, events: &[StoredEvent]) {
        self.commits.fetch_add(1, Ordering::Relaxed);
        self.events.fetch_add(events.len() as u64, Ordering::Relaxed);
        for event in events {
            if let EventPayload::AskRequested(_) = &event.payload {
                self.asked.fetch_add(1, Ordering::Relaxed);
            } else if let EventPayload::AskResolved(ask) = &event.payload {
                self.resolved(ask);
            }
        }
    }

    fn resolved(&self, ask: &Ask) {
        let Some(outcome) = ask.outcome() else { return };
        let actor = match outcome.by {
            Actor::Person { .. } => 0,
            Actor::Policy { .. } => 1,
            Actor::Timeout { .. } => 2,
            Actor::Message { .. } => 3,
            Actor::Agent => 4,
        };
        let status = STATUSES.iter().position(|status| *status == outcome.decision.status()).unwrap_or(0);
        self.resolved[actor][status].fetch_add(1, Ordering::Relaxed);
        if outcome.by.is_person() {
            let waited = u64::try_from(outcome.at.since(ask.opened_at).as_millis()).unwrap_or(u64::MAX);
            self.waited.fetch_add(waited, Ordering::Relaxed);
        }
    }

    /// Renders the counters in the text format of Prometheus.
    pub(crate) fn render(&self) -> String {
        let mut text = String::new();
        let counters = [
            ("sayso_requests_total", "HTTP requests.", &self.requests),
            ("sayso_commits_total", "Batches of operations committed to the disk.", &self.commits),
            ("sayso_events_total", "Events committed.", &self.events),
            ("sayso_asks_total", "Asks shown to a person.", &self.asked),
            ("sayso_person_wait_milliseconds_total", "Time that agents waited for a person.", &self.waited),
        ];
        // Writing to a string cannot fail.
        for (name, help, counter) in counters {
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} counter\n{name} {}", counter.load(Ordering::Relaxed));
        }
        let _ = writeln!(
            text,
            "# HELP sayso_outcomes_total Outcomes by kind and by who decided.\n# TYPE sayso_outcomes_total counter"
        );
        for (actor, counts) in ACTORS.iter().zip(&self.resolved) {
            for (status, count) in STATUSES.iter().zip(counts) {
                let status = status.as_str();
                let _ = writeln!(
                    text,
                    "sayso_outcomes_total{{by=\"{actor}\",status=\"{status}\"}} {}",
                    count.load(Ordering::Relaxed)
                );
            }
        }
        text
    }
}

/// Renders all counters and gauges in the text format of Prometheus.
pub(crate) async fn read(runtime: &Runtime, caller: &Caller) -> Result<String, ServiceError> {
    authorize(caller, Permission::Read)?;
    let services = &runtime.services;
    let count = services.store.read(CountPending { workspace: caller.workspace }).await?;
    let oldest = count.oldest.map_or(0, |oldest| services.clock.now().since(oldest).as_secs());
    let gauges = [
        ("sayso_asks_pending", "Asks that wait for a decision.", count.pending),
        ("sayso_oldest_pending_seconds", "Age of the oldest pending ask.", oldest),
        ("sayso_outbox", "Outcomes and commands that wait to be sent.", count.outbox),
        ("sayso_agents", "Processes of agents that the server is attached to.", *runtime.processes.running().borrow() as u64),
        ("sayso_connections_awake", "Connections with a running task.", runtime.connections.awake() as u64),
        ("sayso_streams", "Open event streams.", runtime.feed.streams() as u64),
        ("sayso_feed_seq", "The last position of the feed.", u64::try_from(runtime.feed.head(caller.workspace)).unwrap_or(0)),
    ];
    let mut text = runtime.metrics.render();
    for (name, help, value) in gauges {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}");
    }
    Ok(text)
}
