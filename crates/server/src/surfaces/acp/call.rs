//! What the conversation wants from the sessions, and what it gets.

use sayso_api::ask::Ask;
use sayso_api::error::ErrorCode;
use sayso_api::session::{MessageAccepted, NewSession, Session, SessionPage, Transcript};

/// One call. Calls are made one after another, in the order in which they were wanted.
#[derive(Debug, Clone, PartialEq)]
pub enum SessionCall {
    /// Start a session.
    Create(Box<NewSession>),
    /// One session with its pending asks.
    Look {
        /// Its id.
        session: String,
    },
    /// A page of what was said and done.
    Transcript {
        /// The session.
        session: String,
        /// Where the last page ended.
        cursor: Option<String>,
    },
    /// A page of the sessions.
    List {
        /// Where the last page ended.
        cursor: Option<String>,
    },
    /// Say something to the agent.
    Message {
        /// The session.
        session: String,
        /// The words.
        text: String,
    },
    /// Stop the turn.
    Interrupt {
        /// The session.
        session: String,
    },
    /// Change the permission mode.
    SetMode {
        /// The session.
        session: String,
        /// The mode.
        mode: String,
    },
    /// Take a session up that is over.
    Resume {
        /// The session.
        session: String,
    },
    /// An ask of which the event told only a part.
    Whole {
        /// Its id.
        ask: String,
    },
    /// Decide an ask.
    Decide {
        /// Its id.
        ask: String,
        /// How.
        verdict: Verdict,
    },
}

/// How the person at the client decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The answers, one list per question.
    Answer(Vec<Vec<String>>),
    /// No answer will come.
    Reject,
    /// Yes.
    Approve {
        /// One of the agent's own ways to say it.
        choice: Option<String>,
    },
    /// No.
    Deny,
}

/// What a call gave.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// A session.
    Session(Box<Session>),
    /// A page of a transcript.
    Transcript(Transcript),
    /// A page of sessions.
    Sessions(SessionPage),
    /// What became of a message.
    Said(Box<MessageAccepted>),
    /// An ask.
    Ask(Box<Ask>),
}

/// Why a call gave nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The code, if the server answered.
    pub code: Option<ErrorCode>,
    /// In words.
    pub message: String,
}
