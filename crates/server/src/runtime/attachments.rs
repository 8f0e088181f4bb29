//! Agents' servers that someone else started and that Sayso listens to: attaching, detaching, their status, and the
//! passwords for them. The connections themselves are rows.

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
use sayso_store::read::ListAttached;
use sayso_store::{StoreError, WorkspaceId};
use tokio::sync::Notify;

use super::Runtime;
use crate::auth::{Caller, Permission};
use crate::config::agents::Agent;
use crate::service::sessions::attached_connection;
use crate::service::{ServiceError, authorize};

/// How long a request waits until the status of a new attachment is known. Shorter than clients wait for a reply.
const SETTLES: Duration = Duration::from_secs(15);
/// The reason that sessions of a detached server end with.
const DISCONNECTED: &str = "Sayso was disconnected from it; the agent goes on where it runs.";

/// A server that Sayso listens to.
pub(crate) struct AttachedServer {
    pub(crate) id: ConnectionId,
    pub(crate) agent: String,
    /// A URL or the path of a socket.
    pub(crate) place: String,
    pub(crate) standing: Standing,
    pub(crate) capabilities: Capabilities,
}

/// Listens to a server of an agent. A server that cannot be reached is not kept.
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
    for connection in services.store.read(ListAttached { workspace }).await? {
        let same = connection.agent == agent.name && place_of(agent, &connection) == place_at(translator.as_ref());
        match runtime.attachments.standing(connection.id) {
            Standing::Connected { .. } if same => return Ok(describe(runtime, agent, &connection)),
            // It cannot be reached with the old settings, so the new ones are tried.
            Standing::Connecting | Standing::Unreachable { .. } if same => {
                disconnect(runtime, workspace, connection.id).await.map(drop)?
            }
            Standing::Connecting | Standing::Connected { .. } | Standing::Unreachable { .. } => {}
        }
    }
    let connection = attached_connection(&agent.name, Raw::of(&translator.save()), services.clock.now());
    if let Some(password) = password {
        runtime.attachments.keep_secret(connection.id, &password).map_err(|error| {
            tracing::error!(%error, "the password of an agent cannot be kept");
            ServiceError::Internal("the password cannot be kept")
        })?;
    }
    services.store.write(AttachConnection { workspace, connection: connection.clone() }).await?;
    runtime.connections.want(vec![connection.id]);
    if let Standing::Unreachable { why } = runtime.attachments.settled(connection.id, SETTLES).await {
        disconnect(runtime, workspace, connection.id).await?;
        return Err(ServiceError::AgentUnreachable(why));
    }
    Ok(describe(runtime, agent, &connection))
}

/// Stops listening to a server. Its sessions end here; the server goes on.
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
    let found = services.store.read(ListAttached { workspace: caller.workspace }).await?;
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
}
