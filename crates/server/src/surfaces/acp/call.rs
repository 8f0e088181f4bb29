//! Calls of the conversation to the sessions, and their replies.

use sayso_api::ask::Ask;
use sayso_api::error::ErrorCode;
use sayso_api::session::{MessageAccepted, NewSession, Session, SessionPage, Transcript};

/// One call. Calls are executed one after another, in the order in which they were requested.
#[derive(Debug, Clone, PartialEq)]
pub enum SessionCall {
    Create(Box<NewSession>),
    /// Read one session with its pending asks.
    Look {
        session: String,
    },
    /// Read a page of the transcript.
    Transcript {
        session: String,
        /// The cursor of the page.
        cursor: Option<String>,
    },
    /// Read a page of the session list.
    List {
        /// The cursor of the page.
        cursor: Option<String>,
    },
    /// Send a message to the agent.
    Message {
        session: String,
        text: String,
    },
    Interrupt {
        session: String,
    },
    /// Change the permission mode.
    SetMode {
        session: String,
        mode: String,
    },
    /// Resume a session that has ended.
    Resume {
        session: String,
    },
    /// Read the complete ask of a shortened event.
    Whole {
        ask: String,
    },
    Decide {
        ask: String,
        /// The decision of the person.
        verdict: Verdict,
    },
}

/// The decision of the person at the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The answers, one list per question.
    Answer(Vec<Vec<String>>),
    Reject,
    Approve {
        /// The agent's choice that the person selected.
        choice: Option<String>,
    },
    Deny,
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    Session(Box<Session>),
    Transcript(Transcript),
    Sessions(SessionPage),
    /// The result of sending a message.
    Said(Box<MessageAccepted>),
    Ask(Box<Ask>),
}

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The error code, if the server responded.
    pub code: Option<ErrorCode>,
    /// The description for people.
    pub message: String,
}
