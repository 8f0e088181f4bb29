//! Arguments of the commands that run, expose and secure the server.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use sayso_core::time::Span;

use super::values::Label;

/// Arguments of `sayso serve`. `config.toml` has the same settings, for servers that start in the background.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct ServeArgs {
    /// Address to listen on [default: 127.0.0.1:4517]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<SocketAddr>,
    /// Address that other devices use, for links, for example https://box.example
    #[arg(long, value_name = "URL")]
    pub(crate) public_url: Option<String>,
    /// Accept requests for this host name; can be repeated
    #[arg(long = "allow-host", value_name = "HOST")]
    pub(crate) allow_hosts: Vec<String>,
    /// Your TLS certificate in PEM format; other devices must then use https
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Private key of the certificate in PEM format
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
}

/// Arguments of `sayso logs`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct LogsArgs {
    /// Show only lines about this ask: its ID, or any unique suffix of it
    #[arg(long, value_name = "ID")]
    pub(crate) ask: Option<String>,
    /// Keep printing new lines
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// Number of lines
    #[arg(short = 'n', long, default_value_t = 100)]
    pub(crate) lines: usize,
}

/// Arguments of `sayso phone`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct PhoneArgs {
    /// Address of this machine in the phone's network [default: detected]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) address: Option<String>,
    /// Open the server to the network without asking
    #[arg(long)]
    pub(crate) yes: bool,
    /// Close the server to the network again
    #[arg(long, conflicts_with_all = ["address", "yes"])]
    pub(crate) close: bool,
}

/// Arguments of `sayso service …`.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum ServiceAction {
    /// Install the service and start it
    Install {
        /// Address to listen on [default: 127.0.0.1:4517]
        #[arg(long, value_name = "ADDRESS")]
        listen: Option<SocketAddr>,
        /// Show the service file, but don't install it
        #[arg(long)]
        dry_run: bool,
    },
    /// Stop the service and remove it
    Remove {
        /// Show what would be removed, but don't remove it
        #[arg(long)]
        dry_run: bool,
    },
    /// Show whether the service is installed and running
    Status,
}

/// Arguments of `sayso token …`.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum TokenAction {
    /// Create a token and print it; it is shown only once
    Create {
        /// Name of the person or program, recorded with each decision
        name: String,
        /// What the token may do
        #[arg(long)]
        role: TokenRole,
        /// Limit the token to this session
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        /// Limit the token to sessions and asks with this label; can be repeated
        #[arg(long = "label", value_name = "KEY=VALUE")]
        labels: Vec<Label>,
        /// Limit the token to this agent (role agent)
        #[arg(long, value_name = "NAME")]
        agent: Option<String>,
        /// Limit the token to this directory (role agent)
        #[arg(long, value_name = "DIR")]
        project: Option<String>,
        /// Lifetime of the token, for example 12h
        #[arg(long, value_name = "TIME")]
        expires: Option<Span>,
    },
    /// List tokens
    List,
    /// Print the server's address and your token; used by ssh:// addresses
    Own,
    /// Revoke a token
    Revoke {
        /// ID of the token, or any unique suffix of it
        id: String,
    },
}

/// Roles of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TokenRole {
    /// Can do everything
    Admin,
    /// Lists, answers and snoozes asks; starts sessions and sends messages
    Answerer,
    /// Views everything, changes nothing
    Viewer,
    /// Opens asks and views its own
    Agent,
}

/// Arguments of `sayso notify …`.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum NotifyAction {
    /// List the notification channels in config.toml
    List,
    /// Send a test notification
    Test {
        /// Channel to test; tests all channels if omitted
        name: Option<String>,
    },
}

/// Arguments of `sayso uninstall`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
pub(crate) struct UninstallArgs {
    /// Also remove the database, the token, settings and rules
    #[arg(long)]
    pub(crate) purge: bool,
    /// Remove without asking
    #[arg(long)]
    pub(crate) yes: bool,
    /// Show what would be removed, but don't remove it
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
}
