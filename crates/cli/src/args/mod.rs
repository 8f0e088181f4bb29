//! The command line, parsed once. Each family of commands has a file with its arguments.

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
pub(crate) use self::asks::{AnswerArgs, AskArgs, ListArgs, RefuseArgs};
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
    /// Where the server keeps its files (also SAYSO_DATA_DIR)
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// What to do; without it, what waits for you.
    #[command(subcommand)]
    pub(crate) command: Option<CliCommand>,
}

/// Everything `sayso` does.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum CliCommand {
    /// See and answer everything that waits
    Inbox,
    /// Answer the next ask here
    Next,
    /// List what waits for you
    Ls(ListArgs),
    /// Show everything about an ask
    Show {
        /// The ask: its id, or the end of it
        #[arg(add = completion::asks())]
        id: String,
        /// Add the agent's request as it arrived
        #[arg(long)]
        raw: bool,
    },
    /// List what was decided, by whom and how fast
    History {
        /// How many at most
        #[arg(short = 'n', long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=500))]
        limit: u32,
    },
    /// Answer a question
    Answer(AnswerArgs),
    /// Approve a tool call, a plan or a link
    Approve {
        /// The ask: its id, or the end of it
        #[arg(add = completion::asks())]
        id: String,
        /// One of the agent's own ways to say yes: its number or id
        #[arg(long, value_name = "CHOICE")]
        choice: Option<String>,
        /// Approve this input instead, as JSON
        #[arg(long, value_name = "JSON")]
        input: Option<String>,
    },
    /// Deny a tool call, a plan or a link
    Deny(RefuseArgs),
    /// Say that no answer will come
    Reject(RefuseArgs),
    /// Hide an ask for a while; not a no
    Snooze {
        /// The ask: its id, or the end of it
        #[arg(add = completion::asks())]
        id: String,
        /// For how long (30m, 2h), or `off` to bring it back
        #[arg(value_name = "TIME")]
        time: OnOff,
    },
    /// Start an agent here and answer it
    Start(StartArgs),
    /// List sessions, and act on one
    Sessions {
        /// What to do; without it, list those that are open
        #[command(subcommand)]
        action: Option<SessionAction>,
        /// List those that are over, too
        #[arg(long)]
        all: bool,
    },
    /// List the agents that can be started
    Agents,
    /// Let your own agent ask here, too; shows the change first
    Connect {
        /// Your agent
        agent: ConnectAgent,
        /// The server that you run, as `opencode serve` prints it, or the socket of Codex; no file is changed then
        url: Option<String>,
        /// OpenCode: the variable that holds the password of that server
        #[arg(long, value_name = "VARIABLE", requires = "url")]
        password_env: Option<String>,
        /// OpenCode: the name that goes with the password, if it is not the usual one
        #[arg(long, value_name = "NAME", requires = "url")]
        user: Option<String>,
        /// Where and how
        #[command(flatten)]
        to: ConnectArgs,
    },
    /// Take back what `connect` changed
    Disconnect {
        /// Your agent
        agent: ConnectAgent,
        /// Only this server of yours
        url: Option<String>,
        /// Where and how
        #[command(flatten)]
        to: ConnectArgs,
    },
    /// Ask a person, and print the answer
    #[command(after_help = "Exit code: 0 answered or approved, 3 rejected or denied, 4 nobody answered in time, 1 error.")]
    Ask(AskArgs),
    /// Show, edit and explain your policy
    Policy {
        /// What to do; without it, show what is in force
        #[command(subcommand)]
        action: Option<PolicyAction>,
    },
    /// Allow a command for a while
    Allow {
        /// The command as in a rule: 'cargo test *'
        #[arg(required = true, value_name = "CMD")]
        command: Vec<String>,
        /// For how long: 30m, 2h
        #[arg(long = "for", value_name = "TIME")]
        time: Span,
        /// Only in this project
        #[arg(long, value_name = "DIR")]
        project: Option<PathBuf>,
    },
    /// Let your away rules apply, until you are back
    Away {
        /// For how long (2h), or `off`; without it, until `sayso away off`
        #[arg(value_name = "TIME")]
        time: Option<OnOff>,
    },
    /// Run, check, list and cancel workflows
    Workflow {
        /// What to do
        #[command(subcommand)]
        action: WorkflowAction,
    },
    /// Run the server in this terminal
    Serve(ServeArgs),
    /// Show the server and how much waits
    Status {
        /// One short line for a status bar; silent without a server
        #[arg(long)]
        line: bool,
    },
    /// Stop the server and start it again in the background
    Restart {
        /// Use this program from now on, instead of another installed one
        #[arg(long)]
        take_over: bool,
    },
    /// Stop the server; agents go on, and asks are kept
    Stop {
        /// End the agents, too; their sessions can be resumed
        #[arg(long)]
        all: bool,
    },
    /// Show the log of the server
    Logs(LogsArgs),
    /// Let an agent ask, over MCP on standard input and output
    Mcp(McpArgs),
    /// Be an editor's agent, over ACP on standard input and output
    Acp(AcpArgs),
    /// Tell Sayso what your own agent asks; the agent runs this
    Hook {
        /// Whose hook
        agent: HookAgent,
        /// How long somebody may be faster than Codex's own prompt: 20s at most
        #[arg(long, value_name = "TIME")]
        hold: Option<Span>,
    },
    /// Be an agent that asks, over ACP on standard input and output
    MockAgent,
    /// Check that everything is in order
    Doctor,
    /// Make, list and revoke tokens
    Token {
        /// What to do
        #[command(subcommand)]
        action: TokenAction,
    },
    /// List and test what tells you that something waits
    Notify {
        /// What to do
        #[command(subcommand)]
        action: NotifyAction,
    },
    /// Sign a phone in with a QR code
    Phone(PhoneArgs),
    /// Start the server when you log in
    Service {
        /// What to do
        #[command(subcommand)]
        action: ServiceAction,
    },
    /// Print a link that opens the page in a browser
    Login {
        /// Open it, too
        #[arg(long)]
        open: bool,
    },
    /// Copy the database into a file, while the server runs
    Backup {
        /// The file to write; it must not be there yet
        file: PathBuf,
    },
    /// Remove what Sayso wrote on this machine
    Uninstall(UninstallArgs),
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the manual pages into a directory
    Man {
        /// The directory; it is created if it does not exist
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
}

impl CliCommand {
    /// Whether this is about a server that may be elsewhere; the rest is about this machine.
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
            | Self::Approve { .. }
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
