//! The command line, parsed once. Each family of commands has its own file of arguments.

mod agents;
mod asks;
mod help;
mod rules;
mod server;
#[cfg(test)]
mod tests;
mod values;

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use sayso_core::time::Span;

use crate::completion;

pub(crate) use self::agents::{
    AcpArgs, ConfigScope, ConnectAgent, ConnectArgs, HookAgent, McpArgs, OnClose, SessionAction, StartArgs,
};
pub(crate) use self::asks::{AnswerArgs, ApproveArgs, AskArgs, ListArgs, RefuseArgs};
pub(crate) use self::help::{command, parse, refuse};
pub(crate) use self::rules::{PolicyAction, WorkflowAction};
pub(crate) use self::server::{
    LogsArgs, NotifyAction, PhoneArgs, ServeArgs, ServiceAction, TokenAction, TokenRole, UninstallArgs,
};
pub(crate) use self::values::{Label, OnOff};

/// Your agents act on your say-so.
#[derive(Debug, Clone, PartialEq, Eq, Parser)]
#[command(name = "sayso", version = env!("SAYSO_VERSION"), about = "Your agents act on your say-so.", disable_help_subcommand = true)]
pub(crate) struct Args {
    /// Print JSON: one document, or one per line for streams
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Data directory of the server [env: SAYSO_DATA_DIR]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Command to run; opens the inbox if omitted
    #[command(subcommand)]
    pub(crate) command: Option<CliCommand>,
}

/// The subcommands of `sayso`.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum CliCommand {
    /// View and answer pending asks
    Inbox,
    /// Answer the next pending ask
    Next,
    /// List pending asks
    #[command(alias = "list")]
    Ls(ListArgs),
    /// Show the details of an ask
    Show {
        /// ID of the ask, or any unique suffix of it
        #[arg(add = completion::asks())]
        id: String,
        /// Include the agent's original request
        #[arg(long)]
        raw: bool,
    },
    /// List past decisions: who decided, and how fast
    History {
        /// Maximum number of decisions
        #[arg(short = 'n', long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=500))]
        limit: u32,
    },
    /// Answer a question
    Answer(AnswerArgs),
    /// Approve a tool call, a plan or a link
    Approve(ApproveArgs),
    /// Deny a tool call, a plan or a link
    Deny(RefuseArgs),
    /// Reject a question
    Reject(RefuseArgs),
    /// Snooze an ask without deciding it
    Snooze {
        /// ID of the ask, or any unique suffix of it
        #[arg(add = completion::asks())]
        id: String,
        /// How long (30m, 2h), or `off` to show the ask again
        #[arg(value_name = "TIME")]
        time: OnOff,
    },
    /// Start an agent here and answer its asks
    Start(StartArgs),
    /// List and manage sessions
    Sessions {
        /// Action; lists open sessions if omitted
        #[command(subcommand)]
        action: Option<SessionAction>,
        /// Include ended sessions
        #[arg(long)]
        all: bool,
    },
    /// List available agents
    Agents,
    /// Connect your own agent to Sayso; previews the change
    Connect {
        /// Agent to connect
        agent: ConnectAgent,
        /// Connect to a server that you run instead: the address of `opencode serve`, or the socket of Codex
        url: Option<String>,
        /// OpenCode: environment variable with the server's password
        #[arg(long, value_name = "VARIABLE", requires = "url")]
        password_env: Option<String>,
        /// OpenCode: user name for the password, if you changed it
        #[arg(long, value_name = "NAME", requires = "url")]
        user: Option<String>,
        /// Which configuration to change, and how
        #[command(flatten)]
        to: ConnectArgs,
    },
    /// Undo the changes of `sayso connect`
    Disconnect {
        /// Agent to disconnect
        agent: ConnectAgent,
        /// Disconnect only this server
        url: Option<String>,
        /// Which configuration to change, and how
        #[command(flatten)]
        to: ConnectArgs,
    },
    /// Ask a person and print the answer
    #[command(after_help = "Exit code: 0 answered or approved, 3 rejected or denied, 4 no answer in time, 1 error.")]
    Ask(AskArgs),
    /// Show, edit, check and explain your policy
    Policy {
        /// Action; shows the active policy if omitted
        #[command(subcommand)]
        action: Option<PolicyAction>,
    },
    /// Allow a command temporarily
    Allow {
        /// Command as in a rule, for example 'cargo test *'
        #[arg(required = true, value_name = "CMD")]
        command: Vec<String>,
        /// How long, for example 30m or 2h
        #[arg(long = "for", value_name = "TIME")]
        time: Span,
        /// Allow the command only in this project
        #[arg(long, value_name = "DIR")]
        project: Option<PathBuf>,
    },
    /// Turn your away rules on or off
    Away {
        /// How long (2h), or `off`; stays on until `sayso away off` if omitted
        #[arg(value_name = "TIME")]
        time: Option<OnOff>,
    },
    /// Run, check, list and cancel workflows
    Workflow {
        /// Action
        #[command(subcommand)]
        action: WorkflowAction,
    },
    /// Run the server in this terminal
    Serve(ServeArgs),
    /// Show the server and the number of pending asks
    Status {
        /// Print one short line for a status bar, or nothing without a server
        #[arg(long)]
        line: bool,
    },
    /// Restart the server in the background
    Restart {
        /// Make this program the owner of the data directory
        #[arg(long)]
        take_over: bool,
    },
    /// Stop the server; agents keep running, asks are kept
    Stop {
        /// Also stop the agents; their sessions can be resumed
        #[arg(long)]
        all: bool,
    },
    /// Show the server log
    Logs(LogsArgs),
    /// Run an MCP server on stdin and stdout, for agents
    Mcp(McpArgs),
    /// Run an ACP agent on stdin and stdout, for editors
    Acp(AcpArgs),
    /// Forward asks of your own agent; run by the agent
    Hook {
        /// Agent that runs this hook
        agent: HookAgent,
        /// How long Codex's own prompt waits for an answer in Sayso, at most 20s
        #[arg(long, value_name = "TIME")]
        hold: Option<Span>,
    },
    /// Run a mock ACP agent on stdin and stdout, for tests
    MockAgent,
    /// Check the installation and suggest fixes
    Doctor,
    /// Create, list and revoke tokens
    Token {
        /// Action
        #[command(subcommand)]
        action: TokenAction,
    },
    /// List and test notification channels
    Notify {
        /// Action
        #[command(subcommand)]
        action: NotifyAction,
    },
    /// Sign in on a phone with a QR code
    Phone(PhoneArgs),
    /// Run the server as a service that starts at login
    Service {
        /// Action
        #[command(subcommand)]
        action: ServiceAction,
    },
    /// Print a link that opens Sayso in a browser
    Login {
        /// Also open the link in your browser
        #[arg(long)]
        open: bool,
    },
    /// Back up the database while the server runs
    Backup {
        /// File to create; must not exist yet
        file: PathBuf,
    },
    /// Remove Sayso's files from this machine
    Uninstall(UninstallArgs),
    /// Print shell completions
    Completions {
        /// Shell to print completions for
        shell: clap_complete::Shell,
    },
    /// Write manual pages to a directory
    Man {
        /// Directory to write to; created if it does not exist
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
}

impl CliCommand {
    /// Returns true for commands that call a server, which may be remote. All others are about this machine.
    pub(crate) const fn calls_a_server(&self) -> bool {
        match self {
            Self::Serve(_)
            | Self::Restart { .. }
            | Self::Stop { .. }
            | Self::Logs(_)
            | Self::Connect { .. }
            | Self::Disconnect { .. }
            | Self::Hook { .. }
            | Self::MockAgent
            | Self::Service { .. }
            | Self::Backup { .. }
            | Self::Uninstall(_)
            | Self::Completions { .. }
            | Self::Man { .. } => false,
            Self::Inbox
            | Self::Next
            | Self::Ls(_)
            | Self::Show { .. }
            | Self::History { .. }
            | Self::Answer(_)
            | Self::Approve(_)
            | Self::Deny(_)
            | Self::Reject(_)
            | Self::Snooze { .. }
            | Self::Start(_)
            | Self::Sessions { .. }
            | Self::Agents
            | Self::Ask(_)
            | Self::Policy { .. }
            | Self::Allow { .. }
            | Self::Away { .. }
            | Self::Workflow { .. }
            | Self::Status { .. }
            | Self::Mcp(_)
            | Self::Acp(_)
            | Self::Notify { .. }
            | Self::Doctor
            | Self::Token { .. }
            | Self::Phone(_)
            | Self::Login { .. } => true,
        }
    }
}
