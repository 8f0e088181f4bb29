//! Calls for asks: list, open, wait and decide.

use std::time::Duration;

use sayso_api::ask::{
    AnswerRequest, ApproveRequest, Ask, AskFiles, AskPage, AskQuery, AskStatus, ExternalNews, ExternalNewsTaken, GetAskQuery,
    InputKind, NewAsk, NoRequest, Question, QuestionOption, SnoozeRequest, WithdrawByKeyQuery, WithdrawQuery,
};
use sayso_api::notice::NewNotice;
use sayso_core::time::Time;

use crate::backoff::Backoff;
use crate::client::Client;
use crate::error::Error;

/// How long one call waits for an outcome, and how much longer its reply may take.
const WAIT: Duration = Duration::from_secs(30);
const REPLY: Duration = Duration::from_secs(15);

/// How many times a wait is retried after the connection was lost. With pauses of up to 5 s, that is about ten minutes.
const LOST: u32 = 120;

/// An ask with one question: a choice if there are options, otherwise free text.
#[must_use]
pub fn question(text: &str, options: &[&str]) -> NewAsk {
    let input = if options.is_empty() { InputKind::Text } else { InputKind::Choice };
    let options = options
        .iter()
        .map(|label| QuestionOption {
            value: None,
            label: (*label).to_owned(),
            description: None,
            preview: None,
            recommended: false,
        })
        .collect();
    let question = Question {
        key: None,
        header: None,
        text: text.to_owned(),
        input,
        multiple: false,
        custom: true,
        required: true,
        response_schema: None,
        secret: false,
        minimum: None,
        maximum: None,
        integer: false,
        options,
        preselected: None,
    };
    NewAsk { questions: Some(vec![question]), ..NewAsk::default() }
}

impl Client {
    /// Lists asks, one page per call.
    ///
    /// # Errors
    /// If the server refuses the request or cannot be reached.
    pub async fn asks(&self, query: &AskQuery) -> Result<AskPage, Error> {
        self.get_with(&["asks"], query).await
    }

    /// Lists all pending asks and returns the feed position to stream from.
    ///
    /// # Errors
    /// If the server refuses the request or cannot be reached.
    pub async fn pending_asks(&self) -> Result<AskPage, Error> {
        let mut query = AskQuery { status: Some("pending".to_owned()), limit: Some(500), ..AskQuery::default() };
        let mut whole = self.asks(&query).await?;
        while let Some(cursor) = whole.next_cursor.take() {
            query.cursor = Some(cursor);
            let more = self.asks(&query).await?;
            // Keep the `seq` of the first page: an ask that was opened later appears again in the stream.
            whole.data.extend(more.data);
            whole.next_cursor = more.next_cursor;
        }
        whole.truncated = false;
        Ok(whole)
    }

    /// Returns one ask.
    ///
    /// # Errors
    /// If the server refuses the request or cannot be reached.
    pub async fn ask(&self, id: &str) -> Result<Ask, Error> {
        self.get(&["asks", id]).await
    }

    /// Returns one ask with the agent's original request.
    ///
    /// # Errors
    /// If the server refuses the request or cannot be reached.
    pub async fn ask_raw(&self, id: &str) -> Result<Ask, Error> {
        self.get_with(&["asks", id], &GetAskQuery { wait: None, raw: Some(true) }).await
    }

    /// Opens an ask.
    ///
    /// # Errors
    /// If the server refuses the request or cannot be reached.
    pub async fn open_ask(&self, ask: &NewAsk) -> Result<Ask, Error> {
        self.post(&["asks"], ask).await
    }

    /// Returns an ask once it has an outcome, or in its current state after `wait` (at most one minute).
    ///
    /// # Errors
    /// If the server refuses the request or cannot be reached.
    pub async fn wait_once(&self, id: &str, wait: Duration) -> Result<Ask, Error> {
        let query = GetAskQuery { wait: Some(format!("{}s", wait.as_secs())), raw: None };
        self.get_within(wait + REPLY, &["asks", id], &query).await
    }

    /// Reports an event of an agent that the user runs outside Sayso.
    ///
    /// # Errors
    /// If the server refuses the request or cannot be reached.
    pub async fn report_external_event(&self, news: &ExternalNews) -> Result<ExternalNewsTaken, Error> {
        self.post(&["external"], news).await
    }

    /// Waits without a time limit until an ask has an outcome. The wait survives a restart of the server. Dropping the
    /// future has no effect on the ask.
    ///
    /// # Errors
    /// If the server refuses the request, or cannot be reached for several minutes.
    pub async fn wait_for_outcome(&self, id: &str) -> Result<Ask, Error> {
        let query = GetAskQuery { wait: Some(format!("{}s", WAIT.as_secs())), raw: None };
        let mut backoff = Backoff::new(Duration::from_millis(200), Duration::from_secs(5));
        loop {
            match self.get_within::<Ask>(WAIT + REPLY, &["asks", id], &query).await {
                Ok(ask) if ask.status != AskStatus::Pending => return Ok(ask),
                Ok(_) => backoff.reset(),
                Err(Error::Unreachable { .. }) if backoff.attempt() < LOST => tokio::time::sleep(backoff.next()).await,
                Err(error) => return Err(error),
            }
        }
    }

    /// Opens an ask and waits for its outcome.
    ///
    /// # Errors
    /// See [`Self::open_ask`] and [`Self::wait_for_outcome`].
    pub async fn ask_and_wait(&self, ask: &NewAsk) -> Result<Ask, Error> {
        let opened = self.open_ask(ask).await?;
        if opened.status == AskStatus::Pending {
            self.wait_for_outcome(&opened.id).await?;
        }
        self.receive(&opened.id).await
    }

    /// Receives the outcome of an ask that this token opened. The outcome counts as delivered from then on. Only this
    /// call returns secret answers in plain text, and only once.
    ///
    /// # Errors
    /// If the ask has no outcome yet, or was opened by another token.
    pub async fn receive(&self, id: &str) -> Result<Ask, Error> {
        self.post(&["asks", id, "receipt"], &serde_json::json!({})).await
    }

    /// Answers the questions of an ask.
    ///
    /// # Errors
    /// If the answers do not fit the questions, or if the ask already has an outcome; see [`Error::already_resolved`].
    pub async fn answer(&self, id: &str, answer: &AnswerRequest) -> Result<Ask, Error> {
        self.post(&["asks", id, "answer"], answer).await
    }

    /// Rejects the questions of an ask.
    ///
    /// # Errors
    /// If the ask already has an outcome; see [`Error::already_resolved`].
    pub async fn reject(&self, id: &str, no: &NoRequest) -> Result<Ask, Error> {
        self.post(&["asks", id, "reject"], no).await
    }

    /// Returns the current content of the files that the command of an approval executes.
    ///
    /// # Errors
    /// If this token may not answer, or if the ask is unknown.
    pub async fn ask_files(&self, id: &str) -> Result<AskFiles, Error> {
        self.get(&["asks", id, "files"]).await
    }

    /// Approves an approval or a link.
    ///
    /// # Errors
    /// If the ask already has an outcome; see [`Error::already_resolved`].
    pub async fn approve(&self, id: &str, yes: &ApproveRequest) -> Result<Ask, Error> {
        self.post(&["asks", id, "approve"], yes).await
    }

    /// Denies an approval or a link.
    ///
    /// # Errors
    /// If the ask already has an outcome; see [`Error::already_resolved`].
    pub async fn deny(&self, id: &str, no: &NoRequest) -> Result<Ask, Error> {
        self.post(&["asks", id, "deny"], no).await
    }

    /// Snoozes an ask until a time; `None` ends the snooze.
    ///
    /// # Errors
    /// If the server refuses the request or cannot be reached.
    pub async fn snooze(&self, id: &str, until: Option<Time>) -> Result<Ask, Error> {
        self.post(&["asks", id, "snooze"], &SnoozeRequest { until }).await
    }

    /// Sends a notice to people without waiting for a reaction.
    ///
    /// # Errors
    /// If the server refuses the request or cannot be reached.
    pub async fn notify(&self, notice: &NewNotice) -> Result<(), Error> {
        self.post_without_reply(&["notices"], notice).await
    }

    /// Withdraws an ask that this token opened.
    ///
    /// # Errors
    /// If the ask already has an outcome, or was opened by another token.
    pub async fn withdraw(&self, id: &str) -> Result<(), Error> {
        self.delete(&["asks", id]).await
    }

    /// Withdraws an ask that this token opened, with a reason for people.
    ///
    /// # Errors
    /// If the ask already has an outcome, or was opened by another token.
    pub async fn withdraw_with_reason(&self, id: &str, reason: &str) -> Result<(), Error> {
        self.delete_with(&["asks", id], &WithdrawQuery { reason: Some(reason.to_owned()) }).await
    }

    /// Withdraws the pending ask that this token opened with this `dedupeKey`.
    ///
    /// # Errors
    /// If no such ask is pending; see [`Error::is_not_found`].
    pub async fn withdraw_by_key(&self, dedupe_key: &str, reason: Option<&str>) -> Result<(), Error> {
        let query = WithdrawByKeyQuery { dedupe_key: dedupe_key.to_owned(), reason: reason.map(str::to_owned) };
        self.delete_with(&["asks"], &query).await
    }
}
