//! The client that is made with the official crate of the Agent Client Protocol, connected to `sayso acp`.

use std::path::Path;
use std::process::Stdio;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStderr, Command};

use crate::process::acp_client_bin;
use crate::watch::within;

/// The official client at work.
#[derive(Debug)]
pub struct AcpClient {
    acp: Child,
    client: Child,
    told: Lines<BufReader<ChildStderr>>,
}

impl AcpClient {
    /// Starts both. The client starts a session with this agent in this directory and says the prompts, one after another.
    ///
    /// # Errors
    /// When one of them cannot be started, or the session is not made.
    pub async fn start(mut acp: Command, directory: &Path, agent: &str, prompts: &[&str]) -> Result<Self> {
        let mut acp = acp.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
        let mut client = Command::new(acp_client_bin()?)
            .arg(directory)
            .arg(agent)
            .args(prompts)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        // What the one writes the other reads.
        let (mut to_acp, mut from_acp) = (acp.stdin.take().context("no input")?, acp.stdout.take().context("no output")?);
        let (mut to_client, mut from_client) =
            (client.stdin.take().context("no input")?, client.stdout.take().context("no output")?);
        tokio::spawn(async move { tokio::io::copy(&mut from_client, &mut to_acp).await });
        tokio::spawn(async move { tokio::io::copy(&mut from_acp, &mut to_client).await });
        let told = BufReader::new(client.stderr.take().context("no errors")?).lines();
        let mut started = Self { acp, client, told };
        let met = started.next().await?;
        ensure!(met["met"]["agentInfo"]["name"] == "sayso", "{met}");
        let made = started.next().await?;
        ensure!(made["session"].is_string(), "{made}");
        Ok(started)
    }

    /// The next turn, when it is over: `prompt`, what was `asked`, what the agent `said`, and its `stopReason`.
    ///
    /// # Errors
    /// When the client ended, or tells what is not JSON.
    pub async fn next(&mut self) -> Result<Value> {
        let line = within("the official client", async { Ok(self.told.next_line().await?) }).await?;
        let line = line.context("the official client ended")?;
        serde_json::from_str(&line).context(line)
    }

    /// Waits until both have ended, as they do after the last prompt.
    ///
    /// # Errors
    /// When one of them failed.
    pub async fn ended(mut self) -> Result<()> {
        let client = within("the end of the official client", async { Ok(self.client.wait().await?) }).await?;
        ensure!(client.success(), "the official client ended with {client}");
        let acp = within("the end of sayso acp", async { Ok(self.acp.wait().await?) }).await?;
        ensure!(acp.success(), "sayso acp ended with {acp}");
        Ok(())
    }
}
