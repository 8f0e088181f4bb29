//! The real binary as a process that tests can kill and restart.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use sayso_client::Client;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use crate::watch::within;

/// The path of the binary: `SAYSO_BIN`, or the binary that cargo built next to this program.
///
/// # Errors
/// If there is none.
pub fn sayso_bin() -> Result<PathBuf> {
    if let Some(given) = std::env::var_os("SAYSO_BIN") {
        return Ok(PathBuf::from(given));
    }
    let exe = std::env::current_exe().context("cannot find the path of this program")?;
    // Tests are in target/<profile>/deps, binaries in target/<profile>.
    let built = exe.ancestors().skip(1).take(2).map(|dir| dir.join("sayso")).find(|path| path.is_file());
    built.with_context(|| {
        format!(
            "there is no `sayso` next to {}; build it first (`cargo build --package sayso`, same profile), or set SAYSO_BIN",
            exe.display()
        )
    })
}

/// The variables that programs in tests inherit: `PATH`, and the library of scripts/jitter.sh.
#[must_use]
pub fn inherited() -> Vec<(&'static str, OsString)> {
    ["PATH", "LD_PRELOAD"].into_iter().filter_map(|name| Some((name, std::env::var_os(name)?))).collect()
}

/// The path of the agent that is built with the official crate of the Agent Client Protocol.
///
/// # Errors
/// If it was not built.
pub fn acp_peer_bin() -> Result<PathBuf> {
    find_peer("acp-peer")
}

/// The path of the client that is built with the official crate of the Agent Client Protocol.
pub(crate) fn acp_client_bin() -> Result<PathBuf> {
    find_peer("acp-client")
}

/// `scripts/peers.sh` builds the peers into a subdirectory of the target directory, which contains the running test.
fn find_peer(name: &str) -> Result<PathBuf> {
    let exe = std::env::current_exe().context("the path of this program is unknown")?;
    let built = exe.ancestors().skip(1).take(4).map(|dir| dir.join("peers/debug").join(name)).find(|path| path.is_file());
    built.with_context(|| format!("{name} is not built. Run scripts/peers.sh"))
}

/// The name of the agent that [`write_config`] adds.
pub const PROGRAM: &str = "program";

/// Writes a server's `config.toml` to this directory: the mock as a separate program, plus `more`. Agents that a test
/// leaves running exit by themselves.
///
/// # Errors
/// If the binary is missing or the file cannot be written.
pub fn write_config(dir: &Path, more: &str) -> Result<()> {
    let config = dir.join("config/sayso");
    std::fs::create_dir_all(&config)?;
    let program = format!("[agents.{PROGRAM}]\ncommand = {:?}\nargs = [\"mock-agent\"]\n", sayso_bin()?);
    std::fs::write(config.join("config.toml"), format!("lonely_after = \"30s\"\n{program}{more}"))?;
    Ok(())
}

/// `sayso serve` with directories below a directory of the caller. It is killed when the value is dropped.
#[derive(Debug)]
pub struct ServerProcess {
    dir: PathBuf,
    environment: Vec<(String, String)>,
    listen: String,
    url: String,
    token: String,
    child: Option<Running>,
}

#[derive(Debug)]
struct Running {
    child: Child,
    pid: u32,
    /// Kept open but not read: after the listen address, the server writes nothing to stdout.
    _stdout: Lines<BufReader<ChildStdout>>,
}

impl ServerProcess {
    /// Starts the server on a free port. The database and all other files are below `dir` and are kept. The server
    /// listens when this returns.
    ///
    /// # Errors
    /// If the binary is missing, or if the server exits instead of listening.
    pub async fn start(dir: impl AsRef<Path>) -> Result<Self> {
        Self::with_env(dir, &[]).await
    }

    /// Starts the server with additional environment variables. Of the caller's environment, only `PATH` is inherited.
    ///
    /// # Errors
    /// See [`Self::start`].
    pub async fn with_env(dir: impl AsRef<Path>, environment: &[(&str, &str)]) -> Result<Self> {
        let dir = dir.as_ref().to_owned();
        for name in ["data", "config/sayso", "home/project", "run", "state"] {
            let path = dir.join(name);
            std::fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
        }
        let mut process = Self {
            dir,
            environment: environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            listen: "127.0.0.1:0".to_owned(),
            url: String::new(),
            token: String::new(),
            child: None,
        };
        process.start_again().await?;
        Ok(process)
    }

    /// Starts the server again with the same directories and address, after it was killed or stopped.
    ///
    /// # Errors
    /// See [`Self::start`].
    pub async fn start_again(&mut self) -> Result<()> {
        if self.child.is_some() {
            bail!("the server still runs");
        }
        let log_path = self.log_path();
        let log = std::fs::File::options().create(true).append(true).open(&log_path)?;
        let mut command = self.command()?;
        command.args(["serve", "--listen", &self.listen]).stdout(Stdio::piped()).stderr(log);
        let mut child = command.spawn().context("the server does not start")?;
        let pid = child.id().context("the server ended at once")?;
        let stdout = child.stdout.take().context("the server has no stdout")?;
        let mut lines = BufReader::new(stdout).lines();
        let url = within("the server to listen", async {
            while let Some(line) = lines.next_line().await? {
                if let Some((_, url)) = line.split_once("listening on ") {
                    return Ok(url.trim().to_owned());
                }
            }
            let status = child.wait().await?;
            let said = std::fs::read_to_string(&log_path).unwrap_or_default();
            bail!("the server ended with {status} and said:\n{said}")
        })
        .await?;
        self.listen = url.trim_start_matches("http://").trim_end_matches('/').to_owned();
        self.url = url;
        self.token =
            std::fs::read_to_string(self.data_dir().join("token")).context("the server left no token")?.trim().to_owned();
        self.child = Some(Running { child, pid, _stdout: lines });
        Ok(())
    }

    /// The `sayso` binary with this server's directories and without the caller's environment, for any arguments.
    ///
    /// # Errors
    /// If the binary is missing.
    pub fn command(&self) -> Result<Command> {
        let mut command = Command::new(sayso_bin()?);
        command.env_clear().stdin(Stdio::null()).kill_on_drop(true).current_dir(&self.dir);
        command
            .envs(inherited())
            .env("HOME", self.dir.join("home"))
            .env("USER", "tester")
            .env("XDG_CONFIG_HOME", self.dir.join("config"))
            .env("XDG_STATE_HOME", self.dir.join("state"))
            .env("XDG_RUNTIME_DIR", self.dir.join("run"))
            .env("SAYSO_DATA_DIR", self.data_dir())
            .envs(self.environment.iter().map(|(name, value)| (name, value)));
        Ok(command)
    }

    /// The admin's client.
    ///
    /// # Errors
    /// If the URL is invalid.
    pub fn client(&self) -> Result<Client> {
        Ok(Client::new(&self.url, &self.token)?)
    }

    /// The server's URL, which stays the same across restarts.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The address as `host:port`.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.listen
    }

    #[must_use]
    pub fn token(&self) -> &str {
        &self.token
    }

    /// The process id while the server runs.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(|running| running.pid)
    }

    /// The directory that was passed at the start.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.dir
    }

    /// The data directory, which contains the database.
    #[must_use]
    pub fn data_dir(&self) -> PathBuf {
        self.dir.join("data")
    }

    /// The directory of `config.toml` and `policy.toml`.
    #[must_use]
    pub fn config_dir(&self) -> PathBuf {
        self.dir.join("config/sayso")
    }

    /// A directory inside the server's home directory, for sessions to work in.
    #[must_use]
    pub fn project(&self) -> PathBuf {
        self.dir.join("home/project")
    }

    /// The stderr output of the server, across all restarts.
    #[must_use]
    pub fn log_path(&self) -> PathBuf {
        self.dir.join("stderr.log")
    }

    /// Kills the server with SIGKILL and waits for its exit.
    ///
    /// # Errors
    /// If the server does not run or cannot be reaped.
    pub async fn kill9(&mut self) -> Result<ExitStatus> {
        self.end(Signal::KILL).await
    }

    /// Stops the server with SIGTERM and waits for its exit.
    ///
    /// # Errors
    /// If the server does not run or does not stop.
    pub async fn terminate(&mut self) -> Result<ExitStatus> {
        self.end(Signal::TERM).await
    }

    async fn end(&mut self, signal: Signal) -> Result<ExitStatus> {
        let mut running = self.child.take().context("the server does not run")?;
        let pid = i32::try_from(running.pid).ok().and_then(Pid::from_raw).context("no such process id")?;
        // The process was not reaped yet, so the id is valid.
        kill_process(pid, signal)?;
        within("the server to end", async { Ok(running.child.wait().await?) }).await
    }
}
