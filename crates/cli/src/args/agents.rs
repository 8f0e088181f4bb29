//! Arguments of the commands that start, connect and serve agents.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use sayso_core::time::Span;

use super::values::Label;

/// Arguments of `sayso start`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct StartArgs {
    /// Name of the agent; list them with `sayso agents`
    pub(crate) agent: String,
    /// First prompt; asked for in a terminal or read from standard input if omitted
    pub(crate) prompt: Option<String>,
    /// Working directory of the agent [default: this directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Model to use
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// Permission mode of the agent
    #[arg(long, value_name = "MODE")]
    pub(crate) permission_mode: Option<String>,
    /// Attach a label; can be repeated
    #[arg(long = "label", value_name = "KEY=VALUE")]
    pub(crate) labels: Vec<Label>,
}

/// Arguments of `sayso sessions …`.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum SessionAction {
    /// Show a session and its pending asks
    Show {
        /// ID of the session, or any unique suffix of it
        id: String,
    },
    /// Send a message to the agent
    Message {
        /// ID of the session, or any unique suffix of it
        id: String,
        /// Text of the message
        text: String,
        /// If an ask is pending that the message does not answer, deliver the message later
        #[arg(long)]
        queue: bool,
    },
    /// Stop the current turn
    Interrupt {
        /// ID of the session, or any unique suffix of it
        id: String,
    },
    /// End a session
    Stop {
        /// ID of the session, or any unique suffix of it
        id: String,
    },
    /// Resume a session
    Resume {
        /// ID of the session, or any unique suffix of it
        id: String,
    },
    /// Print the transcript
    Log {
        /// ID of the session, or any unique suffix of it
        id: String,
    },
}

/// Agents that `sayso connect` can configure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ConnectAgent {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
    /// OpenCode
    Opencode,
}

/// Arguments of `sayso connect` and `sayso disconnect`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
pub(crate) struct ConnectArgs {
    /// Which configuration to change
    #[arg(long, value_enum, default_value = "user")]
    pub(crate) scope: ConfigScope,
    /// Apply the change without asking
    #[arg(long)]
    pub(crate) yes: bool,
    /// Show the change, but don't apply it
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
    /// Codex: how long its own prompt waits for an answer in Sayso, at most 20s
    #[arg(long, value_name = "TIME")]
    pub(crate) hold: Option<Span>,
}

/// The configuration to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ConfigScope {
    /// Yours, in all projects
    User,
    /// The project's, shared with everyone who works on it
    Project,
    /// Yours, in this project only
    Local,
}

/// Agents that have hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HookAgent {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
}

/// Arguments of `sayso mcp`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct McpArgs {
    /// File with the agent's token [default: SAYSO_AGENT_TOKEN, then the token that `sayso connect` created]
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// How long a tool call may wait for a person, for example 50s; the agent gets later answers with get_answer
    #[arg(long, value_name = "TIME")]
    pub(crate) wait: Option<Span>,
}

/// Arguments of `sayso acp`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct AcpArgs {
    /// Agent to run; if omitted, the editor names one
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// What to do with running turns when the editor disconnects
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = OnClose::Interrupt)]
    pub(crate) on_close: OnClose,
}

/// What happens to running turns when the editor disconnects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnClose {
    /// Let turns continue; their asks stay in the inbox
    Keep,
    /// Interrupt turns
    Interrupt,
}
