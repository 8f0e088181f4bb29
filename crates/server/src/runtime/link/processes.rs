//! What is needed to start agents' processes and to find them again.

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

/// How long an agent goes on without a server.
const LONELY: Duration = Duration::from_secs(7 * 86_400);

/// How long a supervisor may take to end after its agent, and how often to look.
const GONE: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(2);

/// Where processes are kept, and what they get.
#[derive(Debug)]
pub(crate) struct Processes {
    /// A directory per process below it.
    dir: PathBuf,
    /// The directory of the sockets.
    runtime_dir: PathBuf,
    pub(super) supervisor: PathBuf,
    pub(super) lonely: Duration,
    /// How many processes we are attached to.
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

    /// Where the journal of a connection's current process is.
    pub(crate) fn dir_of(&self, connection: &Connection) -> PathBuf {
        self.dir.join(connection.id.to_string()).join(connection.epoch.0.to_string())
    }

    /// Its socket. The name is short, because the path of a socket must be.
    pub(super) fn socket_of(&self, connection: &Connection) -> PathBuf {
        self.runtime_dir.join(socket_name(&self.dir, connection.id, connection.epoch))
    }

    /// Whether an agent of this server started this process.
    pub(super) fn is_started_by_an_agent(&self, pid: u32) -> bool {
        sayso_supervisor::is_started_by_an_agent(pid, &self.dir)
    }

    /// Makes the directories of a process.
    pub(super) fn make_dirs(&self, dir: &Path) -> std::io::Result<()> {
        for dir in [self.runtime_dir.as_path(), dir] {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        }
        Ok(())
    }

    /// Removes what is left of a process that is over, once its supervisor is gone, too.
    pub(crate) async fn remove(&self, connection: &Connection) {
        let dir = self.dir_of(connection);
        let patience = tokio::time::Instant::now() + GONE;
        while is_alive(&dir) && tokio::time::Instant::now() < patience {
            tokio::time::sleep(LOOK).await;
        }
        if let Err(error) = fs::remove_dir_all(&dir)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(dir = %dir.display(), %error, "what is left of an agent cannot be removed");
        }
        // Only if no other life of the connection is in there.
        let _ = fs::remove_dir(self.dir.join(connection.id.to_string()));
        let _ = fs::remove_file(self.socket_of(connection));
    }

    /// What counts them.
    pub(super) fn counter(&self) -> Arc<watch::Sender<usize>> {
        Arc::clone(&self.running)
    }

    /// How many there are, and whenever that changes.
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

/// The sockets of the agents that have a journal in this data directory. They may not be there.
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
