//! The configuration of the server: command-line options and `config.toml`.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

pub(crate) mod agents;
pub(crate) mod language;
pub(crate) mod notify;
pub(crate) mod reach;

use self::agents::{AgentConfig, Agents, Embedded};
use crate::clock::Clock;
use notify::{CallbackConfig, NotifyConfig};
use reach::{ReachOptions, ServerSettings};

/// Options from the command line or a test.
#[derive(Debug, Clone)]
pub struct Options {
    /// The address to listen at. Port 0 selects any free port.
    pub listen: SocketAddr,
    /// The directory of the database, the token and the logs.
    pub data_dir: PathBuf,
    /// The directory of `config.toml` and `policy.toml`.
    pub config_dir: PathBuf,
    /// The person's home directory.
    pub home: Option<PathBuf>,
    /// The source of the current time.
    pub clock: Clock,
    /// How long no deadline fires after a start or after the machine wakes up.
    pub grace: Duration,
    /// The directory of supervisors' sockets.
    pub runtime_dir: PathBuf,
    /// The program that supervises agents, called with the argument `supervise`.
    pub supervisor: PathBuf,
    /// The environment of the process that started the server.
    pub environment: Vec<(String, String)>,
    /// Agents inside the server, in addition to the mock. The program `sayso` adds none.
    pub embedded: Vec<Embedded>,
    /// How other devices reach the server.
    pub reach: ReachOptions,
}

impl Options {
    /// Creates options with default values for these directories.
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
    /// Directories in which sessions may be started. Defaults to the home directory.
    pub(crate) roots: Vec<String>,
    /// Host names in addition to the loopback names.
    pub(crate) allow_hosts: Vec<String>,
    /// Origins whose pages may call the API.
    pub(crate) cors_origins: Vec<String>,
    /// Schemes of links that agents can ask to open, in addition to `http` and `https`.
    pub(crate) link_schemes: Vec<String>,
    /// The retention of events.
    pub(crate) keep_events: Option<sayso_core::time::Span>,
    /// How long an agent runs without a server before it is stopped.
    pub(crate) lonely_after: Option<sayso_core::time::Span>,
    /// The agent of ACP sessions that do not name one.
    pub(crate) default_agent: Option<String>,
    /// Agents that extend or replace the built-in ones.
    pub(crate) agents: BTreeMap<String, AgentConfig>,
    /// How other devices reach the server.
    pub(crate) server: ServerSettings,
    /// Settings of the terminal inbox. The server only validates them.
    pub(crate) terminal: TerminalSettings,
    /// The notification channels.
    pub(crate) notify: Vec<NotifyConfig>,
    /// Receivers that callers can name when they open a group.
    pub(crate) callbacks: BTreeMap<String, CallbackConfig>,
}

/// `[terminal]` of `config.toml`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TerminalSettings {
    /// Whether to ring the bell for new asks.
    pub bell: bool,
    /// Whether the terminal title shows the number of pending asks.
    pub title: bool,
    /// How long a decision is delayed so that it can be undone.
    pub hold: sayso_core::time::Span,
}

impl Default for TerminalSettings {
    fn default() -> Self {
        Self { bell: true, title: true, hold: sayso_core::time::Span(Duration::from_secs(3)) }
    }
}

impl TerminalSettings {
    /// Loads the settings from a configuration directory.
    ///
    /// # Errors
    /// If `config.toml` exists but is invalid.
    pub fn load(config_dir: &Path) -> Result<Self, ConfigError> {
        Config::load(config_dir).map(|config| config.terminal)
    }
}

/// An invalid configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read {}", .path.display())]
    Io {
        /// The path of the file.
        path: PathBuf,
        /// The cause of the error.
        source: std::io::Error,
    },
    /// The file does not parse, or contains an invalid value.
    #[error("{} cannot be used: {message}", .path.display())]
    Parse {
        /// The path of the file.
        path: PathBuf,
        /// The position and description of the mistake.
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

    /// Returns the configured and built-in agents.
    pub(crate) fn agents(&self, dir: &Path) -> Result<Agents, ConfigError> {
        Agents::new(&self.agents).map_err(|message| ConfigError::Parse { path: dir.join("config.toml"), message })
    }
}

/// Returns the agent names of a server with this configuration.
///
/// # Errors
/// If the configuration is invalid.
pub fn agent_names(config_dir: &Path) -> Result<Vec<String>, ConfigError> {
    let agents = Config::load(config_dir)?.agents(config_dir)?;
    Ok(agents.all().iter().map(|agent| agent.name.clone()).collect())
}
