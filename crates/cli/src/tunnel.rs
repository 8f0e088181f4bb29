//! `SAYSO_URL=ssh://box`: connects this command to a server on another machine through the system's `ssh`.
//!
//! One `ssh` process does everything. On the other machine it runs `sayso token own`, whose first line has the address
//! and token of the server, and then `cat`, which ends when this process ends. The tunnel therefore ends with the
//! command, even if that is killed. The forwarded connection arrives at a socket that only this user can open. A port
//! of the loopback interface leads to this socket; the listener is bound before its address is used.

use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use sayso_client::DEFAULT_LISTEN;
use serde::Deserialize;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::net::{TcpListener, UnixStream};
use tokio::process::{Child, Command};
use tokio::task::{JoinHandle, JoinSet};

use crate::app::App;
use crate::cmd::stop;
use crate::failure::Failure;
use crate::sanitize;

/// Time limit for the other machine, including the time to type a password.
const PATIENCE: Duration = Duration::from_secs(60);
/// Interval between checks for the socket.
const LOOK: Duration = Duration::from_millis(20);
/// Limit for shown error output of `ssh`, in bytes.
const SAID: u64 = 4096;

/// An open tunnel. Closed on drop.
#[derive(Debug)]
pub(crate) struct Tunnel {
    ssh: Child,
    bridge: JoinHandle<()>,
    dir: PathBuf,
}

impl Drop for Tunnel {
    fn drop(&mut self) {
        self.bridge.abort();
        // `ssh` would also end by itself a moment later.
        let _ = self.ssh.start_kill();
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct SshTarget {
    host: String,
    port: Option<u16>,
}

/// Reply of the other machine about its server.
#[derive(Debug, Deserialize)]
struct There {
    url: String,
    token: Option<String>,
}

/// Opens a tunnel if `SAYSO_URL` is an `ssh://` address, and sets the environment so that the command uses it.
pub(crate) async fn open(app: &mut App) -> Result<Option<Tunnel>, Failure> {
    let Some(url) = app.environment.get("SAYSO_URL").filter(|url| url.starts_with("ssh://")) else { return Ok(None) };
    if app.environment.agent_marker().is_some() && app.environment.get("SAYSO_AGENT_TOKEN").is_none() {
        // The command itself then reports that a person must run it.
        return Ok(None);
    }
    let place = SshTarget::parse(url)?;
    // A token from the environment takes precedence. Agents here must not get the token of the person on the other
    // machine.
    let own = app.environment.agent_marker().is_some() || app.environment.get("SAYSO_TOKEN").is_some();
    let mut server = DEFAULT_LISTEN;
    // Try the usual port first. If the server uses another port, try again with that port.
    for _ in 0..2 {
        let dir = make_dir(app)?;
        let (ssh, there) = start(&place, &dir.join("s"), server, own).await?;
        let address = stop::address(&there.url).ok_or_else(|| {
            let url = sanitize::line(&there.url);
            Failure::new(format!("The server on {} uses the address {url}, which cannot be forwarded.", place.host))
        })?;
        if address != server {
            drop(ssh);
            let _ = std::fs::remove_dir_all(&dir);
            server = address;
            continue;
        }
        let (bridge, port) = bridge(dir.join("s")).await?;
        app.environment = app.environment.with("SAYSO_URL", &format!("http://127.0.0.1:{port}"));
        if let (Some(token), false) = (&there.token, own) {
            app.environment = app.environment.with("SAYSO_TOKEN", token);
        }
        return Ok(Some(Tunnel { ssh, bridge, dir }));
    }
    Err(Failure::new(format!("The server on {} restarted during discovery.", place.host)).then("Try again."))
}

impl SshTarget {
    fn parse(url: &str) -> Result<Self, Failure> {
        let bad = || {
            Failure::usage(format!("{} is not a valid ssh:// address.", sanitize::line(url)))
                .then("Use an address such as ssh://box or ssh://ada@box:22")
        };
        let rest = url.strip_prefix("ssh://").ok_or_else(bad)?.trim_end_matches('/');
        let (host, port) = match rest.rsplit_once(':') {
            Some((host, port)) if !host.is_empty() => (host, Some(port.parse().map_err(|_| bad())?)),
            Some(_) | None => (rest, None),
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || "@._-".contains(c);
        // `ssh` would read a name that starts with a dash as an option, also after a user name.
        let option = host.split('@').any(|part| part.is_empty() || part.starts_with('-'));
        if option || !host.chars().all(plain) || host.matches('@').count() > 1 {
            return Err(bad());
        }
        Ok(Self { host: host.to_owned(), port })
    }
}

/// Creates a directory for the socket that only this user can access.
fn make_dir(app: &App) -> Result<PathBuf, Failure> {
    let dir = app.paths.make_runtime_dir()?.join(format!("ssh-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    let made = std::fs::DirBuilder::new().mode(0o700).create(&dir);
    made.map_err(|error| Failure::io(&format!("Cannot create {}", dir.display()), &error))?;
    Ok(dir)
}

/// Starts `ssh` and reads the reply of the other machine.
async fn start(place: &SshTarget, socket: &Path, server: SocketAddr, own_token: bool) -> Result<(Child, There), Failure> {
    // A non-interactive shell may lack the directories where people install programs.
    let ask = if own_token { "status" } else { "token own" };
    let there = format!("sh -c 'PATH=\"$HOME/.local/bin:$HOME/.cargo/bin:$PATH\"; sayso {ask} --json && exec cat'");
    let mut command = Command::new("ssh");
    command.args(["-T", "-o", "ExitOnForwardFailure=yes", "-L"]).arg(format!("{}:{server}", socket.display()));
    if let Some(port) = place.port {
        command.arg("-p").arg(port.to_string());
    }
    command.arg("--").arg(&place.host).arg(there);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut ssh = command.spawn().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Failure::new("`ssh` is not installed on this machine.")
            .then("Install OpenSSH, or open a tunnel yourself and set SAYSO_URL to its local address."),
        _ => Failure::io("Cannot start `ssh`", &error),
    })?;
    let heard = async {
        let Some(stdout) = ssh.stdout.as_mut() else { return Ok(None) };
        // A valid reply is shorter than this.
        let mut reader = BufReader::new(stdout).take(64 * 1024);
        let mut line = String::new();
        // Some machines print a greeting first.
        while reader.read_line(&mut line).await? > 0 {
            if let Ok(there) = serde_json::from_str::<There>(&line) {
                return Ok(Some(there));
            }
            line.clear();
        }
        Ok(None)
    };
    let heard = tokio::time::timeout(PATIENCE, heard).await;
    let heard =
        heard.map_err(|_| Failure::new(format!("{} did not answer within {} seconds.", place.host, PATIENCE.as_secs())))?;
    match heard.map_err(|error: std::io::Error| Failure::io("Cannot read the output of `ssh`", &error))? {
        Some(there) => wait_for(socket, &mut ssh, place).await.map(|()| (ssh, there)),
        None => Err(ended(place, ssh).await),
    }
}

/// Waits until the socket of the forwarding exists.
async fn wait_for(socket: &Path, ssh: &mut Child, place: &SshTarget) -> Result<(), Failure> {
    let deadline = Instant::now() + PATIENCE;
    while !socket.exists() {
        if Instant::now() >= deadline || matches!(ssh.try_wait(), Ok(Some(_))) {
            return Err(Failure::new(format!("{} does not allow forwarding.", place.host))
                .then("Set AllowTcpForwarding yes in its sshd configuration."));
        }
        tokio::time::sleep(LOOK).await;
    }
    Ok(())
}

/// Explains why there is no connection, from the exit code and the error output of `ssh`.
async fn ended(place: &SshTarget, mut ssh: Child) -> Failure {
    drop(ssh.stdin.take());
    let mut said = String::new();
    if let Some(stderr) = ssh.stderr.take() {
        let _ = tokio::time::timeout(PATIENCE, stderr.take(SAID).read_to_string(&mut said)).await;
    }
    let code = tokio::time::timeout(PATIENCE, ssh.wait()).await.ok().and_then(Result::ok).and_then(|status| status.code());
    let host = &place.host;
    let said = said.lines().map(|line| format!("  {}", sanitize::line(line))).collect::<Vec<_>>().join("\n");
    match code {
        Some(127) => Failure::new(format!("`sayso` is not installed on {host}."))
            .then("Install it there (make install), or copy it to ~/.local/bin."),
        Some(255) => Failure::new(format!("`ssh` cannot connect to {host}:\n{said}")).then(format!("Try it with: ssh {host}")),
        _ if said.contains("No server") => Failure::new(format!("No server is running on {host}.")).then(format!(
            "Start one with: ssh {host} sayso restart. Or install it as a service: ssh {host} sayso service install"
        )),
        _ => Failure::new(format!("`sayso` on {host} did not report the address of its server:\n{said}"))
            .then(format!("Try it with: ssh {host} sayso status")),
    }
}

/// Opens a loopback port that forwards to the socket.
async fn bridge(socket: PathBuf) -> Result<(JoinHandle<()>, u16), Failure> {
    let failed = |error: std::io::Error| Failure::io("Cannot open a port for the tunnel", &error);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(failed)?;
    let port = listener.local_addr().map_err(failed)?.port();
    let task = tokio::spawn(async move {
        // A forwarded connection ends when either side closes it; all of them end with this task.
        let mut connections = JoinSet::new();
        while let Ok((mut here, _)) = listener.accept().await {
            while connections.try_join_next().is_some() {}
            let socket = socket.clone();
            connections.spawn(async move {
                if let Ok(mut there) = UnixStream::connect(&socket).await {
                    let _ = tokio::io::copy_bidirectional(&mut here, &mut there).await;
                }
            });
        }
    });
    Ok((task, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_valid_ssh_addresses_are_accepted() {
        let place = |host: &str, port| SshTarget { host: host.into(), port };
        for (url, expected) in [
            ("ssh://box", place("box", None)),
            ("ssh://box/", place("box", None)),
            ("ssh://ada@box.example:2222", place("ada@box.example", Some(2222))),
            ("ssh://192.0.2.7", place("192.0.2.7", None)),
        ] {
            assert_eq!(SshTarget::parse(url), Ok(expected), "{url}");
        }
        for url in [
            "ssh://",
            "ssh://-oProxyCommand=touch",
            "ssh://ada@-oProxyCommand",
            "ssh://@box",
            "ssh://a@b@c",
            "ssh://box:ssh",
            "ssh://box;ls",
            "ssh://box ls",
            "ssh://box\nls",
            "ssh://:22",
        ] {
            assert!(SshTarget::parse(url).is_err(), "{url:?}");
        }
    }
}
