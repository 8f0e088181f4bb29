//! Sessions and agents.

use sayso_api::session::{
    AgentList, AgentsStopped, Attachment, ChangeSession, IfPending, MessageAccepted, MessageRequest, NewAttachment, NewSession,
    Session, SessionPage, SessionQuery, Transcript, TranscriptQuery,
};

use crate::client::Client;
use crate::error::Error;

/// An empty JSON object, for calls without parameters.
#[derive(serde::Serialize)]
struct Nothing {}

impl Client {
    /// Starts a session.
    ///
    /// # Errors
    /// If the agent or the directory is not allowed, or if the server cannot be reached.
    pub async fn start_session(&self, session: &NewSession) -> Result<Session, Error> {
        self.post(&["sessions"], session).await
    }

    /// Lists sessions, newest first, one page per call.
    ///
    /// # Errors
    /// If the server refuses the request or cannot be reached.
    pub async fn sessions(&self, query: &SessionQuery) -> Result<SessionPage, Error> {
        self.get_with(&["sessions"], query).await
    }

    /// Returns one session with its pending asks.
    ///
    /// # Errors
    /// If the server refuses the request or cannot be reached.
    pub async fn session(&self, id: &str) -> Result<Session, Error> {
        self.get(&["sessions", id]).await
    }

    /// Returns a page of a session's transcript.
    ///
    /// # Errors
    /// If the server refuses the request or cannot be reached.
    pub async fn transcript(&self, id: &str, query: &TranscriptQuery) -> Result<Transcript, Error> {
        self.get_with(&["sessions", id, "transcript"], query).await
    }

    /// Sends a message to the agent.
    ///
    /// # Errors
    /// `ask_pending` if an ask is pending that a message cannot answer.
    pub async fn message(&self, id: &str, text: &str, if_pending: IfPending) -> Result<MessageAccepted, Error> {
        self.post(&["sessions", id, "messages"], &MessageRequest { text: text.to_owned(), if_pending }).await
    }

    /// Interrupts the current turn.
    ///
    /// # Errors
    /// If the session has ended, or if the server cannot be reached.
    pub async fn interrupt(&self, id: &str) -> Result<Session, Error> {
        self.post(&["sessions", id, "interrupt"], &Nothing {}).await
    }

    /// Requests another permission mode or model. The session has the new settings once the agent confirms them.
    ///
    /// # Errors
    /// `settings_fixed` if the agent cannot change them, and `forbidden` if only an admin may choose the mode.
    pub async fn change_session(&self, id: &str, change: &ChangeSession) -> Result<Session, Error> {
        self.change(reqwest::Method::PATCH, &["sessions", id], change).await
    }

    /// Resumes an ended session.
    ///
    /// # Errors
    /// `not_resumable` if the agent does not support it.
    pub async fn resume(&self, id: &str) -> Result<Session, Error> {
        self.post(&["sessions", id, "resume"], &Nothing {}).await
    }

    /// Ends a session.
    ///
    /// # Errors
    /// If the server refuses the request or cannot be reached.
    pub async fn end_session(&self, id: &str) -> Result<(), Error> {
        self.delete(&["sessions", id]).await
    }

    /// Lists the agents that can be started.
    ///
    /// # Errors
    /// If the server refuses the request or cannot be reached.
    pub async fn agents(&self) -> Result<AgentList, Error> {
        self.get(&["agents"]).await
    }

    /// Attaches to an agent's server that the user started.
    ///
    /// # Errors
    /// If the agent's server cannot be reached, or if Sayso's server refuses the request or cannot be reached.
    pub async fn attach(&self, new: &NewAttachment) -> Result<Attachment, Error> {
        self.post(&["attachments"], new).await
    }

    /// Detaches from an agent's server, which keeps running.
    ///
    /// # Errors
    /// If the server refuses the request or cannot be reached.
    pub async fn detach(&self, id: &str) -> Result<(), Error> {
        self.delete(&["attachments", id]).await
    }

    /// Stops the processes of all agents. Their sessions can be resumed.
    ///
    /// # Errors
    /// If the server refuses the request or cannot be reached.
    pub async fn stop_agents(&self) -> Result<AgentsStopped, Error> {
        self.post(&["agents", "stop"], &Nothing {}).await
    }
}
