//! What every handler, actor and task of one server shares.

use std::net::SocketAddr;
use std::sync::Arc;

use sayso_api::ask::Ask as ApiAsk;
use sayso_store::Store;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::auth::{Guard, Tokens};
use crate::clock::Clock;
use crate::config::Config;
use crate::config::agents::Agents;
use crate::runtime::attachments::Attachments;
use crate::runtime::connection::Registry;
use crate::runtime::feed::{Feed, Past};
use crate::runtime::link::Processes;
use crate::runtime::metrics::Metrics;
use crate::runtime::notify::{Notifier, PushKey};
use crate::runtime::runs::Runs;
use crate::runtime::{keeper::Keeper, waiters::Waiters};
use crate::service::links::Links;
use crate::service::policies::Policies;
use crate::surfaces::acp::AcpDoor;
use crate::surfaces::http::Limits;
use crate::surfaces::listeners::Listeners;
use crate::surfaces::mcp::McpDoor;
use crate::surfaces::tls::Tls;

/// The shared parts. Each has one owner inside; none is a lock held across an await.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) store: Store,
    pub(crate) feed: Arc<Feed>,
    pub(crate) clock: Clock,
    pub(crate) policies: Policies,
    pub(crate) agents: Agents,
    pub(crate) tokens: Tokens,
    pub(crate) guard: Guard,
    pub(crate) waiters: Arc<Waiters>,
    pub(crate) keeper: Arc<Keeper>,
    pub(crate) mcp: McpDoor,
    pub(crate) acp: AcpDoor,
    pub(crate) limits: Limits,
    pub(crate) config: Config,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) processes: Processes,
    pub(crate) attachments: Attachments,
    pub(crate) connections: Arc<Registry>,
    pub(crate) runs: Arc<Runs>,
    pub(crate) notifier: Arc<Notifier>,
    pub(crate) links: Links,
    /// What browsers that want to be woken know this server by; only if there is a channel for them.
    pub(crate) push_key: Option<PushKey>,
    /// Set once: the server stops, and whoever waits over MCP is to call again.
    pub(crate) stopping: CancellationToken,
    /// Set once: all agents are to end.
    pub(crate) halt: watch::Sender<bool>,
    /// The person's home directory.
    pub(crate) home: Option<String>,
    /// Keys the hashes of request bodies, so that they tell nothing about what was sent.
    pub(crate) body_key: [u8; 32],
    /// Where programs on this machine reach the server.
    pub(crate) url: String,
    /// Where other devices do, if the person has said so.
    pub(crate) public_url: Option<String>,
    /// Where it listens.
    pub(crate) address: SocketAddr,
    /// Addresses that are opened while it runs.
    pub(crate) listeners: Listeners,
    /// The person's own certificate.
    pub(crate) tls: Option<Arc<Tls>>,
}

/// The database as the feed's past.
#[derive(Debug, Clone)]
pub(crate) struct StoredPast(pub(crate) Store);

impl Past for StoredPast {
    fn read(
        &self,
        page: sayso_store::read::EventsAfter,
    ) -> futures_core::future::BoxFuture<'static, Result<sayso_store::read::PastEvents, sayso_store::StoreError>> {
        let store = self.0.clone();
        Box::pin(async move { store.read(page).await })
    }
}

impl App {
    /// The agent of sessions that name none: the configured one, else the first whose program is there, else the mock.
    pub(crate) fn default_agent(&self) -> Option<String> {
        let path = self.processes.variable("PATH");
        let is_there =
            |agent: &&crate::config::agents::Agent| agent.program.as_ref().is_some_and(|program| program.find(path).is_some());
        let all = self.agents.all();
        let first = || all.iter().find(is_there).or_else(|| all.first()).map(|agent| agent.name.clone());
        self.config.default_agent.clone().or_else(first)
    }

    /// The database as the feed's past.
    pub(crate) fn past(&self) -> Arc<dyn Past> {
        Arc::new(StoredPast(self.store.clone()))
    }
}

/// An ask as clients see it.
pub(crate) fn shown(ask: &sayso_core::ask::Ask) -> ApiAsk {
    ApiAsk::from(ask)
}
