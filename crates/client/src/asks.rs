//! Asks: list, open, wait, decide.

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

/// How long one call waits for an outcome, and how much longer the reply may take.
const WAIT: Duration = Duration::from_secs(30);
const REPLY: Duration = Duration::from_secs(15);

/// How often a wait goes on after the connection was lost, at up to 5 s each: about ten minutes.
const LOST: u32 = 120;

/// An ask with one question: a choice if there are options, else free text.
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
    /// A page of asks.
    ///
    /// # Errors
    /// When the server says no or does not answer.
    pub async fn asks(&self, query: &AskQuery) -> Result<AskPage, Error> {
        self.get_with(&["asks"], query).await
    }

    /// Every ask that is pending, page by page, and the feed position to stream from.
    ///
    /// # Errors
    /// When the server says no or does not answer.
    pub async fn pending_asks(&self) -> Result<AskPage, Error> {
        let mut query = AskQuery { status: Some("pending".to_owned()), limit: Some(500), ..AskQuery::default() };
        let mut whole = self.asks(&query).await?;
        while let Some(cursor) = whole.next_cursor.take() {
            query.cursor = Some(cursor);
            let more = self.asks(&query).await?;
            // `seq` stays that of the first page: an ask that came later is seen again in the stream.
            whole.data.extend(more.data);
            whole.next_cursor = more.next_cursor;
        }
        whole.truncated = false;
        Ok(whole)
    }

    /// One ask.
    ///
    /// # Errors
    /// When the server says no or does not answer.
    pub async fn ask(&self, id: &str) -> Result<Ask, Error> {
        self.get(&["asks", id]).await
    }

    /// One ask with the agent's request as it arrived.
    ///
    /// # Errors
    /// When the server says no or does not answer.
    pub async fn ask_raw(&self, id: &str) -> Result<Ask, Error> {
        self.get_with(&["asks", id], &GetAskQuery { wait: None, raw: Some(true) }).await
    }

    /// Opens an ask.
    ///
    /// # Errors
    /// When the server says no or does not answer.
    pub async fn open_ask(&self, ask: &NewAsk) -> Result<Ask, Error> {
        self.post(&["asks"], ask).await
    }

    /// Reads an ask when it has its outcome, or after this long as it is; at most a minute.
    ///
    /// # Errors
    /// When the server says no or does not answer.
    pub async fn wait_once(&self, id: &str, wait: Duration) -> Result<Ask, Error> {
        let query = GetAskQuery { wait: Some(format!("{}s", wait.as_secs())), raw: None };
        self.get_within(wait + REPLY, &["asks", id], &query).await
    }

    /// Tells what happened where a person runs an agent themselves.
    ///
    /// # Errors
    /// When the server says no or does not answer.
    pub async fn tell_external(&self, news: &ExternalNews) -> Result<ExternalNewsTaken, Error> {
        self.post(&["external"], news).await
    }

    /// Waits until an ask has its outcome, however long that takes. A restart of the server in
    /// between does not matter. Dropping the future changes nothing.
    ///
    /// # Errors
    /// When the server says no, or does not come back for minutes.
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
    /// As [`Self::open_ask`] and [`Self::wait_for_outcome`].
    pub async fn ask_and_wait(&self, ask: &NewAsk) -> Result<Ask, Error> {
        let opened = self.open_ask(ask).await?;
        if opened.status == AskStatus::Pending {
            self.wait_for_outcome(&opened.id).await?;
        }
        self.receive(&opened.id).await
    }

    /// Takes the outcome of an ask that this token opened. From then on it counts as delivered; a
    /// secret answer comes in clear, this once.
    ///
    /// # Errors
    /// When it has no outcome yet, or is not this token's.
    pub async fn receive(&self, id: &str) -> Result<Ask, Error> {
        self.post(&["asks", id, "receipt"], &serde_json::json!({})).await
    }

    /// Answers the questions.
    ///
    /// # Errors
    /// When the answers do not fit, or somebody was first; see [`Error::already_resolved`].
    pub async fn answer(&self, id: &str, answer: &AnswerRequest) -> Result<Ask, Error> {
        self.post(&["asks", id, "answer"], answer).await
    }

    /// Says that no answer will come.
    ///
    /// # Errors
    /// When somebody was first; see [`Error::already_resolved`].
    pub async fn reject(&self, id: &str, no: &NoRequest) -> Result<Ask, Error> {
        self.post(&["asks", id, "reject"], no).await
    }

    /// Reads the files that the command of an approval executes, as they are now.
    ///
    /// # Errors
    /// When this token may not answer, or the ask is unknown.
    pub async fn ask_files(&self, id: &str) -> Result<AskFiles, Error> {
        self.get(&["asks", id, "files"]).await
    }

    /// Says yes to an approval or a link.
    ///
    /// # Errors
    /// When somebody was first; see [`Error::already_resolved`].
    pub async fn approve(&self, id: &str, yes: &ApproveRequest) -> Result<Ask, Error> {
        self.post(&["asks", id, "approve"], yes).await
    }

    /// Says no to an approval or a link.
    ///
    /// # Errors
    /// When somebody was first; see [`Error::already_resolved`].
    pub async fn deny(&self, id: &str, no: &NoRequest) -> Result<Ask, Error> {
        self.post(&["asks", id, "deny"], no).await
    }

    /// Hides an ask until then; with nothing, brings it back.
    ///
    /// # Errors
    /// When the server says no or does not answer.
    pub async fn snooze(&self, id: &str, until: Option<Time>) -> Result<Ask, Error> {
        self.post(&["asks", id, "snooze"], &SnoozeRequest { until }).await
    }

    /// Says something to people, and waits for nothing.
    ///
    /// # Errors
    /// When the server says no or does not answer.
    pub async fn notify(&self, notice: &NewNotice) -> Result<(), Error> {
        self.tell(&["notices"], notice).await
    }

    /// Takes back an ask that this token opened.
    ///
    /// # Errors
    /// When somebody was first, or the ask belongs to somebody else.
    pub async fn withdraw(&self, id: &str) -> Result<(), Error> {
        self.delete(&["asks", id]).await
    }

    /// The same, with a reason for people.
    ///
    /// # Errors
    /// When somebody was first, or the ask belongs to somebody else.
    pub async fn withdraw_because(&self, id: &str, reason: &str) -> Result<(), Error> {
        self.delete_with(&["asks", id], &WithdrawQuery { reason: Some(reason.to_owned()) }).await
    }

    /// Withdraws the pending ask that this token opened with this `dedupeKey`.
    ///
    /// # Errors
    /// When no such ask is pending; see [`Error::is_not_found`].
    pub async fn withdraw_by_key(&self, dedupe_key: &str, reason: Option<&str>) -> Result<(), Error> {
        let query = WithdrawByKeyQuery { dedupe_key: dedupe_key.to_owned(), reason: reason.map(str::to_owned) };
        self.delete_with(&["asks"], &query).await
    }
}
