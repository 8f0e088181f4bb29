//! One person with their own home directory and server.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, Result, ensure};
use sayso_client::api::ask::{Ask, NewAsk};
use sayso_client::api::session::NewSession;
use sayso_client::{Client, ServerFile};
use sayso_testkit::pty::Pty;
use sayso_testkit::{ScriptedAgent, ServerProcess, inherited, sayso_bin};
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

/// The directories of one person. The directories and the server are removed on drop.
pub(crate) struct Person {
    /// `None` if commands start the server themselves.
    pub(crate) server: Option<ServerProcess>,
    dir: TempDir,
}

/// Result of a command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Person {
    /// A person with a running server.
    pub(crate) async fn new() -> Result<Self> {
        Self::with_policy("").await
    }

    /// A person with a running server and this policy.
    pub(crate) async fn with_policy(policy: &str) -> Result<Self> {
        let mut person = Self::without_server()?;
        person.write_policy(policy)?;
        person.server = Some(ServerProcess::start(person.dir.path()).await?);
        Ok(person)
    }

    /// A person without a server. Their project is a repository on the branch `main`.
    pub(crate) fn without_server() -> Result<Self> {
        let dir = tempfile::Builder::new().prefix("sayso-cli-").tempdir()?;
        for name in ["home/project/.git", "config/sayso", "run"] {
            std::fs::create_dir_all(dir.path().join(name))?;
        }
        std::fs::write(dir.path().join("home/project/.git/HEAD"), "ref: refs/heads/main\n")?;
        Ok(Self { server: None, dir })
    }

    pub(crate) fn write_policy(&self, policy: &str) -> Result<PathBuf> {
        let path = self.dir.path().join("config/sayso/policy.toml");
        std::fs::write(&path, policy)?;
        Ok(path)
    }

    pub(crate) fn write_config(&self, config: &str) -> Result<()> {
        Ok(std::fs::write(self.dir.path().join("config/sayso/config.toml"), config)?)
    }

    pub(crate) fn data_dir(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.dir.path().join("home/project")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Returns `sayso` in the project, with no variables of this test's environment except `PATH`.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::from(self.std_command(args));
        command.stdin(Stdio::null()).kill_on_drop(true);
        command
    }

    /// Returns another program with the same directory and environment.
    pub(crate) fn program(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::from(self.std_program(program.as_ref(), args));
        command.stdin(Stdio::null()).kill_on_drop(true);
        command
    }

    fn std_command(&self, args: &[&str]) -> std::process::Command {
        self.std_program(&sayso_bin().unwrap(), args)
    }

    fn std_program(&self, program: &Path, args: &[&str]) -> std::process::Command {
        let mut command = std::process::Command::new(program);
        let at = |name: &str| self.dir.path().join(name);
        command.env_clear().envs(inherited()).env("HOME", at("home"));
        command.env("XDG_CONFIG_HOME", at("config")).env("XDG_RUNTIME_DIR", at("run")).env("TMPDIR", at("run"));
        command
            .env("SAYSO_DATA_DIR", self.data_dir())
            .env("USER", "tester")
            .env("TZ", "UTC")
            .current_dir(self.project())
            .args(args);
        command
    }

    /// Runs a command until it ends.
    pub(crate) async fn run(&self, args: &[&str]) -> Result<Ran> {
        ran(self.command(args)).await
    }

    /// Like `run`, with this text on standard input.
    pub(crate) async fn run_with_input(&self, args: &[&str], input: &str) -> Result<Ran> {
        let mut command = self.command(args);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        child.stdin.take().context("no standard input")?.write_all(input.as_bytes()).await?;
        finished(child).await
    }

    /// Runs a command that must succeed, and returns its output without the last newline.
    pub(crate) async fn ok(&self, args: &[&str]) -> Result<String> {
        let ran = self.run(args).await?;
        ensure!(ran.code == Some(0), "{args:?}: {ran:?}");
        Ok(ran.out.trim_end_matches('\n').to_owned())
    }

    /// Runs a command that must succeed with `--json`, and parses its output.
    pub(crate) async fn json(&self, args: &[&str]) -> Result<Value> {
        let out = self.ok(&[args, &["--json"]].concat()).await?;
        serde_json::from_str(&out).with_context(|| format!("{args:?} printed {out:?}"))
    }

    /// Runs a command in a terminal.
    pub(crate) fn terminal(&self, args: &[&str]) -> Result<Pty> {
        self.terminal_with(args, &[])
    }

    /// Like `terminal`, with more environment variables.
    pub(crate) fn terminal_with(&self, args: &[&str], environment: &[(&str, &str)]) -> Result<Pty> {
        let mut command = self.command(args);
        command.env("TERM", "xterm-256color").envs(environment.iter().copied());
        Pty::spawn(command)
    }

    /// Creates a client with the admin token for the running server.
    pub(crate) fn client(&self) -> Result<Client> {
        let token = std::fs::read_to_string(self.data_dir().join("token"))?;
        Ok(Client::new(&self.server_file()?.url, token.trim())?)
    }

    pub(crate) fn server_file(&self) -> Result<ServerFile> {
        ServerFile::read(&self.data_dir().join("server.json"))?.context("no server runs")
    }

    /// Returns the only pending ask.
    pub(crate) async fn pending(&self) -> Result<Ask> {
        let mut asks = self.client()?.pending_asks().await?.data;
        ensure!(asks.len() == 1, "{asks:?}");
        asks.pop().context("nothing is pending")
    }

    /// Opens an ask as a program of this person.
    pub(crate) async fn asks(&self, ask: &NewAsk) -> Result<Ask> {
        Ok(self.client()?.open_ask(ask).await?)
    }

    /// Starts the mock agent in the project, and returns it with its first ask.
    pub(crate) async fn mock_asks(&self, script: &str) -> Result<(ScriptedAgent, Ask)> {
        let cwd = Some(self.project().to_string_lossy().into_owned());
        let new = NewSession { agent: "mock".to_owned(), prompt: Some(script.to_owned()), cwd, ..NewSession::default() };
        let mut agent = ScriptedAgent::with(&self.client()?, &new).await?;
        let asked = agent.asks().await?;
        Ok((agent, asked))
    }
}

impl Drop for Person {
    fn drop(&mut self) {
        if self.server.is_none() {
            // Stops a background server. Fails harmlessly if none is running.
            let _ = self.std_command(&["stop"]).stdin(Stdio::null()).output();
        }
    }
}

/// Runs a command until it ends.
pub(crate) async fn ran(mut command: Command) -> Result<Ran> {
    finished(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?).await
}

async fn finished(child: tokio::process::Child) -> Result<Ran> {
    let output = tokio::time::timeout(std::time::Duration::from_secs(60), child.wait_with_output()).await;
    let output = output.context("the command does not end")??;
    Ok(Ran { code: output.status.code(), out: String::from_utf8(output.stdout)?, err: String::from_utf8(output.stderr)? })
}

/// Returns the last four characters of an id, as people type them.
pub(crate) fn ending(id: &str) -> &str {
    &id[id.len() - 4..]
}

/// A process as the system describes it.
#[derive(Debug)]
pub(crate) struct ProcessEntry {
    pub(crate) pid: u32,
    pub(crate) parent: u32,
    /// `T` is stopped, `Z` is a zombie.
    pub(crate) state: char,
}

/// Lists the processes of this machine, including zombies.
#[cfg(target_os = "linux")]
pub(crate) fn processes() -> Result<Vec<ProcessEntry>> {
    let entry = |pid: u32, stat: &str| {
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        Some(ProcessEntry { pid, state: fields.next()?.chars().next()?, parent: fields.next()?.parse().ok()? })
    };
    let directories = std::fs::read_dir("/proc")?.flatten();
    let pids = directories.filter_map(|directory| directory.file_name().to_str()?.parse().ok());
    Ok(pids.filter_map(|pid: u32| entry(pid, &std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)).collect())
}

/// Lists the processes of this machine, including zombies.
#[cfg(not(target_os = "linux"))]
pub(crate) fn processes() -> Result<Vec<ProcessEntry>> {
    let listed = std::process::Command::new("ps").args(["-A", "-o", "pid=,ppid=,stat="]).output()?;
    let entry = |line: &str| {
        let mut fields = line.split_whitespace();
        let (pid, parent) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        Some(ProcessEntry { pid, parent, state: fields.next()?.chars().next()? })
    };
    Ok(String::from_utf8(listed.stdout)?.lines().filter_map(entry).collect())
}

/// Returns the state of a process, or `None` if there is no such process.
pub(crate) fn process_state(pid: u32) -> Result<Option<char>> {
    Ok(processes()?.into_iter().find(|process| process.pid == pid).map(|process| process.state))
}

/// Returns true if the process runs.
pub(crate) fn is_running(pid: u32) -> bool {
    process_state(pid).is_ok_and(|state| state.is_some_and(|state| !matches!(state, 'Z' | 'X')))
}

/// Waits until a program in a terminal ends, which must succeed.
pub(crate) async fn ends_well(pty: &mut Pty) -> Result<()> {
    let status = pty.end().await?;
    ensure!(status.success(), "{status} on the screen:\n{}", pty.screen());
    Ok(())
}
