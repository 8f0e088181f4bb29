//! Servers of agents that someone else started and that Sayso is attached to: attaching, detaching, their status and their
//! passwords. The connections themselves are rows in the database.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use sayso_agents::translator::{Capabilities, Standing, Translator};
use sayso_api::session::NewAttachment;
use sayso_core::connection::Connection;
use sayso_core::id::ConnectionId;
use sayso_core::limits;
use sayso_core::raw::Raw;
use sayso_store::ops::{AttachConnection, DetachConnection};
use sayso_store::read::ListAttachedConnections;
use sayso_store::{StoreError, WorkspaceId};
use tokio::sync::Notify;

use super::Runtime;
use crate::auth::{Caller, Permission};
use crate::config::agents::Agent;
use crate::service::sessions::attached_connection;
use crate::service::{ServiceError, authorize};

/// How long a request waits for the first status of a new attachment. Shorter than the timeouts of clients.
const SETTLES: Duration = Duration::from_secs(15);
/// The reason with which the sessions of a detached server end.
const DISCONNECTED: &str = "Sayso was disconnected from this agent's server. The agent keeps running.";

/// A server that Sayso is attached to.
pub(crate) struct AttachedServer {
    pub(crate) id: ConnectionId,
    pub(crate) agent: String,
    /// A URL or the path of a socket.
    pub(crate) place: String,
    pub(crate) standing: Standing,
    pub(crate) capabilities: Capabilities,
}

/// Attaches to a server of an agent. If the server cannot be reached, the attachment is removed again.
pub(crate) async fn attach(runtime: &Runtime, caller: &Caller, new: NewAttachment) -> Result<AttachedServer, ServiceError> {
    authorize(caller, Permission::Administer)?;
    let (workspace, services) = (caller.workspace, &runtime.services);
    let NewAttachment { agent, place, user, password } = new;
    for (what, text) in [("the place", Some(&place)), ("the user", user.as_ref()), ("the password", password.as_ref())] {
        limits::check(what, text.map_or(0, String::len), limits::TEXT)?;
    }
    let unknown = || ServiceError::UnknownAgent(format!("there is no agent `{agent}`; see GET /v1/agents"));
    let agent = services.agents.get(&agent).ok_or_else(unknown)?;
    let translator = agent.attach(&place, password.as_ref().map(|_| user)).map_err(ServiceError::Invalid)?;
    for connection in services.store.read(ListAttachedConnections { workspace }).await? {
        let same = connection.agent == agent.name && place_of(agent, &connection) == place_at(translator.as_ref());
        match runtime.attachments.standing(connection.id) {
            Standing::Connected { .. } if same => return Ok(describe(runtime, agent, &connection)),
            // The server was unreachable with the old settings, so try the new ones.
            Standing::Connecting | Standing::Unreachable { .. } if same => {
                disconnect(runtime, workspace, connection.id).await.map(drop)?
            }
            Standing::Connecting | Standing::Connected { .. } | Standing::Unreachable { .. } => {}
        }
    }
    let connection = attached_connection(&agent.name, Raw::of(&translator.save()), services.clock.now());
    if let Some(password) = password {
        runtime.attachments.keep_secret(connection.id, &password).map_err(|error| {
            tracing::error!(%error, "cannot store the password of an attached server");
            ServiceError::Internal("the password cannot be stored")
        })?;
    }
    services.store.write(AttachConnection { workspace, connection: connection.clone() }).await?;
    runtime.connections.request_actors(vec![connection.id]);
    if let Standing::Unreachable { why } = runtime.attachments.wait_for_standing(connection.id, SETTLES).await {
        disconnect(runtime, workspace, connection.id).await?;
        return Err(ServiceError::AgentUnreachable(why));
    }
    Ok(describe(runtime, agent, &connection))
}

/// Detaches from a server. Its sessions end in Sayso; the server itself keeps running.
pub(crate) async fn detach(runtime: &Runtime, caller: &Caller, id: &str) -> Result<(), ServiceError> {
    authorize(caller, Permission::Administer)?;
    let none = || ServiceError::NotFound("there is no such attachment; see GET /v1/agents");
    let id = id.parse().map_err(|_| none())?;
    if disconnect(runtime, caller.workspace, id).await? { Ok(()) } else { Err(none()) }
}

/// Lists the servers of all agents.
pub(crate) async fn list(runtime: &Runtime, caller: &Caller) -> Result<Vec<AttachedServer>, ServiceError> {
    authorize(caller, Permission::Read)?;
    let services = &runtime.services;
    let found = services.store.read(ListAttachedConnections { workspace: caller.workspace }).await?;
    let known = found.iter().filter_map(|connection| Some((services.agents.get(&connection.agent)?, connection)));
    Ok(known.map(|(agent, connection)| describe(runtime, agent, connection)).collect())
}

async fn disconnect(runtime: &Runtime, workspace: WorkspaceId, id: ConnectionId) -> Result<bool, StoreError> {
    let reason = DISCONNECTED.to_owned();
    let gone = runtime.services.store.write(DetachConnection { workspace, connection: id, reason }).await?;
    runtime.connections.end(id);
    runtime.attachments.forget(id);
    Ok(gone)
}

fn place_at(translator: &dyn Translator) -> Option<String> {
    translator.attached().map(|attached| attached.place)
}

fn place_of(agent: &Agent, connection: &Connection) -> Option<String> {
    place_at(agent.attached(connection.state.as_ref())?.as_ref())
}

fn describe(runtime: &Runtime, agent: &Agent, connection: &Connection) -> AttachedServer {
    AttachedServer {
        id: connection.id,
        agent: agent.name.clone(),
        place: place_of(agent, connection).unwrap_or_default(),
        standing: runtime.attachments.standing(connection.id),
        capabilities: agent.attached_capabilities(),
    }
}

/// The connection state and the passwords of all attachments.
#[derive(Debug)]
pub(crate) struct Attachments {
    /// The directory with one file per password.
    dir: PathBuf,
    /// The connection state that each task reported last. Kept in memory only; after a restart, tasks report it again.
    standing: Mutex<BTreeMap<ConnectionId, Standing>>,
    changed: Notify,
}

impl Attachments {
    pub(crate) fn new(data_dir: &Path) -> Self {
        Self { dir: data_dir.join("attached"), standing: Mutex::default(), changed: Notify::new() }
    }

    /// Records the connection state that a task reports.
    pub(crate) fn record_standing(&self, id: ConnectionId, standing: Standing) {
        let mut all = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
        if all.get(&id) != Some(&standing) {
            all.insert(id, standing);
            self.changed.notify_waiters();
        }
    }

    /// Returns the connection state of one attachment.
    pub(crate) fn standing(&self, id: ConnectionId) -> Standing {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner).get(&id).cloned().unwrap_or_default()
    }

    /// Waits until the connection state of one attachment is known, for at most `within`.
    pub(crate) async fn wait_for_standing(&self, id: ConnectionId, within: Duration) -> Standing {
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

    /// Returns the password of one attachment, or an empty text if it has none.
    pub(crate) fn secret(&self, id: ConnectionId) -> String {
        std::fs::read_to_string(self.dir.join(id.to_string())).unwrap_or_default()
    }

    /// Stores a password in a file that only its owner can read.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn keep_secret(&self, id: ConnectionId, secret: &str) -> std::io::Result<()> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.dir)?;
        let path = self.dir.join(id.to_string());
        // An existing file would keep its permissions, so create a new one.
        let _ = std::fs::remove_file(&path);
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        file.write_all(secret.as_bytes())?;
        file.sync_all()
    }

    /// Removes the state and the password of one attachment.
    pub(crate) fn forget(&self, id: ConnectionId) {
        let _ = std::fs::remove_file(self.dir.join(id.to_string()));
        self.standing.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
    }
}
