//! Waiting for what happens, without sleeping.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use sayso_api::ask::{Ask, AskQuery, Delivery};
use sayso_api::event::FeedEvent;
use sayso_client::{Client, EventStream, StreamItem};

/// How long anything in a test may take. It is only ever reached by a test that fails.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Waits for this, and not for ever.
///
/// # Errors
/// When it fails, or takes longer than [`PATIENCE`].
pub async fn within<T>(what: &str, future: impl Future<Output = Result<T>>) -> Result<T> {
    match tokio::time::timeout(PATIENCE, future).await {
        Ok(done) => done.with_context(|| format!("while waiting for {what}")),
        Err(_) => bail!("waited {PATIENCE:?} for {what}"),
    }
}

/// The ask, as soon as its outcome has come this far, or farther. An agent may go on before that is written down.
///
/// # Errors
/// When it cannot be read, or does not come so far in time.
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

/// How many events of the past are named when nothing more comes.
const REMEMBERED: usize = 20;

/// The event stream, read as a test reads it: until what it waits for is there.
#[derive(Debug)]
pub struct Watch {
    stream: EventStream,
    /// The last ones, for the message when a wait fails.
    seen: VecDeque<String>,
}

impl Watch {
    /// Everything that this client sees from now on: what happens after this call returned is seen,
    /// even if the stream opens later.
    ///
    /// # Errors
    /// When the server does not say where its feed is.
    pub async fn start(client: &Client) -> Result<Self> {
        let page = client.asks(&AskQuery { limit: Some(1), ..AskQuery::default() }).await?;
        Ok(Self::since(client, page.seq))
    }

    /// Everything that this client sees after `seq`.
    #[must_use]
    pub fn since(client: &Client, seq: i64) -> Self {
        Self { stream: client.events(Some(seq)), seen: VecDeque::new() }
    }

    /// Everything that ever happened in a session.
    #[must_use]
    pub fn session(client: &Client, session: &str) -> Self {
        Self { stream: client.session_events(session, Some(0)), seen: VecDeque::new() }
    }

    /// The feed position up to which everything was seen.
    #[must_use]
    pub const fn position(&self) -> Option<i64> {
        self.stream.position()
    }

    /// The next event, live-only ones included.
    ///
    /// # Errors
    /// When the stream is refused, reset, or silent for too long.
    pub async fn next(&mut self) -> Result<FeedEvent> {
        self.until("an event", |_| true).await
    }

    /// The next event for which this holds; those before it are passed over.
    ///
    /// # Errors
    /// When the stream is refused, reset, or the event does not come.
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
    /// As [`Self::until`].
    pub async fn event(&mut self, name: &str) -> Result<FeedEvent> {
        self.until(name, |event| event.name() == name).await
    }

    /// The ask of the next event with this name, e.g. `question.requested`.
    ///
    /// # Errors
    /// As [`Self::until`], and when the event carries no ask.
    pub async fn ask(&mut self, name: &str) -> Result<Ask> {
        let event = self.event(name).await?;
        event.event.ask().map(|carried| carried.ask.clone()).with_context(|| format!("{name} carries no ask"))
    }

    /// The next event with this name that is about this ask.
    ///
    /// # Errors
    /// As [`Self::until`].
    pub async fn about(&mut self, name: &str, ask: &str) -> Result<FeedEvent> {
        self.until(&format!("{name} of {ask}"), |event| event.name() == name && event.event.data_json().contains(ask)).await
    }
}
