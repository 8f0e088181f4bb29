//! Starts and stops the server. A start has three stages: `load` reads, `wire` builds the layers, `spawn` starts the tasks.

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

/// Why the server could not start. Each message says what to do.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The database could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A database operation failed.
    #[error("the database cannot be read")]
    Store(#[from] StoreError),
    /// The configuration is invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The settings for access from other devices are invalid.
    #[error(transparent)]
    Reach(#[from] ReachError),
    /// The address could not be bound.
    #[error("cannot listen on {address}: {source}; choose another with --listen")]
    Listen {
        /// The address to listen at.
        address: SocketAddr,
        /// The cause of the error.
        source: std::io::Error,
    },
    /// The file does not hold a key.
    #[error("{} is damaged; restore it from a backup, or remove it, which loses the states of suspended runs", .path.display())]
    StateKey {
        /// The path of the file.
        path: PathBuf,
    },
    /// The key for web push is invalid.
    #[error("cannot create or read the key for web push")]
    PushKey,
    /// A file could not be written or read.
    #[error("cannot use {}: {source}", .path.display())]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The cause of the error.
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
    /// If the data directory, the database, the configuration or the address cannot be used.
    pub async fn start(options: Options) -> Result<Self, StartError> {
        let loaded = load::load(options).await?;
        spawn::spawn(wire::wire(loaded)).await
    }

    /// Returns the address at which the server listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the URL of the server.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.app.services.url
    }

    /// Returns the admin token.
    #[must_use]
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Stops the server within ten seconds: streams end, requests finish, and all data is on disk.
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

/// Runs a server until it receives a signal to stop.
///
/// # Errors
/// If the server cannot start.
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
