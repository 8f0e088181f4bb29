//! Resolving asks. Every decision of a person goes through [`commit_decision`], on all surfaces.

use std::sync::Arc;

use sayso_core::actor::Actor;
use sayso_core::ask::{Ask, Decision};
use sayso_core::digest::ShaDigest;
use sayso_core::id::{AskId, SessionId, TokenId};
use sayso_core::scope::Scope;
use sayso_core::time::Time;
use sayso_store::ops::{IdempotencyKey, ResolveAsk, ResolveError, SnoozeAsk};
use sayso_store::read::GetAsk;
use sayso_store::{StoreError, WorkspaceId};
use sha2::{Digest, Sha256};

use super::buttons::DecisionChannel;
use super::files::{ContentChanged, compare_files};
use super::read::ask_id;
use super::schemas::check_fits;
use crate::auth::{Caller, Permission};
use crate::service::{ServiceError, Services, authorize};

pub(crate) struct DecisionRequest<'a> {
    pub(crate) ask: AskId,
    /// If set, only asks of this session are resolved. Compatibility dialects name the session in their requests.
    pub(crate) session: Option<SessionId>,
    pub(crate) decision: Decision,
    /// The surface that the person used, for the outcome.
    pub(crate) via: &'a str,
    pub(crate) key: Option<IdempotencyKey>,
    /// The digest of the files that the person saw, for an approval.
    pub(crate) content: Option<ShaDigest>,
}

/// Resolves an ask for a caller with a token.
pub(crate) async fn resolve(
    services: &Services,
    caller: &Caller,
    resolution: DecisionRequest<'_>,
) -> Result<Arc<Ask>, ServiceError> {
    authorize(caller, Permission::Answer)?;
    let DecisionRequest { ask, session, decision, via, key, content } = resolution;
    let by = Actor::Person { name: caller.name.clone(), via: via.to_owned(), token: caller.token };
    let visible = ResolvableAsks { workspace: caller.workspace, scope: caller.scope.clone(), session };
    commit_decision(services, ask, visible, decision, by, key, content).await.map_err(|refused| match refused {
        DecisionRefusal::Refused(error) => ServiceError::NotResolved { error, caller: caller.token },
        DecisionRefusal::ContentChanged(changed) => ServiceError::ContentChanged(changed),
        DecisionRefusal::Store(error) => ServiceError::Store(error),
    })
}

#[derive(Debug)]
enum DecisionRefusal {
    Refused(ResolveError),
    /// A file that the command executes has changed. The ask stays pending.
    ContentChanged(ContentChanged),
    Store(StoreError),
}

impl From<ContentChanged> for DecisionRefusal {
    fn from(changed: ContentChanged) -> Self {
        Self::ContentChanged(changed)
    }
}

impl From<StoreError> for DecisionRefusal {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<DecisionRefusal> for ChannelRefusal {
    fn from(refused: DecisionRefusal) -> Self {
        match refused {
            DecisionRefusal::Refused(error) => Self::Refused(error),
            DecisionRefusal::ContentChanged(_) => Self::ContentChanged,
            DecisionRefusal::Store(error) => Self::Store(error),
        }
    }
}

/// Who decides in a notification channel.
#[derive(Debug)]
pub(crate) enum ChannelDecider {
    /// A person whom `config.toml` names for the channel. The configuration is the permission.
    Person(String),
    /// The token of a browser. Its role, scope and validity at the time of the press are the permission.
    Token(Arc<Caller>),
}

impl ChannelDecider {
    /// The asks that the decider sees.
    pub(super) fn scope(&self) -> Scope {
        match self {
            Self::Person(_) => Scope::All,
            Self::Token(caller) => caller.scope.clone(),
        }
    }
}

/// Why a press in a notification channel did not resolve an ask.
#[derive(Debug)]
pub(crate) enum ChannelRefusal {
    /// The token of the browser was revoked or expired.
    TokenEnded,
    Refused(ResolveError),
    /// A file that the command executes has changed. The ask stays pending.
    ContentChanged,
    Store(StoreError),
}

/// Resolves an ask from a notification channel: by an answer link or a button.
pub(crate) async fn resolve_in_channel(
    services: &Services,
    channel: DecisionChannel<'_>,
    decider: &ChannelDecider,
    ask: AskId,
    decision: Decision,
) -> Result<Arc<Ask>, ChannelRefusal> {
    let by = match decider {
        ChannelDecider::Person(name) => channel_person(channel, name),
        ChannelDecider::Token(caller) => {
            if !caller.is_valid(services.clock.now()) || authorize(caller, Permission::Answer).is_err() {
                return Err(ChannelRefusal::TokenEnded);
            }
            Actor::Person { name: caller.name.clone(), via: channel.kind.as_str().to_owned(), token: caller.token }
        }
    };
    let visible = ResolvableAsks { workspace: services.workspace, scope: decider.scope(), session: None };
    Ok(commit_decision(services, ask, visible, decision, by, None, None).await?)
}

/// Which asks the person can resolve.
#[derive(Clone)]
struct ResolvableAsks {
    workspace: WorkspaceId,
    scope: Scope,
    session: Option<SessionId>,
}

/// Commits a person's decision with a compare-and-set. If the approved command executes files of the project, the files are
/// compared first. If the ask has a schema for a value of the decision, the value is validated first. Every other decision is
/// one write.
async fn commit_decision(
    services: &Services,
    ask: AskId,
    visible: ResolvableAsks,
    decision: Decision,
    by: Actor,
    key: Option<IdempotencyKey>,
    shown: Option<ShaDigest>,
) -> Result<Arc<Ask>, DecisionRefusal> {
    let ResolvableAsks { workspace, scope, session } = visible;
    tracing::debug!(%ask, status = decision.status().as_str(), token = by.token().map(tracing::field::display), "decision received");
    let resolve = |content, fits_schemas| ResolveAsk {
        workspace,
        ask,
        scope: scope.clone(),
        session,
        decision: decision.clone(),
        by: by.clone(),
        key: key.clone(),
        content,
        fits_schemas,
    };
    let mut resolved = services.store.write(resolve(None, false)).await?;
    if let Err(ResolveError::ContentUnchecked | ResolveError::SchemaUnchecked) = resolved {
        let found = services.store.read(GetAsk { workspace, ask, scope: scope.clone() }).await?;
        let found = found.ok_or(DecisionRefusal::Refused(ResolveError::NotFound))?;
        check_fits(&found.body, &decision).await.map_err(|refused| DecisionRefusal::Refused(refused.into()))?;
        let compares = resolved == Err(ResolveError::ContentUnchecked);
        let content = if compares { Some(compare_files(services, &found, shown).await?) } else { None };
        resolved = services.store.write(resolve(content, true)).await?;
    }
    resolved.map_err(DecisionRefusal::Refused)
}

/// Returns the actor for a person without a token. A digest of channel and name replaces the token id, so the person has the
/// same identity after a restart.
fn channel_person(channel: DecisionChannel<'_>, person: &str) -> Actor {
    let digest: [u8; 32] = Sha256::digest(format!("{}\n{person}", channel.name)).into();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    Actor::Person { name: person.to_owned(), via: channel.kind.as_str().to_owned(), token: TokenId::from_bytes(bytes) }
}

/// Hides an ask from the inbox until this time, without deciding it. `None` shows it again.
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
