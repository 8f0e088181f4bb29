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

/// What a test may change before its server starts.
#[derive(Debug)]
pub struct Setup {
    /// The server's own options. Directories and address are filled in and best left alone.
    pub options: Options,
    /// The text of `policy.toml`.
    pub policy: Option<String>,
    /// The text of `config.toml`.
    pub config: Option<String>,
}

impl Setup {
    /// Adds an agent that does what a script says.
    pub fn agent(&mut self, name: &str, script: &AgentScript) {
        self.options.embedded.push(script.embedded(name));
    }

    /// Lets the server run on a clock that stands still until the test moves it.
    pub fn fake_clock(&mut self) -> Arc<FakeClock> {
        let clock = FakeClock::at(sayso_client::now());
        self.options.clock = Clock::Fake(Arc::clone(&clock));
        clock
    }
}

/// A real server on a free port of the loopback interface, with directories of its own that go when
/// it goes. No deadline waits for the grace time after a start, unless a test sets one.
#[derive(Debug)]
pub struct TestServer {
    /// Absent only while it is being restarted.
    server: Option<Server>,
    options: Options,
    client: Client,
    dir: TempDir,
}

impl TestServer {
    /// Starts one with nothing special. When this returns, it is healthy.
    ///
    /// # Errors
    /// When the server does not start.
    pub async fn start() -> Result<Self> {
        Self::with(|_| {}).await
    }

    /// Starts one that is set up by the test.
    ///
    /// # Errors
    /// When the server does not start.
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
        // A restart comes back at the same address, as a real one does.
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

    /// A client with this token; with none if it is empty.
    ///
    /// # Errors
    /// When the token has characters that no token has.
    pub fn client_with(&self, token: &str) -> Result<Client> {
        Ok(Client::new(&self.url(), token)?)
    }

    /// A client with a new token of this role that sees everything the role may.
    ///
    /// # Errors
    /// When the server does not make the token.
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

    /// Everything that happens from now on.
    ///
    /// # Errors
    /// When the server does not say where its feed is.
    pub async fn watch(&self) -> Result<Watch> {
        Watch::start(&self.client).await
    }

    /// The address to call.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.options.listen)
    }

    /// The admin's token.
    #[must_use]
    pub fn token(&self) -> &str {
        self.server.as_ref().map_or("", Server::token)
    }

    /// Where the database is.
    #[must_use]
    pub fn data_dir(&self) -> &Path {
        &self.options.data_dir
    }

    /// Where `policy.toml` is.
    #[must_use]
    pub fn config_dir(&self) -> &Path {
        &self.options.config_dir
    }

    /// A directory inside the home directory, for sessions to work in.
    #[must_use]
    pub fn project(&self) -> PathBuf {
        self.dir.path().join("home/project")
    }

    /// Stops it and starts it again on the same directories and the same address.
    ///
    /// # Errors
    /// When it does not start again.
    pub async fn restart(&mut self) -> Result<()> {
        self.restart_after(async |_| Ok(())).await
    }

    /// Stops it, lets the test do something with the data directory, and starts it again.
    ///
    /// # Errors
    /// When the test fails meanwhile, or the server does not start again.
    pub async fn restart_after(&mut self, between: impl AsyncFnOnce(&Path) -> Result<()>) -> Result<()> {
        if let Some(server) = self.server.take() {
            server.stop().await;
        }
        between(&self.options.data_dir).await?;
        self.server = Some(Server::start(self.options.clone()).await?);
        within("the server to be healthy", async { Ok(self.client.health().await?) }).await?;
        Ok(())
    }

    /// Stops it. The directories stay until the value that this returns goes.
    pub async fn stop(mut self) -> TempDir {
        if let Some(server) = self.server.take() {
            server.stop().await;
        }
        self.dir
    }
}
