//! Waiting for events without sleeping.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use sayso_api::ask::{Ask, AskQuery, Delivery};
use sayso_api::event::FeedEvent;
use sayso_client::{Client, EventStream, StreamItem};

/// Timeout for every wait in a test. Only failing tests reach it.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Waits for a future with a timeout.
///
/// # Errors
/// If the future fails, or takes longer than [`PATIENCE`].
pub async fn within<T>(what: &str, future: impl Future<Output = Result<T>>) -> Result<T> {
    match tokio::time::timeout(PATIENCE, future).await {
        Ok(done) => done.with_context(|| format!("while waiting for {what}")),
        Err(_) => bail!("waited {PATIENCE:?} for {what}"),
    }
}

/// Waits until the outcome of an ask has reached this delivery state or a later one, and returns the ask. An agent can
/// continue before the delivery is stored.
///
/// # Errors
/// If the ask cannot be read, or does not reach the state in time.
pub async fn reaches(client: &Client, ask: &str, wanted: Delivery) -> Result<Ask> {
    within(&format!("{ask} to be {wanted:?}"), async {
        loop {
            let found = client.ask(ask).await?;
            if found.delivery == Some(wanted) || found.delivery == Some(Delivery::Confirmed) {
                return Ok(found);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await
}

/// How many earlier events are named when a wait fails.
const REMEMBERED: usize = 20;

/// The event stream, read until an expected event arrives.
#[derive(Debug)]
pub struct Watch {
    stream: EventStream,
    /// The last events, for the message of a failed wait.
    seen: VecDeque<String>,
}

impl Watch {
    /// Watches all events that this client sees after this call, even if the stream opens later.
    ///
    /// # Errors
    /// If the server does not return its feed position.
    pub async fn start(client: &Client) -> Result<Self> {
        let page = client.asks(&AskQuery { limit: Some(1), ..AskQuery::default() }).await?;
        Ok(Self::since(client, page.seq))
    }

    /// Watches all events that this client sees after `seq`.
    #[must_use]
    pub fn since(client: &Client, seq: i64) -> Self {
        Self { stream: client.events(Some(seq)), seen: VecDeque::new() }
    }

    /// Watches all events of a session from its start.
    #[must_use]
    pub fn session(client: &Client, session: &str) -> Self {
        Self { stream: client.session_events(session, Some(0)), seen: VecDeque::new() }
    }

    /// The feed position up to which all events were received.
    #[must_use]
    pub const fn position(&self) -> Option<i64> {
        self.stream.position()
    }

    /// The next event, including live-only events.
    ///
    /// # Errors
    /// If the stream is refused, reset, or silent for too long.
    pub async fn next(&mut self) -> Result<FeedEvent> {
        self.until("an event", |_| true).await
    }

    /// The next event that satisfies the condition; earlier events are skipped.
    ///
    /// # Errors
    /// If the stream is refused or reset, or if no such event arrives.
    pub async fn until(&mut self, what: &str, holds: impl Fn(&FeedEvent) -> bool) -> Result<FeedEvent> {
        let found = tokio::time::timeout(PATIENCE, async {
            loop {
                match self.stream.next().await? {
                    StreamItem::Event(event) => {
                        if self.seen.len() == REMEMBERED {
                            self.seen.pop_front();
                        }
                        self.seen.push_back(format!("{} {}", event.seq.unwrap_or_default(), event.name()));
                        if holds(&event) {
                            return Ok(*event);
                        }
                    }
                    StreamItem::Reset { seq } => bail!("the stream was reset to {seq} while waiting for {what}"),
                    StreamItem::Reconnecting { .. } | StreamItem::Reconnected => {}
                }
            }
        })
        .await;
        match found {
            Ok(found) => found,
            Err(_) => {
                let mut seen = String::new();
                for event in &self.seen {
                    let _ = write!(seen, "\n  {event}");
                }
                bail!("waited {PATIENCE:?} for {what}; the last events were:{seen}")
            }
        }
    }

    /// The next event with this name.
    ///
    /// # Errors
    /// See [`Self::until`].
    pub async fn event(&mut self, name: &str) -> Result<FeedEvent> {
        self.until(name, |event| event.name() == name).await
    }

    /// The ask of the next event with this name, for example `question.requested`.
    ///
    /// # Errors
    /// See [`Self::until`]; also if the event contains no ask.
    pub async fn ask(&mut self, name: &str) -> Result<Ask> {
        let event = self.event(name).await?;
        event.event.ask().map(|carried| carried.ask.clone()).with_context(|| format!("{name} carries no ask"))
    }

    /// The next event with this name that concerns this ask.
    ///
    /// # Errors
    /// See [`Self::until`].
    pub async fn about(&mut self, name: &str, ask: &str) -> Result<FeedEvent> {
        self.until(&format!("{name} of {ask}"), |event| event.name() == name && event.event.data_json().contains(ask)).await
    }
}
