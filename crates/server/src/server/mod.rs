//! Starting and stopping. A start has three stages: `load` reads, `wire` builds the layers, `spawn` starts the tasks.

mod commits;
mod files;
mod housekeeping;
mod load;
mod spawn;
mod wire;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sayso_store::{DirLock, OpenError, StoreError};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::app::App;
use crate::config::{ConfigError, Options};
use crate::surfaces::reach::ReachError;

/// How long a stopping server waits for notifications that are being sent.
const LAST_NOTES: Duration = Duration::from_secs(4);

/// Why the server did not start. Each says what to do.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The database.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The database, later.
    #[error("the database cannot be read")]
    Store(#[from] StoreError),
    /// The configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// How other devices reach it.
    #[error(transparent)]
    Reach(#[from] ReachError),
    /// The address.
    #[error("cannot listen on {address}: {source}; choose another with --listen")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
    /// The file does not hold a key.
    #[error("{} is damaged; restore it from a backup, or remove it to lose the states of suspended runs", .path.display())]
    StateKey {
        /// The file.
        path: PathBuf,
    },
    /// The key for web push.
    #[error("the key for web push cannot be made or read")]
    PushKey,
    /// A file.
    #[error("cannot use {}: {source}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// A running server.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    token: String,
    app: Arc<App>,
    stop: watch::Sender<bool>,
    listener: tokio::task::JoinHandle<()>,
    listeners: tokio::task::JoinHandle<()>,
    tasks: JoinSet<()>,
    notes: JoinSet<()>,
    data_dir: PathBuf,
    _lock: DirLock,
}

impl Server {
    /// Starts the server. When this returns, the server answers requests.
    ///
    /// # Errors
    /// When the directory, the database, the configuration or the address cannot be used.
    pub async fn start(options: Options) -> Result<Self, StartError> {
        let loaded = load::load(options).await?;
        spawn::spawn(wire::wire(loaded)).await
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address to call.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.app.services.url
    }

    /// The admin's token.
    #[must_use]
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Stops it: streams end, requests finish, everything is on disk. At most ten seconds.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        self.app.runtime.feed.close();
        self.app.runtime.stopping.cancel();
        let last_notes = async { while self.notes.join_next().await.is_some() {} };
        let _ = tokio::join!(self.listener, self.listeners, tokio::time::timeout(LAST_NOTES, last_notes));
        self.notes.shutdown().await;
        self.tasks.shutdown().await;
        self.app.services.store.close().await;
        let _ = std::fs::remove_file(self.data_dir.join("server.json"));
    }
}

/// Runs a server until it is told to stop by a signal.
///
/// # Errors
/// When it cannot start.
pub async fn run(options: Options, ready: impl FnOnce(&str)) -> Result<(), StartError> {
    use tokio::signal::unix::{SignalKind, signal};
    let path = options.data_dir.clone();
    let signals = |source| StartError::File { path, source };
    let (mut terminate, mut interrupt) = match (signal(SignalKind::terminate()), signal(SignalKind::interrupt())) {
        (Ok(terminate), Ok(interrupt)) => (terminate, interrupt),
        (Err(error), _) | (_, Err(error)) => return Err(signals(error)),
    };
    let server = Server::start(options).await?;
    ready(server.url());
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    tracing::info!("stopping");
    server.stop().await;
    Ok(())
}
