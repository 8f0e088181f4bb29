//! Resolving asks. Every decision of a person goes through [`commit_decision`], whatever the surface.

use std::sync::Arc;

use sayso_core::actor::Actor;
use sayso_core::ask::{Ask, Decision};
use sayso_core::id::{AskId, SessionId, TokenId};
use sayso_core::scope::Scope;
use sayso_core::time::Time;
use sayso_store::ops::{IdempotencyKey, ResolveAsk, ResolveError, SnoozeAsk};
use sayso_store::{StoreError, WorkspaceId};
use sha2::{Digest, Sha256};

use super::buttons::DecisionChannel;
use super::read::ask_id;
use crate::auth::{Caller, Permission};
use crate::service::{ServiceError, Services, authorize};

/// A decision about one ask.
pub(crate) struct DecisionRequest<'a> {
    pub(crate) ask: AskId,
    /// Dialects that name the session resolve only asks of that session.
    pub(crate) session: Option<SessionId>,
    pub(crate) decision: Decision,
    /// The surface that the person used, as the outcome shows it.
    pub(crate) via: &'a str,
    pub(crate) key: Option<IdempotencyKey>,
}

/// Resolves an ask for a caller with a token.
pub(crate) async fn resolve(
    services: &Services,
    caller: &Caller,
    resolution: DecisionRequest<'_>,
) -> Result<Arc<Ask>, ServiceError> {
    authorize(caller, Permission::Answer)?;
    let DecisionRequest { ask, session, decision, via, key } = resolution;
    let by = Actor::Person { name: caller.name.clone(), via: via.to_owned(), token: caller.token };
    let visible = ResolvableAsks { workspace: caller.workspace, scope: caller.scope.clone(), session };
    let resolved = commit_decision(services, ask, visible, decision, by, key).await?;
    resolved.map_err(|error| ServiceError::NotResolved { error, caller: caller.token })
}

/// Why a person in a notification channel did not resolve an ask.
#[derive(Debug)]
pub(crate) enum ChannelRefusal {
    /// The compare-and-set refused.
    Refused(ResolveError),
    Store(StoreError),
}

/// Resolves an ask for a person that a notification channel names: by an answer link or a button. The channel's
/// configuration is the permission.
pub(crate) async fn resolve_in_channel(
    services: &Services,
    channel: DecisionChannel<'_>,
    person: &str,
    ask: AskId,
    decision: Decision,
) -> Result<Arc<Ask>, ChannelRefusal> {
    let visible = ResolvableAsks { workspace: services.workspace, scope: Scope::All, session: None };
    let resolved = commit_decision(services, ask, visible, decision, channel_person(channel, person), None).await;
    resolved.map_err(ChannelRefusal::Store)?.map_err(ChannelRefusal::Refused)
}

/// Which asks the person can resolve.
struct ResolvableAsks {
    workspace: WorkspaceId,
    scope: Scope,
    session: Option<SessionId>,
}

/// The one compare-and-set for decisions of people.
async fn commit_decision(
    services: &Services,
    ask: AskId,
    visible: ResolvableAsks,
    decision: Decision,
    by: Actor,
    key: Option<IdempotencyKey>,
) -> Result<Result<Arc<Ask>, ResolveError>, StoreError> {
    let ResolvableAsks { workspace, scope, session } = visible;
    tracing::debug!(%ask, status = decision.status().as_str(), token = by.token().map(tracing::field::display), "decision received");
    let resolve = ResolveAsk { workspace, ask, scope, session, decision, by, key };
    services.store.write(resolve).await
}

/// A person without a token. A digest of channel and name stands in for the token id, so that the same person keeps the
/// same identity across restarts.
fn channel_person(channel: DecisionChannel<'_>, person: &str) -> Actor {
    let digest: [u8; 32] = Sha256::digest(format!("{}\n{person}", channel.name)).into();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    Actor::Person { name: person.to_owned(), via: channel.kind.as_str().to_owned(), token: TokenId::from_bytes(bytes) }
}

/// Hides an ask from the inbox until then, without deciding it. `None` shows it again.
pub(crate) async fn snooze(
    services: &Services,
    caller: &Caller,
    id: &str,
    until: Option<Time>,
) -> Result<Arc<Ask>, ServiceError> {
    authorize(caller, Permission::Answer)?;
    let snooze = SnoozeAsk { workspace: caller.workspace, ask: ask_id(id)?, scope: caller.scope.clone(), until };
    let snoozed = services.store.write(snooze).await?;
    snoozed.map_err(|error| ServiceError::NotResolved { error, caller: caller.token })
}
