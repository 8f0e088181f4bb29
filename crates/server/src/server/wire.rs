//! Second stage of a start: builds the layers from the loaded data. It starts no task and does no I/O.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sayso_store::DirLock;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::load::Loaded;
use crate::app::App;
use crate::auth::RequestGuard;
use crate::runtime::Runtime;
use crate::runtime::attachments::Attachments;
use crate::runtime::deadlines::Deadlines;
use crate::runtime::link::Processes;
use crate::service::asks::SnapshotMemory;
use crate::service::policy_worker::PolicyWorker;
use crate::service::quota::ByteQuotas;
use crate::service::{ProcessEnvironment, Services};
use crate::surfaces::http;
use crate::surfaces::http::acp::AcpConnections;
use crate::surfaces::http::mcp::McpSessions;
use crate::surfaces::listeners::{ListenerCalls, Listeners};
use crate::surfaces::reach::{NetworkAccess, local_url};

/// The layers of a server, and the values that its tasks need.
pub(super) struct Wired {
    pub(super) app: Arc<App>,
    pub(super) deadlines: Arc<Deadlines>,
    pub(super) grace: Duration,
    pub(super) socket: TcpListener,
    pub(super) listener_calls: ListenerCalls,
    pub(super) admin_token: String,
    pub(super) data_dir: PathBuf,
    pub(super) lock: DirLock,
}

/// Builds services, runtime and surfaces.
pub(super) fn wire(loaded: Loaded) -> Wired {
    let NetworkAccess { public_url, hosts, tls } = loaded.access;
    let listeners = loaded.listeners;
    let services = Arc::new(Services {
        store: loaded.store,
        workspace: loaded.workspace,
        clock: loaded.clock,
        policies: loaded.policies,
        agents: loaded.agents,
        tokens: loaded.tokens,
        environment: ProcessEnvironment::new(loaded.environment),
        answer_links: loaded.answer_links,
        snapshots: SnapshotMemory::default(),
        quotas: ByteQuotas::default(),
        policy_worker: PolicyWorker::default(),
        home: loaded.home,
        server_key: loaded.server_key,
        state_cipher: loaded.state_cipher,
        url: local_url(loaded.address),
        public_url,
        config: loaded.config,
    });
    let runtime = Arc::new(Runtime {
        feed: listeners.feed,
        waiters: listeners.waiters,
        keeper: listeners.keeper,
        metrics: listeners.metrics,
        processes: Processes::new(&loaded.data_dir, loaded.runtime_dir, loaded.supervisor, &services.config),
        attachments: Attachments::new(&loaded.data_dir),
        connections: listeners.connections,
        runs: listeners.runs,
        notifier: listeners.notifier,
        groups: listeners.groups,
        push_key: loaded.push_key,
        stopping: CancellationToken::new(),
        halt: watch::Sender::new(false),
        services: Arc::clone(&services),
    });
    let (opened, listener_calls) = Listeners::new();
    let app = Arc::new(App {
        guard: RequestGuard { hosts, origins: services.config.cors_origins.clone() },
        limits: http::RateLimits::default(),
        mcp: McpSessions::default(),
        acp: AcpConnections::default(),
        address: loaded.address,
        listeners: opened,
        tls,
        services,
        runtime,
    });
    Wired {
        app,
        deadlines: listeners.deadlines,
        grace: loaded.grace,
        socket: loaded.socket,
        listener_calls,
        admin_token: loaded.admin_token,
        data_dir: loaded.data_dir,
        lock: loaded.lock,
    }
}
