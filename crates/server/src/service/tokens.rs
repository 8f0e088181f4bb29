//! Tokens: creating, listing and revoking them, signing in browsers, and the tokens of agents that Sayso starts.

use std::time::Duration;

use sayso_api::token::{LoginRequest, NewLoginCode, NewToken, Role};
use sayso_core::connection::Connection;
use sayso_core::id::{SessionId, TokenId};
use sayso_core::limits;
use sayso_core::plain_text;
use sayso_core::scope::{AskerIdentity, Scope};
use sayso_core::time::{Span, Time};
use sayso_store::StoreError;
use sayso_store::ops::{CreateLoginCode, CreateToken, IdempotencyKey, IdempotentResult, RedeemLoginCode, RevokeToken, TokenRow};
use sayso_store::read::ListTokens;
use sha2::{Digest, Sha256};

use super::project::check_reported_place;
use super::{ServiceError, Services, authorize};
use crate::auth::{Caller, Permission, SECRET_PREFIX, hash, role_name};
use crate::entropy;

const LOGIN_CODE_LIFE: Duration = Duration::from_secs(600);

/// A token and its secret. The server stores only a hash, so the secret is available only when the token is created.
pub(crate) struct IssuedToken {
    pub(crate) row: TokenRow,
    pub(crate) secret: Option<String>,
}

pub(crate) async fn create(
    services: &Services,
    caller: &Caller,
    new: NewToken,
    key: Option<IdempotencyKey>,
) -> Result<IssuedToken, ServiceError> {
    authorize(caller, Permission::Administer)?;
    if new.actor.trim().is_empty() {
        return Err(ServiceError::invalid("actor is empty; send the name of the person or program"));
    }
    limits::check("the name", new.actor.len(), limits::NAME)?;
    plain_text::check("the name", &new.actor)?;
    let identity = AskerIdentity { agent: new.agent, project: new.project, labels: new.labels };
    check_identity(new.role, &identity)?;
    let scope = match new.session_id {
        Some(session) if identity == AskerIdentity::default() => {
            Scope::Session { session: session.parse().map_err(|_| ServiceError::SessionNotFound)? }
        }
        Some(_) => return Err(ServiceError::invalid("a token with sessionId cannot also have labels, agent or project")),
        None if identity == AskerIdentity::default() => Scope::All,
        None if new.role == Role::Agent => Scope::Asker { identity },
        None => Scope::Labels { labels: identity.labels },
    };
    if new.role == Role::Admin && scope != Scope::All {
        return Err(ServiceError::invalid("an admin sees everything; choose another role for a scoped token"));
    }
    let now = services.clock.now();
    let expires_at = match new.expires_in {
        None => None,
        Some(text) => {
            let span: Span = text.parse().map_err(|error| ServiceError::invalid(format!("expiresIn: {error}")))?;
            Some(now.plus(span.0))
        }
    };
    let secret = entropy::secret(SECRET_PREFIX);
    let row = TokenRow {
        id: TokenId::new(now, entropy::id()),
        workspace: caller.workspace,
        hash: hash(&secret),
        role: role_name(new.role).to_owned(),
        actor: new.actor,
        device: None,
        scope,
        created_at: now,
        expires_at,
        revoked_at: None,
    };
    match services.store.write(CreateToken { token: row, key }).await? {
        IdempotentResult::Done(row) => {
            services.tokens.put(&row);
            Ok(IssuedToken { row, secret: Some(secret) })
        }
        IdempotentResult::Repeated(row) => Ok(IssuedToken { row, secret: None }),
        IdempotentResult::Reused => Err(ServiceError::KeyReused),
    }
}

/// Checks the identity that an admin gives to the token of an agent.
fn check_identity(role: Role, identity: &AskerIdentity) -> Result<(), ServiceError> {
    let AskerIdentity { agent, project, labels } = identity;
    if role != Role::Agent && (agent.is_some() || project.is_some()) {
        return Err(ServiceError::invalid("agent and project are for tokens with the role agent"));
    }
    if agent.as_ref().is_some_and(|agent| agent.trim().is_empty()) {
        return Err(ServiceError::invalid("agent is empty; send the name of the agent"));
    }
    limits::check("the name of the agent", agent.as_ref().map_or(0, String::len), limits::NAME)?;
    plain_text::check_optional("the name of the agent", agent.as_deref())?;
    check_reported_place("the project", project.as_deref(), None)?;
    limits::check("the number of labels", labels.len(), limits::LABELS)?;
    for (key, value) in labels {
        limits::check("a label", key.len().max(value.len()), limits::LABEL)?;
    }
    Ok(())
}

/// Lists the tokens of the caller's workspace.
pub(crate) async fn list(services: &Services, caller: &Caller) -> Result<Vec<TokenRow>, ServiceError> {
    authorize(caller, Permission::Administer)?;
    let mut rows = services.store.read(ListTokens).await?;
    rows.retain(|row| row.workspace == caller.workspace);
    Ok(rows)
}

/// Revokes a token immediately. Open streams check their token before each event.
pub(crate) async fn revoke(services: &Services, caller: &Caller, id: &str) -> Result<TokenRow, ServiceError> {
    authorize(caller, Permission::Administer)?;
    let missing = || ServiceError::NotFound("no such token");
    let token: TokenId = id.parse().map_err(|_| missing())?;
    if token == caller.token {
        return Err(ServiceError::invalid("a token cannot revoke itself; use another admin token"));
    }
    let revoke = RevokeToken { workspace: caller.workspace, token };
    let row = services.store.write(revoke).await?.ok_or_else(missing)?;
    services.tokens.put(&row);
    Ok(row)
}

/// A one-time code that signs a browser in.
pub(crate) struct LoginCode {
    pub(crate) code: String,
    pub(crate) expires_at: Time,
}

/// Creates a login code.
pub(crate) async fn create_login_code(
    services: &Services,
    caller: &Caller,
    new: NewLoginCode,
) -> Result<LoginCode, ServiceError> {
    authorize(caller, Permission::Administer)?;
    let role = new.role.unwrap_or(Role::Admin);
    if role == Role::Agent {
        return Err(ServiceError::invalid("a browser signs in as admin, answerer or viewer"));
    }
    let code = entropy::hex(&entropy::bytes::<16>());
    let expires_at = services.clock.now().plus(LOGIN_CODE_LIFE);
    let create = CreateLoginCode {
        workspace: caller.workspace,
        hash: hash(&code),
        role: role_name(role).to_owned(),
        actor: caller.name.clone(),
        expires_at,
    };
    services.store.write(create).await?;
    Ok(LoginCode { code, expires_at })
}

/// Exchanges a login code for a token. Requires no other permission.
pub(crate) async fn redeem_login_code(services: &Services, login: LoginRequest) -> Result<IssuedToken, ServiceError> {
    let now = services.clock.now();
    let LoginRequest { code, device } = login;
    limits::check("the name of the device", device.as_ref().map_or(0, String::len), limits::NAME)?;
    plain_text::check_optional("the name of the device", device.as_deref())?;
    let secret = entropy::secret(SECRET_PREFIX);
    // Role and name come from the code.
    let token = TokenRow {
        id: TokenId::new(now, entropy::id()),
        workspace: services.workspace,
        hash: hash(&secret),
        role: String::new(),
        actor: String::new(),
        device,
        scope: Scope::All,
        created_at: now,
        expires_at: None,
        revoked_at: None,
    };
    let redeemed = services.store.write(RedeemLoginCode { code: hash(&code), token }).await?;
    let row = redeemed.ok_or(ServiceError::InvalidLoginCode)?;
    services.tokens.put(&row);
    Ok(IssuedToken { row, secret: Some(secret) })
}

/// Derives the secret of the token for one process of an agent.
pub(crate) fn agent_secret(services: &Services, connection: &Connection) -> String {
    format!("{SECRET_PREFIX}{}", process_secret(services, connection, b"agent token"))
}

/// Derives the password for one process of an agent that is a server.
pub(crate) fn agent_password(services: &Services, connection: &Connection) -> String {
    process_secret(services, connection, b"agent password")
}

/// Derives the key for the names and digests of the inputs to one process of an agent.
pub(crate) fn agent_input_key(services: &Services, connection: &Connection) -> [u8; 32] {
    process_key(services, connection, b"agent input")
}

/// Derives a secret for one process of an agent from the server's key, so that it does not have to be stored.
fn process_secret(services: &Services, connection: &Connection, purpose: &[u8]) -> String {
    entropy::hex(&process_key(services, connection, purpose))
}

fn process_key(services: &Services, connection: &Connection, purpose: &[u8]) -> [u8; 32] {
    Sha256::new()
        .chain_update(purpose)
        .chain_update(services.server_key)
        .chain_update(connection.id.as_bytes())
        .chain_update(connection.epoch.0.to_le_bytes())
        .finalize()
        .into()
}

fn agent_token_id(secret: &str) -> TokenId {
    let mut id = [0; 16];
    id.copy_from_slice(&hash(secret)[..16]);
    TokenId::from_bytes(id)
}

/// Activates the token of an agent's process. Idempotent, because a launch may be repeated after a crash.
pub(crate) async fn issue_agent_token(
    services: &Services,
    agent: &str,
    session: Option<SessionId>,
    secret: &str,
) -> Result<(), StoreError> {
    let now = services.clock.now();
    if services.tokens.find(secret, now).is_some() {
        return Ok(());
    }
    let row = TokenRow {
        id: agent_token_id(secret),
        workspace: services.workspace,
        hash: hash(secret),
        role: role_name(Role::Agent).to_owned(),
        actor: agent.to_owned(),
        device: None,
        scope: session.map_or(Scope::All, |session| Scope::Session { session }),
        created_at: now,
        expires_at: None,
        revoked_at: None,
    };
    services.store.write(CreateToken { token: row.clone(), key: None }).await?;
    services.tokens.put(&row);
    Ok(())
}

/// Revokes the token of an agent's process that has ended.
pub(crate) async fn revoke_agent_token(services: &Services, connection: &Connection) -> Result<(), StoreError> {
    let token = agent_token_id(&agent_secret(services, connection));
    let revoke = RevokeToken { workspace: services.workspace, token };
    if let Some(row) = services.store.write(revoke).await? {
        services.tokens.put(&row);
    }
    Ok(())
}
