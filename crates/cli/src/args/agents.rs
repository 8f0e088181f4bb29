//! Arguments of the commands that start, connect and serve agents.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use sayso_core::time::Span;

use super::values::Label;
use crate::completion;

/// `sayso start`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct StartArgs {
    /// The agent's name; see `sayso agents`
    pub(crate) agent: String,
    /// What to tell it; without it you are asked, or standard input is read
    pub(crate) prompt: Option<String>,
    /// Where it works (this directory)
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// The model
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// The agent's permission mode
    #[arg(long, value_name = "MODE")]
    pub(crate) permission_mode: Option<String>,
    /// A label, may be repeated
    #[arg(long = "label", value_name = "KEY=VALUE")]
    pub(crate) labels: Vec<Label>,
}

/// `sayso sessions …`.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum SessionAction {
    /// Show a session and what it waits for
    Show {
        /// The session: its id, or the end of it
        #[arg(add = completion::sessions())]
        id: String,
    },
    /// Say something to the agent
    Message {
        /// The session: its id, or the end of it
        #[arg(add = completion::sessions())]
        id: String,
        /// The words
        text: String,
        /// Deliver it later if something is pending that it does not answer
        #[arg(long)]
        queue: bool,
    },
    /// Stop the current turn
    Interrupt {
        /// The session: its id, or the end of it
        #[arg(add = completion::sessions())]
        id: String,
    },
    /// End a session
    Stop {
        /// The session: its id, or the end of it
        #[arg(add = completion::sessions())]
        id: String,
    },
    /// Take a session up again
    Resume {
        /// The session: its id, or the end of it
        #[arg(add = completion::sessions())]
        id: String,
    },
    /// Print what was said and done
    Log {
        /// The session: its id, or the end of it
        #[arg(add = completion::sessions())]
        id: String,
    },
}

/// The agents that can be connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ConnectAgent {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
    /// OpenCode
    Opencode,
}

/// `sayso connect` and `sayso disconnect`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
pub(crate) struct ConnectArgs {
    /// Whose configuration: yours, the project's here, or yours for the project here
    #[arg(long, value_enum, default_value = "user")]
    pub(crate) scope: ConfigScope,
    /// Write it without asking
    #[arg(long)]
    pub(crate) yes: bool,
    /// Only show the change
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
    /// Codex: how long its own prompt is held up so that somebody can be faster, 20s at most
    #[arg(long, value_name = "TIME")]
    pub(crate) hold: Option<Span>,
}

/// Whose configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ConfigScope {
    /// Yours, everywhere
    User,
    /// The project's, for everybody who works on it
    Project,
    /// Yours, in this project
    Local,
}

/// The agents that have hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HookAgent {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
}

/// `sayso mcp`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct McpArgs {
    /// The file with the agent's token (SAYSO_AGENT_TOKEN, else the one that `sayso connect` made)
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// How long the client waits for a tool: 50s; a call that takes longer returns and is taken up with get_answer
    #[arg(long, value_name = "TIME")]
    pub(crate) wait: Option<Span>,
}

/// `sayso acp`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct AcpArgs {
    /// The agent that works; without it, the editor names one
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// What happens to turns that are under way when the editor goes
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = OnClose::Interrupt)]
    pub(crate) on_close: OnClose,
}

/// What happens to turns that are under way when the editor goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnClose {
    /// They go on, and what they ask stays in the inbox
    Keep,
    /// They are interrupted
    Interrupt,
}
