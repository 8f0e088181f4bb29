//! Starting and stopping.

use std::io::Write as _;
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sayso_api::token::Role;
use sayso_core::id::TokenId;
use sayso_core::raw::Raw;
use sayso_core::scope::Scope;
use sayso_store::read::{AllTokens, FeedHead, OpenRuns, PolicyState, Unfinished};
use sayso_store::write::{CreateToken, PutSetting, Retain, TokenRow};
use sayso_store::{Commit, DirLock, EventKind, OpenError, Store, StoreError, StoreOptions, WorkspaceId};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::auth::{Guard, SECRET_PREFIX, Tokens, hash, role_name};
use crate::config::notify::Kind;
use crate::config::{Config, ConfigError, Options};
use crate::entropy;
use crate::runtime::Runtime;
use crate::runtime::attachments::Attachments;
use crate::runtime::connection::Registry;
use crate::runtime::deadlines::{self, Deadlines};
use crate::runtime::feed::Feed;
use crate::runtime::keeper::{self, Keeper};
use crate::runtime::link::Processes;
use crate::runtime::metrics::Metrics;
use crate::runtime::notify::{self, Notifier, PushKey};
use crate::runtime::runs::Runs;
use crate::runtime::waiters::Waiters;
use crate::service::answer_links::AnswerLinks;
use crate::service::policies::Policies;
use crate::service::{ProcessEnvironment, Services, policy};
use crate::surfaces::http::acp::AcpConnections;
use crate::surfaces::http::mcp::McpSessions;
use crate::surfaces::listeners::{self, Listeners};
use crate::surfaces::reach::{Reach, ReachError, local_url};
use crate::surfaces::{http, listener};

/// The setting that keeps the key of body hashes, so that idempotency survives a restart.
const BODY_KEY: &str = "body_key";
/// The setting that keeps the key for web push: browsers are bound to it.
const PUSH_KEY: &str = "push_key";
/// The setting that keeps the key of answer links, so that they survive one, too.
const LINK_KEY: &str = "link_key";
/// How long a server that stops waits for notes that are on their way.
const LAST_NOTES: Duration = Duration::from_secs(4);
/// How often the policy file and the certificate are looked at.
const LOOK: Duration = Duration::from_secs(2);
/// How often the past is trimmed.
const TRIM: Duration = Duration::from_secs(600);
/// How long the feed is kept.
const KEEP_EVENTS: Duration = Duration::from_secs(7 * 86_400);
/// How long idempotency keys are kept.
const KEEP_KEYS: Duration = Duration::from_secs(86_400);

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
    /// Starts it. When this returns, it answers.
    ///
    /// # Errors
    /// When the directory, the database, the configuration or the address cannot be used.
    pub async fn start(options: Options) -> Result<Self, StartError> {
        let Options { listen, data_dir, config_dir, home, clock, grace, runtime_dir, supervisor, environment, embedded, reach } =
            options;
        make_private_dir(&data_dir)?;
        let lock = DirLock::take(&data_dir)?;
        let config = Config::load(&config_dir)?;
        let Reach { public_url, hosts, tls } = Reach::new(reach, &config)?;
        let mut agents = config.agents(&config_dir)?;
        agents.embed(embedded);
        let around = notify::Surroundings { variables: environment.clone().into(), dir: &config_dir };
        let channels = notify::read(&config.notify, &around)
            .map_err(|message| ConfigError::Parse { path: config_dir.join("config.toml"), message })?;
        let notifier = Arc::new(Notifier::new(channels));
        let feed = Feed::new();
        let waiters = Arc::new(Waiters::default());
        let keeper = Arc::new(Keeper::default());
        let registry = Arc::new(Registry::default());
        let deadlines = Arc::new(Deadlines::default());
        let metrics = Arc::new(Metrics::default());
        let runs = Arc::new(Runs::default());
        let sink = {
            let (feed, waiters, registry) = (Arc::clone(&feed), Arc::clone(&waiters), Arc::clone(&registry));
            let (deadlines, metrics, keeper) = (Arc::clone(&deadlines), Arc::clone(&metrics), Arc::clone(&keeper));
            let (runs, notifier) = (Arc::clone(&runs), Arc::clone(&notifier));
            move |commit: Commit| {
                metrics.count(&commit.events);
                for event in &commit.events {
                    let Some(ask) = &event.ask else { continue };
                    if event.kind == EventKind::AskRequested {
                        keeper.requested(ask, event.at);
                    } else if event.kind == EventKind::AskResolved {
                        waiters.resolved(ask.id);
                        keeper.resolved(ask.id);
                    }
                }
                runs.heard(&commit.events);
                notifier.heard(&commit.events);
                feed.publish(commit.events);
                registry.route(commit.outbox);
                deadlines.add(commit.deadlines);
            }
        };
        let store = Store::open(&StoreOptions::new(data_dir.join("sayso.db")), sink)?;
        feed.seed(WorkspaceId::MAIN, store.read(FeedHead { workspace: WorkspaceId::MAIN }).await?);
        let stored = store.read(PolicyState { workspace: WorkspaceId::MAIN }).await?;
        let server_key = kept_key(&store, &stored, BODY_KEY).await?;
        let answer_links = AnswerLinks::new(kept_key(&store, &stored, LINK_KEY).await?, public_url.as_deref());
        let push_key = if notifier.has(Kind::WebPush) { Some(push_key(&store, &stored).await?) } else { None };
        notifier.begin(&store, &stored, clock.now()).await?;
        let home = home.map(|home| home.to_string_lossy().into_owned());
        let protected = [&data_dir, &config_dir].map(|dir| absolute(dir)).to_vec();
        let policies = Policies::new(config_dir.join("policy.toml"), protected, home.clone(), stored);
        let tokens = Tokens::default();
        for row in store.read(AllTokens).await? {
            tokens.put(&row);
        }
        let token = admin_token(&store, &tokens, &data_dir, clock.now()).await?;
        let socket = TcpListener::bind(listen).await.map_err(|source| StartError::Listen { address: listen, source })?;
        let address = socket.local_addr().map_err(|source| StartError::Listen { address: listen, source })?;
        let services = Arc::new(Services {
            store,
            clock,
            policies,
            agents,
            tokens,
            environment: ProcessEnvironment::new(environment),
            answer_links,
            home,
            server_key,
            url: local_url(address),
            public_url,
            config,
        });
        let runtime = Arc::new(Runtime {
            feed,
            waiters,
            keeper,
            metrics,
            processes: Processes::new(&data_dir, runtime_dir, supervisor, &services.config),
            attachments: Attachments::new(&data_dir),
            connections: Arc::clone(&registry),
            runs,
            notifier,
            push_key,
            stopping: CancellationToken::new(),
            halt: watch::Sender::new(false),
            services: Arc::clone(&services),
        });
        let (listeners, calls) = Listeners::new();
        let app = Arc::new(App {
            guard: Guard { hosts, origins: services.config.cors_origins.clone() },
            limits: http::Limits::default(),
            mcp: McpSessions::default(),
            acp: AcpConnections::default(),
            address,
            listeners,
            tls,
            services: Arc::clone(&services),
            runtime: Arc::clone(&runtime),
        });

        let unfinished = services.store.read(Unfinished).await?;
        deadlines.add(unfinished.deadlines);
        for (ask, keep) in unfinished.kept {
            runtime.keeper.pending(ask, keep.0, services.clock.now());
        }
        registry.want(unfinished.connections);
        runtime.runs.want(services.store.read(OpenRuns).await?);
        let mut tasks = JoinSet::new();
        tasks.spawn(registry.run(Arc::clone(&runtime)));
        tasks.spawn(deadlines::run(Arc::clone(&services), deadlines, grace));
        tasks.spawn(keeper::run(Arc::clone(&services), Arc::clone(&runtime.keeper)));
        tasks.spawn(Arc::clone(&runtime.runs).run(Arc::clone(&services)));
        tasks.spawn(housekeeping(Arc::clone(&app)));
        let feed = Arc::clone(&runtime.feed);
        tasks.spawn(async move { feed.keep_alive().await });
        let notes = Notifier::run(&runtime);
        let (stop, mut stopping) = watch::channel(false);
        let router = http::router(Arc::clone(&app));
        // Before anything is answered: who reaches this server finds what it says of itself, and not what the one before
        // it at the same address said.
        announce_server(&data_dir, &services.url)?;
        let listeners = tokio::spawn(listeners::run(calls, router.clone(), app.tls.clone(), stopping.clone()));
        let listener = tokio::spawn(listener::serve(socket, router, listener::Limits::default(), app.tls.clone(), async move {
            // The sender ends with the server; either way it is time to stop.
            let _ = stopping.wait_for(|stop| *stop).await;
        }));
        Ok(Self { address, token, app, stop, listener, listeners, tasks, notes, data_dir, _lock: lock })
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

/// Looks at the policy file and the certificate, and trims the past, for ever.
async fn housekeeping(app: Arc<App>) {
    let mut ticks = tokio::time::interval(LOOK);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut trim = tokio::time::interval(TRIM);
    loop {
        tokio::select! {
            _ = ticks.tick() => {
                if let Some(tls) = &app.tls {
                    tls.reload();
                }
                if app.services.policies.reload() && policy::announce(&app.services).await.is_err() {
                    tracing::warn!("the new policy is in force, but could not be announced");
                }
            }
            _ = trim.tick() => {
                if let Err(error) = retain(&app.services).await {
                    tracing::warn!(%error, "the past could not be trimmed");
                }
            }
        }
    }
}

async fn retain(services: &Services) -> Result<(), StoreError> {
    let now = services.clock.now();
    let before =
        |age: Duration| sayso_core::time::Time::from_millis(now.as_millis() - i64::try_from(age.as_millis()).unwrap_or(i64::MAX));
    let keep = services.config.keep_events.map_or(KEEP_EVENTS, |span| span.0);
    let retain = || Retain { events_before: before(keep), keys_before: before(KEEP_KEYS), now, at_most: 1_000 };
    while services.store.write(retain()).await? {
        tokio::task::yield_now().await;
    }
    Ok(())
}

fn absolute(dir: &Path) -> String {
    dir.canonicalize().unwrap_or_else(|_| dir.to_owned()).to_string_lossy().into_owned()
}

fn make_private_dir(dir: &Path) -> Result<(), StartError> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
        .map_err(|source| StartError::File { path: dir.to_owned(), source })
}

/// Writes a file that only its owner may read, whole or not at all.
fn write_private(path: &Path, text: &str) -> Result<(), StartError> {
    let failed = |source| StartError::File { path: path.to_owned(), source };
    let part = path.with_extension("part");
    let mut file = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&part).map_err(failed)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;
    std::fs::rename(&part, path).map_err(failed)
}

/// The token of whoever may read the data directory.
async fn admin_token(store: &Store, tokens: &Tokens, data_dir: &Path, now: sayso_core::time::Time) -> Result<String, StartError> {
    let path = data_dir.join("token");
    let kept = std::fs::read_to_string(&path).ok().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    if let Some(secret) = kept.as_ref().filter(|secret| tokens.find(secret, now).is_some()) {
        return Ok(secret.clone());
    }
    let secret = kept.unwrap_or_else(|| entropy::secret(SECRET_PREFIX));
    write_private(&path, &format!("{secret}\n"))?;
    let name = std::env::var("USER").or_else(|_| std::env::var("LOGNAME")).unwrap_or_else(|_| "you".to_owned());
    let row = TokenRow {
        id: TokenId::new(now, entropy::id()),
        workspace: WorkspaceId::MAIN,
        hash: hash(&secret),
        role: role_name(Role::Admin).to_owned(),
        actor: name,
        device: None,
        scope: Scope::All,
        created_at: now,
        expires_at: None,
        revoked_at: None,
    };
    tokens.put(&row);
    store.write(CreateToken { token: row, key: None }).await?;
    Ok(secret)
}

/// The key of this name, made when it is needed first.
async fn kept_key(store: &Store, stored: &sayso_store::read::StoredPolicy, name: &'static str) -> Result<[u8; 32], StartError> {
    let kept = stored.settings.iter().find(|(key, _)| key == name).and_then(|(_, raw)| serde_json::from_str(raw.as_str()).ok());
    if let Some(key) = kept {
        return Ok(key);
    }
    let key: [u8; 32] = entropy::bytes();
    store.write(PutSetting { workspace: WorkspaceId::MAIN, key: name, value: Some(Raw::of(&key)) }).await?;
    Ok(key)
}

async fn push_key(store: &Store, stored: &sayso_store::read::StoredPolicy) -> Result<PushKey, StartError> {
    let unusable = |notify::Unusable| StartError::PushKey;
    let kept =
        stored.settings.iter().find(|(key, _)| key == PUSH_KEY).map(|(_, raw)| serde_json::from_str::<Vec<u8>>(raw.as_str()));
    if let Some(kept) = kept {
        return PushKey::read(&kept.map_err(|_| StartError::PushKey)?).map_err(unusable);
    }
    let made = PushKey::generate().map_err(unusable)?;
    store.write(PutSetting { workspace: WorkspaceId::MAIN, key: PUSH_KEY, value: Some(Raw::of(&made)) }).await?;
    PushKey::read(&made).map_err(unusable)
}

/// Tells clients on this machine where the server is.
fn announce_server(data_dir: &Path, url: &str) -> Result<(), StartError> {
    let told = serde_json::json!({ "url": url, "pid": std::process::id(), "version": env!("CARGO_PKG_VERSION") });
    write_private(&data_dir.join("server.json"), &told.to_string())
}
