//! `sayso stop` and `sayso restart`.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use sayso_client::api::listener::NewListener;
use sayso_client::{Client, ServerFile};

use crate::app::App;
use crate::autostart;
use crate::cmd::serve;
use crate::failure::{Failure, no_server};
use crate::{install, sys, words};

/// How long a server may take to stop.
const STOP: Duration = Duration::from_secs(10);

/// Stops the server of this data directory, and its agents if it shall be all.
pub(crate) async fn run(app: &App, all: bool) -> Result<(), Failure> {
    app.person_only()?;
    let agents = if all { Some(app.client()?.stop_agents().await?.stopped) } else { None };
    let server = stop(app).await?;
    app.out.result(&serde_json::json!({ "stopped": true, "pid": server.pid, "agents": agents }), || match agents {
        Some(agents) => {
            let agents = words::count(agents, "agent", "agents");
            format!("Stopped, with {agents}. Asks and outcomes are kept; resume one with: sayso sessions resume ID")
        }
        None => "Stopped. Asks and outcomes are kept; start it again with: sayso serve".to_owned(),
    })
}

const RESTARTED: &str = "Restarted. What waits is kept, and agents went on.";

/// Stops the server and starts it again where it listened, if that is still free.
pub(crate) async fn restart(app: &App, take_over: bool) -> Result<(), Failure> {
    app.person_only()?;
    if take_over {
        install::require_lasting_program(app, "The server")?;
        serve::make_data_dir(app)?;
        install::record(app)?;
    } else if let Some(other) = install::other_owner(app) {
        let program = other.shown();
        let what = format!("The server belongs to {program}{}, which is not this program.", other.shown_version());
        return Err(Failure::new(what).then(install::next_step(app, &program)));
    }
    let opened = opened(app).await;
    let listen = match stop(app).await {
        Ok(server) => address(&server.url),
        Err(failure) if failure == no_server() => None,
        Err(failure) => return Err(failure),
    };
    autostart::start(app, listen).await?;
    let client = app.client()?;
    for address in opened {
        // A network that was left meanwhile cannot be opened again.
        let _ = client.open_listener(&NewListener { address: Some(address) }).await;
    }
    app.out.result(&serde_json::json!({ "url": client.url() }), || RESTARTED.to_owned())
}

/// What was opened to a network stays open over a restart that a person wanted.
async fn opened(app: &App) -> Vec<String> {
    let Ok(client) = app.client() else { return Vec::new() };
    let all = client.listeners().await.map(|list| list.data).unwrap_or_default();
    all.into_iter().filter(|listener| !listener.main).map(|listener| listener.address).collect()
}

/// Ends the process that `server.json` names, once it is certain that it is the server.
pub(crate) async fn stop(app: &App) -> Result<ServerFile, Failure> {
    let Some(server) = ServerFile::read(&app.paths.server_file())? else { return Err(no_server()) };
    // A process id may belong to something else by now. Only who answers is ended.
    let client = Client::new(&server.url, "")?;
    if client.health().await.is_err() {
        return Err(no_server());
    }
    let pid = i32::try_from(server.pid).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| Failure::new(format!("{} names no process.", app.paths.server_file().display())))?;
    kill_process(pid, Signal::TERM).map_err(|error| {
        Failure::new(format!("Process {} cannot be stopped: {error}.", server.pid)).then("Stop it where it was started.")
    })?;
    let deadline = Instant::now() + STOP;
    while is_running(pid) {
        if Instant::now() >= deadline {
            return Err(Failure::new(format!("Process {} did not stop within {} seconds.", server.pid, STOP.as_secs()))
                .then(format!("Look at the log: sayso logs. As a last resort: kill -9 {}", server.pid)));
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(server)
}

/// Whether a process lives. One that has ended and that its parent has not asked about does not.
fn is_running(pid: Pid) -> bool {
    test_kill_process(pid).is_ok() && !u32::try_from(pid.as_raw_nonzero().get()).is_ok_and(sys::has_ended)
}

/// The address in `http://127.0.0.1:4517`.
pub(crate) fn address(url: &str) -> Option<SocketAddr> {
    url.strip_prefix("http://")?.trim_end_matches('/').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_has_ended_is_not_running() {
        assert!(is_running(rustix::process::getpid()));
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = Pid::from_child(&child);
        let ended = (0..500).any(|_| {
            std::thread::sleep(Duration::from_millis(2));
            !is_running(pid)
        });
        assert!(ended, "it is a zombie now, which is not running");
        child.wait().unwrap();
        assert!(!is_running(pid));
    }

    #[test]
    fn the_address_is_read_from_the_url() {
        assert_eq!(address("http://127.0.0.1:4517"), "127.0.0.1:4517".parse().ok());
        assert_eq!(address("http://[::1]:9/"), "[::1]:9".parse().ok());
        assert_eq!(address("http://localhost:1"), None);
    }
}
