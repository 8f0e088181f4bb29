//! Arguments of the commands that list, answer and open asks.

use clap::Args;
use sayso_core::time::Span;

use super::values::Label;
use crate::completion;

/// `sayso ls`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct ListArgs {
    /// Show what is snoozed, too
    #[arg(long)]
    pub(crate) all: bool,
}

/// `sayso answer`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct AnswerArgs {
    /// The ask: its id, or the end of it
    #[arg(add = completion::asks())]
    pub(crate) id: String,
    /// Numbers, labels or text; one value per question if there are several; `-` reads it from standard input
    #[arg(value_name = "VALUE")]
    pub(crate) values: Vec<String>,
    /// All answers as JSON, taken as they are: '[["SQLite"],["a","b"]]'
    #[arg(long, value_name = "JSON", conflicts_with = "values")]
    pub(crate) answers: Option<String>,
    /// Add something for the agent
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
}

/// `sayso deny` and `sayso reject`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct RefuseArgs {
    /// The ask: its id, or the end of it
    #[arg(add = completion::asks())]
    pub(crate) id: String,
    /// Why; the agent gets your words
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) message: Option<String>,
    /// Stop the agent, too
    #[arg(long)]
    pub(crate) stop: bool,
}

/// `sayso ask`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct AskArgs {
    /// What to ask
    pub(crate) text: String,
    /// Something to choose, may be repeated
    #[arg(long = "option", value_name = "LABEL")]
    pub(crate) options: Vec<String>,
    /// Several options may be chosen
    #[arg(long, requires = "options")]
    pub(crate) multiple: bool,
    /// Only the options, no text of their own
    #[arg(long, requires = "options")]
    pub(crate) no_custom: bool,
    /// A short name for the question
    #[arg(long, value_name = "TEXT")]
    pub(crate) header: Option<String>,
    /// The answer is secret
    #[arg(long, conflicts_with = "options")]
    pub(crate) secret: bool,
    /// Ask whether this command may run, instead of a question
    #[arg(long, value_name = "CMD", conflicts_with_all = ["options", "secret", "header"])]
    pub(crate) approval: Option<String>,
    /// Give up after this long: 10m
    #[arg(long, value_name = "TIME")]
    pub(crate) timeout: Option<Span>,
    /// What a person should know first
    #[arg(long, value_name = "TEXT")]
    pub(crate) context: Option<String>,
    /// A label, may be repeated
    #[arg(long = "label", value_name = "KEY=VALUE")]
    pub(crate) labels: Vec<Label>,
    /// Two pending asks with the same key are one
    #[arg(long, value_name = "KEY")]
    pub(crate) dedupe_key: Option<String>,
    /// Print the id and do not wait
    #[arg(long)]
    pub(crate) no_wait: bool,
}
