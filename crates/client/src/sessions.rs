//! Sessions and agents.

use sayso_api::session::{
    AgentList, AgentsStopped, Attachment, ChangeSession, IfPending, MessageAccepted, MessageRequest, NewAttachment, NewSession,
    Session, SessionPage, SessionQuery, Transcript, TranscriptQuery,
};

use crate::client::Client;
use crate::error::Error;

/// An empty JSON object: the body of calls that need none.
#[derive(serde::Serialize)]
struct Nothing {}

impl Client {
    /// Starts a session.
    ///
    /// # Errors
    /// When the agent or the directory may not be used, or the server does not answer.
    pub async fn start_session(&self, session: &NewSession) -> Result<Session, Error> {
        self.post(&["sessions"], session).await
    }

    /// A page of sessions, newest first.
    ///
    /// # Errors
    /// When the server says no or does not answer.
    pub async fn sessions(&self, query: &SessionQuery) -> Result<SessionPage, Error> {
        self.get_with(&["sessions"], query).await
    }

    /// One session with its pending asks.
    ///
    /// # Errors
    /// When the server says no or does not answer.
    pub async fn session(&self, id: &str) -> Result<Session, Error> {
        self.get(&["sessions", id]).await
    }

    /// A page of a session's transcript.
    ///
    /// # Errors
    /// When the server says no or does not answer.
    pub async fn transcript(&self, id: &str, query: &TranscriptQuery) -> Result<Transcript, Error> {
        self.get_with(&["sessions", id, "transcript"], query).await
    }

    /// Says something to the agent.
    ///
    /// # Errors
    /// With `ask_pending` when something is pending that a message does not answer.
    pub async fn message(&self, id: &str, text: &str, if_pending: IfPending) -> Result<MessageAccepted, Error> {
        self.post(&["sessions", id, "messages"], &MessageRequest { text: text.to_owned(), if_pending }).await
    }

    /// Stops the current turn.
    ///
    /// # Errors
    /// When the session is over, or the server does not answer.
    pub async fn interrupt(&self, id: &str) -> Result<Session, Error> {
        self.post(&["sessions", id, "interrupt"], &Nothing {}).await
    }

    /// Asks the agent for another permission mode or model. The session has them as soon as the agent confirms.
    ///
    /// # Errors
    /// With `settings_fixed` when the agent cannot change them, and with `forbidden` when only an admin may choose the mode.
    pub async fn change_session(&self, id: &str, change: &ChangeSession) -> Result<Session, Error> {
        self.change(reqwest::Method::PATCH, &["sessions", id], change).await
    }

    /// Takes a session up again that ended.
    ///
    /// # Errors
    /// With `not_resumable` when the agent cannot.
    pub async fn resume(&self, id: &str) -> Result<Session, Error> {
        self.post(&["sessions", id, "resume"], &Nothing {}).await
    }

    /// Ends a session.
    ///
    /// # Errors
    /// When the server says no or does not answer.
    pub async fn end_session(&self, id: &str) -> Result<(), Error> {
        self.delete(&["sessions", id]).await
    }

    /// The agents that can be started.
    ///
    /// # Errors
    /// When the server says no or does not answer.
    pub async fn agents(&self) -> Result<AgentList, Error> {
        self.get(&["agents"]).await
    }

    /// Listens to a server of an agent that somebody else started.
    ///
    /// # Errors
    /// When it cannot be reached, or the server says no or does not answer.
    pub async fn attach(&self, new: &NewAttachment) -> Result<Attachment, Error> {
        self.post(&["attachments"], new).await
    }

    /// Stops listening to one. Whoever runs it is not disturbed.
    ///
    /// # Errors
    /// When the server says no or does not answer.
    pub async fn detach(&self, id: &str) -> Result<(), Error> {
        self.delete(&["attachments", id]).await
    }

    /// Ends the processes of all agents; their sessions can be resumed.
    ///
    /// # Errors
    /// When the server says no or does not answer.
    pub async fn stop_agents(&self) -> Result<AgentsStopped, Error> {
        self.post(&["agents", "stop"], &Nothing {}).await
    }
}
