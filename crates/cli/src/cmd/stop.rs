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

/// Time limit for a server to stop.
const STOP: Duration = Duration::from_secs(10);

/// Stops the server of this data directory, and with `all` also its agents.
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

const RESTARTED: &str = "Restarted. Asks were kept, and agents kept running.";

/// Restarts the server on the same address, if that is still free. With `take_over`, this program becomes the owner of the data
/// directory.
pub(crate) async fn restart(app: &App, take_over: bool) -> Result<(), Failure> {
    app.person_only()?;
    if take_over {
        install::require_lasting_program(app, "The server")?;
        serve::make_data_dir(app)?;
        install::record(app)?;
    } else if let Some(other) = install::other_owner(app) {
        let program = other.display_path();
        let what = format!("The server belongs to {program}{}, which is not this program.", other.display_version());
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
        // The network of an address may be gone, in which case opening it fails.
        let _ = client.open_listener(&NewListener { address: Some(address) }).await;
    }
    app.out.result(&serde_json::json!({ "url": client.url() }), || RESTARTED.to_owned())
}

/// Returns the addresses that are open to a network. A restart by the person opens them again.
async fn opened(app: &App) -> Vec<String> {
    let Ok(client) = app.client() else { return Vec::new() };
    let all = client.listeners().await.map(|list| list.data).unwrap_or_default();
    all.into_iter().filter(|listener| !listener.main).map(|listener| listener.address).collect()
}

/// Ends the process in `server.json`, after a check that it is the server.
pub(crate) async fn stop(app: &App) -> Result<ServerFile, Failure> {
    let Some(server) = ServerFile::read(&app.paths.server_file())? else { return Err(no_server()) };
    // The process id may have been reused, so only a process that responds to health checks is ended.
    let client = Client::new(&server.url, "")?;
    if client.health().await.is_err() {
        return Err(no_server());
    }
    let pid = i32::try_from(server.pid).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| Failure::new(format!("{} contains no process ID.", app.paths.server_file().display())))?;
    kill_process(pid, Signal::TERM).map_err(|error| {
        Failure::new(format!("Cannot stop process {}: {error}.", server.pid))
            .then("Stop the server in the terminal or service that started it.")
    })?;
    let deadline = Instant::now() + STOP;
    while is_running(pid) {
        if Instant::now() >= deadline {
            return Err(Failure::new(format!("Process {} did not stop within {} seconds.", server.pid, STOP.as_secs()))
                .then(format!("See the log with: sayso logs. As a last resort, run: kill -9 {}", server.pid)));
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(server)
}

/// Returns true if the process runs. Zombies count as ended.
fn is_running(pid: Pid) -> bool {
    test_kill_process(pid).is_ok() && !u32::try_from(pid.as_raw_nonzero().get()).is_ok_and(sys::has_ended)
}

/// Parses the socket address of a URL such as `http://127.0.0.1:4517`.
pub(crate) fn address(url: &str) -> Option<SocketAddr> {
    url.strip_prefix("http://")?.trim_end_matches('/').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zombie_process_does_not_count_as_running() {
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
    fn socket_address_is_parsed_from_the_url() {
        assert_eq!(address("http://127.0.0.1:4517"), "127.0.0.1:4517".parse().ok());
        assert_eq!(address("http://[::1]:9/"), "[::1]:9".parse().ok());
        assert_eq!(address("http://localhost:1"), None);
    }
}
