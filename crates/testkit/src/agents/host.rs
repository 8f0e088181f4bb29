//! Direct communication with an agent, without a server.

use std::path::Path;
use std::process::{ExitStatus, Stdio};

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;
use tempfile::NamedTempFile;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::models::PATIENCE;

/// How many earlier lines are shown when a wait fails.
const SHOWN: usize = 12;

/// The host of one agent that reads and writes lines of JSON. The agent and its descendants are killed when the value
/// is dropped.
#[derive(Debug)]
pub struct Host {
    child: Child,
    /// `None` after the host has closed stdin.
    stdin: Option<ChildStdin>,
    stdout: Lines<BufReader<ChildStdout>>,
    stderr: NamedTempFile,
    said: Vec<String>,
}

impl Host {
    /// Starts an agent with exactly this environment.
    ///
    /// # Errors
    /// If the agent does not start.
    pub fn start(command: &[String], environment: &[(String, String)], dir: &Path) -> Result<Self> {
        let (program, arguments) = command.split_first().context("an agent has a command")?;
        let stderr = NamedTempFile::new()?;
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(environment.iter().map(|(name, value)| (name, value))).current_dir(dir);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr.reopen()?);
        // The agent gets its own process group, so that its descendants can be killed as well.
        let mut child = command.process_group(0).kill_on_drop(true).spawn().with_context(|| format!("cannot start {program}"))?;
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().context("the agent has no stdout")?).lines();
        Ok(Self { child, stdin, stdout, stderr, said: Vec::new() })
    }

    /// Sends one message.
    ///
    /// # Errors
    /// If the agent has closed its stdin.
    pub async fn send(&mut self, message: &Value) -> Result<()> {
        let stdin = self.stdin.as_mut().context("the agent has no stdin")?;
        let sent = stdin.write_all(format!("{message}\n").as_bytes()).await;
        sent.with_context(|| self.error_with_output("the agent does not listen"))
    }

    /// The next message that satisfies the condition; earlier messages are skipped.
    ///
    /// # Errors
    /// If the agent exits, or if no such message arrives within [`PATIENCE`].
    pub async fn until(&mut self, what: &str, holds: impl Fn(&Value) -> bool) -> Result<Value> {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            let Ok(line) = tokio::time::timeout_at(deadline, self.stdout.next_line()).await else {
                bail!(self.error_with_output(&format!("waited {PATIENCE:?} for {what}")));
            };
            let Some(line) = line? else {
                bail!(self.error_with_output(&format!("the agent ended before {what}")));
            };
            let message = serde_json::from_str(&line);
            self.said.push(line);
            match message {
                Ok(message) if holds(&message) => return Ok(message),
                // Some agents also write other output to stdout.
                Ok(_) | Err(_) => {}
            }
        }
    }

    /// Closes stdin and waits until the agent exits.
    ///
    /// # Errors
    /// If the agent does not exit within [`PATIENCE`].
    pub async fn close(mut self) -> Result<ExitStatus> {
        self.stdin = None;
        let ended = tokio::time::timeout(PATIENCE, async {
            // Read until the end: an agent with a full pipe could not exit.
            while let Some(line) = self.stdout.next_line().await? {
                self.said.push(line);
            }
            self.child.wait().await
        });
        match ended.await {
            Ok(status) => Ok(status?),
            Err(_) => bail!(self.error_with_output("the agent does not end")),
        }
    }

    /// The error with the agent's earlier output.
    fn error_with_output(&self, what: &str) -> String {
        let start = self.said.len().saturating_sub(SHOWN);
        let lines: String = self.said.iter().skip(start).map(|line| format!("\n  {:.400}", line)).collect();
        let stderr = std::fs::read_to_string(self.stderr.path()).unwrap_or_default();
        format!("{what}; the agent said:{lines}\nand on stderr:\n{stderr}")
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // If there is no id, the process was already reaped, and its id may have been reused.
        let pid = self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        if let Some(pid) = pid {
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }
}
