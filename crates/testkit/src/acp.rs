//! The client that is built with the official crates of the Agent Client Protocol, connected to `sayso acp` or to
//! `/acp`.

use std::path::Path;
use std::process::Stdio;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStderr, Command};

use crate::process::acp_client_bin;
use crate::watch::within;

/// The running official client.
#[derive(Debug)]
pub struct AcpClient {
    /// The process of `sayso acp`, if the client uses stdio.
    acp: Option<Child>,
    client: Child,
    told: Lines<BufReader<ChildStderr>>,
}

impl AcpClient {
    /// Starts the client with this `sayso acp` command. The client starts a session with the agent in the directory and
    /// sends the prompts one after another.
    ///
    /// # Errors
    /// If a process cannot be started, or if the session is not created.
    pub async fn stdio(mut acp: Command, directory: &Path, agent: &str, prompts: &[&str]) -> Result<Self> {
        let mut acp = acp.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
        let mut client = client(directory, agent, prompts)?.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        // Connects the pipes of the two processes.
        let (mut to_acp, mut from_acp) = (acp.stdin.take().context("no input")?, acp.stdout.take().context("no output")?);
        let (mut to_client, mut from_client) =
            (client.stdin.take().context("no input")?, client.stdout.take().context("no output")?);
        tokio::spawn(async move { tokio::io::copy(&mut from_client, &mut to_acp).await });
        tokio::spawn(async move { tokio::io::copy(&mut from_acp, &mut to_client).await });
        Self::started(Some(acp), client).await
    }

    /// Starts the client over HTTP with this server and token.
    ///
    /// # Errors
    /// If the client cannot be started, or if the session is not created.
    pub async fn http(url: &str, token: &str, directory: &Path, agent: &str, prompts: &[&str]) -> Result<Self> {
        let mut client = client(directory, agent, prompts)?;
        client.env("ACP_URL", url).env("ACP_TOKEN", token).stdin(Stdio::null());
        Self::started(None, client.spawn()?).await
    }

    async fn started(acp: Option<Child>, mut client: Child) -> Result<Self> {
        let told = BufReader::new(client.stderr.take().context("no errors")?).lines();
        let mut started = Self { acp, client, told };
        let met = started.next().await?;
        ensure!(met["met"]["agentInfo"]["name"] == "sayso", "{met}");
        let made = started.next().await?;
        ensure!(made["session"].is_string(), "{made}");
        Ok(started)
    }

    /// The next finished turn: `prompt`, the requests in `asked`, the agent's message in `said`, and its `stopReason`.
    ///
    /// # Errors
    /// If the client exited, or if its output is not JSON.
    pub async fn next(&mut self) -> Result<Value> {
        let line = within("the official client", async { Ok(self.told.next_line().await?) }).await?;
        let line = line.context("the official client ended")?;
        serde_json::from_str(&line).context(line)
    }

    /// Waits until both processes have exited, which they do after the last prompt.
    ///
    /// # Errors
    /// If one of them failed.
    pub async fn ended(mut self) -> Result<()> {
        let client = within("the end of the official client", async { Ok(self.client.wait().await?) }).await?;
        ensure!(client.success(), "the official client ended with {client}");
        if let Some(acp) = &mut self.acp {
            let ended = within("the end of sayso acp", async { Ok(acp.wait().await?) }).await?;
            ensure!(ended.success(), "sayso acp ended with {ended}");
        }
        Ok(())
    }
}

fn client(directory: &Path, agent: &str, prompts: &[&str]) -> Result<Command> {
    let mut client = Command::new(acp_client_bin()?);
    client.arg(directory).arg(agent).args(prompts).stderr(Stdio::piped()).kill_on_drop(true);
    Ok(client)
}
