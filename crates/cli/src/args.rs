//! The command line, parsed once.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args as ClapArgs, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use sayso_core::time::Span;

/// Your agents act on your say-so.
#[derive(Debug, Clone, PartialEq, Eq, Parser)]
#[command(name = "sayso", version, about = "Your agents act on your say-so.", disable_help_subcommand = true)]
pub(crate) struct Args {
    /// Print JSON: one document, or one per line for streams
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Where the server keeps its files (also SAYSO_DATA_DIR)
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// What to do; without it, what waits for you.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// Everything `sayso` does.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum Command {
    /// See and answer everything that waits
    Inbox,
    /// Answer the next ask here
    Next,
    /// List what waits for you
    Ls(Ls),
    /// Show everything about an ask
    Show {
        /// The ask: its id, or the end of it
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
    Answer(Answer),
    /// Approve a tool call, a plan or a link
    Approve {
        /// The ask: its id, or the end of it
        id: String,
        /// One of the agent's own ways to say yes: its number or id
        #[arg(long, value_name = "CHOICE")]
        choice: Option<String>,
        /// Approve this input instead, as JSON
        #[arg(long, value_name = "JSON")]
        input: Option<String>,
    },
    /// Deny a tool call, a plan or a link
    Deny(No),
    /// Say that no answer will come
    Reject(No),
    /// Hide an ask for a while; not a no
    Snooze {
        /// The ask: its id, or the end of it
        id: String,
        /// For how long (30m, 2h), or `off` to bring it back
        #[arg(value_name = "TIME")]
        time: OnOff,
    },
    /// Start an agent here and answer it
    Start(Start),
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
        to: ConnectTo,
    },
    /// Take back what `connect` changed
    Disconnect {
        /// Your agent
        agent: ConnectAgent,
        /// Only this server of yours
        url: Option<String>,
        /// Where and how
        #[command(flatten)]
        to: ConnectTo,
    },
    /// Ask a person, and print the answer
    #[command(after_help = "Exit code: 0 answered or approved, 3 rejected or denied, 4 nobody answered in time, 1 error.")]
    Ask(Ask),
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
    Serve(Serve),
    /// Show the server and how much waits
    Status {
        /// One short line for a status bar; silent without a server
        #[arg(long)]
        line: bool,
    },
    /// Stop the server and start it again in the background
    Restart,
    /// Stop the server; agents go on, and asks are kept
    Stop {
        /// End the agents, too; their sessions can be resumed
        #[arg(long)]
        all: bool,
    },
    /// Show the log of the server
    Logs {
        /// Keep showing what is added
        #[arg(short, long)]
        follow: bool,
        /// How many lines
        #[arg(short = 'n', long, default_value_t = 100)]
        lines: usize,
    },
    /// Let an agent ask, over MCP on standard input and output
    Mcp(Mcp),
    /// Be an editor's agent, over ACP on standard input and output
    Acp(Acp),
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
    Phone(Phone),
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
    Uninstall(Uninstall),
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

impl Command {
    /// Whether this is about a server that may be elsewhere; the rest is about this machine.
    pub(crate) const fn calls_a_server(&self) -> bool {
        match self {
            Self::Serve(_)
            | Self::Restart
            | Self::Stop { .. }
            | Self::Logs { .. }
            | Self::Connect { .. }
            | Self::Disconnect { .. }
            | Self::Hook { .. }
            | Self::MockAgent
            | Self::Service { .. }
            | Self::Backup { .. }
            | Self::Uninstall(_)
            | Self::Completions { .. } => false,
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

/// `sayso serve`. The same stands in `config.toml`, for servers that start by themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq, ClapArgs)]
pub(crate) struct Serve {
    /// Where to listen (127.0.0.1:4517)
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<SocketAddr>,
    /// The address that other devices use, for links: https://box.example
    #[arg(long, value_name = "URL")]
    pub(crate) public_url: Option<String>,
    /// A host name under which the server may be called, may be repeated
    #[arg(long = "allow-host", value_name = "HOST")]
    pub(crate) allow_hosts: Vec<String>,
    /// Your certificate, in PEM; other devices then have to use https
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Its private key, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
}

/// `sayso phone`.
#[derive(Debug, Clone, PartialEq, Eq, ClapArgs)]
pub(crate) struct Phone {
    /// The address of this machine in the network of the phone (found by itself)
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) address: Option<String>,
    /// Open the network without asking
    #[arg(long)]
    pub(crate) yes: bool,
    /// Close what was opened to the network
    #[arg(long, conflicts_with_all = ["address", "yes"])]
    pub(crate) close: bool,
}

/// `sayso service …`.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum ServiceAction {
    /// Write the service and start it
    Install {
        /// Where to listen (127.0.0.1:4517)
        #[arg(long, value_name = "ADDRESS")]
        listen: Option<SocketAddr>,
        /// Only show what would be written
        #[arg(long)]
        dry_run: bool,
    },
    /// Stop the service and take it away
    Remove {
        /// Only show what would be removed
        #[arg(long)]
        dry_run: bool,
    },
    /// Show whether it is installed and runs
    Status,
}

/// `sayso uninstall`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ClapArgs)]
pub(crate) struct Uninstall {
    /// Remove the database, the token, settings and rules, too
    #[arg(long)]
    pub(crate) purge: bool,
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
    /// Only show what would be removed
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
}

/// `sayso mcp`.
#[derive(Debug, Clone, PartialEq, Eq, ClapArgs)]
pub(crate) struct Mcp {
    /// The file with the agent's token (SAYSO_AGENT_TOKEN, else the one that `sayso connect` made)
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// How long the client waits for a tool: 50s; a call that takes longer returns and is taken up with get_answer
    #[arg(long, value_name = "TIME")]
    pub(crate) wait: Option<Span>,
}

/// `sayso acp`.
#[derive(Debug, Clone, PartialEq, Eq, ClapArgs)]
pub(crate) struct Acp {
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

/// `sayso ls`.
#[derive(Debug, Clone, PartialEq, Eq, ClapArgs)]
pub(crate) struct Ls {
    /// Show what is snoozed, too
    #[arg(long)]
    pub(crate) all: bool,
}

/// `sayso answer`.
#[derive(Debug, Clone, PartialEq, Eq, ClapArgs)]
pub(crate) struct Answer {
    /// The ask: its id, or the end of it
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
#[derive(Debug, Clone, PartialEq, Eq, ClapArgs)]
pub(crate) struct No {
    /// The ask: its id, or the end of it
    pub(crate) id: String,
    /// Why; the agent gets your words
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) message: Option<String>,
    /// Stop the agent, too
    #[arg(long)]
    pub(crate) stop: bool,
}

/// `sayso start`.
#[derive(Debug, Clone, PartialEq, Eq, ClapArgs)]
pub(crate) struct Start {
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

/// `sayso ask`.
#[derive(Debug, Clone, PartialEq, Eq, ClapArgs)]
pub(crate) struct Ask {
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

/// `sayso workflow …`.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum WorkflowAction {
    /// Run a workflow here and answer it
    #[command(after_help = "Exit code: 0 completed, 3 cancelled, 1 failed or error.")]
    Run {
        /// The file
        file: PathBuf,
        /// What the run is given, may be repeated
        #[arg(long = "input", value_name = "NAME=VALUE")]
        inputs: Vec<Label>,
        /// Where its agents work, unless the file says otherwise (this directory)
        #[arg(long, value_name = "DIR")]
        directory: Option<PathBuf>,
        /// A label, may be repeated
        #[arg(long = "label", value_name = "KEY=VALUE")]
        labels: Vec<Label>,
        /// Print the id and do not follow it
        #[arg(long)]
        detach: bool,
    },
    /// Say what is wrong with a file, or what each step does on a question
    Check {
        /// The file
        file: PathBuf,
    },
    /// List runs
    List {
        /// List those that are over, too
        #[arg(long)]
        all: bool,
    },
    /// Show a run, its steps and what it waits for
    Show {
        /// The run: its id, or the end of it
        id: String,
    },
    /// End a run and its agents
    Cancel {
        /// The run: its id, or the end of it
        id: String,
    },
}

/// `sayso sessions …`.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum SessionAction {
    /// Show a session and what it waits for
    Show {
        /// The session: its id, or the end of it
        id: String,
    },
    /// Say something to the agent
    Message {
        /// The session: its id, or the end of it
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
        id: String,
    },
    /// End a session
    Stop {
        /// The session: its id, or the end of it
        id: String,
    },
    /// Take a session up again
    Resume {
        /// The session: its id, or the end of it
        id: String,
    },
    /// Print what was said and done
    Log {
        /// The session: its id, or the end of it
        id: String,
    },
}

/// `sayso policy …`.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum PolicyAction {
    /// Edit your policy, then check it
    Edit,
    /// Check a policy file: yours, if none is named
    Check {
        /// The file
        file: Option<PathBuf>,
    },
    /// Say what the policy does to an ask, and why
    Explain {
        /// The ask: its id, or the end of it
        id: String,
    },
    /// Say what a policy file would do to past and pending asks
    Test {
        /// The file
        file: PathBuf,
        /// How many past asks
        #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1000))]
        history: u32,
    },
    /// Trust the .sayso.toml of a project as it is now
    Trust {
        /// The project
        dir: PathBuf,
    },
}

/// `sayso token …`.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum TokenAction {
    /// Make a token; it is shown this once
    Create {
        /// The name of the person or program; it stands in every outcome
        name: String,
        /// What it may do
        #[arg(long)]
        role: Role,
        /// Only this session
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        /// Only what has this label, may be repeated
        #[arg(long = "label", value_name = "KEY=VALUE")]
        labels: Vec<Label>,
        /// Ends after this long: 12h
        #[arg(long, value_name = "TIME")]
        expires: Option<Span>,
    },
    /// List tokens
    List,
    /// Print where the server is and your token for it; ssh:// reads this
    Own,
    /// Revoke a token
    Revoke {
        /// The token: its id, or the end of it
        id: String,
    },
}

/// `sayso notify …`.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum NotifyAction {
    /// List the channels of config.toml
    List,
    /// Send a test through one channel, or all of them
    Test {
        /// The channel; all of them without it
        name: Option<String>,
    },
}

/// The roles of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Role {
    /// Everything
    Admin,
    /// Lists, answers, snoozes, starts and talks to sessions
    Answerer,
    /// Reads
    Viewer,
    /// Opens asks and reads those
    Agent,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, ClapArgs)]
pub(crate) struct ConnectTo {
    /// Whose configuration: yours, the project's here, or yours for the project here
    #[arg(long, value_enum, default_value = "user")]
    pub(crate) scope: Scope,
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
pub(crate) enum Scope {
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

/// A label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Label {
    /// Before the `=`.
    pub(crate) key: String,
    /// After it.
    pub(crate) value: String,
}

impl std::str::FromStr for Label {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((key, value)) if !key.is_empty() => Ok(Self { key: key.to_owned(), value: value.to_owned() }),
            Some(_) | None => Err("a label looks like team=shop".to_owned()),
        }
    }
}

/// A length of time, or `off`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnOff {
    /// For this long.
    For(Span),
    /// No longer.
    Off,
}

impl std::str::FromStr for OnOff {
    type Err = sayso_core::time::ParseSpanError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "off" { Ok(Self::Off) } else { text.parse().map(Self::For) }
    }
}

/// The commands by what they are for, in the order in which they are shown.
const GROUPS: &[(&str, &[&str])] = &[
    ("Answer", &["inbox", "next", "ls", "show", "history", "answer", "approve", "deny", "reject", "snooze"]),
    ("Agents", &["start", "connect", "disconnect", "sessions", "agents"]),
    ("Scripts", &["ask"]),
    ("Rules", &["policy", "allow", "away"]),
    ("Flows", &["workflow"]),
    (
        "Server",
        &[
            "serve",
            "status",
            "restart",
            "stop",
            "logs",
            "doctor",
            "notify",
            "service",
            "phone",
            "token",
            "login",
            "backup",
            "uninstall",
            "completions",
        ],
    ),
    ("Programs", &["hook", "mcp", "acp", "mock-agent"]),
];

/// The parser, with the commands grouped in its help.
pub(crate) fn command() -> clap::Command {
    let command = Args::command();
    let mut help = String::from("{about}\n\nUsage: sayso [OPTIONS] [COMMAND]\n\nWithout a command: what waits for you.\n");
    for (group, names) in GROUPS {
        help.push_str(&format!("\n{group}\n"));
        for name in *names {
            let about = command.find_subcommand(name).and_then(clap::Command::get_about).map(ToString::to_string);
            help.push_str(&format!("  {name:<12} {}\n", about.unwrap_or_default()));
        }
    }
    help.push_str("\nOptions\n{options}\n\nAn ID is the end of one that only one ask or session has: …4f2a is 4f2a.");
    command.help_template(help)
}

/// Reads the command line of this process; says what is wrong with it and ends the process if it is.
pub(crate) fn parse() -> Args {
    let matches = command().get_matches();
    Args::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Args, clap::Error> {
        let words = std::iter::once("sayso").chain(line.split_whitespace());
        Args::from_arg_matches(&command().try_get_matches_from(words)?)
    }

    fn good(line: &str) -> Command {
        parse(line).unwrap_or_else(|error| panic!("{line}: {error}")).command.unwrap()
    }

    #[test]
    fn the_parser_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn every_command_is_in_one_group_with_one_line_of_help() {
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let mut all: Vec<String> = Args::command().get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
        grouped.sort_unstable();
        all.sort_unstable();
        assert_eq!(grouped, all);
        for sub in Args::command().get_subcommands() {
            let about = sub.get_about().map(ToString::to_string).unwrap_or_default();
            assert!(!about.is_empty() && about.len() <= 60 && !about.ends_with('.'), "{}: {about}", sub.get_name());
            assert!(!sub.is_hide_set(), "{}", sub.get_name());
        }
    }

    #[test]
    fn help() {
        insta::assert_snapshot!("help", command().term_width(100).render_help().to_string());
        let mut command = command();
        for name in ["ask", "answer", "policy", "phone", "serve", "service", "sessions", "token", "workflow"] {
            let sub = command.find_subcommand_mut(name).unwrap().clone().term_width(100);
            insta::assert_snapshot!(format!("help_{name}"), sub.bin_name(format!("sayso {name}")).render_help().to_string());
        }
    }

    #[test]
    fn lines_mean_what_they_say() {
        assert_eq!(parse("").unwrap(), Args { json: false, data_dir: None, command: None });
        let args = parse("ls --json --data-dir /x").unwrap();
        assert_eq!((args.json, args.data_dir), (true, Some("/x".into())));
        let Command::Answer(answer) = good("answer 4f2a SQLite 2 --note later") else { panic!() };
        assert_eq!(
            (answer.id.as_str(), answer.values.as_slice(), answer.note.as_deref()),
            ("4f2a", &["SQLite".to_owned(), "2".to_owned()][..], Some("later"))
        );
        let Command::Deny(no) = good("deny 4f2a -m no --stop") else { panic!() };
        assert_eq!(no, No { id: "4f2a".into(), message: Some("no".into()), stop: true });
        assert_eq!(good("snooze 4f2a 30m"), Command::Snooze { id: "4f2a".into(), time: OnOff::For("30m".parse().unwrap()) });
        assert_eq!(good("snooze 4f2a off"), Command::Snooze { id: "4f2a".into(), time: OnOff::Off });
        assert_eq!(good("away"), Command::Away { time: None });
        assert_eq!(good("away off"), Command::Away { time: Some(OnOff::Off) });
        let allow = Command::Allow {
            command: vec!["cargo".into(), "test".into(), "*".into()],
            time: "1h".parse().unwrap(),
            project: None,
        };
        assert_eq!(good("allow cargo test * --for 1h"), allow);
        assert_eq!(good("sessions"), Command::Sessions { action: None, all: false });
        assert_eq!(
            good("serve --listen 127.0.0.1:0"),
            Command::Serve(Serve { listen: Some("127.0.0.1:0".parse().unwrap()), ..Serve::default() })
        );
        assert_eq!(good("status --line"), Command::Status { line: true });
        assert_eq!(good("logs -f"), Command::Logs { follow: true, lines: 100 });
        let Command::Ask(ask) = good("ask Which? --option A --option B --multiple --timeout 10m --label a=b") else { panic!() };
        assert_eq!((ask.options.len(), ask.multiple, ask.labels[0].value.as_str()), (2, true, "b"));
    }

    #[test]
    fn wrong_lines_are_usage_errors() {
        for line in [
            "nonsense",
            "answer",
            "answer 4f2a x --answers []",
            "allow",
            "allow x",
            "snooze 4f2a",
            "snooze 4f2a soon",
            "away tomorrow",
            "ask",
            "ask x --multiple",
            "ask x --secret --option a",
            "ask x --approval ls --option a",
            "start",
            "history -n 0",
            "token create ada",
            "token create ada --role king",
            "policy test",
            "start mock hi --label x",
            "serve --listen here",
            "serve --tls-cert c.pem",
            "phone --close --yes",
            "service",
            "uninstall --yes --dry-run",
        ] {
            let error = parse(line).expect_err(line);
            assert_eq!(error.exit_code(), 2, "{line}");
        }
    }
}
