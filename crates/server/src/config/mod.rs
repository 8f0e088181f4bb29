//! How the server is set up: what the command line says, and `config.toml`.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

pub(crate) mod agents;
pub(crate) mod notify;
pub(crate) mod reach;

use self::agents::{AgentConfig, Agents, Embedded};
use crate::clock::Clock;
use notify::{CallbackConfig, NotifyConfig};
use reach::{ReachOptions, ServerSettings};

/// What the command line, or a test, says.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where to listen. Port 0 takes any.
    pub listen: SocketAddr,
    /// Where the database, the token and the logs are.
    pub data_dir: PathBuf,
    /// Where `config.toml` and `policy.toml` are.
    pub config_dir: PathBuf,
    /// The person's home directory.
    pub home: Option<PathBuf>,
    /// The clock.
    pub clock: Clock,
    /// How long after a start or a wake-up no deadline fires.
    pub grace: Duration,
    /// Where the sockets of supervisors are.
    pub runtime_dir: PathBuf,
    /// The program that supervises agents, called with `supervise`.
    pub supervisor: PathBuf,
    /// The variables of whoever started the server.
    pub environment: Vec<(String, String)>,
    /// Agents inside the server beside the mock. The program `sayso` brings none.
    pub embedded: Vec<Embedded>,
    /// How other devices reach it.
    pub reach: ReachOptions,
}

impl Options {
    /// The usual options for these directories.
    #[must_use]
    pub fn new(listen: SocketAddr, data_dir: impl Into<PathBuf>, config_dir: impl Into<PathBuf>) -> Self {
        let data_dir = data_dir.into();
        Self {
            listen,
            data_dir: data_dir.clone(),
            config_dir: config_dir.into(),
            home: std::env::home_dir(),
            clock: Clock::System,
            grace: Duration::from_secs(30),
            runtime_dir: data_dir.join("run"),
            supervisor: std::env::current_exe().unwrap_or_else(|_| PathBuf::from("sayso")),
            environment: std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
                .collect(),
            embedded: Vec::new(),
            reach: ReachOptions::default(),
        }
    }
}

/// `config.toml`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    /// Directories in which sessions may be started; the home directory if there are none.
    pub(crate) roots: Vec<String>,
    /// Host names beside the loopback ones.
    pub(crate) allow_hosts: Vec<String>,
    /// Origins whose pages may call.
    pub(crate) cors_origins: Vec<String>,
    /// Schemes of links that agents can ask to open, in addition to `http` and `https`.
    pub(crate) link_schemes: Vec<String>,
    /// How long the feed is kept.
    pub(crate) keep_events: Option<sayso_core::time::Span>,
    /// How long an agent goes on without a server before it is ended.
    pub(crate) lonely_after: Option<sayso_core::time::Span>,
    /// The agent of sessions that name none, over ACP.
    pub(crate) default_agent: Option<String>,
    /// Agents beside, or instead of, those that are built in.
    pub(crate) agents: BTreeMap<String, AgentConfig>,
    /// How other devices reach the server.
    pub(crate) server: ServerSettings,
    /// How the inbox in a terminal behaves. The server only checks it.
    pub(crate) terminal: TerminalSettings,
    /// The channels that reach people who do not look.
    pub(crate) notify: Vec<NotifyConfig>,
    /// Receivers that callers can name when they open a group.
    pub(crate) callbacks: BTreeMap<String, CallbackConfig>,
}

/// `[terminal]` of `config.toml`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TerminalSettings {
    /// Whether to ring when something new waits.
    pub bell: bool,
    /// Whether the title of the terminal says how much waits.
    pub title: bool,
    /// How long a decision is held, so that it can be taken back.
    pub hold: sayso_core::time::Span,
}

impl Default for TerminalSettings {
    fn default() -> Self {
        Self { bell: true, title: true, hold: sayso_core::time::Span(Duration::from_secs(3)) }
    }
}

impl TerminalSettings {
    /// The settings of whoever has this configuration directory.
    ///
    /// # Errors
    /// When `config.toml` is there and cannot be used.
    pub fn load(config_dir: &Path) -> Result<Self, ConfigError> {
        Config::load(config_dir).map(|config| config.terminal)
    }
}

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// It cannot be read.
    #[error("cannot read {}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It does not parse, or says what cannot be.
    #[error("{} cannot be used: {message}", .path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// Where and why.
        message: String,
    },
}

impl Config {
    pub(crate) fn load(dir: &Path) -> Result<Self, ConfigError> {
        let path = dir.join("config.toml");
        match std::fs::read_to_string(&path) {
            Ok(text) => {
                let refused = |message| ConfigError::Parse { path: path.clone(), message };
                let config: Self = toml::from_str(&text).map_err(|error| refused(error.to_string()))?;
                config.check_link_schemes().map_err(refused)?;
                Ok(config)
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(source) => Err(ConfigError::Io { path, source }),
        }
    }

    /// Refuses schemes that run code in a browser, and text that is not a scheme.
    fn check_link_schemes(&self) -> Result<(), String> {
        const RUN_CODE: [&str; 4] = ["javascript", "data", "vbscript", "blob"];
        let is_scheme = |text: &str| {
            text.starts_with(|first: char| first.is_ascii_alphabetic())
                && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
        };
        let usable = |text: &str| is_scheme(text) && !RUN_CODE.iter().any(|known| text.eq_ignore_ascii_case(known));
        match self.link_schemes.iter().find(|scheme| !usable(scheme)) {
            Some(scheme) => {
                Err(format!("link_schemes: {scheme:?} is not the name of a scheme that opens a program, such as \"vscode\""))
            }
            None => Ok(()),
        }
    }

    /// The agents it names, with those that are built in.
    pub(crate) fn agents(&self, dir: &Path) -> Result<Agents, ConfigError> {
        Agents::new(&self.agents).map_err(|message| ConfigError::Parse { path: dir.join("config.toml"), message })
    }
}

/// The names of the agents that a server with this configuration has.
///
/// # Errors
/// When the configuration cannot be used.
pub fn agent_names(config_dir: &Path) -> Result<Vec<String>, ConfigError> {
    let agents = Config::load(config_dir)?.agents(config_dir)?;
    Ok(agents.all().iter().map(|agent| agent.name.clone()).collect())
}
