//! Opening a group: check limits, apply the policy to each ask, write all rows in one transaction.

use std::sync::Arc;
use std::time::Duration;

use sayso_api::group::NewGroup;
use sayso_core::ask::{Ask, AskContext};
use sayso_core::digest::ShaDigest;
use sayso_core::group::{Callback, CallbackState, Group, GroupPhase};
use sayso_core::id::{AskId, GroupId};
use sayso_core::limits;
use sayso_core::plain_text;
use sayso_core::time::Span;
use sayso_store::ops::{OpenGroup, OpenGroupResult};

use crate::auth::{Caller, Permission};
use crate::entropy;
use crate::service::asks::{LONGEST_KEEP, MAX_PENDING, ask_id, prepare, span};
use crate::service::{ServiceError, Services, authorize};

/// Maximum number of asks per group.
const ASKS: usize = 64;
/// The default of `keep`.
const KEEP: Duration = Duration::from_secs(30 * 86_400);

/// A group with its asks.
#[derive(Debug)]
pub(crate) struct OpenedGroup {
    pub(crate) group: Arc<Group>,
    pub(crate) asks: Vec<Arc<Ask>>,
    /// True if an earlier call with the same key opened it.
    pub(crate) before: bool,
}

/// Opens a group for a caller. `call` is the idempotency key of the call.
pub(crate) async fn open(
    services: &Services,
    caller: &Caller,
    new: NewGroup,
    call: Option<String>,
) -> Result<OpenedGroup, ServiceError> {
    authorize(caller, Permission::Open)?;
    check(services, &new)?;
    let keep = parse_keep(new.keep.as_deref())?;
    let mut asks = Vec::with_capacity(new.asks.len());
    for ask in new.asks {
        if ask.dedupe_key.is_some() || ask.keep.is_some() || ask.policy_only.is_some() {
            return Err(ServiceError::invalid(
                "an ask of a group cannot have dedupeKey, keep or policyOnly; set key and keep of the group instead",
            ));
        }
        let mut ask = prepare(services, caller, ask).await?;
        ask.context = Arc::new(AskContext { keep: Some(keep), ..AskContext::clone(&ask.context) });
        asks.push(ask);
    }
    let joined = new.ask_ids.iter().map(|id| ask_id(id)).collect::<Result<Vec<AskId>, _>>()?;
    let digests = asks.iter().filter_map(|ask| ask.context.digest);
    let digests: Vec<_> = digests.chain(joined.iter().map(|id| ShaDigest::of_bytes(id.as_bytes()))).collect();
    let now = services.clock.now();
    // A retry after a lost reply must not open a second group.
    let named = new.key.clone().or_else(|| call.map(|call| format!("idempotency-key {call}")));
    let id = named.map_or_else(|| GroupId::new(now, entropy::id()), |key| Group::id_of_key(caller.token, &key));
    let state = new.state.as_deref().map(|state| services.state_cipher.seal(id, caller.token, state)).transpose()?;
    let group = Group {
        id,
        opened_by: caller.token,
        digest: Group::digest_of(&new.name, &digests),
        name: new.name,
        key: new.key,
        asks: asks.iter().map(|ask| ask.id).chain(joined).collect(),
        retry: new.retry == Some(true),
        resume_ref: new.resume_ref,
        state_size: state.as_ref().map_or(0, Vec::len),
        keep,
        opened_at: now,
        epoch: 0,
        phase: GroupPhase::Pending,
        callback: new.callback.map(|target| Callback { target, state: CallbackState::Waiting }),
    };
    let bytes = group.state_size + asks.iter().map(Ask::memory_size).sum::<usize>();
    services.quotas.spend(caller, None, bytes, now)?;
    tracing::debug!(group = %id, asks = group.asks.len(), token = %caller.token, "group opened");
    let first = asks.first().map(|ask| ask.id);
    let scope = caller.scope.clone();
    let open = OpenGroup { workspace: caller.workspace, scope, group: Box::new(group), asks, state, max_pending: MAX_PENDING };
    let opened = services.store.write(open).await;
    let is_new = |group: &Group| first.is_none_or(|first| group.asks.contains(&first));
    if !matches!(&opened, Ok(OpenGroupResult::Group { group, .. }) if is_new(group)) {
        services.quotas.refund(caller, None, bytes);
    }
    match opened? {
        OpenGroupResult::Group { group, asks } => Ok(OpenedGroup { before: !is_new(&group), group, asks }),
        OpenGroupResult::TooMany => Err(ServiceError::TooManyPending),
        OpenGroupResult::KeyReused => Err(ServiceError::DedupeKeyReused),
        OpenGroupResult::NoSession => Err(ServiceError::SessionNotFound),
        OpenGroupResult::ForeignAsk(_) => Err(ServiceError::AskNotFound),
    }
}

fn check(services: &Services, new: &NewGroup) -> Result<(), ServiceError> {
    if new.name.trim().is_empty() {
        return Err(ServiceError::invalid("name is empty; send a name, for example that of your program"));
    }
    limits::check("the name of the group", new.name.len(), limits::NAME)?;
    plain_text::check("the name of the group", &new.name)?;
    limits::check("the key of the group", new.key.as_ref().map_or(0, String::len), limits::NAME)?;
    limits::check("the resumeRef", new.resume_ref.as_ref().map_or(0, String::len), limits::NAME)?;
    limits::check("the state", new.state.as_ref().map_or(0, String::len), limits::RAW)?;
    limits::check("the number of asks", new.asks.len() + new.ask_ids.len(), ASKS)?;
    if new.asks.is_empty() && new.ask_ids.is_empty() {
        return Err(ServiceError::invalid("a group needs at least one ask"));
    }
    match &new.callback {
        Some(target) if !services.config.callbacks.contains_key(target) => {
            Err(ServiceError::UnknownCallback(limits::head(target, 80).to_owned()))
        }
        Some(_) | None => Ok(()),
    }
}

fn parse_keep(text: Option<&str>) -> Result<Span, ServiceError> {
    let keep = span("keep", text)?.unwrap_or(Span(KEEP));
    if keep.0.is_zero() || keep.0 > LONGEST_KEEP {
        return Err(ServiceError::invalid("keep must be longer than 0 and at most 90d"));
    }
    Ok(keep)
}
