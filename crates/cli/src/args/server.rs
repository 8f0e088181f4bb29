//! Arguments of the commands that run, reach and secure the server.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use sayso_core::time::Span;

use super::values::Label;

/// `sayso serve`. The same stands in `config.toml`, for servers that start by themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct ServeArgs {
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

/// `sayso logs`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct LogsArgs {
    /// Show only the lines about this ask: its id, or any unique suffix of it
    #[arg(long, value_name = "ID")]
    pub(crate) ask: Option<String>,
    /// Keep showing what is added
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// How many lines
    #[arg(short = 'n', long, default_value_t = 100)]
    pub(crate) lines: usize,
}

/// `sayso phone`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct PhoneArgs {
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

/// `sayso token …`.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum TokenAction {
    /// Make a token; it is shown this once
    Create {
        /// The name of the person or program; it stands in every outcome
        name: String,
        /// What it may do
        #[arg(long)]
        role: TokenRole,
        /// Only this session
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        /// Only what has this label, may be repeated
        #[arg(long = "label", value_name = "KEY=VALUE")]
        labels: Vec<Label>,
        /// Only this agent (role agent)
        #[arg(long, value_name = "NAME")]
        agent: Option<String>,
        /// Only in this directory (role agent)
        #[arg(long, value_name = "DIR")]
        project: Option<String>,
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

/// The roles of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TokenRole {
    /// Everything
    Admin,
    /// Lists, answers, snoozes, starts and talks to sessions
    Answerer,
    /// Reads
    Viewer,
    /// Opens asks and reads those
    Agent,
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

/// `sayso uninstall`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
pub(crate) struct UninstallArgs {
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
