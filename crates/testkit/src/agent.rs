//! A scripted agent that asks.

use anyhow::{Context as _, Result, bail};
use sayso_api::ask::Ask;
use sayso_api::event::{Event, FeedEvent};
use sayso_api::session::{NewSession, Session, SessionStatus, TranscriptQuery};
use sayso_client::Client;

use crate::watch::Watch;

/// A session with the mock agent. The prompt is the script: `question 3 times`, `approve`, `plan`, `parallel` and so
/// on.
#[derive(Debug)]
pub struct ScriptedAgent {
    client: Client,
    session: Session,
    watch: Watch,
}

impl ScriptedAgent {
    /// Starts a session.
    ///
    /// # Errors
    /// If the server does not start a session.
    pub async fn start(client: &Client, script: &str) -> Result<Self> {
        let new = NewSession { agent: "mock".to_owned(), prompt: Some(script.to_owned()), ..NewSession::default() };
        Self::with(client, &new).await
    }

    /// Starts a session with more settings than a prompt.
    ///
    /// # Errors
    /// If the server does not start a session.
    pub async fn with(client: &Client, new: &NewSession) -> Result<Self> {
        let session = client.start_session(new).await?;
        let watch = Watch::session(client, &session.id);
        Ok(Self { client: client.clone(), session, watch })
    }

    #[must_use]
    pub fn session(&self) -> &str {
        &self.session.id
    }

    /// The events of the session, from its start.
    pub fn watch(&mut self) -> &mut Watch {
        &mut self.watch
    }

    /// The next ask of the session.
    ///
    /// # Errors
    /// If no further ask arrives.
    pub async fn asks(&mut self) -> Result<Ask> {
        let session = self.session.id.clone();
        let requested = |event: &FeedEvent| event.name().ends_with(".requested");
        let event = self.watch.until(&format!("an ask of {session}"), requested).await?;
        event.event.ask().map(|carried| carried.ask.clone()).context("the event carries no ask")
    }

    /// Waits until the turn has ended, and returns the agent's last message.
    ///
    /// # Errors
    /// If the turn does not end, or if the session failed.
    pub async fn finished(&mut self) -> Result<String> {
        let ended = |event: &FeedEvent| match &event.event {
            Event::SessionStatus(changed) => changed.status == SessionStatus::Idle,
            other => matches!(other, Event::SessionEnded(_)),
        };
        self.watch.until("the end of the turn", ended).await?;
        let session = self.client.session(&self.session.id).await?;
        if session.status == SessionStatus::Failed {
            bail!("the session failed: {}", session.reason.unwrap_or_default());
        }
        self.last_message().await
    }

    /// The last message in the transcript.
    ///
    /// # Errors
    /// If the transcript cannot be read or contains no message.
    pub async fn last_message(&self) -> Result<String> {
        let mut query = TranscriptQuery::default();
        let mut last = None;
        loop {
            let page = self.client.transcript(&self.session.id, &query).await?;
            let texts = page.data.iter().filter(|block| block["type"] == "message" && block["role"] == "assistant");
            last = texts.filter_map(|block| block["text"].as_str()).next_back().map(str::to_owned).or(last);
            match page.next_cursor {
                Some(cursor) => query.cursor = Some(cursor),
                None => return last.context("the agent said nothing"),
            }
        }
    }
}
