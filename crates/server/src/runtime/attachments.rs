//! Servers that somebody else started and that we listen to: how it stands with each, and what proves who
//! we are. Which there are stands in the database.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use sayso_agents::translator::{Found, Standing};
use sayso_core::connection::Connection;
use sayso_core::id::{ConnectionId, SessionId};
use sayso_core::policy::SessionPolicy;
use sayso_core::session::{External, Labels, Session, SessionStatus, title_of};
use sayso_core::time::Time;
use tokio::sync::Notify;

use crate::entropy;
use crate::surfaces::http::look_at;

/// What is known of them.
#[derive(Debug)]
pub(crate) struct Attachments {
    /// A file per password below it.
    dir: PathBuf,
    /// How it stands, as their tasks said last. Lost with the server, and found out again.
    standing: Mutex<BTreeMap<ConnectionId, Standing>>,
    changed: Notify,
}

impl Attachments {
    pub(crate) fn new(data_dir: &Path) -> Self {
        Self { dir: data_dir.join("attached"), standing: Mutex::default(), changed: Notify::new() }
    }

    /// A task says how it stands with its server.
    pub(crate) fn stands(&self, id: ConnectionId, standing: Standing) {
        let mut all = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
        if all.get(&id) != Some(&standing) {
            all.insert(id, standing);
            self.changed.notify_waiters();
        }
    }

    /// How it stands with one.
    pub(crate) fn standing(&self, id: ConnectionId) -> Standing {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner).get(&id).cloned().unwrap_or_default()
    }

    /// How it stands with one, as soon as that is known; at most so long.
    pub(crate) async fn settled(&self, id: ConnectionId, within: Duration) -> Standing {
        let known = async {
            loop {
                let mut changed = std::pin::pin!(self.changed.notified());
                changed.as_mut().enable();
                match self.standing(id) {
                    Standing::Connecting => changed.await,
                    known @ (Standing::Connected { .. } | Standing::Unreachable { .. }) => return known,
                }
            }
        };
        tokio::time::timeout(within, known).await.unwrap_or_default()
    }

    /// The password for one; nothing if there is none.
    pub(crate) fn secret(&self, id: ConnectionId) -> String {
        std::fs::read_to_string(self.dir.join(id.to_string())).unwrap_or_default()
    }

    /// Keeps a password where only its owner may read it.
    ///
    /// # Errors
    /// When the disk says no.
    pub(crate) fn keep_secret(&self, id: ConnectionId, secret: &str) -> std::io::Result<()> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.dir)?;
        let path = self.dir.join(id.to_string());
        // A file that was there keeps its mode, so it is made anew.
        let _ = std::fs::remove_file(&path);
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        file.write_all(secret.as_bytes())?;
        file.sync_all()
    }

    /// Nothing is known of it any more.
    pub(crate) fn forget(&self, id: ConnectionId) {
        let _ = std::fs::remove_file(self.dir.join(id.to_string()));
        self.standing.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
    }

    /// The session of a conversation that was found.
    pub(crate) async fn session_of(&self, connection: &Connection, found: &Found, now: Time) -> Session {
        let cwd = PathBuf::from(&found.project);
        let looked = tokio::task::spawn_blocking(move || {
            // The agent may run where this server does not see; then its word is all there is.
            let real = cwd.canonicalize().unwrap_or(cwd);
            let (policy, branch) = look_at(&real);
            (real.to_string_lossy().into_owned(), policy, branch)
        });
        let (project, project_policy, branch) = looked.await.unwrap_or_else(|_| (found.project.clone(), None, None));
        Session {
            id: SessionId::new(now, entropy::id()),
            connection: connection.id,
            agent: connection.agent.clone(),
            title: title_of(&found.title),
            project,
            branch,
            status: SessionStatus::Running,
            permission_mode: "default".to_owned(),
            model: None,
            policy: SessionPolicy::default(),
            project_policy,
            external: Some(External { native_id: found.native_id.clone() }),
            step: None,
            labels: Labels::new(),
            opened_by: None,
            created_at: now,
            updated_at: now,
        }
    }
}
