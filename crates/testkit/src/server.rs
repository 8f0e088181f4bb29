//! A real server in this process.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use sayso_api::token::{NewToken, Role};
use sayso_client::Client;
use sayso_server::{Clock, FakeClock, Options, Server};
use tempfile::TempDir;

use crate::agent_script::AgentScript;
use crate::watch::{Watch, within};

/// Settings that a test can change before its server starts.
#[derive(Debug)]
pub struct Setup {
    /// The server's own options. The directories and the address are already set.
    pub options: Options,
    /// The text of `policy.toml`.
    pub policy: Option<String>,
    /// The text of `config.toml`.
    pub config: Option<String>,
}

impl Setup {
    /// Adds a scripted agent.
    pub fn agent(&mut self, name: &str, script: &AgentScript) {
        self.options.embedded.push(script.embedded(name));
    }

    /// Gives the server a clock that only advances when the test moves it.
    pub fn fake_clock(&mut self) -> Arc<FakeClock> {
        let clock = FakeClock::at(sayso_client::now());
        self.options.clock = Clock::Fake(Arc::clone(&clock));
        clock
    }
}

/// A real server on a free port of the loopback interface, with temporary directories. Unless a test sets it, there is
/// no grace period for deadlines after a start.
#[derive(Debug)]
pub struct TestServer {
    /// `None` only during a restart.
    server: Option<Server>,
    options: Options,
    client: Client,
    dir: TempDir,
}

impl TestServer {
    /// Starts a server with default settings. It is healthy when this returns.
    ///
    /// # Errors
    /// If the server does not start.
    pub async fn start() -> Result<Self> {
        Self::with(|_| {}).await
    }

    /// Starts a server with changed settings.
    ///
    /// # Errors
    /// If the server does not start.
    pub async fn with(change: impl FnOnce(&mut Setup)) -> Result<Self> {
        let dir = tempfile::Builder::new().prefix("sayso-test-").tempdir().context("no temporary directory")?;
        let at = |name: &str| -> Result<PathBuf> {
            let path = dir.path().join(name);
            std::fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
            Ok(path)
        };
        let mut options = Options::new(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), at("data")?, at("config")?);
        options.home = Some(at("home")?);
        options.grace = Duration::ZERO;
        at("home/project")?;
        let mut setup = Setup { options, policy: None, config: None };
        change(&mut setup);
        let Setup { mut options, policy, config } = setup;
        for (name, text) in [("policy.toml", policy), ("config.toml", config)] {
            if let Some(text) = text {
                std::fs::write(options.config_dir.join(name), text).with_context(|| format!("cannot write {name}"))?;
            }
        }
        let server = Server::start(options.clone()).await?;
        // A restart uses the same address, like a real restart.
        options.listen = server.address();
        let client = Client::new(server.url(), server.token())?;
        within("the server to be healthy", async { Ok(client.health().await?) }).await?;
        Ok(Self { server: Some(server), options, client, dir })
    }

    /// The admin's client.
    #[must_use]
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// A client with this token, or without a token if it is empty.
    ///
    /// # Errors
    /// If the token contains invalid characters.
    pub fn client_with(&self, token: &str) -> Result<Client> {
        Ok(Client::new(&self.url(), token)?)
    }

    /// A client with a new token of this role, without further restrictions.
    ///
    /// # Errors
    /// If the server does not create the token.
    pub async fn client_as(&self, role: Role, name: &str) -> Result<Client> {
        let new = NewToken {
            role,
            actor: name.to_owned(),
            session_id: None,
            labels: BTreeMap::new(),
            agent: None,
            project: None,
            expires_in: None,
        };
        let created = self.client.create_token(&new).await?;
        self.client_with(&created.token.unwrap_or_default())
    }

    /// Watches all events from now on.
    ///
    /// # Errors
    /// If the server does not return its feed position.
    pub async fn watch(&self) -> Result<Watch> {
        Watch::start(&self.client).await
    }

    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.options.listen)
    }

    #[must_use]
    pub fn token(&self) -> &str {
        self.server.as_ref().map_or("", Server::token)
    }

    /// The data directory, which contains the database.
    #[must_use]
    pub fn data_dir(&self) -> &Path {
        &self.options.data_dir
    }

    /// The directory of `policy.toml`.
    #[must_use]
    pub fn config_dir(&self) -> &Path {
        &self.options.config_dir
    }

    /// A directory inside the home directory, for sessions to work in.
    #[must_use]
    pub fn project(&self) -> PathBuf {
        self.dir.path().join("home/project")
    }

    /// Restarts the server with the same directories and address.
    ///
    /// # Errors
    /// If the server does not start again.
    pub async fn restart(&mut self) -> Result<()> {
        self.restart_after(async |_| Ok(())).await
    }

    /// Stops the server, runs `between` on the data directory, and starts the server again.
    ///
    /// # Errors
    /// If `between` fails, or if the server does not start again.
    pub async fn restart_after(&mut self, between: impl AsyncFnOnce(&Path) -> Result<()>) -> Result<()> {
        if let Some(server) = self.server.take() {
            server.stop().await;
        }
        between(&self.options.data_dir).await?;
        self.server = Some(Server::start(self.options.clone()).await?);
        within("the server to be healthy", async { Ok(self.client.health().await?) }).await?;
        Ok(())
    }

    /// Stops the server. The directories exist until the returned value is dropped.
    pub async fn stop(mut self) -> TempDir {
        if let Some(server) = self.server.take() {
            server.stop().await;
        }
        self.dir
    }
}
