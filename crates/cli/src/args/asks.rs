//! Arguments of the commands that list, answer and open asks.

use clap::Args;
use sayso_core::time::Span;

use super::values::Label;
use crate::completion;

/// Arguments of `sayso ls`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct ListArgs {
    /// Include snoozed asks
    #[arg(long)]
    pub(crate) all: bool,
}

/// Arguments of `sayso answer`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct AnswerArgs {
    /// ID of the ask, or any unique suffix of it
    #[arg(add = completion::asks())]
    pub(crate) id: String,
    /// Option numbers, labels or text, one value per question; `-` reads a value from standard input
    #[arg(value_name = "VALUE")]
    pub(crate) values: Vec<String>,
    /// All answers as JSON, for example '[["SQLite"],["a","b"]]'
    #[arg(long, value_name = "JSON", conflicts_with = "values")]
    pub(crate) answers: Option<String>,
    /// Add a note for the agent
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
}

/// Arguments of `sayso approve`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct ApproveArgs {
    /// ID of the ask, or any unique suffix of it
    #[arg(add = completion::asks())]
    pub(crate) id: String,
    /// Number or ID of one of the agent's own approval choices
    #[arg(long, value_name = "CHOICE")]
    pub(crate) choice: Option<String>,
    /// Approve this input instead of the agent's, as JSON
    #[arg(long, value_name = "JSON")]
    pub(crate) input: Option<String>,
    /// Digest of the executed files that you saw; `sayso show` prints it
    #[arg(long, value_name = "DIGEST")]
    pub(crate) content: Option<String>,
}

/// Arguments of `sayso deny` and `sayso reject`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct RefuseArgs {
    /// ID of the ask, or any unique suffix of it
    #[arg(add = completion::asks())]
    pub(crate) id: String,
    /// Reason, sent to the agent
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) message: Option<String>,
    /// Also stop the agent
    #[arg(long)]
    pub(crate) stop: bool,
}

/// Arguments of `sayso ask`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct AskArgs {
    /// Text of the question
    pub(crate) text: String,
    /// Offer an option; can be repeated
    #[arg(long = "option", value_name = "LABEL")]
    pub(crate) options: Vec<String>,
    /// Allow several options to be chosen
    #[arg(long, requires = "options")]
    pub(crate) multiple: bool,
    /// Accept only the given options, no free text
    #[arg(long, requires = "options")]
    pub(crate) no_custom: bool,
    /// Short heading of the question
    #[arg(long, value_name = "TEXT")]
    pub(crate) header: Option<String>,
    /// Treat the answer as a secret
    #[arg(long, conflicts_with = "options")]
    pub(crate) secret: bool,
    /// Ask for approval of this command instead of asking a question
    #[arg(long, value_name = "CMD", conflicts_with_all = ["options", "secret", "header"])]
    pub(crate) approval: Option<String>,
    /// Give up after this time, for example 10m
    #[arg(long, value_name = "TIME")]
    pub(crate) timeout: Option<Span>,
    /// Background that helps to answer
    #[arg(long, value_name = "TEXT")]
    pub(crate) context: Option<String>,
    /// Attach a label; can be repeated
    #[arg(long = "label", value_name = "KEY=VALUE")]
    pub(crate) labels: Vec<Label>,
    /// Join a pending ask that has the same key
    #[arg(long, value_name = "KEY")]
    pub(crate) dedupe_key: Option<String>,
    /// Print the ID and exit without waiting
    #[arg(long)]
    pub(crate) no_wait: bool,
}
