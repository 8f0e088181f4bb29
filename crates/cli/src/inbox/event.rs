//! The events that the model receives, and the effects that it returns.

use std::time::Duration;

use crossterm::event::KeyEvent;
use sayso_client::api::ask::{ApproveRequest, Ask, AskFiles, FileDiff, NoRequest};
use sayso_client::api::event::FeedEvent;
use sayso_client::api::session::Session;
use sayso_core::time::Time;

use super::rule::{Rule, Trial};

/// An event for the model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Event {
    Key(KeyEvent),
    Paste(String),
    /// Time has passed, or the size of the terminal changed.
    Tick,
    /// The first page of a long list of asks, to show while the others are loaded.
    First(Vec<Ask>),
    /// All pending asks and open sessions.
    Loaded {
        asks: Vec<Ask>,
        sessions: Vec<Session>,
    },
    /// The current state of one ask.
    Fetched(Box<Ask>),
    /// The files that the command of an ask executes. `None` if they cannot be read.
    Files {
        id: String,
        files: Option<Box<AskFiles>>,
    },
    /// An ask could not be loaded.
    NotFetched {
        id: String,
        offline: bool,
    },
    /// An ask was snoozed, or is shown again.
    Snoozed(Box<Ask>),
    Feed(Box<FeedEvent>),
    /// The connection was lost; the next attempt starts after this time.
    Lost {
        after: Duration,
    },
    /// The connection is back.
    Back,
    /// The server accepted a decision.
    Sent(Box<Ask>),
    /// The server did not accept a decision.
    NotSent {
        id: String,
        why: NotSent,
    },
    /// The editor was closed.
    Edited {
        id: String,
        text: Result<String, String>,
    },
    /// The transcript of a session.
    Session(String),
    /// A message for the person.
    Told(String),
    /// The state of the away profile.
    Away(Away),
    /// The result of trying a rule.
    Tried(Rule, Result<Trial, String>),
    /// The result of saving a rule.
    RuleSaved(Result<(), String>),
    /// The agents that can be started.
    Agents(Result<Vec<String>, String>),
    /// The result of starting a session.
    Started(Result<(), String>),
}

/// State of the away profile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Away {
    /// The policy has no such profile.
    #[default]
    Unknown,
    Off,
    On {
        /// `None`: until it is turned off.
        until: Option<Time>,
    },
}

/// Why a decision was not accepted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NotSent {
    /// Someone else decided first. Contains the decided ask.
    TooLate(Box<Ask>),
    /// A file that the command executes has changed. The ask is still pending.
    ContentChanged(Vec<FileDiff>),
    /// The server cannot be reached.
    Offline,
    /// The server refused with this message.
    Refused(String),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Decision {
    Answer { answers: Vec<Vec<String>>, note: Option<String> },
    Reject(NoRequest),
    Approve(ApproveRequest),
    Deny(NoRequest),
}

/// An action for the caller of the model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Effect {
    /// Load one complete ask.
    Fetch(String),
    /// Load the files that the command of an ask executes.
    ReadFiles(String),
    /// Send a decision.
    Send {
        id: String,
        decision: Decision,
    },
    /// Snooze an ask until this time, or show it again.
    Snooze {
        id: String,
        until: Option<Time>,
    },
    /// Send a message to the agent.
    Message {
        session: String,
        text: String,
    },
    /// Open this text in the editor.
    Edit {
        id: String,
        text: String,
        suffix: &'static str,
    },
    /// Copy this text to the clipboard.
    Copy(String),
    /// Open this address in the browser.
    Browse(String),
    /// Load the transcript of a session.
    Session(String),
    /// Find out what a rule would decide.
    TryRule(Rule),
    /// Activate a rule until this time, or permanently.
    SaveRule {
        rule: Rule,
        until: Option<Time>,
    },
    /// Load the list of agents.
    Agents,
    Start {
        agent: String,
        directory: String,
        prompt: String,
    },
    /// Go to a tmux pane.
    Jump(String),
    /// Ring the terminal bell.
    Bell,
    /// Stop the process like Ctrl-Z.
    Suspend,
    /// Draw the whole screen again.
    Redraw,
    Quit,
}
