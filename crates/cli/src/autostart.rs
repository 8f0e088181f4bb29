//! Starts a server in the background when a command needs one and none is running.

use std::cmp::Ordering;
use std::fs::{self, TryLockError};
use std::io::{self, Read, Seek, SeekFrom};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use sayso_client::{Client, DEFAULT_LISTEN, DiscoverError, Target, TokenSource};

use crate::app::App;
use crate::cmd::serve::make_data_dir;
use crate::cmd::stop;
use crate::failure::Failure;
use crate::install;
use crate::sanitize;
use crate::service;
use crate::words;

/// Time limit for a new server to become healthy.
const START: Duration = Duration::from_secs(20);

/// Number of failed starts before giving up. The first start can fail because of another server that was just
/// stopping.
const TRIES: u8 = 2;

/// Interval between health checks.
const LOOK: Duration = Duration::from_millis(20);

/// Returns a client of the running server. Starts a server first if none runs, and restarts one that is older than
/// this program.
pub(crate) async fn client(app: &App) -> Result<Client, Failure> {
    match app.target() {
        Ok(target) => {
            let client = app.client_of(&target)?;
            match client.health().await {
                Ok(health) if is_older(&health.version) && is_ours(app, &target) => {
                    if let Some(other) = install::other_owner(app) {
                        app.out.note(&format!(
                            "The server of {} runs the older version {}. This program uses it anyway.",
                            other.display_path(),
                            sanitize::line(&health.version)
                        ));
                        app.out.note(&install::next_step(app, &other.display_path()));
                        return Ok(client);
                    }
                    app.out.note(&format!(
                        "The server is running the older version {}. Restarting it; agents keep running.",
                        sanitize::line(&health.version)
                    ));
                    return replace(app).await;
                }
                Ok(_) => return Ok(client),
                Err(error) if error.is_unreachable() => {}
                Err(error) => return Err(error.into()),
            }
            if !is_ours(app, &target) {
                return Err(Failure::new(format!("Cannot reach the server at {}.", target.url))
                    .then("Ask a person to start it with: sayso serve"));
            }
        }
        Err(DiscoverError::NoServer { .. } | DiscoverError::NoToken { .. }) if app.environment.agent_marker().is_none() => {}
        Err(error) => return Err(error.into()),
    }
    start(app, None).await?;
    app.client()
}

/// Returns true for the person's own server. A server that was set with SAYSO_URL or given to an agent must not be
/// started or restarted from here.
fn is_ours(app: &App, target: &Target) -> bool {
    app.environment.get("SAYSO_URL").is_none() && target.source != TokenSource::Agent
}

/// Returns true if the server's version is older than this program's. Unknown version formats count as not older.
fn is_older(version: &str) -> bool {
    install::compare(version, env!("CARGO_PKG_VERSION")) == Some(Ordering::Less)
}

/// Stops the running server and starts this program on the same address.
async fn replace(app: &App) -> Result<Client, Failure> {
    let listen = stop::stop(app).await.map(|server| stop::address(&server.url))?;
    start(app, listen).await?;
    app.client()
}

/// Waits until a server that another program started is healthy.
pub(crate) async fn wait(app: &App) -> Result<(), Failure> {
    let deadline = Instant::now() + START;
    while !answers(app).await {
        if Instant::now() >= deadline {
            return Err(Failure::new(format!("The new server did not become ready within {} seconds.", START.as_secs()))
                .then("See its log with: sayso logs"));
        }
        tokio::time::sleep(LOOK).await;
    }
    Ok(())
}

async fn answers(app: &App) -> bool {
    match app.client() {
        Ok(client) => client.health().await.is_ok(),
        Err(_) => false,
    }
}

/// Starts a server in the background and waits until it is healthy.
pub(crate) async fn start(app: &App, listen: Option<SocketAddr>) -> Result<(), Failure> {
    make_data_dir(app)?;
    if service::start(app) {
        wait(app).await?;
        app.out.note("Started the service. Stop it with: sayso stop");
        return Ok(());
    }
    install::require_owner(app)?;
    let logged = || fs::metadata(app.paths.log()).map(|data| data.len()).unwrap_or(0);
    let mut already_logged = logged();
    let mut at = free_or_any(listen.unwrap_or(DEFAULT_LISTEN));
    let mut child = Some(spawn(app, at)?);
    let mut failed = 0;
    let deadline = Instant::now() + START;
    loop {
        if let Ok(client) = app.client()
            && client.health().await.is_ok()
        {
            // If the service started it, `service::start` has already printed a message.
            if child.is_some() {
                let log = words::directory(&app.paths.log().to_string_lossy(), &app.out.look);
                app.out.note(&format!("Started a server in the background at {}", client.url()));
                app.out.note(&format!("Stop it with: sayso stop. Its log: {log}"));
            }
            return Ok(());
        }
        let ended = child.as_mut().is_none_or(|child| matches!(child.try_wait(), Ok(Some(_))));
        if ended && is_locked(&app.paths.data_dir) {
            // A concurrent command started a server first. Wait for that one.
            child = None;
        } else if ended {
            // A server with another data directory took the port in the meantime, or that server stopped before this
            // one could use the port.
            let next = free_or_any(at);
            failed += u8::from(child.is_some() && next == at);
            if failed == TRIES {
                let said = last_words(&app.paths.log(), already_logged);
                return Err(Failure::new("The server could not be started.").then(said));
            }
            (at, already_logged) = (next, logged());
            child = Some(spawn(app, at)?);
        }
        if Instant::now() >= deadline {
            return Err(Failure::new(format!("The new server did not become ready within {} seconds.", START.as_secs()))
                .then(last_words(&app.paths.log(), already_logged)));
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Returns true if a server holds the lock of this data directory.
fn is_locked(data_dir: &Path) -> bool {
    let no_follow = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).bits().cast_signed();
    let lock = fs::OpenOptions::new().read(true).custom_flags(no_follow).open(data_dir.join("lock"));
    lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

fn spawn(app: &App, listen: SocketAddr) -> Result<Child, Failure> {
    let broken = |error: io::Error| Failure::io("The server cannot be started", &error);
    let log = fs::OpenOptions::new().create(true).append(true).mode(0o600).open(app.paths.log()).map_err(broken)?;
    let errors = log.try_clone().map_err(broken)?;
    let mut command = Command::new(std::env::current_exe().map_err(broken)?);
    command.arg("serve").arg("--data-dir").arg(&app.paths.data_dir).arg("--listen").arg(listen.to_string());
    // A process group of its own, so that Ctrl-C in this terminal does not reach the server. The tokens of this shell
    // are removed, so that agents of the server do not inherit them.
    command.process_group(0).env_remove("SAYSO_TOKEN").env_remove("SAYSO_AGENT_TOKEN").env_remove("SAYSO_URL");
    command.stdin(Stdio::null()).stdout(log).stderr(errors).current_dir("/").spawn().map_err(broken)
}

/// Returns this address, or any free port of the same IP address if another process uses it, for example another
/// user's server. Clients read the actual address from `server.json`.
fn free_or_any(wanted: SocketAddr) -> SocketAddr {
    match TcpListener::bind(wanted) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => SocketAddr::new(wanted.ip(), 0),
        Ok(_) | Err(_) => wanted,
    }
}

/// Returns the last lines that this server logged; they usually contain the reason of a failed start.
fn last_words(log: &Path, already_logged: u64) -> String {
    let mut text = String::new();
    // If the log cannot be read, the message just has no details.
    let _ = fs::File::open(log).and_then(|mut file| {
        file.seek(SeekFrom::Start(already_logged))?;
        file.read_to_string(&mut text)
    });
    let lines: Vec<&str> = text.lines().rev().take(5).collect();
    let shown: Vec<String> = lines.iter().rev().map(|line| format!("  {}", sanitize::line(line))).collect();
    format!("The end of {}:\n{}", log.display(), shown.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_older_known_versions_are_replaced() {
        for older in ["0.0.9", "0.0.99-rc.1", "0"] {
            assert!(is_older(older), "{older}");
        }
        for other in [env!("CARGO_PKG_VERSION"), "99.0.0", "", "dev", "0.x.1"] {
            assert!(!is_older(other), "{other}");
        }
    }

    #[test]
    fn used_port_is_replaced_by_any_free_port() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        assert_eq!(free_or_any(taken.local_addr().unwrap()), "127.0.0.1:0".parse().unwrap());
        // Not the same port again: another test can get it, or start a process that inherits the socket until its exec. No
        // system assigns this port by itself.
        let unused = "127.0.0.1:21877".parse().unwrap();
        assert_eq!(free_or_any(unused), unused);
    }
}
