//! First stage of a start: reads the configuration and the database, and binds the address. No task runs yet.

use std::path::{Path, PathBuf};
use std::time::Duration;

use sayso_api::token::Role;
use sayso_core::digest::ShaDigest;
use sayso_core::id::TokenId;
use sayso_core::raw::Raw;
use sayso_core::scope::Scope;
use sayso_core::time::Time;
use sayso_store::ops::{CreateToken, PutSetting, TokenRow};
use sayso_store::read::{ListTokens, ReadFeedHead, ReadStoredPolicy, StoredPolicy};
use sayso_store::{DirLock, Store, StoreOptions, WorkspaceId};
use tokio::net::TcpListener;

use super::StartError;
use super::commits::CommitListeners;
use super::files::{make_private_dir, write_private};
use crate::auth::{SECRET_PREFIX, Tokens, hash, role_name};
use crate::clock::Clock;
use crate::config::agents::Agents;
use crate::config::notify::ChannelKind;
use crate::config::{Config, ConfigError, Options};
use crate::entropy;
use crate::runtime::groups::Groups;
use crate::runtime::notify::{self, Notifier, PushKey};
use crate::service::answer_links::AnswerLinks;
use crate::service::groups::StateCipher;
use crate::service::policies::Policies;
use crate::surfaces::reach::NetworkAccess;

/// The setting with the key of body hashes, so that idempotency keys survive a restart.
const BODY_KEY: &str = "body_key";
/// The setting with the web push key. Subscriptions of browsers depend on it.
const PUSH_KEY: &str = "push_key";
/// The setting with the key of answer links, so that links survive a restart.
const LINK_KEY: &str = "link_key";

/// Everything that the first stage loads.
pub(super) struct Loaded {
    pub(super) data_dir: PathBuf,
    pub(super) lock: DirLock,
    pub(super) config: Config,
    pub(super) access: NetworkAccess,
    pub(super) agents: Agents,
    pub(super) listeners: CommitListeners,
    pub(super) store: Store,
    pub(super) workspace: WorkspaceId,
    pub(super) server_key: [u8; 32],
    pub(super) state_cipher: StateCipher,
    pub(super) answer_links: AnswerLinks,
    /// Set only if a channel for browsers is configured.
    pub(super) push_key: Option<PushKey>,
    pub(super) policies: Policies,
    pub(super) tokens: Tokens,
    pub(super) admin_token: String,
    pub(super) socket: TcpListener,
    pub(super) address: std::net::SocketAddr,
    pub(super) home: Option<String>,
    pub(super) clock: Clock,
    pub(super) grace: Duration,
    pub(super) runtime_dir: PathBuf,
    pub(super) supervisor: PathBuf,
    pub(super) environment: Vec<(String, String)>,
}

/// Reads everything from disk, locks the data directory and binds the address.
pub(super) async fn load(options: Options) -> Result<Loaded, StartError> {
    let Options { listen, data_dir, config_dir, home, clock, grace, runtime_dir, supervisor, environment, embedded, reach } =
        options;
    make_private_dir(&data_dir)?;
    let lock = DirLock::acquire(&data_dir)?;
    let config = Config::load(&config_dir)?;
    let access = NetworkAccess::new(reach, &config)?;
    let mut agents = config.agents(&config_dir)?;
    agents.embed(embedded);
    let around = notify::ChannelContext { variables: environment.clone().into(), dir: &config_dir };
    let channels = notify::read(&config.notify, &around)
        .map_err(|message| ConfigError::Parse { path: config_dir.join("config.toml"), message })?;
    let targets = notify::read_callbacks(&config.callbacks, &around)
        .map_err(|message| ConfigError::Parse { path: config_dir.join("config.toml"), message })?;
    let listeners = CommitListeners::new(Notifier::new(channels), Groups::new(targets));
    let sink = {
        let listeners = listeners.clone();
        move |commit| listeners.committed(commit)
    };
    let store_clock = {
        let clock = clock.clone();
        move || clock.now()
    };
    let store = Store::open(&StoreOptions::new(data_dir.join("sayso.db")), store_clock, sink)?;
    // A server currently has one workspace.
    let workspace = WorkspaceId::MAIN;
    listeners.feed.seed(workspace, store.read(ReadFeedHead { workspace }).await?);
    let stored = store.read(ReadStoredPolicy { workspace }).await?;
    let server_key = stored_key(&store, workspace, &stored, BODY_KEY).await?;
    let state_cipher = StateCipher::new(&key_in_file(&data_dir.join("state.key"))?);
    let answer_links = AnswerLinks::new(stored_key(&store, workspace, &stored, LINK_KEY).await?, access.public_url.as_deref());
    let push_key =
        if listeners.notifier.has(ChannelKind::WebPush) { Some(push_key(&store, workspace, &stored).await?) } else { None };
    listeners.notifier.begin(&store, workspace, &stored, clock.now()).await?;
    let home = home.map(|home| home.to_string_lossy().into_owned());
    let protected = [&data_dir, &config_dir].map(|dir| absolute(dir)).to_vec();
    let policies = Policies::new(config_dir.join("policy.toml"), protected, home.clone(), stored);
    let tokens = Tokens::default();
    for row in store.read(ListTokens).await? {
        tokens.put(&row);
    }
    let admin_token = admin_token(&store, workspace, &tokens, &data_dir, clock.now()).await?;
    let refused = |source| StartError::Listen { address: listen, source };
    let socket = TcpListener::bind(listen).await.map_err(refused)?;
    let address = socket.local_addr().map_err(refused)?;
    Ok(Loaded {
        data_dir,
        lock,
        config,
        access,
        agents,
        listeners,
        store,
        workspace,
        server_key,
        state_cipher,
        answer_links,
        push_key,
        policies,
        tokens,
        admin_token,
        socket,
        address,
        home,
        clock,
        grace,
        runtime_dir,
        supervisor,
        environment,
    })
}

fn absolute(dir: &Path) -> String {
    dir.canonicalize().unwrap_or_else(|_| dir.to_owned()).to_string_lossy().into_owned()
}

/// Returns the admin token from its file in the data directory. Creates the file and the token if either is missing.
async fn admin_token(
    store: &Store,
    workspace: WorkspaceId,
    tokens: &Tokens,
    data_dir: &Path,
    now: Time,
) -> Result<String, StartError> {
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
        workspace,
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

/// Returns the key with this name. The first start creates it.
async fn stored_key(
    store: &Store,
    workspace: WorkspaceId,
    stored: &StoredPolicy,
    name: &'static str,
) -> Result<[u8; 32], StartError> {
    let kept = stored.settings.iter().find(|(key, _)| key == name).and_then(|(_, raw)| serde_json::from_str(raw.as_str()).ok());
    if let Some(key) = kept {
        return Ok(key);
    }
    let key: [u8; 32] = entropy::bytes();
    store.write(PutSetting { workspace, key: name, value: Some(Raw::of(&key)) }).await?;
    Ok(key)
}

/// The key in this file, as hexadecimal digits. The first start creates it.
fn key_in_file(path: &Path) -> Result<[u8; 32], StartError> {
    let key: [u8; 32] = match std::fs::read_to_string(path) {
        Ok(text) => {
            let digest = text.trim().parse::<ShaDigest>().map_err(|_| StartError::StateKey { path: path.to_owned() })?;
            return Ok(digest.to_bytes());
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => entropy::bytes(),
        Err(source) => return Err(StartError::File { path: path.to_owned(), source }),
    };
    write_private(path, &format!("{}\n", entropy::hex(&key)))?;
    Ok(key)
}

async fn push_key(store: &Store, workspace: WorkspaceId, stored: &StoredPolicy) -> Result<PushKey, StartError> {
    let unusable = |notify::Unusable| StartError::PushKey;
    let kept =
        stored.settings.iter().find(|(key, _)| key == PUSH_KEY).map(|(_, raw)| serde_json::from_str::<Vec<u8>>(raw.as_str()));
    if let Some(kept) = kept {
        return PushKey::read(&kept.map_err(|_| StartError::PushKey)?).map_err(unusable);
    }
    let made = PushKey::generate().map_err(unusable)?;
    store.write(PutSetting { workspace, key: PUSH_KEY, value: Some(Raw::of(&made)) }).await?;
    PushKey::read(&made).map_err(unusable)
}
