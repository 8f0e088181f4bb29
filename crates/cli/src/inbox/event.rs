//! What comes into the model, and what it wants done.

use std::time::Duration;

use crossterm::event::KeyEvent;
use sayso_client::api::ask::{ApproveRequest, Ask, AskFiles, FileDiff, NoRequest};
use sayso_client::api::event::FeedEvent;
use sayso_client::api::session::Session;
use sayso_core::time::Time;

use super::rule::{Rule, Trial};

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Event {
    /// A key.
    Key(KeyEvent),
    /// Text that was pasted.
    Paste(String),
    /// Time went on, or the terminal has another size.
    Tick,
    /// The first asks of many, to look at while the others are read.
    First(Vec<Ask>),
    /// Everything that waits, and the sessions that are open.
    Loaded { asks: Vec<Ask>, sessions: Vec<Session> },
    /// One ask as it is now.
    Fetched(Box<Ask>),
    /// The files that the command of an ask executes. `None` if they cannot be read.
    Files { id: String, files: Option<Box<AskFiles>> },
    /// An ask could not be read.
    NotFetched { id: String, offline: bool },
    /// An ask was snoozed, or brought back.
    Snoozed(Box<Ask>),
    /// An event of the feed.
    Feed(Box<FeedEvent>),
    /// The connection is lost; it is tried again after this long.
    Lost { after: Duration },
    /// It is back.
    Back,
    /// A decision was taken.
    Sent(Box<Ask>),
    /// A decision was not taken.
    NotSent { id: String, why: NotSent },
    /// The editor was closed.
    Edited { id: String, text: Result<String, String> },
    /// What was said and done in a session.
    Session(String),
    /// Something to say.
    Told(String),
    /// Whether the away rules apply.
    Away(Away),
    /// What a rule would do.
    Tried(Rule, Result<Trial, String>),
    /// A rule is in force, or why not.
    RuleSaved(Result<(), String>),
    /// The agents that can be started.
    Agents(Result<Vec<String>, String>),
    /// A session began, or why not.
    Started(Result<(), String>),
}

/// Whether the person is away.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Away {
    /// There are no rules for that.
    #[default]
    Unknown,
    Off,
    On {
        /// Nothing: until it is switched off.
        until: Option<Time>,
    },
}

/// Why a decision was not taken.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NotSent {
    /// Somebody or something was first: the ask as it stands.
    TooLate(Box<Ask>),
    /// A file that the command executes has changed; the ask still waits.
    ContentChanged(Vec<FileDiff>),
    /// No server answers.
    Offline,
    /// The server said why not.
    Refused(String),
}

/// A decision.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Decision {
    /// The answers to all questions.
    Answer { answers: Vec<Vec<String>>, note: Option<String> },
    /// No answer will come.
    Reject(NoRequest),
    /// Yes.
    Approve(ApproveRequest),
    /// No.
    Deny(NoRequest),
}

/// Something to be done outside.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Effect {
    /// Read one ask, whole.
    Fetch(String),
    /// Read the files that the command of an ask executes.
    ReadFiles(String),
    /// Send a decision.
    Send { id: String, decision: Decision },
    /// Hide an ask until then, or bring it back.
    Snooze { id: String, until: Option<Time> },
    /// Say something to the agent.
    Message { session: String, text: String },
    /// Let the person edit this.
    Edit { id: String, text: String, suffix: &'static str },
    /// Put this on the clipboard.
    Copy(String),
    /// Open an address.
    Browse(String),
    /// Read what was said and done in a session.
    Session(String),
    /// Find out what a rule would do.
    TryRule(Rule),
    /// Put a rule in force until then, or for good.
    SaveRule { rule: Rule, until: Option<Time> },
    /// Read which agents there are.
    Agents,
    /// Start a session.
    Start { agent: String, directory: String, prompt: String },
    /// Go to a pane of tmux.
    Jump(String),
    /// Ring.
    Bell,
    /// Stop until the shell says go on.
    Suspend,
    /// Draw everything again.
    Redraw,
    /// End.
    Quit,
}
