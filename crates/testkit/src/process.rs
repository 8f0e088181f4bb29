//! The real binary as a process, to be killed and started again.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use sayso_client::Client;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use crate::watch::within;

/// The binary: `SAYSO_BIN`, else the one that cargo put beside this program.
///
/// # Errors
/// When there is none.
pub fn sayso_bin() -> Result<PathBuf> {
    if let Some(given) = std::env::var_os("SAYSO_BIN") {
        return Ok(PathBuf::from(given));
    }
    let exe = std::env::current_exe().context("this program does not know where it is")?;
    // Tests are in target/<profile>/deps, programs in target/<profile>.
    let beside = exe.ancestors().skip(1).take(2).map(|dir| dir.join("sayso")).find(|path| path.is_file());
    beside.with_context(|| {
        format!(
            "there is no `sayso` beside {}; build it first (`cargo build --package sayso`, same profile), or set SAYSO_BIN",
            exe.display()
        )
    })
}

/// What a program in a test has of the caller's environment: where programs are, and the library of scripts/jitter.sh.
#[must_use]
pub fn inherited() -> Vec<(&'static str, OsString)> {
    ["PATH", "LD_PRELOAD"].into_iter().filter_map(|name| Some((name, std::env::var_os(name)?))).collect()
}

/// Returns the path of the agent made with the official crate of the Agent Client Protocol.
///
/// # Errors
/// When it was not built.
pub fn acp_peer_bin() -> Result<PathBuf> {
    find_peer("acp-peer")
}

/// Returns the path of the client made with the official crate of the Agent Client Protocol.
pub(crate) fn acp_client_bin() -> Result<PathBuf> {
    find_peer("acp-client")
}

/// `scripts/peers.sh` builds the peers into a folder of the target directory, which is above the running test.
fn find_peer(name: &str) -> Result<PathBuf> {
    let exe = std::env::current_exe().context("the path of this program is unknown")?;
    let built = exe.ancestors().skip(1).take(4).map(|dir| dir.join("peers/debug").join(name)).find(|path| path.is_file());
    built.with_context(|| format!("{name} is not built. Run scripts/peers.sh"))
}

/// The name of the agent that [`write_config`] adds.
pub const PROGRAM: &str = "program";

/// Writes the `config.toml` of a server in this directory: the mock as a program of its own, and what
/// else is given. Agents that a test leaves behind end by themselves.
///
/// # Errors
/// When there is no binary, or the file cannot be written.
pub fn write_config(dir: &Path, more: &str) -> Result<()> {
    let config = dir.join("config/sayso");
    std::fs::create_dir_all(&config)?;
    let program = format!("[agents.{PROGRAM}]\ncommand = {:?}\nargs = [\"mock-agent\"]\n", sayso_bin()?);
    std::fs::write(config.join("config.toml"), format!("lonely_after = \"30s\"\n{program}{more}"))?;
    Ok(())
}

/// `sayso serve` on directories below one of the caller's. Dropped, it is killed.
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
    /// Held open and not read: the server says nothing more there than where it listens.
    _stdout: Lines<BufReader<ChildStdout>>,
}

impl ServerProcess {
    /// Starts it on a free port; the database and everything else is below `dir` and outlives it.
    /// When this returns, it listens.
    ///
    /// # Errors
    /// When there is no binary, or it ends instead of listening.
    pub async fn start(dir: impl AsRef<Path>) -> Result<Self> {
        Self::with_env(dir, &[]).await
    }

    /// The same with more environment variables. Nothing else is inherited but `PATH`.
    ///
    /// # Errors
    /// As [`Self::start`].
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

    /// Starts it again on the same directories and the same address, after it was killed or stopped.
    ///
    /// # Errors
    /// As [`Self::start`].
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

    /// `sayso` with this server's directories and nothing of the caller's environment, to be run with
    /// any arguments.
    ///
    /// # Errors
    /// When there is no binary.
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
    /// When the address cannot be used.
    pub fn client(&self) -> Result<Client> {
        Ok(Client::new(&self.url, &self.token)?)
    }

    /// The address to call. It stays the same over restarts.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The address as `host:port`.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.listen
    }

    /// The admin's token.
    #[must_use]
    pub fn token(&self) -> &str {
        &self.token
    }

    /// The process's id while it runs.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(|running| running.pid)
    }

    /// The directory that was given at the start.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.dir
    }

    /// Where the database is.
    #[must_use]
    pub fn data_dir(&self) -> PathBuf {
        self.dir.join("data")
    }

    /// Where `config.toml` and `policy.toml` are.
    #[must_use]
    pub fn config_dir(&self) -> PathBuf {
        self.dir.join("config/sayso")
    }

    /// A directory inside the server's home directory, for sessions to work in.
    #[must_use]
    pub fn project(&self) -> PathBuf {
        self.dir.join("home/project")
    }

    /// What it wrote to its standard error, over all its lives.
    #[must_use]
    pub fn log_path(&self) -> PathBuf {
        self.dir.join("stderr.log")
    }

    /// Kills it with SIGKILL and waits until it is gone.
    ///
    /// # Errors
    /// When it does not run, or cannot be waited for.
    pub async fn kill9(&mut self) -> Result<ExitStatus> {
        self.end(Signal::KILL).await
    }

    /// Asks it to stop and waits until it has.
    ///
    /// # Errors
    /// When it does not run, or does not stop.
    pub async fn terminate(&mut self) -> Result<ExitStatus> {
        self.end(Signal::TERM).await
    }

    async fn end(&mut self, signal: Signal) -> Result<ExitStatus> {
        let mut running = self.child.take().context("the server does not run")?;
        let pid = i32::try_from(running.pid).ok().and_then(Pid::from_raw).context("no such process id")?;
        // It was not waited for yet, so the id is still its own.
        kill_process(pid, signal)?;
        within("the server to end", async { Ok(running.child.wait().await?) }).await
    }
}
