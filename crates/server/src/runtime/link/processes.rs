//! Starts agents' processes and finds them again after a restart.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sayso_core::connection::{Connection, Epoch};
use sayso_core::id::ConnectionId;
use sayso_supervisor::journal::is_alive;
use sha2::{Digest, Sha256};
use tokio::sync::watch;

use crate::config::Config;
use crate::entropy;

/// How long an agent runs without a server.
const LONELY: Duration = Duration::from_secs(7 * 86_400);

/// How long a supervisor may take to exit after its agent, and how often to check.
const GONE: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(2);

/// The directories of processes, and the values that each process gets.
#[derive(Debug)]
pub(crate) struct Processes {
    /// The directory with one subdirectory per process.
    dir: PathBuf,
    /// The directory of the sockets.
    runtime_dir: PathBuf,
    pub(super) supervisor: PathBuf,
    pub(super) lonely: Duration,
    /// The number of attached processes.
    running: Arc<watch::Sender<usize>>,
}

impl Processes {
    pub(crate) fn new(data_dir: &Path, runtime_dir: PathBuf, supervisor: PathBuf, config: &Config) -> Self {
        Self {
            dir: data_dir.join("agents"),
            runtime_dir,
            supervisor,
            lonely: config.lonely_after.map_or(LONELY, |span| span.0),
            running: Arc::new(watch::Sender::new(0)),
        }
    }

    /// Returns the directory of the journal of a connection's current process.
    pub(crate) fn dir_of(&self, connection: &Connection) -> PathBuf {
        self.dir.join(connection.id.to_string()).join(connection.epoch.0.to_string())
    }

    /// Returns the path of the socket. Its name is short because socket paths have a small maximum length.
    pub(super) fn socket_of(&self, connection: &Connection) -> PathBuf {
        self.runtime_dir.join(socket_name(&self.dir, connection.id, connection.epoch))
    }

    /// Returns whether an agent of this server started this process, directly or indirectly.
    pub(super) fn is_started_by_an_agent(&self, pid: u32) -> bool {
        sayso_supervisor::is_started_by_an_agent(pid, &self.dir)
    }

    /// Creates the directories of a process.
    pub(super) fn make_dirs(&self, dir: &Path) -> std::io::Result<()> {
        for dir in [self.runtime_dir.as_path(), dir] {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        }
        Ok(())
    }

    /// Removes the files of a process that has ended, after its supervisor has exited as well.
    pub(crate) async fn remove(&self, connection: &Connection) {
        let dir = self.dir_of(connection);
        let patience = tokio::time::Instant::now() + GONE;
        while is_alive(&dir) && tokio::time::Instant::now() < patience {
            tokio::time::sleep(LOOK).await;
        }
        if let Err(error) = fs::remove_dir_all(&dir)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(dir = %dir.display(), %error, "cannot remove the files of an agent that has ended");
        }
        // Succeeds only if no other process of the connection uses the directory.
        let _ = fs::remove_dir(self.dir.join(connection.id.to_string()));
        let _ = fs::remove_file(self.socket_of(connection));
    }

    /// Returns the counter of attached processes.
    pub(super) fn counter(&self) -> Arc<watch::Sender<usize>> {
        Arc::clone(&self.running)
    }

    /// Returns the number of attached processes, which can be watched for changes.
    pub(crate) fn running(&self) -> watch::Receiver<usize> {
        self.running.subscribe()
    }
}

fn socket_name(agents_dir: &Path, connection: ConnectionId, epoch: Epoch) -> String {
    let name = Sha256::new()
        .chain_update(agents_dir.as_os_str().as_encoded_bytes())
        .chain_update(connection.as_bytes())
        .chain_update(epoch.0.to_le_bytes())
        .finalize();
    format!("{}.sock", entropy::hex(&name[..8]))
}

/// Returns the socket paths of all agents with a journal in this data directory. A socket may no longer exist.
#[must_use]
pub fn agent_sockets(data_dir: &Path, runtime_dir: &Path) -> Vec<PathBuf> {
    let agents_dir = data_dir.join("agents");
    let names = |dir: &Path| -> Vec<String> {
        fs::read_dir(dir).into_iter().flatten().flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect()
    };
    let mut found = Vec::new();
    for name in names(&agents_dir) {
        let Ok(connection) = name.parse::<ConnectionId>() else { continue };
        let epochs = names(&agents_dir.join(&name)).into_iter().filter_map(|epoch| epoch.parse().ok());
        found.extend(epochs.map(|epoch| runtime_dir.join(socket_name(&agents_dir, connection, Epoch(epoch)))));
    }
    found
}
