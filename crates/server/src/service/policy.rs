//! Reading and changing the active policy.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sayso_api::policy::{NewGrant, SetPolicy, SetProfile};
use sayso_core::id::GrantId;
use sayso_core::policy::{Grant, Policy, project_hash};
use sayso_core::raw::Raw;
use sayso_core::scope::Scope;
use sayso_core::time::{Span, Time};
use sayso_store::StoreError;
use sayso_store::ops::{AddGrant, AnnouncePolicy, IdempotencyKey, IdempotentResult, PutSetting, RemoveGrant, TrustProject};

use super::policies::{ActivePolicy, ActiveProfile, PROFILE, WritePolicyError, project_file};
use super::project::MAX_PROJECT_POLICY;
use super::{ServiceError, Services, authorize};
use crate::auth::{Caller, Permission};
use crate::entropy;
use crate::small_file::{read_apart, read_small_file};

/// Lifetime of a grant that a person gave by choosing an agent's own "always allow".
const AGENT_GRANT: Duration = Duration::from_secs(86_400);

/// The active policy, as admins see it.
pub(crate) struct CurrentPolicy {
    pub(crate) path: PathBuf,
    pub(crate) in_force: Arc<ActivePolicy>,
    /// Identifies the combination of file, grants and profile.
    pub(crate) fingerprint: String,
    now: Time,
}

impl CurrentPolicy {
    fn is_active(&self, until: Option<Time>) -> bool {
        until.is_none_or(|until| self.now < until)
    }

    pub(crate) fn active_profile(&self) -> Option<&ActiveProfile> {
        self.in_force.profile.as_ref().filter(|profile| self.is_active(profile.until))
    }

    pub(crate) fn active_grants(&self) -> impl Iterator<Item = &Grant> {
        self.in_force.grants.iter().filter(|grant| self.is_active(grant.until))
    }
}

fn current(services: &Services) -> CurrentPolicy {
    services.policies.reload();
    CurrentPolicy {
        path: services.policies.path().to_owned(),
        in_force: services.policies.in_force(),
        fingerprint: services.policies.set(None, None).fingerprint(),
        now: services.clock.now(),
    }
}

/// Publishes an event that the policy changed.
pub(crate) async fn announce(services: &Services) -> Result<(), StoreError> {
    let fingerprint = services.policies.set(None, None).fingerprint();
    let valid = services.policies.in_force().error.is_none();
    services.store.write(AnnouncePolicy { workspace: services.workspace, fingerprint, valid }).await
}

/// Activates changes that were written to the store, and publishes the event.
async fn refresh(services: &Services) -> Result<(), ServiceError> {
    services.policies.refresh(&services.store, services.workspace).await?;
    Ok(announce(services).await?)
}

/// Returns the active policy. Requires a token that sees all asks, because the policy reveals facts about all of them.
pub(crate) fn get(services: &Services, caller: &Caller) -> Result<CurrentPolicy, ServiceError> {
    authorize(caller, Permission::Read)?;
    if caller.scope != Scope::All {
        return Err(ServiceError::PolicyForbidden);
    }
    Ok(current(services))
}

/// Writes the policy file if it still has the text that the caller read.
pub(crate) async fn set(services: &Arc<Services>, caller: &Caller, new: SetPolicy) -> Result<CurrentPolicy, ServiceError> {
    authorize(caller, Permission::Administer)?;
    let SetPolicy { text, if_fingerprint } = new;
    let writer = Arc::clone(services);
    let written = tokio::task::spawn_blocking(move || writer.policies.write(text, &if_fingerprint)).await;
    written.unwrap_or_else(|stopped| Err(WritePolicyError::File(stopped.into()))).map_err(|error| match error {
        WritePolicyError::Invalid(error) => ServiceError::InvalidPolicy(error),
        WritePolicyError::Changed => ServiceError::PolicyChanged,
        WritePolicyError::File(error) => {
            tracing::error!(%error, "policy.toml was not written");
            ServiceError::PolicyFile { path: services.policies.path().to_owned(), error }
        }
    })?;
    announce(services).await?;
    Ok(current(services))
}

/// Creates a temporary grant.
pub(crate) async fn grant(
    services: &Services,
    caller: &Caller,
    new: NewGrant,
    key: Option<IdempotencyKey>,
) -> Result<Grant, ServiceError> {
    authorize(caller, Permission::Administer)?;
    let now = services.clock.now();
    let until = match (&new.for_, new.until) {
        (Some(text), None) => now.plus(span("for", text)?.0),
        (None, Some(until)) if now < until => until,
        (None, Some(_)) => return Err(ServiceError::invalid("until must be in the future")),
        (None, None) | (Some(_), Some(_)) => return Err(ServiceError::invalid("send either for or until")),
    };
    let NewGrant { run, edit, read, fetch, mcp, tool, project, .. } = new;
    let id = GrantId::new(now, entropy::id());
    let grant = Grant { run, edit, read, fetch, mcp, tool, project, ..Grant::new(id, Some(until)) };
    grant.check()?;
    let add = AddGrant { workspace: caller.workspace, id, until: grant.until, data: Raw::of(&grant), key };
    let id = match services.store.write(add).await? {
        IdempotentResult::Done(id) => {
            refresh(services).await?;
            id
        }
        IdempotentResult::Repeated(id) => id,
        IdempotentResult::Reused => return Err(ServiceError::KeyReused),
    };
    let made = services.policies.in_force().grants.iter().find(|made| made.id == id).cloned();
    Ok(made.unwrap_or(Grant { id, ..grant }))
}

/// Grants these commands to one agent in one project, because a person chose to allow more than one call. The answer to the
/// agent is already committed: if the grant fails, only that call is allowed.
pub(crate) async fn grant_to_agent(services: &Services, agent: &str, project: String, run: Vec<String>, now: Time) {
    let (id, until) = (GrantId::new(now, entropy::id()), Some(now.plus(AGENT_GRANT)));
    let grant = Grant { run, agent: Some(agent.to_owned()), project: Some(project), ..Grant::new(id, until) };
    if let Err(error) = grant.check() {
        return tracing::warn!(agent, %error, "the offer of an agent to always allow a command is not a valid rule; only one call was allowed");
    }
    let add = AddGrant { workspace: services.workspace, id, until, data: Raw::of(&grant), key: None };
    let stored = async {
        services.store.write(add).await?;
        services.policies.refresh(&services.store, services.workspace).await
    };
    match stored.await {
        Ok(()) if announce(services).await.is_ok() => {}
        Ok(()) => tracing::warn!("the new policy is active, but its event could not be published"),
        Err(error) => tracing::warn!(agent, %error, "could not store a grant; only one call was allowed"),
    }
}

pub(crate) async fn revoke_grant(services: &Services, caller: &Caller, id: &str) -> Result<(), ServiceError> {
    authorize(caller, Permission::Administer)?;
    let missing = || ServiceError::NotFound("no such grant; it may have been revoked or expired");
    let remove = RemoveGrant { workspace: caller.workspace, id: id.parse().map_err(|_| missing())? };
    if !services.store.write(remove).await? {
        return Err(missing());
    }
    refresh(services).await
}

/// Turns a profile on or off.
pub(crate) async fn set_profile(services: &Services, caller: &Caller, new: SetProfile) -> Result<CurrentPolicy, ServiceError> {
    authorize(caller, Permission::Administer)?;
    let value = match new {
        SetProfile { name: None, .. } => None,
        SetProfile { name: Some(name), for_ } => {
            let until = for_.map(|text| span("for", &text)).transpose()?.map(|span| services.clock.now().plus(span.0));
            services.policies.reload();
            // Refuse a missing profile now rather than at the next decision.
            services.policies.set(None, None).with_profile(&name, until)?;
            Some(Raw::of(&ActiveProfile { name, until }))
        }
    };
    services.store.write(PutSetting { workspace: caller.workspace, key: PROFILE, value }).await?;
    refresh(services).await?;
    Ok(current(services))
}

/// A project policy file that is trusted until its text changes.
pub(crate) struct TrustedProject {
    pub(crate) path: String,
    pub(crate) hash: String,
}

/// Trusts the current `.sayso.toml` of a project.
pub(crate) async fn trust_project(
    services: &Services,
    caller: &Caller,
    directory: String,
) -> Result<TrustedProject, ServiceError> {
    authorize(caller, Permission::Administer)?;
    let read = read_apart(move || {
        let real = PathBuf::from(directory).canonicalize().map_err(|_| ServiceError::invalid("directory does not exist"))?;
        let path = project_file(&real.to_string_lossy());
        let text = read_small_file(Path::new(&path), MAX_PROJECT_POLICY);
        let text = text.map_err(|error| ServiceError::invalid(format!("{path} cannot be read: {error}")))?;
        Ok::<_, ServiceError>((path, text))
    });
    let unresponsive = || ServiceError::invalid("the file system of the directory does not respond");
    let (path, text) = read.await.ok_or_else(unresponsive)??;
    Policy::parse(&text)?;
    let hash = project_hash(&text);
    let trusted = TrustProject { workspace: caller.workspace, path: path.clone(), hash: hash.clone() };
    services.store.write(trusted).await?;
    refresh(services).await?;
    Ok(TrustedProject { path, hash })
}

fn span(what: &str, text: &str) -> Result<Span, ServiceError> {
    text.parse().map_err(|error| ServiceError::invalid(format!("{what}: {error}")))
}
